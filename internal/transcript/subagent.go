package transcript

import "fyllocode.dev/fyllo"

// subagent is what was told about the subagent of a call, shown only when the call is the root of one.
type subagent struct {
	marked    bool           // by the Agent, from the first event on (R-CHAT-107)
	told      fyllo.Subagent // its pointers are replaced, never changed in place
	agentType string         // from the input, shown as long as the Agent does not say it
}

// learn takes what an event says about a subagent. Fields merge; one that is not said stays (R-CHAT-092).
func (s *subagent) learn(p *fyllo.ToolPatch, facts inputFacts) {
	s.marked = s.marked || p.IsSubagent
	if facts.prompt != "" {
		setBody(&s.told.Prompt, textBody(facts.prompt))
	}
	s.agentType = firstOf(facts.agentType, s.agentType)
	if p.Subagent == nil {
		return
	}
	said, told := p.Subagent, &s.told
	if said.Prompt != nil {
		setBody(&told.Prompt, said.Prompt)
	}
	told.Status = firstOf(clean(said.Status), told.Status)
	told.AgentType = firstOf(clean(said.AgentType), told.AgentType)
	told.Model = firstOf(clean(said.Model), told.Model)
	setCount(&told.Tokens, said.Tokens)
	setCount(&told.DurationMS, said.DurationMS)
	setCount(&told.ToolUses, said.ToolUses)
	told.Stats = mergeStats(told.Stats, said.Stats)
}

// mergeStats returns the counts of old with those that are said; old itself when nothing changes.
func mergeStats(old, said *fyllo.ToolStats) *fyllo.ToolStats {
	if said == nil {
		return old
	}
	var next fyllo.ToolStats
	if old != nil {
		next = *old
	}
	setCount(&next.Reads, said.Reads)
	setCount(&next.Searches, said.Searches)
	setCount(&next.Commands, said.Commands)
	setCount(&next.Edits, said.Edits)
	setCount(&next.LinesAdded, said.LinesAdded)
	setCount(&next.LinesRemoved, said.LinesRemoved)
	setCount(&next.Others, said.Others)
	if old != nil && next == *old || next == (fyllo.ToolStats{}) {
		return old
	}
	return &next
}

// setCount replaces *dst if a count is said that differs, so that its identity tells whether it changed.
func setCount(dst **int64, said *int64) {
	if said != nil && (*dst == nil || **dst != *said) {
		n := *said
		*dst = &n
	}
}

// showSubagent brings the view up to date: a call is the root of a subagent if the Agent marks it, or if another part
// has a safe link to it (R-CHAT-106).
func (t *tool) showSubagent() {
	if !t.marked && t.kids == 0 {
		t.view.Subagent = nil
		return
	}
	next := t.told
	next.AgentType = firstOf(next.AgentType, t.agentType)
	if t.view.Subagent == nil || *t.view.Subagent != next {
		t.view.Subagent = &next
	}
}
