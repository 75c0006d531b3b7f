package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"fyllocode.dev/fyllo"
)

// maxQuery is how long a query may be, in UTF-16 units (R-CHAT-019).
const maxQuery = 200

// Query is what is searched for. It does not change and may be used by any number of goroutines.
type Query struct {
	runes  []rune // folded; white space is single spaces, none at the ends
	back   []int  // by the number of runes that match: how many still do when the next one does not
	anchor *anchor
}

// NewQuery reads what somebody typed. nil means that it is blank: there is nothing to search for. A text of more than
// 200 UTF-16 units, blanks at its ends not counted, is INVALID_REQUEST.
func NewQuery(text string) (*Query, error) {
	text = strings.TrimFunc(strings.ToValidUTF8(text, string(utf8.RuneError)), unicode.IsSpace)
	if n := fyllo.UTF16Len(text); n > maxQuery {
		return nil, fyllo.Errorf(fyllo.CodeInvalidRequest, "search: the text has %d characters; at most %d are possible", n, maxQuery)
	}
	words := strings.FieldsFunc(text, unicode.IsSpace)
	if len(words) == 0 {
		return nil, nil //nolint:nilnil // blank is no failure
	}
	q := &Query{runes: []rune(strings.Join(words, " "))}
	for i, r := range q.runes {
		q.runes[i] = fold(r)
	}
	q.back = fallbacks(q.runes)
	q.anchor = newAnchor(q.runes)
	return q, nil
}

// fallbacks is the table of Knuth, Morris and Pratt.
func fallbacks(runes []rune) []int {
	back := make([]int, len(runes)+1)
	k := 0
	for i := 1; i < len(runes); i++ {
		for k > 0 && runes[i] != runes[k] {
			k = back[k]
		}
		if runes[i] == runes[k] {
			k++
		}
		back[i+1] = k
	}
	return back
}

// next returns how many runes match after r, a normalised rune, when n < len(q.runes) did before it.
func (q *Query) next(n int, r rune) int {
	r = fold(r)
	for n > 0 && q.runes[n] != r {
		n = q.back[n]
	}
	if q.runes[n] == r {
		n++
	}
	return n
}

// find returns where the first hit at or behind the byte from stands in a text, as bytes of the text.
func (q *Query) find(text string, from int) (start, end int, ok bool) {
	var some [256]int
	starts := some[:0] // of the normalised runes
	n, space := 0, false
	for i, r := range text[from:] {
		if unicode.IsSpace(r) {
			if space {
				continue
			}
			r = ' '
		}
		space = r == ' '
		starts = append(starts, from+i)
		if n = q.next(n, r); n == len(q.runes) {
			_, size := utf8.DecodeRuneInString(text[from+i:])
			return starts[len(starts)-n], from + i + size, true
		}
	}
	return 0, 0, false
}

// mark returns the place of the bytes from start to end of text.
func mark(text string, start, end int) fyllo.SearchMark {
	return fyllo.SearchMark{Start: fyllo.UTF16Len(text[:start]), Length: fyllo.UTF16Len(text[start:end])}
}
