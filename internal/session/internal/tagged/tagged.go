// Package tagged puts the tags of an Agent's words into what windows are told: into whole messages, and into the answer that
// is being written as soon as they are certain. Nothing of it is stored (R-TAG-022).
package tagged

import (
	"slices"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/tags"
)

// Message returns m with the tags of a complete text in each part that can have some. m itself is not changed.
func Message(m fyllo.Message) fyllo.Message {
	copied := false
	for i, p := range m.Parts {
		if m.Role != fyllo.RoleAssistant || !mayHave(&p) {
			continue
		}
		found := tags.Of(p.Text)
		if found == nil {
			continue
		}
		if !copied {
			m.Parts, copied = slices.Clone(m.Parts), true
		}
		m.Parts[i].Tags = found
	}
	return m
}

// mayHave reports whether a part of an answer can have tags: text that is not a subagent's (R-TAG-021).
func mayHave(p *fyllo.Part) bool { return p.Type == fyllo.PartText && p.ParentID == "" }

// Answer follows the parts of one answer while it is written. Its zero value is ready; it belongs to the answer's owner.
type Answer struct {
	parts map[int]*reading
	open  []int // parts whose text may still grow
}

// reading is what is known of one text.
type reading struct {
	analyser tags.Analyser
	text     string // so far
	found    []fyllo.Tag
}

// Read goes on with the part at index, which may have grown, and reports whether it has tags that it did not have before.
func (a *Answer) Read(index int, p *fyllo.Part) bool {
	if !mayHave(p) {
		return false
	}
	r := a.parts[index]
	if r == nil {
		if a.parts == nil {
			a.parts = make(map[int]*reading)
		}
		r = &reading{}
		a.parts[index] = r
		a.open = append(a.open, index)
	}
	r.text = p.Text
	return r.add(r.analyser.Read(r.text))
}

// End ends the parts for which over returns true, and returns those that have new tags by it.
func (a *Answer) End(over func(index int) bool) (more []int) {
	a.open = slices.DeleteFunc(a.open, func(i int) bool {
		if !over(i) {
			return false
		}
		if r := a.parts[i]; r.add(r.analyser.End(r.text)) {
			more = append(more, i)
		}
		return true
	})
	return more
}

func (r *reading) add(found []fyllo.Tag) bool {
	r.found = append(r.found, found...)
	return len(found) > 0
}

// Put gives p, the part at index, the tags that are certain.
func (a *Answer) Put(index int, p *fyllo.Part) {
	if r := a.parts[index]; r != nil && mayHave(p) {
		p.Tags = slices.Clip(r.found)
	}
}
