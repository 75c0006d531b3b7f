package search

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// unit is one rune of a word with the forms in which a line of JSON may hold it, \uXXXX apart.
type unit struct {
	fold  rune
	forms [][]byte
}

// anchor finds places in the bytes of a message file at which a line might match. It may find too many and never misses
// one: every text that matches holds, in some spelling, two neighbouring runes of a word of the query, or one.
type anchor struct {
	units []unit // of the word
	at    int    // the pair of bytes stands at the end of unit at, or half in it and half in the next
	pairs []pair
	rest  []probe // of all pairs but the first
	runes []rune  // folds that a \uXXXX must stand for, to be a place
	wide  bool    // one of them takes two of these
	all   bool    // there is nothing to look for, and everything is a place
}

// pair is two neighbouring bytes, each under a mask: case is one bit in ASCII letters.
type pair struct {
	a, b         byte
	maskA, maskB byte // ORed to the byte of the text
	split        int  // how many bytes of it belong to the units up to at
}

// newAnchor chooses the rarest anchor of a query.
func newAnchor(query []rune) *anchor {
	best, least := &anchor{all: true}, math.Inf(1)
	for word := range slices.Values(splitWords(query)) {
		units := make([]unit, len(word))
		for i, r := range word {
			units[i] = unit{fold: r, forms: forms(r)}
		}
		for i := range units {
			for _, a := range candidates(units, i) {
				if s := a.score(); s < least {
					best, least = a, s
				}
			}
		}
	}
	return best
}

func splitWords(runes []rune) (words [][]rune) {
	for len(runes) > 0 {
		i := slices.Index(runes, ' ')
		if i < 0 {
			return append(words, runes)
		}
		words, runes = append(words, runes[:i]), runes[i+1:]
	}
	return words
}

// forms returns the bytes of all cases of a rune, nil when it may stand for broken bytes or be escaped in ways that are
// not worth knowing.
func forms(r rune) (all [][]byte) {
	if unicode.IsControl(r) || r == utf8.RuneError {
		return nil
	}
	for _, c := range cases(r) {
		switch c {
		case '"', '\\':
			all = append(all, []byte{'\\', byte(c)})
		case '/':
			all = append(all, []byte(`\/`), []byte(`/`))
		default:
			all = append(all, utf8.AppendRune(nil, c))
		}
	}
	return all
}

// candidates returns the anchors at unit i: within it, between it and the next, and its last byte alone.
func candidates(units []unit, i int) (all []*anchor) {
	if units[i].forms == nil {
		return nil
	}
	inside := &anchor{units: units, at: i, runes: []rune{units[i].fold}}
	for _, f := range units[i].forms {
		if n := len(f); n == 1 {
			inside.add(pair{a: f[0], b: math.MaxUint8, maskB: math.MaxUint8, split: 1})
		} else {
			inside.add(pair{a: f[n-2], b: f[n-1], split: 2})
		}
	}
	all = append(all, inside)
	if i+1 < len(units) && units[i+1].forms != nil {
		between := &anchor{units: units, at: i, runes: []rune{units[i].fold, units[i+1].fold}}
		for _, f := range units[i].forms {
			for _, g := range units[i+1].forms {
				between.add(pair{a: f[len(f)-1], b: g[0], split: 1})
			}
		}
		all = append(all, between)
	}
	for _, a := range all {
		a.wide = slices.ContainsFunc(a.runes, func(r rune) bool { return r > math.MaxUint16 })
	}
	return all
}

// add takes a pair in unless it is there: both cases of an ASCII letter are one pair.
func (a *anchor) add(p pair) {
	p.a, p.maskA = caseless(p.a, p.maskA)
	p.b, p.maskB = caseless(p.b, p.maskB)
	if slices.Contains(a.pairs, p) {
		return
	}
	if len(a.pairs) > 0 {
		a.rest = append(a.rest, p.probe())
	}
	a.pairs = append(a.pairs, p)
}

func caseless(c, mask byte) (byte, byte) {
	const bit = 'a' - 'A'
	if lower := c | bit; mask == 0 && 'a' <= lower && lower <= 'z' {
		return lower, bit
	}
	return c, mask
}

// score is what the anchor costs: how often its pairs are to be expected in a million bytes, and what it costs to look
// for more than one, measured in places that are found.
func (a *anchor) score() float64 {
	const more = 20_000
	sum := float64(more * (len(a.pairs) - 1))
	for _, p := range a.pairs {
		sum += commonness(p.a, p.maskA) * commonness(p.b, p.maskB)
	}
	return sum
}

// frequent holds ASCII bytes of messages, the most frequent first.
const frequent = " etaonirsl\"dc\\umpnfhgbv-.,:y0w1_x{}[]/k2q3jz459678()='"

// commonness is a guess at how often a byte stands in message files, per thousand.
func commonness(c, mask byte) float64 {
	switch {
	case mask == math.MaxUint8:
		return 1000
	case c >= 0xC0:
		return 30 // leads a letter of other scripts, of which there are few
	case c >= 0x80:
		return 5
	}
	if i := bytes.IndexByte([]byte(frequent), c); i >= 0 {
		return 80 / (1 + float64(i)/4)
	}
	return 2
}

