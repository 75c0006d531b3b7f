package transcript

import (
	"strings"
	"unicode/utf8"
)

const replacement = "\uFFFD"

// joiner puts chunks together to valid UTF-8. A chunk may end inside a character: in the first half of a surrogate
// pair, which arrives as the three bytes of WTF-8, or in the middle of a UTF-8 sequence. Such an end waits in tail
// for the next chunk. What is appended is never changed, so strings of it may be handed out without a copy.
type joiner struct {
	b    strings.Builder
	tail string // the unfinished end, at most five bytes
}

// write appends s and returns what became part of the text by it.
func (j *joiner) write(s string) string {
	if j.tail == "" && utf8.ValidString(s) {
		j.b.WriteString(s)
		return s
	}
	from := j.b.Len()
	in := j.tail + s
	j.tail = ""
	for in != "" {
		n := j.step(in)
		if n == 0 {
			j.tail = strings.Clone(in)
			break
		}
		in = in[n:]
	}
	return j.b.String()[from:]
}

// step appends the character at the start of in and returns how many bytes it took, 0 if in ends before the
// character does.
func (j *joiner) step(in string) int {
	r, n := utf8.DecodeRuneInString(in)
	if r != utf8.RuneError || n != 1 {
		j.b.WriteString(in[:n])
		return n
	}
	if high, n := surrogate(in, 0xA0, 0xAF); n == 3 {
		low, m := surrogate(in[3:], 0xB0, 0xBF)
		switch {
		case m == 3:
			j.b.WriteRune(0x10000 + (high-0xD800)<<10 + (low - 0xDC00))
			return 6
		case m == len(in)-3:
			return 0
		}
		j.b.WriteString(replacement)
		return 3
	}
	switch _, n := surrogate(in, 0xA0, 0xBF); {
	case n == 3:
		j.b.WriteString(replacement)
		return 3
	case n == len(in), !utf8.FullRuneInString(in):
		return 0
	}
	j.b.WriteString(replacement)
	return 1
}

// surrogate reads a surrogate in its WTF-8 form, whose second byte must lie in [lo, hi]. n is 3 when it is there,
// and otherwise the number of bytes of in that could begin one, which is of interest only if they are all of in.
func surrogate(in string, lo, hi byte) (r rune, n int) {
	switch {
	case in == "" || in[0] != 0xED:
		return 0, 0
	case len(in) == 1:
		return 0, 1
	case in[1] < lo || in[1] > hi:
		return 0, 0
	case len(in) == 2:
		return 0, 2
	case in[2]&0xC0 != 0x80:
		return 0, 0
	}
	return 0xD000 | rune(in[1]&0x3F)<<6 | rune(in[2]&0x3F), 3
}

// flush gives up waiting for the rest of a character and returns what it appended for it.
func (j *joiner) flush() string {
	if j.tail == "" {
		return ""
	}
	j.tail = ""
	j.b.WriteString(replacement)
	return replacement
}

// String returns the text so far, without an unfinished end.
func (j *joiner) String() string { return j.b.String() }

// clean returns s as valid UTF-8, pairs of surrogates joined.
func clean(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var j joiner
	j.write(s)
	j.flush()
	return j.String()
}
