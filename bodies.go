package fyllo

import "slices"

// Bodies yields every place of p where a Body may stand, nil or not. It is the only list of them. Who replaces one
// changes p, so p must not be shared: see Detached.
func (p *Part) Bodies(yield func(place **Body) bool) {
	for a := range p.Attachments {
		if !yield(&a.Data) {
			return
		}
	}
	t := p.Tool
	if t == nil || !yield(&t.Input) || !yield(&t.Output) || !yield(&t.Error) {
		return
	}
	for i := range t.Diffs {
		if !yield(&t.Diffs[i].Old) || !yield(&t.Diffs[i].New) {
			return
		}
	}
	if t.Subagent != nil {
		yield(&t.Subagent.Prompt)
	}
}

// Attachments yields every Attachment of p, the part's own and those in the result of a tool. Who changes one changes p.
func (p *Part) Attachments(yield func(*Attachment) bool) {
	if p.Attachment != nil && !yield(p.Attachment) || p.Tool == nil {
		return
	}
	for i := range p.Tool.Media {
		if !yield(&p.Tool.Media[i]) {
			return
		}
	}
}

// Detached returns a copy of p whose bodies and attachments can be replaced without changing p. The bodies themselves
// are shared.
func (p Part) Detached() Part {
	if p.Attachment != nil {
		a := *p.Attachment
		p.Attachment = &a
	}
	if p.Tool != nil {
		t := *p.Tool
		t.Diffs, t.Media = slices.Clone(t.Diffs), slices.Clone(t.Media)
		if t.Subagent != nil {
			s := *t.Subagent
			t.Subagent = &s
		}
		p.Tool = &t
	}
	return p
}