const (
	ones  = 0x0101010101010101
	highs = ones << 7
)

// probe looks for a pair in eight bytes at a time.
type probe struct{ a, b, maskA, maskB uint64 }

func (p pair) probe() probe {
	return probe{ones * uint64(p.a), ones * uint64(p.b), ones * uint64(p.maskA), ones * uint64(p.maskB)}
}

// in marks, by their highest bits, at least the bytes of x at which the pair begins; y are the bytes one further on. The
// other bits mean nothing.
func (p probe) in(x, y uint64) uint64 {
	a, b := (x|p.maskA)^p.a, (y|p.maskB)^p.b
	return (a - ones) &^ a & ((b - ones) &^ b) // what is 0 gets its highest bit
}

// escape is how an escape sequence for any rune begins.
var escape = pair{a: '\\', b: 'u'}

// next returns the first place at or behind from at which a line of b might match, -1 if there is none. A pair that
// begins with the last byte of b is not seen.
func (a *anchor) next(b []byte, from int) int {
	if a.all {
		if from < len(b) {
			return from
		}
		return -1
	}
	i := from
	escapes, first := escape.probe(), a.pairs[0].probe()
	for ; i+17 <= len(b); i += 16 {
		// As few steps as possible: most bytes that a search reads come by here and nowhere else.
		w := b[i : i+17 : i+17]
		x, y := binary.LittleEndian.Uint64(w), binary.LittleEndian.Uint64(w[1:])
		low := escapes.in(x, y) | first.in(x, y)
		x, y = binary.LittleEndian.Uint64(w[8:]), binary.LittleEndian.Uint64(w[9:])
		high := escapes.in(x, y) | first.in(x, y)
		if len(a.pairs) > 1 {
			low, high = a.others(w, low, high)
		}
		if (low|high)&highs == 0 {
			continue
		}
		if at := a.marked(b, i, low&highs); at >= 0 {
			return at
		}
		if at := a.marked(b, i+8, high&highs); at >= 0 {
			return at
		}
	}
	for ; i+1 < len(b); i++ {
		if a.place(b, i) {
			return i
		}
	}
	return -1
}

// others adds the marks of all pairs but the first, in 16 bytes and the one behind them.
func (a *anchor) others(w []byte, low, high uint64) (uint64, uint64) {
	x, y := binary.LittleEndian.Uint64(w), binary.LittleEndian.Uint64(w[1:])
	u, v := binary.LittleEndian.Uint64(w[8:]), binary.LittleEndian.Uint64(w[9:])
	for _, p := range a.rest {
		low |= p.in(x, y)
		high |= p.in(u, v)
	}
	return low, high
}

// marked returns the first place among the marked bytes from i, -1 if there is none.
func (a *anchor) marked(b []byte, i int, marks uint64) int {
	for ; marks != 0; marks &= marks - 1 {
		if at := i + bits.TrailingZeros64(marks)/8; a.place(b, at) {
			return at
		}
	}
	return -1
}

// place reports whether a line might match because of the pair of bytes at i.
func (a *anchor) place(b []byte, i int) bool {
	if b[i] == escape.a && b[i+1] == escape.b && a.mayStand(b[i+2:min(i+6, len(b))]) {
		return true
	}
	for _, p := range a.pairs {
		if b[i]|p.maskA == p.a && b[i+1]|p.maskB == p.b && a.before(b, i+p.split) && a.behind(b, i+p.split) {
			return true
		}
	}
	return false
}

// mayStand reports whether an escape sequence with these digits may stand for a rune of the anchor.
func (a *anchor) mayStand(digits []byte) bool {
	n, err := strconv.ParseUint(string(digits), 16, 32)
	switch {
	case err != nil || len(digits) < 4:
		return true // cut off, or for the reader to judge
	case 0xD800 <= n && n < 0xE000:
		return a.wide
	}
	return slices.Contains(a.runes, fold(rune(n)))
}

// before reports whether the units up to a.at may end at pos.
func (a *anchor) before(b []byte, pos int) bool {
	for _, u := range slices.Backward(a.units[:a.at+1]) {
		if u.open() {
			return true
		}
		n := 0
		for _, f := range u.forms {
			if bytes.HasSuffix(b[:pos], f) {
				n = len(f)
			}
		}
		if n == 0 {
			// An escape sequence may stand there. Its digits may have been taken for units, and its u as well.
			return pos < 6 || bytes.Contains(b[pos-6:min(pos+1, len(b))], []byte{escape.a, escape.b})
		}
		pos -= n
	}
	return true
}

// behind reports whether the units behind a.at may begin at pos.
func (a *anchor) behind(b []byte, pos int) bool {
	for _, u := range a.units[a.at+1:] {
		if u.open() {
			return true
		}
		n := 0
		for _, f := range u.forms {
			if bytes.HasPrefix(b[pos:], f) {
				n = len(f)
			}
		}
		if n == 0 {
			return len(b)-pos < 6 || b[pos] == escape.a && b[pos+1] == escape.b
		}
		pos += n
	}
	return true
}

// open says that nothing can be told from what stands at the place of u, nor beyond it.
func (u unit) open() bool { return u.forms == nil || u.fold == '/' }
