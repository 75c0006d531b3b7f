package acp

import (
	"context"
	"encoding/json"
	"slices"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/jsonrpc"
)

// NewSession opens an ACP session. sink gets its events from the first one on, maybe before NewSession returns. A
// session whose answer comes after ctx ended is closed again.
func (c *Conn) NewSession(ctx context.Context, p fyllo.SessionParams, sink func(fyllo.AgentEvent)) (fyllo.SessionOpened, error) {
	k := call{method: methodNew, what: "open a session"}
	c.mu.Lock()
	c.opening++
	c.mu.Unlock()
	return ask(ctx, c, k, c.sessionParams("", p), func(r reply) (fyllo.SessionOpened, error) {
		o, s := opened(r.raw)
		s.sink = sink
		switch {
		case r.err != nil:
		case o.ID == "":
			r.err = agentError(fyllo.CodeAgentError, k, "the Agent's answer names no session", nil)
		case r.abandoned:
			c.closeOrphan(o.ID)
		default:
			c.admit(s)
			if o.HasConfig {
				c.snapshot(s, o.ConfigOptions)
			}
			return o, nil
		}
		c.admit(nil)
		return fyllo.SessionOpened{}, r.err
	})
}

// LoadSession opens a session that the Agent stored. The Agent replays it to sink before LoadSession returns, and
// some go on after that (R-CHAT-145). Errors: ACP_SESSION_MISSING, AGENT_METHOD_MISSING, and those of every call.
func (c *Conn) LoadSession(
	ctx context.Context, id fyllo.ACPSessionID, p fyllo.SessionParams, sink func(fyllo.AgentEvent),
) (fyllo.SessionOpened, error) {
	return c.reopen(ctx, call{method: methodLoad, what: "load the session", id: id}, p, sink)
}

// ResumeSession opens a session that the Agent stored, without a replay. Errors: as LoadSession.
func (c *Conn) ResumeSession(
	ctx context.Context, id fyllo.ACPSessionID, p fyllo.SessionParams, sink func(fyllo.AgentEvent),
) (fyllo.SessionOpened, error) {
	return c.reopen(ctx, call{method: methodResume, what: "resume the session", id: id}, p, sink)
}

// reopen puts the sink in place, since the id is known, and takes it away when the call fails.
func (c *Conn) reopen(
	ctx context.Context, k call, p fyllo.SessionParams, sink func(fyllo.AgentEvent),
) (fyllo.SessionOpened, error) {
	s := &session{id: k.id, sink: sink}
	c.mu.Lock()
	c.put(s)
	c.mu.Unlock()
	out, err := ask(ctx, c, k, c.sessionParams(k.id, p), func(r reply) (fyllo.SessionOpened, error) {
		if r.err != nil {
			return fyllo.SessionOpened{}, r.err
		}
		o, fresh := opened(r.raw)
		o.ID, s.legacy = k.id, fresh.legacy
		switch {
		case o.HasConfig:
			c.snapshot(s, fresh.config)
		case s.config == nil: // an absent list leaves what the replay said
			s.config = fresh.config
		}
		return o, nil
	})
	if err != nil {
		c.mu.Lock()
		if c.sessions[k.id] == s {
			c.forget(k.id)
		}
		c.mu.Unlock()
	}
	return out, err
}

// sessionParams leaves out what the Agent said it does not support.
func (c *Conn) sessionParams(id fyllo.ACPSessionID, p fyllo.SessionParams) sessionParams {
	w := sessionParams{SessionID: id, Cwd: p.Cwd, MCPServers: []mcpServer{}}
	caps := c.caps.Load()
	if caps == nil {
		return w
	}
	if caps.MultiRoot == fyllo.Supported {
		w.AdditionalDirectories = p.AdditionalDirectories
	}
	if caps.HTTPMCP == fyllo.Supported {
		w.MCPServers = wireServers(p.MCPServers)
	}
	return w
}

// admit ends one session/new. With a session, its early events are delivered before anything that comes later;
// when no other one is in flight, what is left over is dropped.
func (c *Conn) admit(s *session) {
	c.mu.Lock()
	c.opening--
	var mine, rest []event
	if s != nil {
		c.put(s)
	}
	for _, e := range c.early {
		if s != nil && c.receiverOf(e.id) == s {
			if u := e.ev.Update; u != nil && u.Kind == fyllo.UpdateSubagent {
				c.adopt(s, u.Child.SessionID) // its own events may follow
			}
			mine = append(mine, e)
			c.earlySum -= e.size
		} else {
			rest = append(rest, e)
		}
	}
	if c.early = rest; c.opening == 0 {
		c.early, c.earlySum = nil, 0
	} else {
		rest = nil
	}
	c.mu.Unlock()
	for _, e := range mine {
		if e.ev.Update != nil {
			c.deliverUpdate(s, e.ev.Update)
		} else {
			c.deliver(s, e.ev)
		}
	}
	for _, e := range rest {
		c.drop(e)
	}
}

// closeOrphan closes a session that nobody waits for any more.
func (c *Conn) closeOrphan(id fyllo.ACPSessionID) {
	if caps := c.caps.Load(); caps != nil && caps.Close {
		_, _ = c.rpc.Go(methodClose, sessionRef{SessionID: id}, func(json.RawMessage, error) {}) // nothing hangs on it
	}
}

// opened reads the result of new, load and resume. The session has no sink yet.
func opened(raw []byte) (fyllo.SessionOpened, *session) {
	var o fyllo.SessionOpened
	var list, modes, models []fyllo.ConfigOption
	s := jsonrpc.NewScanner(raw)
	s.Object(func(name []byte) {
		switch string(name) {
		case "sessionId":
			id, _ := s.String()
			o.ID = fyllo.ACPSessionID(id)
		case "configOptions":
			list = configOptions(&s)
		case "modes":
			modes = legacyOption(&s, "modes")
		case "models":
			models = legacyOption(&s, "models")
		}
	})
	legacy := slices.Concat(modes, models)
	o.ConfigOptions = withLegacy(list, legacy)
	o.HasConfig = list != nil || len(legacy) > 0
	return o, &session{id: o.ID, config: o.ConfigOptions, legacy: legacy}
}
