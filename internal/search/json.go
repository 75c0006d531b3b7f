package search

import (
	"unicode/utf16"
	"unicode/utf8"
)

const (
	maxDepth = 10_000
	maxName  = 4096 // bytes of a member's name or of an id; a longer one is none of ours
)

// reader reads JSON from a source as a stream: no value is ever whole in memory. What counts as JSON is RFC 8259 with
// broken UTF-8 inside of strings, as for all who read message files. Any other line is errDamaged.
type reader struct {
	source
	depth int
	name  []byte // of short
}

// space goes behind white space and returns the next byte.
func (r *reader) space() byte {
	for {
		switch c := r.peek(); c {
		case ' ', '\t', '\r':
			r.take()
		default:
			return c
		}
	}
}

func (r *reader) expect(c byte) error {
	if r.space() != c {
		return errDamaged
	}
	r.take()
	return nil
}

// object reads an object and calls member for each name, valid during the call; member reads the value.
func (r *reader) object(member func(name string) error) error {
	return r.list('{', '}', func(int) error {
		name, err := r.short()
		if err == nil {
			err = r.expect(':')
		}
		if err != nil {
			return err
		}
		return member(name)
	})
}

// list reads what stands between open and end, with a comma between two items.
func (r *reader) list(open, end byte, item func(i int) error) error {
	if err := r.expect(open); err != nil {
		return err
	}
	if r.depth++; r.depth > maxDepth {
		return errDamaged
	}
	defer func() { r.depth-- }()
	if r.space() == end {
		r.take()
		return nil
	}
	for i := 0; ; i++ {
		if err := item(i); err != nil {
			return err
		}
		switch r.space() {
		case ',':
			r.take()
		case end:
			r.take()
			return nil
		default:
			return errDamaged
		}
	}
}

// null reads a null if there is one.
func (r *reader) null() (bool, error) {
	if r.space() != 'n' {
		return false, nil
	}
	return true, r.literal("null")
}

// short returns a string, or "" for null. Of one that is too long it returns the beginning.
func (r *reader) short() (string, error) {
	if null, err := r.null(); null || err != nil {
		return "", err
	}
	r.name = r.name[:0]
	err := r.text(func(c rune) {
		if len(r.name) < maxName {
			r.name = utf8.AppendRune(r.name, c)
		}
	})
	return string(r.name), err
}

// text reads a string and gives its code points to each; half surrogates and broken bytes are U+FFFD.
func (r *reader) text(each func(rune)) error {
	if err := r.expect('"'); err != nil {
		return err
	}
	for {
		plain := 0
		for _, c := range r.have {
			if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
				break
			}
			each(rune(c))
			plain++
		}
		r.have = r.have[plain:]
		switch c := r.peek(); {
		case c == '"':
			r.take()
			return nil
		case c < ' ': // the end of the line is one of these
			return errDamaged
		case c == '\\':
			if err := r.escape(each); err != nil {
				return err
			}
		case c >= utf8.RuneSelf:
			each(r.takeRune())
		}
	}
}

// escape reads one escape sequence, or the two of a pair of surrogates.
func (r *reader) escape(each func(rune)) error {
	r.take()
	return r.escapeRest(each)
}

// escapeRest is escape behind the backslash.
func (r *reader) escapeRest(each func(rune)) error {
	switch c := r.take(); c {
	case '"', '\\', '/':
		each(rune(c))
	case 'b':
		each('\b')
	case 'f':
		each('\f')
	case 'n':
		each('\n')
	case 'r':
		each('\r')
	case 't':
		each('\t')
	case 'u':
		return r.hex(each)
	default:
		return errDamaged
	}
	return nil
}

// hex reads the digits of \uXXXX, and what follows a half surrogate as long as it is one too.
func (r *reader) hex(each func(rune)) error {
	c, err := r.digits()
	for err == nil && utf16.IsSurrogate(c) {
		if r.peek() != '\\' {
			each(utf8.RuneError)
			return nil
		}
		r.take()
		if r.peek() != 'u' {
			each(utf8.RuneError)
			return r.escapeRest(each)
		}
		r.take()
		var low rune
		if low, err = r.digits(); err != nil {
			return err
		}
		if whole := utf16.DecodeRune(c, low); whole != utf8.RuneError {
			each(whole)
			return nil
		}
		each(utf8.RuneError)
		c = low
	}
	if err == nil {
		each(c)
	}
	return err
}

func (r *reader) digits() (rune, error) {
	var n rune
	for range 4 {
		c := r.take()
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, errDamaged
		}
		n = n<<4 | rune(c)
	}
	return n, nil
}

// skip reads any value.
func (r *reader) skip() error {
	switch c := r.space(); c {
	case '{':
		return r.list('{', '}', func(int) error {
			if err := r.skipText(); err != nil {
				return err
			}
			if err := r.expect(':'); err != nil {
				return err
			}
			return r.skip()
		})
	case '[':
		return r.list('[', ']', func(int) error { return r.skip() })
	case '"':
		return r.skipText()
	case 't':
		return r.literal("true")
	case 'f':
		return r.literal("false")
	case 'n':
		return r.literal("null")
	default:
		return r.number()
	}
}

// skipText reads a string that nobody asks for, which most bytes of a transcript belong to.
func (r *reader) skipText() error {
	if err := r.expect('"'); err != nil {
		return err
	}
	for {
		i := 0
		for i < len(r.have) && r.have[i] >= ' ' && r.have[i] != '"' && r.have[i] != '\\' {
			i++
		}
		r.have = r.have[i:]
		switch c := r.peek(); {
		case c == '"':
			r.take()
			return nil
		case c < ' ':
			return errDamaged
		case c == '\\':
			if err := r.escape(func(rune) {}); err != nil {
				return err
			}
		}
	}
}

func (r *reader) literal(word string) error {
	for i := range len(word) {
		if r.take() != word[i] {
			return errDamaged
		}
	}
	return nil
}

func (r *reader) number() error {
	if r.peek() == '-' {
		r.take()
	}
	if r.peek() == '0' {
		r.take()
	} else if err := r.run(); err != nil {
		return err
	}
	if r.peek() == '.' {
		r.take()
		if err := r.run(); err != nil {
			return err
		}
	}
	if r.peek()|0x20 == 'e' {
		r.take()
		if c := r.peek(); c == '+' || c == '-' {
			r.take()
		}
		return r.run()
	}
	return nil
}

// run reads one digit or more.
func (r *reader) run() error {
	n := 0
	for '0' <= r.peek() && r.peek() <= '9' {
		r.take()
		n++
	}
	if n == 0 {
		return errDamaged
	}
	return nil
}
