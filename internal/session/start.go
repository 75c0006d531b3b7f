package session

import (
	"context"
	"strings"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/attachments"
	"fyllocode.dev/fyllo/internal/session/internal/roster"
	"fyllocode.dev/fyllo/internal/session/internal/warm"
	"fyllocode.dev/fyllo/internal/transcript"
)

// startCall is a first submission in flight; a repeat with the same request id waits for it.
type startCall struct {
	done   chan struct{}
	result fyllo.StartResult
	err    error
}

// Start makes a Session of its first message and begins its turn (R-CHAT-053…055). After an error nothing is left
// behind, and the draft is as it was. A started turn does not depend on ctx.
func (m *Manager) Start(ctx context.Context, w fyllo.WorkspaceID, r fyllo.StartRequest) (fyllo.StartResult, error) {
	if r.RequestID == "" {
		return m.start(ctx, w, r)
	}
	key := string(w) + "\x00" + r.RequestID
	m.mu.Lock()
	call, repeated := m.starts[key]
	if !repeated {
		call = &startCall{done: make(chan struct{})}
		m.starts[key] = call
	}
	m.mu.Unlock()
	if repeated {
		select {
		case <-call.done:
			return call.result, call.err
		case <-ctx.Done():
			return fyllo.StartResult{}, ctx.Err()
		}
	}
	call.result, call.err = m.start(ctx, w, r)
	close(call.done)
	m.mu.Lock()
	delete(m.starts, key) // from here the index knows the request id
	m.mu.Unlock()
	return call.result, call.err
}

func (m *Manager) start(ctx context.Context, w fyllo.WorkspaceID, r fyllo.StartRequest) (fyllo.StartResult, error) {
	x, err := m.Loaded(ctx, w)
	if err != nil {
		return fyllo.StartResult{}, err
	}
	if s, ok := x.Started(r.RequestID); ok {
		return m.repeated(ctx, w, s)
	}
	meta, err := m.plan(w, &r)
	if err != nil {
		return fyllo.StartResult{}, err
	}
	if err := m.gateStart(ctx, meta, r.Attachments); err != nil {
		return fyllo.StartResult{}, err
	}
	d, err := m.probe(w, meta, &r)
	if err != nil {
		return fyllo.StartResult{}, err
	}
	result, err := m.commit(x, meta, d, &r)
	if err != nil && d != nil && r.Config != nil {
		d.End()
	}
	return result, err
}

// repeated answers a first submission whose Session exists already.
func (m *Manager) repeated(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) (fyllo.StartResult, error) {
	page, err := m.Messages(ctx, w, s, "", 0)
	if err != nil || len(page.Messages) == 0 {
		return fyllo.StartResult{}, err
	}
	return fyllo.StartResult{SessionID: s, Message: page.Messages[0]}, nil
}

// plan checks a submission and makes the metadata of its Session.
func (m *Manager) plan(w fyllo.WorkspaceID, r *fyllo.StartRequest) (fyllo.SessionMeta, error) {
	if err := checkText(r.Text); err != nil {
		return fyllo.SessionMeta{}, err
	}
	if r.Mode == "" {
		r.Mode = fyllo.ModeFyllo
	}
	if err := checkMode(r.Mode); err != nil {
		return fyllo.SessionMeta{}, err
	}
	agent, err := m.installed(r.AgentID)
	if err != nil {
		return fyllo.SessionMeta{}, err
	}
	scope, err := m.Workspaces.Scope(w)
	if err != nil {
		return fyllo.SessionMeta{}, err
	}
	at := now()
	meta := fyllo.SessionMeta{
		SessionID: fyllo.SessionID(newID("session-")), AgentID: r.AgentID, AgentName: agent.Name, Mode: r.Mode,
		Title: transcript.Title(r.Text), PermissionPolicy: r.Policy, Scope: &scope,
		StartRequestID: r.RequestID, CreatedAt: at, UpdatedAt: at,
	}
	if meta.PermissionPolicy == "" {
		meta.PermissionPolicy = m.Settings().DefaultPermissionPolicy
	}
	return meta, nil
}

// gateStart refuses a multi-root scope and files that the Agent cannot take before any record exists; only an Agent whose
// capabilities are not known yet is started for that (R-WS-077, R-CHAT-048).
func (m *Manager) gateStart(ctx context.Context, meta fyllo.SessionMeta, files []fyllo.NewAttachment) error {
	agent, _ := m.Agents.Describe(meta.AgentID)
	can, roots := agent.Capabilities, len(meta.Scope.AdditionalDirectories) > 0
	if roots && can.MultiRoot == fyllo.Unsupported {
		return warm.ErrMultiRoot(len(meta.Scope.Folders))
	}
	if roots && can.MultiRoot != fyllo.Supported || len(files) > 0 && can.Image == fyllo.Unknown {
		live, err := warm.Connect(ctx, m.Agents, meta.AgentID)
		if err == nil {
			err = warm.Gate(live, meta.Scope)
		}
		if err != nil {
			return err
		}
		can = live.Info().Capabilities
	}
	return attachments.Check(can, files)
}

