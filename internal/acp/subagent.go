package acp

import (
	"bytes"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/jsonrpc"
)

// response reads the raw response that Claude's adapter sends of every tool, as an object or as JSON text. It is no
// output; what it may say of a subagent is kept, and nothing else (R-CHAT-109, C3).
func (t *tool) response(s *jsonrpc.Scanner) {
	switch s.Kind() {
	case '{':
		t.statistics(s)
	case '"':
		raw := s.Raw()
		if inner := bytes.TrimLeft(bytes.TrimPrefix(raw, []byte(`"`)), " \t"); len(inner) == 0 || inner[0] != '{' && inner[0] != '\\' {
			return // a text, which may be long
		}
		of := jsonrpc.NewScanner(raw)
		text, _ := of.String()
		inner := jsonrpc.NewScanner([]byte(text))
		if was := t.told; !t.statistics(&inner) || !inner.Finish() {
			t.told = was
		}
	}
}

// statistics reads the members that are understood; one that has no usable value counts as absent.
func (t *tool) statistics(s *jsonrpc.Scanner) bool {
	var told fyllo.Subagent
	ok := s.Object(func(name []byte) {
		switch string(name) {
		case "status":
			told.Status, _ = s.String()
		case "agentType":
			told.AgentType, _ = s.String()
		case "resolvedModel":
			told.Model, _ = s.String()
		case "totalTokens":
			told.Tokens = number(s)
		case "totalDurationMs":
			told.DurationMS = number(s)
		case "totalToolUseCount":
			told.ToolUses = number(s)
		case "toolStats":
			told.Stats = toolStats(s)
		}
	})
	if ok && told != (fyllo.Subagent{}) {
		t.told = &told
	}
	return ok
}

func toolStats(s *jsonrpc.Scanner) *fyllo.ToolStats {
	var stats fyllo.ToolStats
	s.Object(func(name []byte) {
		switch string(name) {
		case "readCount":
			stats.Reads = number(s)
		case "searchCount":
			stats.Searches = number(s)
		case "bashCount":
			stats.Commands = number(s)
		case "editFileCount":
			stats.Edits = number(s)
		case "linesAdded":
			stats.LinesAdded = number(s)
		case "linesRemoved":
			stats.LinesRemoved = number(s)
		case "otherToolCount":
			stats.Others = number(s)
		}
	})
	if stats == (fyllo.ToolStats{}) {
		return nil
	}
	return &stats
}

// number reads a number that is not negative; nil when it is none, or one that no count can be. Fractions are cut off.
func number(s *jsonrpc.Scanner) *int64 {
	f, ok := s.Float()
	if !ok || f < 0 || f > 1<<53 {
		return nil
	}
	n := int64(f)
	return &n
}

// peerFields are the members of updates about ACP sessions that subagents have of their own.
type peerFields struct {
	session   string // the subagent's
	state     string
	reason    string
	cwd       string
	from, to  string
	messageID string // the sender's id of a message, when it is reported by who received it
}

func (f *fields) peers() *peerFields {
	if f.peer == nil {
		f.peer = &peerFields{}
	}
	return f.peer
}

func (p *peerFields) field(s *jsonrpc.Scanner, name []byte) {
	switch string(name) {
	case "sessionId":
		p.session, _ = s.String()
	case "cwd":
		p.cwd, _ = s.String()
	case "senderSessionId":
		p.from, _ = s.String()
	case "recipientSessionId":
		p.to, _ = s.String()
	case "senderMessageId":
		p.messageID, _ = s.String()
	case "state":
		if s.Kind() == '"' {
			p.state, _ = s.String()
			return
		}
		s.Object(func(name []byte) {
			switch string(name) {
			case "state":
				p.state, _ = s.String()
			case "stopReason":
				p.reason, _ = s.String()
			}
		})
	}
}

// child makes the update an announcement of a subagent's ACP session, if it names one.
func (f *fields) child() {
	p := f.peers()
	if p.session == "" {
		return
	}
	c := &fyllo.ChildPatch{SessionID: fyllo.ACPSessionID(p.session), State: p.state, StopReason: p.reason, Cwd: p.cwd}
	if title := f.note[0]; title != "" {
		c.Title = &title
	}
	if description := f.note[1]; description != "" {
		c.Description = &description
	}
	f.u.Kind, f.u.Child = fyllo.UpdateSubagent, c
}

// message makes the update a message between ACP sessions, whose content is a list of blocks or one block.
func (f *fields) message(whole bool) {
	p := f.peers()
	m := &fyllo.SessionMessage{
		From: fyllo.ACPSessionID(p.from), To: fyllo.ACPSessionID(p.to), ID: p.messageID, Whole: whole,
	}
	if m.ID == "" {
		m.ID = f.u.MessageID
	}
	take := func(c content) {
		switch {
		case c.isText:
			m.Texts = append(m.Texts, c.text)
		case c.other != nil:
			m.Blocks = append(m.Blocks, *c.other)
		}
	}
	take(f.body)
	s := f.list
	s.Array(func() { take(block(&s, !whole)) })
	f.u.Kind, f.u.Message = fyllo.UpdateMessage, m
}
