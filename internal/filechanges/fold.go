package filechanges

import (
	"cmp"
	"slices"
	"strings"

	"fyllocode.dev/fyllo"
)

// state is the content of a file, or of a stretch of it: a text, or nothing because the file does not exist.
type state struct {
	text   string
	exists bool
}

// edit is a diff as R-CHAT-101 reads it.
type edit struct {
	from, to state
	blind    bool // it tells no old text: the file is written whole, whatever it held
	sure     bool // it tells that the file exists afterwards, even if it is empty
}

// read decides about existence: a hint says it, else a missing old text means that the file did not exist.
func read(d fyllo.Diff) edit {
	e := edit{from: stateOf(d.Old), to: stateOf(d.New)}
	e.blind = !e.from.exists
	switch d.Kind {
	case "add":
		e.from, e.to.exists, e.blind, e.sure = state{}, true, true, true
	case "delete":
		e.from.exists, e.to = true, state{}
	case "update", "modify":
		e.from.exists, e.to.exists, e.sure = true, true, true
	default:
		e.sure = e.blind
	}
	return e
}

func stateOf(b *fyllo.Body) state {
	if b == nil {
		return state{}
	}
	return state{text: b.Text, exists: true}
}

// segment is a stretch of a file: what stood there before the answer, and what stands there now.
type segment struct {
	serial   int // order of appearance
	old, cur state
	last     state // of a lost one: what was deleted with the file
}

func bySerial(a, b segment) int { return cmp.Compare(a.serial, b.serial) }

// file folds the diffs of one file.
type file struct {
	segs  []segment // those with a current text, as they were begun or widened
	lost  []segment // those whose text is gone: the file was deleted, or written whole by a blind edit
	edits int       // so far
	sure  bool      // of the last edit
	left  int       // of the budget
}

// budget bounds the cost of folding one file, in bytes looked at: about half a second, which thousands of fragments or
// thousands of edits of a large file do not reach. What comes when it is used up is compared no more and stays a segment
// of its own, which is true, if longer than it could be.
const budget = 2 << 30

// Costs besides the bytes: of one search, and of passing a segment.
const (
	findCost = 256
	passCost = 8
)

// fewSegments are always looked at, so that a file that is only ever reported whole needs no budget.
const fewSegments = 16

// apply folds one edit in (R-CHAT-101).
func (f *file) apply(e edit) {
	f.sure = e.sure
	f.edits++
	switch known := len(f.segs)+len(f.lost) > 0; {
	case !known:
		f.add(e.from, e.to)
	case !e.to.exists:
		f.remove(e)
	case e.blind, e.from.text == "" && len(f.segs) == 0: // an empty old text of a file that does not exist
		f.overwrite(e.to)
	case len(f.segs) == 0:
		f.revive(e)
	case !f.place(e):
		f.add(e.from, e.to)
	}
}

// add starts a segment, which is lost at once when the file is gone.
func (f *file) add(from, to state) {
	s := segment{serial: f.edits, old: from, cur: to}
	if to.exists {
		f.segs = append(f.segs, s)
	} else {
		s.last = from
		f.lost = append(f.lost, s)
	}
}

// overwrite makes text the whole file. It takes the place of the first segment; what the others held is gone.
func (f *file) overwrite(text state) {
	if len(f.segs) == 0 {
		last := len(f.lost) - 1
		f.segs, f.lost = append(f.segs, f.lost[last]), f.lost[:last]
	}
	for _, s := range f.segs[1:] {
		s.cur = state{}
		f.lost = append(f.lost, s)
	}
	f.segs = f.segs[:1]
	f.segs[0].cur, f.segs[0].last = text, state{}
}

// remove deletes the file. An old text that is told may still join the segments, or is one itself.
func (f *file) remove(e edit) {
	if len(f.segs) > 0 && e.from.text != "" && !f.place(edit{from: e.from, to: e.from}) {
		f.add(e.from, e.from)
	}
	for _, s := range slices.Backward(f.segs) { // so that the first is found again by overwrite
		s.cur, s.last = state{}, s.cur
		f.lost = append(f.lost, s)
	}
	f.segs = f.segs[:0]
}

// revive takes an edit of a file that the answer has deleted: something that no diff told of has brought it back. If
// the edit fits what was deleted, that came back; else nothing is known but the edit.
func (f *file) revive(e edit) {
	before := f.lost
	if f.spend(len(before) * passCost) {
		f.lost = nil
		for _, s := range before {
			if s.last.exists {
				s.cur, s.last = s.last, state{}
				f.segs = append(f.segs, s)
			} else {
				f.lost = append(f.lost, s)
			}
		}
		slices.SortFunc(f.segs, bySerial)
		if f.place(e) {
			return
		}
	}
	f.segs, f.lost = f.segs[:0], before
	f.add(e.from, e.to)
}