// probe returns the draft that the Session takes over, nil for none. Options that the submission asks for are set
// here, so that a refused one leaves no Session behind (R-CLI-006).
func (m *Manager) probe(w fyllo.WorkspaceID, meta fyllo.SessionMeta, r *fyllo.StartRequest) (*draft, error) {
	if len(r.Config) > 0 {
		d := m.newDraft(w, meta.AgentID, meta.Mode, *meta.Scope)
		if !m.spawn(d.Run) {
			d.End()
			return nil, errStopping()
		}
		d.Await()
		if err := d.Configure(m.life, r.Config); err != nil {
			d.End()
			return nil, err
		}
		return d, nil
	}
	if !r.UseDraft {
		return nil, nil
	}
	m.mu.Lock()
	d := m.drafts[w]
	m.mu.Unlock()
	if d == nil {
		return nil, nil
	}
	if !d.Serves(meta.AgentID, meta.Mode) {
		return nil, fyllo.Errorf(fyllo.CodeProbeMismatch, "start the session: the draft belongs to another Agent or mode").
			WithHint("Choose the Agent and the mode again.")
	}
	if !d.Fits(meta.AgentID, meta.Mode, meta.Scope) {
		return nil, nil // failed, or its scope is outdated (R-WS-046): the turn opens a new ACP session
	}
	return d, nil
}

// commit makes the Session exist and begins its turn.
func (m *Manager) commit(x *roster.Index, meta fyllo.SessionMeta, d *draft, r *fyllo.StartRequest) (fyllo.StartResult, error) {
	stored, err := m.create(x.Workspace(), meta, r)
	if err != nil {
		return fyllo.StartResult{}, err
	}
	m.mu.Lock()
	if m.drafts[x.Workspace()] == d {
		delete(m.drafts, x.Workspace())
	}
	if m.closed {
		m.mu.Unlock()
		return fyllo.StartResult{SessionID: meta.SessionID, Message: stored}, nil // stored; the next start shows it as interrupted
	}
	row := roster.Summarise(x.Workspace(), &meta)
	row.Running = true // who reads the list before the actor's first word must not take the Session for idle
	x.Put(row, meta.StartRequestID)
	a := newActor(m, x, meta.SessionID)
	a.first = &firstTurn{meta: meta, user: stored, draft: d}
	m.addActorLocked(a)
	m.mu.Unlock()
	m.release(a)
	return fyllo.StartResult{SessionID: meta.SessionID, Message: stored}, nil
}

// firstTurn is what a new actor begins with.
type firstTurn struct {
	meta  fyllo.SessionMeta
	user  fyllo.Message
	draft *draft
}

// userMessage makes a user message; its only part is its text.
func userMessage(request, text string) fyllo.Message {
	at := now()
	id := newID("msg-")
	return fyllo.Message{
		ID: id, Role: fyllo.RoleUser, CreatedAt: at, UpdatedAt: at, RequestID: request,
		Parts: []fyllo.Part{{ID: id + ".0", Type: fyllo.PartText, Text: text}},
	}
}

// checkText refuses a message without visible text (R-CHAT-041).
func checkText(text string) error {
	if strings.TrimSpace(text) == "" {
		return fyllo.Errorf(fyllo.CodeEmptyMessage, "send: the message has no text")
	}
	return nil
}

func checkMode(mode fyllo.Mode) error {
	if mode != fyllo.ModeFyllo && mode != fyllo.ModeNative {
		return fyllo.Errorf(fyllo.CodeInvalidRequest, "mode %q: it is neither fyllocode nor native", mode)
	}
	return nil
}

// installed returns the catalogue entry of an Agent that can be started (R-CHAT-025, R-AGT-113).
func (m *Manager) installed(id fyllo.AgentID) (fyllo.Agent, error) {
	agent, ok := m.Agents.Describe(id)
	if !ok {
		return agent, m.Agents.Missing(id)
	}
	if !agent.Installed {
		if agent.Source == fyllo.SourceRegistry {
			return agent, fyllo.Errorf(fyllo.CodeAgentNotInstalled, "%s is not installed", agent.Name).
				WithHint("Settings → Agents tells how to install it.")
		}
		return agent, fyllo.Errorf(fyllo.CodeAgentNotInstalled, "agent %q: its command is not installed", id).
			WithHint("Install %s, or change its command in Settings → Agents.", agent.Command)
	}
	return agent, nil
}
