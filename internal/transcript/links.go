package transcript

import "slices"

// A part names the call of its subagent by an id, which an Agent may send before the call, after it, wrongly, or in a
// circle. A link is safe if the call stands in this message and going up from it, parent by parent, comes to an end at
// a call without a parent that is known here. Only safe links are shown; a part without one is ordinary and visible
// (R-CHAT-108).

// settleLinks brings all links up to date after p was added or has named its parent. It returns the other parts that
// changed by it, ascending.
func (l *Live) settleLinks(p *part, isNew bool) []int {
	if p.parent == "" && (p.tool == nil || len(l.claims[p.tool.view.CallID]) == 0) {
		return nil
	}
	changed := map[int]bool{}
	if p.parent != "" {
		l.claims[p.parent] = append(l.claims[p.parent], p)
	}
	if t := p.tool; t != nil && l.isEndless(t) {
		l.spoil(t, changed)
	} else if t != nil && isNew {
		for _, kid := range l.claims[t.view.CallID] {
			l.link(kid, changed)
		}
	}
	l.link(p, changed)
	delete(changed, p.index)
	more := make([]int, 0, len(changed))
	for i := range changed {
		more = append(more, i)
	}
	slices.Sort(more)
	return more
}

// isEndless reports whether going up from t never ends: it comes back to t, or joins a circle above.
func (l *Live) isEndless(t *tool) bool {
	for up := l.tools[t.part.parent]; up != nil; up = l.tools[up.part.parent] {
		if up == t || up.endless {
			return true
		}
		if len(l.claims[t.view.CallID]) == 0 {
			return false // nobody is below t, so no way up leads to it
		}
	}
	return false
}

// spoil marks t and everything below it as endless and takes their links away. Parents never change, so it stays so.
func (l *Live) spoil(t *tool, changed map[int]bool) {
	t.endless = true
	for todo := []*tool{t}; len(todo) > 0; {
		t, todo = todo[len(todo)-1], todo[:len(todo)-1]
		for _, kid := range l.claims[t.view.CallID] {
			l.link(kid, changed)
			if kid.tool != nil && !kid.tool.endless {
				kid.tool.endless = true
				todo = append(todo, kid.tool)
			}
		}
	}
}

// link decides whether the link of p is safe. If that is new, p and its parent change.
func (l *Live) link(p *part, changed map[int]bool) {
	up := l.tools[p.parent]
	safe := up != nil && !up.endless
	if safe == p.linked {
		return
	}
	p.linked = safe
	changed[p.index], changed[up.part.index] = true, true
	if safe {
		up.kids++
	} else {
		up.kids--
	}
	up.showSubagent()
	if p.tool != nil {
		p.tool.view.ParentID = ""
		if safe {
			p.tool.view.ParentID = p.parent
		}
	}
}