// place applies an edit of text to the segments it belongs to, and reports false if there is none.
func (f *file) place(e edit) bool {
	if !f.spend(len(f.segs)*passCost) && len(f.segs) > fewSegments {
		return false
	}
	return f.advance(e) || f.replace(e) || f.widen(e)
}

// advance takes an edit of exactly what a segment holds; of several, the one that came first, as the hunks of one
// change do.
func (f *file) advance(e edit) bool {
	for i := range f.segs {
		if f.segs[i].cur.text == e.from.text {
			f.segs[i].cur = e.to
			return true
		}
	}
	return false
}

// replace takes an edit of a text that stands at exactly one place.
func (f *file) replace(e edit) bool {
	if e.from.text == "" {
		return false
	}
	place, seg := -1, -1
	for i := range f.segs {
		text := f.segs[i].cur.text
		if len(text) <= len(e.from.text) {
			continue
		}
		at, n := f.find(text, e.from.text)
		if n > 1 || n == 1 && seg >= 0 {
			return false
		}
		if n == 1 {
			place, seg = at, i
		}
	}
	if seg < 0 {
		return false
	}
	cur := &f.segs[seg].cur
	cur.text = splice(cur.text, place, len(e.from.text), e.to.text)
	return true
}

// widen takes an edit of a text around segments, which become one. What stood there before is found by undoing them in
// it, the newest first: where two overlap, the newer one may have changed what the older one left.
func (f *file) widen(e edit) bool {
	merged := segment{serial: f.edits, old: state{text: e.from.text, exists: true}, cur: e.to}
	inside := make(map[int]bool)
	created := false
	for i, s := range slices.Backward(f.segs) {
		text := merged.old.text
		if s.cur.text == "" || len(s.cur.text) > len(text) {
			continue
		}
		at, n := f.find(text, s.cur.text)
		if n != 1 || !f.spend(len(text)) {
			continue
		}
		merged.old.text = splice(text, at, len(s.cur.text), s.old.text)
		merged.serial = min(merged.serial, s.serial)
		created = created || !s.old.exists
		inside[i] = true
	}
	if len(inside) == 0 {
		return false
	}
	if created {
		merged.old = state{}
	}
	kept := f.segs[:0]
	for i, s := range f.segs {
		if !inside[i] {
			kept = append(kept, s)
		}
	}
	kept = append(kept, merged)
	f.segs = kept
	return true
}

// find returns the place of part in text and how often it stands there: 0, 1, or 2 for more. With the budget used up it
// finds nothing.
func (f *file) find(text, part string) (at, n int) {
	if !f.spend(len(text) + findCost) {
		return -1, 0
	}
	at = strings.Index(text, part)
	switch {
	case at < 0:
		return at, 0
	case strings.Contains(text[at+1:], part):
		return at, 2
	default:
		return at, 1
	}
}

func (f *file) spend(n int) bool {
	f.left -= n
	return f.left >= 0
}

func splice(text string, at, length int, with string) string {
	return text[:at] + with + text[at+length:]
}

// result returns the net change; without segments there is none (R-CHAT-102).
func (f *file) result() (fyllo.FileChangeKind, []fyllo.FileSegment) {
	all := slices.Concat(f.segs, f.lost)
	slices.SortFunc(all, bySerial)
	created, held := false, false
	for _, s := range all {
		created = created || !s.old.exists
		held = held || s.old.text != ""
	}
	gone := len(f.segs) == 0
	if len(f.segs) == 1 && f.segs[0].cur.text == "" && !f.sure && held && !created {
		gone = true // without a hint, a text that became empty counts as deleted
	}
	var out []fyllo.FileSegment
	for _, s := range all {
		switch {
		case created:
			s.old = state{}
		case gone:
		default:
			s.cur.exists = true // of a lost one nothing is left, but there is a file
		}
		if gone {
			s.cur = state{}
		}
		if s.old != s.cur {
			out = append(out, fyllo.FileSegment{Old: pointer(s.old), New: pointer(s.cur)})
		}
	}
	return kindOf(created, gone), out
}

func pointer(s state) *string {
	if !s.exists {
		return nil
	}
	return &s.text
}
