package transcript

import (
	"strings"
	"time"

	"fyllocode.dev/fyllo"
)

// child is a subagent that has an ACP session of its own. It is shown as a call made up for it, and what comes under
// its session id belongs to that call, with the session id in front of its own call ids: they are unique only within
// their session (R-ACP-012). So both forms of subagents end in one model.
type child struct {
	session            fyllo.ACPSessionID
	call               string // id of its call
	parent             string // id of its parent's call, "" for the Agent
	announced          bool
	title, description string
	cwd                string
	prompt             []told           // what it was told, in order
	said               map[string]*part // what it told others, by message id
}

// told is a message to a subagent.
type told struct{ id, text string }

// callID returns the id in the message of a call of c; nil is the Agent itself.
func (c *child) callID(id string) string {
	if c == nil || id == "" {
		return id
	}
	return string(c.session) + "/" + id
}

// parentOf returns the call that something of c belongs to which names parent, maybe "".
func (c *child) parentOf(parent string) string {
	if c != nil && parent == "" {
		return c.call
	}
	return c.callID(parent)
}

// speaker returns the child that speaks under a session id, nil for the Agent itself. A child announced in an earlier
// turn is met here first, and gets its call now.
func (l *Live) speaker(id fyllo.ACPSessionID, at time.Time) (*child, Change) {
	if id == l.session || id == "" {
		return nil, Change{}
	}
	c := l.children[id]
	if c != nil || l.session == "" {
		return c, Change{}
	}
	return l.adopt(id, at)
}

// adopt makes a child and its call.
func (l *Live) adopt(id fyllo.ACPSessionID, at time.Time) (*child, Change) {
	c := &child{session: id, call: "subagent:" + string(id), said: map[string]*part{}}
	l.children[id] = c
	title := "Subagent"
	return c, l.patch(c.call, &fyllo.ToolPatch{CallID: c.call, Start: true, Title: &title, IsSubagent: true}, "", l.cwd, at)
}

// announce folds what a parent says about a child. A child has one parent, the first that announces it, and the ACP
// session of the turn is nobody's child.
func (l *Live) announce(from fyllo.ACPSessionID, u *fyllo.ChildPatch, at time.Time) Change {
	if u.SessionID == "" || u.SessionID == from || u.SessionID == l.session {
		return Change{}
	}
	above, made := l.speaker(from, at)
	parent := above.parentOf("")
	c := l.children[u.SessionID]
	if c == nil {
		var more Change
		c, more = l.adopt(u.SessionID, at)
		made = joined(made, more)
	}
	if c.announced && c.parent != parent {
		return made
	}
	c.announced, c.parent = true, parent
	return joined(made, l.patch(c.call, c.describe(u, l.tools[c.call].view.Status), parent, l.cwd, at))
}

// describe makes a patch of the child's call from what is said about it.
func (c *child) describe(u *fyllo.ChildPatch, now fyllo.ToolStatus) *fyllo.ToolPatch {
	p := &fyllo.ToolPatch{CallID: c.call, IsSubagent: true, Subagent: &fyllo.Subagent{Status: firstOf(u.StopReason, u.State)}}
	c.title = firstOf(clean(deref(u.Title)), c.title)
	c.description = firstOf(clean(deref(u.Description)), c.description)
	c.cwd = firstOf(clean(u.Cwd), c.cwd)
	title := firstOf(c.title, c.description)
	if c.title != "" && c.description != "" {
		title += ": " + c.description
	}
	p.Title = &title // empty: no change
	if status := childStatus(u.State, u.StopReason, now); status != "" {
		p.Status = (*string)(&status)
	}
	return p
}

// childStatus is the status of a child's call, "" when its state says nothing about that. A child that does nothing
// has completed what it was told, unless the reason why it stopped says otherwise, or it was not at work at all.
func childStatus(state, reason string, now fyllo.ToolStatus) fyllo.ToolStatus {
	switch state {
	case "running", "requires_action", "in_progress":
		return fyllo.ToolInProgress
	case "completed":
		return fyllo.ToolCompleted
	case "failed", "error", "cancelled":
		return fyllo.ToolFailed
	case "idle":
	default:
		return ""
	}
	switch {
	case reason == "cancelled" || reason == "refusal" || reason == "error" || reason == "failed":
		return fyllo.ToolFailed
	case reason != "" || now == fyllo.ToolInProgress:
		return fyllo.ToolCompleted
	}
	return ""
}

// message folds a message between ACP sessions: one to a child is its prompt, one of a child is its words. What the
// Agent's own session says to nobody we know is not shown.
func (l *Live) message(under fyllo.ACPSessionID, m *fyllo.SessionMessage, at time.Time) Change {
	c, made := l.speaker(under, at)
	text := contentText(&fyllo.ToolPatch{Texts: m.Texts, Blocks: m.Blocks})
	if !m.Whole {
		text = strings.Join(m.Texts, "")
	}
	to := l.children[m.To]
	if to == nil && m.To == "" && c != nil && m.From != under {
		to = c
	}
	if to != nil {
		return joined(made, l.prompted(to, told{id: m.ID, text: text}, m.Whole, at))
	}
	from := l.children[m.From]
	if from == nil && m.From == "" {
		from = c
	}
	if from == nil || text == "" {
		return made
	}
	return joined(made, l.spoken(from, m, text, at))
}

// prompted adds to what a child was told. A message with a known id goes on, or is replaced by the whole of it.
func (l *Live) prompted(c *child, m told, whole bool, at time.Time) Change {
	i := len(c.prompt) - 1
	for m.id != "" && i >= 0 && c.prompt[i].id != m.id {
		i--
	}
	switch {
	case i >= 0 && c.prompt[i].id == m.id && !whole:
		c.prompt[i].text += m.text
	case i >= 0 && c.prompt[i].id == m.id && (m.id != "" || c.prompt[i].text == m.text):
		c.prompt[i].text = m.text
	default:
		c.prompt = append(c.prompt, m)
	}
	var texts []string
	for _, p := range c.prompt {
		texts = append(texts, clean(p.text))
	}
	prompt := optional(joinTexts(texts), false)
	return l.patch(c.call, &fyllo.ToolPatch{CallID: c.call, Subagent: &fyllo.Subagent{Prompt: prompt}}, "", l.cwd, at)
}

// spoken adds a message of a child to its words. The whole of a message that is known already, in pieces or from the
// other side, takes its place.
func (l *Live) spoken(c *child, m *fyllo.SessionMessage, text string, at time.Time) Change {
	id := ""
	if m.ID != "" {
		id = "message:" + m.ID // of another sort than the ids of chunks
	}
	if p := c.said[id]; p != nil && m.Whole {
		if p.text.String() == text {
			return Change{}
		}
		p.text, p.units = &joiner{}, 0
		p.grow(p.text.write(text))
		l.updatedAt = at
		return Change{Kind: Part, Index: p.index}
	}
	if m.Whole {
		l.lane(c.call).last = nil // a message is a part of its own
	}
	change := l.chunk(fyllo.PartText, c.call, &fyllo.Update{MessageID: id, Text: text}, at)
	in := l.lane(c.call)
	if id != "" && in.last != nil && in.last.message == id {
		c.said[id] = in.last
	}
	if m.Whole {
		in.last = nil
	}
	return change
}
