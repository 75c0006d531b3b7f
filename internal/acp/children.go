package acp

import (
	"maps"
	"math/bits"

	"fyllocode.dev/fyllo"
)

// maxChildren bounds how many subagents with sessions of their own are followed at once.
const maxChildren = 10_000

// put gives a session its place. It owns its id, whoever announced a subagent under it. The lock is held.
func (c *Conn) put(s *session) {
	c.forget(s.id)
	delete(c.children, s.id)
	c.sessions[s.id] = s
}

// forget takes a session and its subagents away. The lock is held.
func (c *Conn) forget(id fyllo.ACPSessionID) {
	s := c.sessions[id]
	if s == nil {
		return
	}
	delete(c.sessions, id)
	maps.DeleteFunc(c.children, func(_ fyllo.ACPSessionID, of *session) bool { return of == s })
}

func (c *Conn) session(id fyllo.ACPSessionID) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sessions[id]
}

// receiver returns the session that gets what comes under id: its own, or the one that the subagent belongs to.
func (c *Conn) receiver(id fyllo.ACPSessionID) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.receiverOf(id)
}

// receiverOf is receiver with the lock held.
func (c *Conn) receiverOf(id fyllo.ACPSessionID) *session {
	if s := c.sessions[id]; s != nil {
		return s
	}
	return c.children[id]
}

// adopt makes what comes under the id of a subagent go to s, where it was announced, and reports whether it does. An
// id that a session has, or a subagent of another session, is not given away. The lock is held.
func (c *Conn) adopt(s *session, id fyllo.ACPSessionID) bool {
	if of := c.receiverOf(id); of != nil {
		return of == s && id != s.id
	}
	if len(c.children) >= maxChildren {
		return false
	}
	c.children[id] = s
	return true
}

// ofChild takes away from an update about a subagent's session what is not the business of s: announcements that are
// not believed, and what the session of a subagent is set to, uses and plans. They count as activity only.
func (c *Conn) ofChild(s *session, u *fyllo.Update) {
	if u.Kind.Control() {
		u.Kind = fyllo.UpdateUnknown
	}
	if u.Kind != fyllo.UpdateSubagent {
		return
	}
	c.mu.Lock()
	believed := c.adopt(s, u.Child.SessionID)
	c.mu.Unlock()
	if believed && u.Child.SessionID != u.SessionID {
		return
	}
	u.Kind = fyllo.UpdateUnknown
	if c.dropped++; bits.OnesCount64(c.dropped) == 1 {
		c.log.Warn("subagent not believed: its id is in use", "session", s.id, "child", u.Child.SessionID, "total", c.dropped)
	}
}
