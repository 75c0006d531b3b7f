package jsonrpc

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

const maxDepth = 10_000

// Scanner reads JSON in one pass, checking all of it, without giving up on values of the wrong type: a reader asks
// for a string, and gets "not a string" with the value skipped, while broken JSON fails the whole scan. A library
// decoder fails both alike, and turns half of a surrogate pair into U+FFFD, although the other half may follow in
// the next message. It is how messages and their parameters are read.
//
// What counts as JSON is what encoding/json accepts: RFC 8259, invalid UTF-8 inside strings included, nesting up
// to 10,000. Every reading method consumes exactly one value, also when it returns false because the value has
// another type. After broken JSON all methods return false. Only strings that are returned are allocated.
type Scanner struct {
	b     []byte
	i     int
	depth int
	bad   bool
}

// NewScanner returns a Scanner at the beginning of b. Results of Raw point into b.
func NewScanner(b []byte) Scanner { return Scanner{b: b} }

// Finish reports whether everything read was JSON and nothing but white space is left.
func (s *Scanner) Finish() bool {
	s.space()
	return !s.bad && s.i == len(s.b)
}

// Kind returns the first byte of the next value: '{', '[', '"', 't', 'f', 'n', '-' or a digit. It is 0 at the end
// and may be anything else when the JSON is broken.
func (s *Scanner) Kind() byte {
	s.space()
	if s.bad || s.i >= len(s.b) {
		return 0
	}
	return s.b[s.i]
}

// Object reads an object and calls f for each member with its name, which is only valid during the call. f
// consumes the value, or nothing to skip it. Names that occur twice are passed twice.
func (s *Scanner) Object(f func(name []byte)) bool {
	if !s.open('{') {
		return false
	}
	if s.close('}') {
		return true
	}
	for {
		s.space()
		name := s.name()
		s.space()
		if s.bad || !s.eat(':') {
			return s.fail()
		}
		at := s.i
		f(name)
		if s.i == at {
			s.Skip()
		}
		switch s.space(); {
		case s.bad:
			return false
		case s.eat(','):
		case s.close('}'):
			return true
		default:
			return s.fail()
		}
	}
}

// Array reads an array and calls f once per item. f consumes the item, or nothing to skip it.
func (s *Scanner) Array(f func()) bool {
	if !s.open('[') {
		return false
	}
	if s.close(']') {
		return true
	}
	for {
		s.space()
		at := s.i
		f()
		if s.i == at {
			s.Skip()
		}
		switch s.space(); {
		case s.bad:
			return false
		case s.eat(','):
		case s.close(']'):
			return true
		default:
			return s.fail()
		}
	}
}

// Null consumes a null and reports true; anything else stays where it is.
func (s *Scanner) Null() bool {
	return s.Kind() == 'n' && s.literal("null")
}

// Bool reads a boolean.
func (s *Scanner) Bool() (v, ok bool) {
	switch s.Kind() {
	case 't':
		return true, s.literal("true")
	case 'f':
		return false, s.literal("false")
	}
	s.Skip()
	return false, false
}

// Float reads a number of any form.
func (s *Scanner) Float() (float64, bool) {
	if k := s.Kind(); k != '-' && (k < '0' || k > '9') {
		s.Skip()
		return 0, false
	}
	raw := s.Raw()
	if raw == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	return v, err == nil
}

