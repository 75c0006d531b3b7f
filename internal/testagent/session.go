package testagent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// session is one ACP session. Its fields below mu are guarded by agent.mu.
type session struct {
	id       string
	params   json.RawMessage // of new, load or resume
	restored bool            // came from load or resume

	values map[string]any // option id → current value

	turn   context.CancelFunc // cancels the running prompt; nil when none runs
	serial int                // numbers tool calls and messages
}

// next returns a new number for ids.
func (a *agent) next(s *session) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	s.serial++
	return s.serial
}

func (a *agent) newSession(m message) {
	if a.script.Auth == "new" {
		a.fail(m.ID, &rpcError{Code: -32000, Message: "Authentication required"})
		return
	}
	if e := checkParams(m.Params); e != nil {
		a.fail(m.ID, e)
		return
	}
	a.mu.Lock()
	a.nextSess++
	s := &session{id: fmt.Sprintf("acp-%d-%d", os.Getpid(), a.nextSess), params: m.Params, values: defaults()}
	a.sessions[s.id] = s
	a.mu.Unlock()
	if a.script.Early {
		a.commands(s)
		a.usage(s, 0, 200_000)
	}
	a.later(pause(a.script.NewDelay), func() {
		a.reply(m.ID, a.opened(s, true))
		if !a.script.Early {
			a.commands(s)
		}
	})
}

// checkParams is as strict as the TypeScript SDK: mcpServers and headers must be there, cwd absolute.
func checkParams(raw json.RawMessage) *rpcError {
	var p struct {
		Cwd        string `json:"cwd"`
		MCPServers *[]struct {
			Type, Name, URL string
			Headers         *[]struct{ Name, Value *string }
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return &rpcError{Code: -32602, Message: "Invalid params: " + err.Error()}
	}
	if !strings.HasPrefix(p.Cwd, "/") || p.MCPServers == nil {
		return &rpcError{Code: -32602, Message: "Invalid params: cwd must be absolute and mcpServers present"}
	}
	for _, s := range *p.MCPServers {
		if s.Type == "http" && (s.Name == "" || s.URL == "" || s.Headers == nil) {
			return &rpcError{Code: -32602, Message: "Invalid params: http server without name, url or headers"}
		}
	}
	return nil
}

func (a *agent) loadSession(m message) {
	s := a.restore(m, a.script.Load)
	if s == nil {
		return
	}
	a.replay(s, 0, a.script.History-a.script.Trail)
	a.reply(m.ID, a.opened(s, false))
	a.replay(s, a.script.History-a.script.Trail, a.script.History)
	a.commands(s)
}

func (a *agent) resumeSession(m message) {
	s := a.restore(m, a.script.Resume)
	if s == nil {
		return
	}
	a.reply(m.ID, a.opened(s, false))
	a.commands(s)
}

// restore finds or makes the session of a load or resume. Any id that an earlier process gave is known,
// unless the script says otherwise; then the error is sent and nil returned.
func (a *agent) restore(m message, how string) *session {
	var p struct {
		SessionID string `json:"sessionId"`
	}
	_ = json.Unmarshal(m.Params, &p)
	e := checkParams(m.Params)
	switch {
	case e != nil:
	case how == "vague":
		e = &rpcError{Code: -32603, Message: "Internal error", Data: object{"details": "no such session: " + p.SessionID}}
	case how == "unsupported":
		e = &rpcError{Code: -32601, Message: "Method not found"}
	case how == "error":
		e = &rpcError{Code: -32603, Message: "Internal error", Data: object{"details": "disk on fire"}}
	case how == "missing" || !strings.HasPrefix(p.SessionID, "acp-"):
		e = &rpcError{Code: -32002, Message: "Resource not found", Data: object{"sessionId": p.SessionID}}
	}
	if e != nil {
		a.fail(m.ID, e)
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[p.SessionID]
	if s == nil {
		s = &session{id: p.SessionID, values: defaults()}
		a.sessions[s.id] = s
	}
	s.params, s.restored = m.Params, true
	return s
}

// replay writes history pairs from ≤ i < to as a load does.
func (a *agent) replay(s *session, from, to int) {
	for i := from; i < to; i++ {
		a.update(s, object{"sessionUpdate": "user_message_chunk", "content": text(fmt.Sprintf("question %d", i))})
		a.update(s, object{"sessionUpdate": "agent_message_chunk", "content": text(fmt.Sprintf("answer %d", i))})
	}
}

func (a *agent) closeSession(m message) {
	s := a.find(m)
	if s == nil {
		return
	}
	a.mu.Lock()
	if s.turn != nil {
		s.turn()
	}
	delete(a.sessions, s.id)
	a.mu.Unlock()
	a.reply(m.ID, object{})
}

// find returns the session a message names, or answers -32002 and returns nil.
func (a *agent) find(m message) *session {
	var p struct {
		SessionID string `json:"sessionId"`
	}
	_ = json.Unmarshal(m.Params, &p)
	a.mu.Lock()
	s := a.sessions[p.SessionID]
	a.mu.Unlock()
	if s == nil && m.ID != nil {
		a.fail(m.ID, &rpcError{Code: -32002, Message: "Resource not found", Data: object{"sessionId": p.SessionID}})
	}
	return s
}

func (a *agent) prompt(m message) {
	s := a.find(m)
	if s == nil {
		return
	}
	if a.script.Auth == "prompt" {
		a.fail(m.ID, &rpcError{Code: -32000, Message: "Authentication required"})
		return
	}
	if a.script.Prompt == "missing" && s.restored {
		a.fail(m.ID, &rpcError{Code: -32002, Message: "Resource not found", Data: object{"sessionId": s.id}})
		return
	}
	ctx, cancel := context.WithCancel(a.life)
	a.mu.Lock()
	busy := s.turn != nil
	if !busy {
		s.turn = cancel
	}
	a.mu.Unlock()
	if busy { // decision 14: a client must never do this
		cancel()
		a.log.write(Received{Event: "overlap"})
		a.fail(m.ID, &rpcError{Code: -32600, Message: "a prompt is already running in this session"})
		return
	}
	t := &turn{agent: a, session: s, ctx: ctx, id: m.ID, params: m.Params}
	go t.run(cancel) // ends with the turn; a deaf turn with the Agent
}

func (a *agent) cancel(m message) {
	s := a.find(m)
	if s == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.turn != nil {
		s.turn()
	}
}

// update writes a session/update.
func (a *agent) update(s *session, u object) {
	a.write(object{"jsonrpc": "2.0", "method": "session/update", "params": object{"sessionId": s.id, "update": u}})
}

func text(s string) object { return object{"type": "text", "text": s} }

func (a *agent) commands(s *session) {
	a.update(s, object{"sessionUpdate": "available_commands_update", "availableCommands": []object{
		{"name": "init", "description": "Look around in the project", "input": nil},
		{"name": "review", "description": "Review a change", "input": object{"hint": "what to review"}},
	}})
}

func (a *agent) usage(s *session, used, size int) {
	a.update(s, object{
		"sessionUpdate": "usage_update", "used": used, "size": size,
		"cost": object{"amount": 0.25, "currency": "USD"},
	})
}
