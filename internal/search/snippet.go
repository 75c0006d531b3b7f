package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"fyllocode.dev/fyllo"
)

const (
	maxSnippet = 160 // UTF-16 units, which are never fewer than characters (R-CHAT-022)
	leadUnits  = 40  // of what stands before a hit, as long as enough stands behind it
	wordRunes  = 16  // a cut moves by as much to fall between words
	ellipsis   = "…"
)

// Snippet is what stands around a hit: one line, at most 160 UTF-16 units, with … where something is cut off.
type Snippet struct {
	Text string
	Mark fyllo.SearchMark // the hit; its beginning if it does not fit
}

// finder looks for the first hit in a text that comes rune by rune, and keeps what stands around it.
type finder struct {
	q      *Query
	match  int    // how many runes of the query match, all after the hit
	space  bool   // the last rune was white space
	recent []rune // the last normalised runes, until the hit is found; its end is the hit
	cut    bool   // something came before them
	after  []rune // what came behind the hit
	more   bool   // and not all of it was kept
}

func (f *finder) reset() {
	f.match, f.space, f.cut, f.more = 0, false, false, false
	f.recent, f.after = f.recent[:0], f.after[:0]
}

func (f *finder) found() bool { return f.match == len(f.q.runes) }

// add takes the next rune of the text.
func (f *finder) add(r rune) {
	if isSpace(r) {
		if f.space {
			return
		}
		r = ' '
	}
	f.space = r == ' '
	if f.found() {
		if len(f.after) < maxSnippet {
			f.after = append(f.after, r)
		} else if r != ' ' {
			f.more = true
		}
		return
	}
	if keep := maxSnippet + len(f.q.runes); len(f.recent) == 2*keep {
		f.recent = f.recent[:copy(f.recent, f.recent[keep:])]
		f.cut = true
	}
	f.recent = append(f.recent, r)
	if f.match > 0 || fold(r) == f.q.runes[0] {
		f.match = f.q.next(f.match, r)
	}
}

func isSpace(r rune) bool {
	if r < utf8.RuneSelf {
		return r == ' ' || '\t' <= r && r <= '\r'
	}
	return unicode.IsSpace(r)
}

// snippet returns what stands around the hit that was found.
func (f *finder) snippet() Snippet {
	at := len(f.recent) - len(f.q.runes)
	before, hit, after := f.recent[:at], f.recent[at:], f.after
	cutBefore, cutAfter := f.cut, f.more
	if units(hit) > maxSnippet-2 {
		kept := fits(hit, maxSnippet-2)
		hit, after, cutAfter = hit[:kept], nil, true
		cutBefore = cutBefore || len(before) > 0
		before = nil
	}
	room := maxSnippet - 2 - units(hit) // two for the signs of a cut
	n := fits(after, room-min(leadUnits, units(before)))
	if n < len(after) {
		n, cutAfter = wordEnd(after, n), true
	}
	after = after[:n]
	lead := fitsBack(before, room-units(after))
	if lead < len(before) {
		lead, cutBefore = wordStart(before, lead), true
	}
	before = before[len(before)-lead:]
	return assemble(before, hit, after, cutBefore, cutAfter)
}

func assemble(before, hit, after []rune, cutBefore, cutAfter bool) Snippet {
	head := strings.TrimLeft(string(before), " ")
	tail := strings.TrimRight(string(after), " ")
	if cutBefore {
		head = ellipsis + head
	}
	if cutAfter {
		tail += ellipsis
	}
	words := string(hit)
	return Snippet{
		Text: head + words + tail,
		Mark: fyllo.SearchMark{Start: fyllo.UTF16Len(head), Length: fyllo.UTF16Len(words)},
	}
}

func units(runes []rune) (n int) {
	for _, r := range runes {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// fits returns how many runes have room from the beginning.
func fits(runes []rune, room int) int {
	for i, r := range runes {
		if room -= max(utf16.RuneLen(r), 1); room < 0 {
			return i
		}
	}
	return len(runes)
}

// fitsBack returns how many runes have room from the end.
func fitsBack(runes []rune, room int) int {
	for i, r := range slices.Backward(runes) {
		if room -= max(utf16.RuneLen(r), 1); room < 0 {
			return len(runes) - 1 - i
		}
	}
	return len(runes)
}

// wordEnd moves a cut behind n runes back to the end of a word, or else of a character as a reader sees it.
func wordEnd(runes []rune, n int) int {
	for i := n; i > max(n-wordRunes, 0); i-- {
		if runes[i] == ' ' {
			return i
		}
	}
	for n > 0 && joins(runes[n-1], runes[n]) {
		n--
	}
	return n
}

// wordStart does the same for a cut before the last n runes, and moves it on.
func wordStart(runes []rune, n int) int {
	at := len(runes) - n
	for i := at; i < min(at+wordRunes, len(runes)); i++ {
		if runes[i] == ' ' {
			return len(runes) - i - 1
		}
	}
	for at < len(runes) && joins(runes[at-1], runes[at]) {
		at++
	}
	return len(runes) - at
}

// joins reports whether b belongs to what a reader sees as a: marks, and what makes one emoji of several runes.
func joins(a, b rune) bool {
	const joiner, lightest, darkest = '\u200D', '\U0001F3FB', '\U0001F3FF'
	return unicode.Is(unicode.M, b) || a == joiner || b == joiner || lightest <= b && b <= darkest
}