// Int reads a number that is whole, however it is written: 3, 3.0 or 3e2.
func (s *Scanner) Int() (int64, bool) {
	f, ok := s.Float()
	if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// String reads a string as valid UTF-8: what is not becomes U+FFFD.
func (s *Scanner) String() (string, bool) {
	v, ok := s.Text()
	if ok && !utf8.ValidString(v) {
		v = strings.ToValidUTF8(v, "\uFFFD")
	}
	return v, ok
}

// Text reads a string as it came. It may hold invalid UTF-8 from the input, and an escaped surrogate without its
// other half appears as the three bytes of WTF-8, so that a reader of several texts can join the halves.
func (s *Scanner) Text() (string, bool) {
	raw := s.quoted()
	if raw == nil {
		return "", false
	}
	return unquote(raw), true
}

// Match reads a string into a text that is likely the same as last time, and returns last then, without allocating.
func (s *Scanner) Match(last string) (string, bool) {
	raw := s.quoted()
	if raw == nil {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; string(inner) == last && bytes.IndexByte(inner, '\\') < 0 {
		return last, true
	}
	return strings.ToValidUTF8(unquote(raw), "\uFFFD"), true
}

// Raw returns the bytes of the next value, nil when it is broken.
func (s *Scanner) Raw() []byte {
	s.space()
	at := s.i
	s.Skip()
	if s.bad {
		return nil
	}
	return s.b[at:s.i]
}

// Skip consumes one value.
func (s *Scanner) Skip() {
	switch k := s.Kind(); {
	case k == '"':
		s.text()
	case k == '{':
		s.Object(func([]byte) {})
	case k == '[':
		s.Array(func() {})
	case k == 't':
		s.literal("true")
	case k == 'f':
		s.literal("false")
	case k == 'n':
		s.literal("null")
	case k == '-' || k >= '0' && k <= '9':
		s.number()
	default:
		s.fail()
	}
}

func (s *Scanner) fail() bool {
	s.bad = true
	return false
}

func (s *Scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

func (s *Scanner) eat(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// open enters an object or array. A value of another type is skipped.
func (s *Scanner) open(c byte) bool {
	if s.Kind() != c {
		s.Skip()
		return false
	}
	s.i++
	s.depth++
	if s.depth > maxDepth {
		return s.fail()
	}
	s.space()
	return true
}

func (s *Scanner) close(c byte) bool {
	if s.eat(c) {
		s.depth--
		return true
	}
	return false
}

func (s *Scanner) literal(lit string) bool {
	if len(s.b)-s.i < len(lit) || string(s.b[s.i:s.i+len(lit)]) != lit {
		return s.fail()
	}
	s.i += len(lit)
	return true
}

func (s *Scanner) number() {
	s.eat('-')
	if !s.eat('0') && !s.digits() {
		s.fail()
		return
	}
	if s.eat('.') && !s.digits() {
		s.fail()
		return
	}
	if s.eat('e') || s.eat('E') {
		if !s.eat('+') {
			s.eat('-')
		}
		if !s.digits() {
			s.fail()
		}
	}
}

func (s *Scanner) digits() bool {
	at := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > at
}

// name reads a member name without its quotes.
func (s *Scanner) name() []byte {
	at := s.i
	if !s.text() {
		return nil
	}
	raw := s.b[at:s.i]
	if bytes.IndexByte(raw, '\\') >= 0 {
		return []byte(unquote(raw))
	}
	return raw[1 : len(raw)-1]
}

// quoted reads a string with its quotes, nil when the value is none.
func (s *Scanner) quoted() []byte {
	if s.Kind() != '"' {
		s.Skip()
		return nil
	}
	at := s.i
	if !s.text() {
		return nil
	}
	return s.b[at:s.i]
}

// plain tells the bytes that stand for themselves in a string.
var plain = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= 0x20 && c != '"' && c != '\\'
	}
	return t
}()

// text checks a string and moves behind its closing quote.
func (s *Scanner) text() bool {
	if !s.eat('"') {
		return s.fail()
	}
	b, i := s.b, s.i
	for {
		for i < len(b) && plain[b[i]] {
			i++
		}
		if i >= len(b) {
			return s.fail()
		}
		if b[i] == '"' {
			s.i = i + 1
			return true
		}
		n := escape(b[i:])
		if n == 0 {
			return s.fail()
		}
		i += n
	}
}

// escape returns the length of the escape sequence b begins with, 0 if it is none.
func escape(b []byte) int {
	if len(b) < 2 || b[0] != '\\' {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b); ok {
			return 6
		}
	}
	return 0
}

// hex4 reads \uXXXX at the beginning of b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
