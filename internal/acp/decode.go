package acp

import (
	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/jsonrpc"
)

// DecodeLine reads a session/update line. It is pure: the same line gives the same Update, live and in a
// recovery. False means that the line is no session/update that names a session; an update whose kind or form is
// not known is an UpdateUnknown. Only Update.Raw points into line.
func DecodeLine(line []byte) (fyllo.Update, bool) {
	method, params := envelope(line)
	if method != methodUpdate {
		return fyllo.Update{}, false
	}
	var d decoder
	u, ok := d.update(params)
	u.Raw = line
	return u, ok
}

// envelope returns the method and the raw parameters of a line; "" when it is no JSON object.
func envelope(line []byte) (method string, params []byte) {
	s := jsonrpc.NewScanner(line)
	s.Object(func(name []byte) {
		switch string(name) {
		case "method":
			method, _ = s.Match(methodUpdate)
		case "params":
			params = s.Raw()
		}
	})
	if !s.Finish() {
		return "", nil
	}
	return method, params
}

// decoder reads updates of one connection. It remembers the ids of the last update, which are mostly those of the
// next one, to save allocations. The zero value is ready.
type decoder struct {
	session string
	message string
}

// fields is everything that an update of any kind may carry, read in one pass; the kind may come last.
type fields struct {
	u    fyllo.Update
	kind []byte          // JSON string
	body content         // content, when it was one block
	tool tool            // members of tool calls
	plan planFields      // plan, plan_update
	note [2]string       // notice: title, description
	list jsonrpc.Scanner // at the content, when it was a list; its form depends on the kind
	peer *peerFields     // subagent_update, session_message; nil when it has none of their members
	used [2]*uint64      // usage_update: used, size
	cost *fyllo.Cost     // usage_update
	cmds []fyllo.Command
	more bool // there was a list of commands
}

// update reads the params of a session/update.
func (d *decoder) update(params []byte) (fyllo.Update, bool) {
	var f fields
	s := jsonrpc.NewScanner(params)
	s.Object(func(name []byte) {
		switch string(name) {
		case "sessionId":
			if id, ok := s.Match(d.session); ok {
				d.session = id
				f.u.SessionID = fyllo.ACPSessionID(id)
			}
		case "update":
			s.Object(func(name []byte) { d.field(&f, &s, name) })
		}
	})
	if !s.Finish() || f.u.SessionID == "" {
		return fyllo.Update{}, false
	}
	f.finish()
	return f.u, true
}

// field reads one member of the update. Members are told apart by name and type only, since the kind may follow.
func (d *decoder) field(f *fields, s *jsonrpc.Scanner, name []byte) {
	switch string(name) {
	case "sessionUpdate":
		if s.Kind() == '"' {
			f.kind = s.Raw()
		}
	case "content":
		if s.Kind() == '{' {
			f.body = block(s, true)
		} else {
			f.list = *s
			f.tool.field(s, name)
		}
	case "messageId":
		if id, ok := s.Match(d.message); ok {
			d.message, f.u.MessageID = id, id
		}
	case "title":
		if v, ok := s.String(); ok {
			f.note[0], f.tool.patch().Title = v, &v
		}
	case "description":
		f.note[1], _ = s.String()
	case "_meta":
		f.meta(s)
	case "entries":
		f.plan.entries(s)
	case "plan":
		f.plan.object(s)
	case "availableCommands":
		f.cmds, f.more = commands(s)
	case "currentModeId":
		f.u.Mode, _ = s.String()
	case "configOptions":
		f.u.Config = configOptions(s)
	case "used":
		f.used[0] = count(s)
	case "size":
		f.used[1] = count(s)
	case "cost":
		f.cost = cost(s)
	case "sessionId", "state", "cwd", "senderSessionId", "recipientSessionId", "senderMessageId":
		f.peers().field(s, name)
	default:
		f.tool.field(s, name)
	}
}

// finish decides what the fields mean once the kind is known, and drops what does not belong to it.
func (f *fields) finish() {
	u := &f.u
	config, mode := u.Config, u.Mode
	u.Config, u.Mode = nil, ""
	switch string(f.kind) {
	case `"agent_message_chunk"`:
		f.chunk(fyllo.UpdateText)
	case `"agent_thought_chunk"`:
		f.chunk(fyllo.UpdateReasoning)
	case `"user_message_chunk"`:
		f.chunk(fyllo.UpdateUserText)
	case `"tool_call"`, `"tool_call_update"`:
		if p := f.tool.p; p != nil && p.CallID != "" {
			u.Kind, u.Tool = fyllo.UpdateTool, p
			p.Start = string(f.kind) == `"tool_call"`
			f.tool.finish(u.ParentID)
		}
	case `"subagent_update"`, `"_subagent_update"`:
		f.child()
	case `"session_message"`, `"session_message_chunk"`:
		f.message(string(f.kind) == `"session_message"`)
	case `"plan"`, `"plan_update"`:
		if f.plan.list != nil {
			u.Kind, u.Plan = fyllo.UpdatePlan, f.plan.list
		}
	case `"plan_removed"`:
		u.Kind, u.Plan = fyllo.UpdatePlan, []fyllo.PlanEntry{}
	case `"available_commands_update"`:
		if f.more {
			u.Kind, u.Commands = fyllo.UpdateCommands, f.cmds
		}
	case `"config_option_update"`:
		u.Kind, u.Config = fyllo.UpdateConfig, config
	case `"current_mode_update"`:
		if mode != "" {
			u.Kind, u.Mode = fyllo.UpdateMode, mode
		}
	case `"usage_update"`:
		if f.used[0] != nil && f.used[1] != nil {
			u.Kind, u.Usage = fyllo.UpdateUsage, &fyllo.Usage{Used: *f.used[0], Size: *f.used[1], Cost: f.cost}
		}
	case `"session_info_update"`:
		u.Kind = fyllo.UpdateSessionInfo
	case `"notice"`:
		u.Kind, u.Notice = fyllo.UpdateNotice, joinNotice(f.note[0], f.note[1])
	}
}

// chunk makes the update a piece of text or a block; without readable content it stays unknown.
func (f *fields) chunk(kind fyllo.UpdateKind) {
	switch {
	case f.body.isText:
		f.u.Kind, f.u.Text = kind, f.body.text
	case f.body.other != nil:
		f.u.Kind, f.u.Block = kind, f.body.other
	}
}

func joinNotice(title, description string) string {
	if title == "" || description == "" {
		return title + description
	}
	return title + ": " + description
}

// meta reads the members of _meta that mean something to us; all others are ignored (R-ACP-001).
func (f *fields) meta(s *jsonrpc.Scanner) {
	s.Object(func(name []byte) {
		switch string(name) {
		case "claudeCode":
			s.Object(func(name []byte) {
				switch string(name) {
				case "parentToolUseId":
					f.u.ParentID, _ = s.String()
				case "toolName":
					f.tool.toolName, _ = s.String()
				case "toolResponse":
					f.tool.response(s)
				}
			})
		case "terminal_output_delta":
			f.tool.patch().OutputDelta, _ = terminalData(s)
		case "terminal_output":
			if v, ok := terminalData(s); ok {
				f.tool.patch().OutputAll = &v
			}
		}
	})
}

// terminalData reads the data of a terminal extension. A piece may end inside a character.
func terminalData(s *jsonrpc.Scanner) (data string, ok bool) {
	s.Object(func(name []byte) {
		if string(name) == "data" {
			data, ok = s.Text()
		}
	})
	return data, ok
}
