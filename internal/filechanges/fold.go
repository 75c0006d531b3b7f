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
}

func bySerial(a, b segment) int { return cmp.Compare(a.serial, b.serial) }

// file folds the diffs of one file.
type file struct {
	segs   []segment // those with a current text, in order of appearance
	lost   []segment // those whose place is gone: the file was deleted, or written whole by a blind edit
	serial int
	sure   bool // of the last edit
	left   int  // of the budget
}

// budget bounds the cost of folding one file, in bytes looked at: a fraction of a second. What comes when it is used
// up is not compared any more and stays a segment of its own, which is true, if less short.
const budget = 2 << 30

// lookCost is what looking at a segment costs besides its bytes.
const lookCost = 64

// apply folds one edit in (R-CHAT-101).
func (f *file) apply(e edit) {
	f.sure = e.sure
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
	s := segment{serial: f.serial, old: from, cur: to}
	f.serial++
	if to.exists {
		f.segs = append(f.segs, s)
	} else {
		f.lost = append(f.lost, s)
	}
}

// overwrite makes text the whole file. It takes the place of the first segment; what the others held is gone.
func (f *file) overwrite(text state) {
	if len(f.segs) == 0 {
		f.segs, f.lost = append(f.segs, f.lost[0]), f.lost[1:]
	}
	f.lose(f.segs[1:])
	f.segs = f.segs[:1]
	f.segs[0].cur = text
}

// remove deletes the file. An old text that is told may still join the segments, or is one itself.
func (f *file) remove(e edit) {
	if len(f.segs) > 0 && e.from.text != "" && !f.place(e) {
		f.add(e.from, state{exists: true})
	}
	f.lose(f.segs)
	f.segs = f.segs[:0]
}

func (f *file) lose(segs []segment) {
	for _, s := range segs {
		s.cur = state{}
		f.lost = append(f.lost, s)
	}
}

// revive takes an edit of a file that the answer has deleted: something that no diff told of has brought it back. If
// the edit fits what was there before, that came back; else nothing is known but the edit.
func (f *file) revive(e edit) {
	before := f.lost
	if f.spend(len(before) * lookCost) {
		f.lost = nil
		for _, s := range before {
			s.cur = s.old
			if s.old.exists {
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

// widen takes an edit of a text around segments: it becomes the one segment that they are part of. The later ones are
// undone first, since where two overlap the later one has changed the text of the earlier one.
func (f *file) widen(e edit) bool {
	original := state{text: e.from.text, exists: true}
	var inside []int
	for i, s := range slices.Backward(f.segs) {
		if s.cur.text == "" || len(s.cur.text) > len(original.text) {
			continue
		}
		at, n := f.find(original.text, s.cur.text)
		if n != 1 || !f.spend(len(original.text)) {
			continue
		}
		original.text = splice(original.text, at, len(s.cur.text), s.old.text)
		original.exists = original.exists && s.old.exists
		inside = append(inside, i)
	}
	if len(inside) == 0 {
		return false
	}
	if !original.exists {
		original.text = ""
	}
	first := inside[len(inside)-1]
	f.segs[first].old, f.segs[first].cur = original, e.to
	for _, i := range inside[:len(inside)-1] {
		f.segs = slices.Delete(f.segs, i, i+1)
	}
	return true
}

// find returns the place of part in text and how often it stands there: 0, 1, or 2 for more. Without budget it finds
// nothing.
func (f *file) find(text, part string) (at, n int) {
	if !f.spend(len(text) + lookCost) {
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
