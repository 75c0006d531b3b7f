package session

import (
	"context"
	"sync"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/session/internal/warm"
)

// draft is the probe of a window that may start a Session: an ACP session made ahead, which gives configuration
// and commands before the first message (R-AGT-092, R-CHAT-030). It is not a Session: nothing of it is stored.
type draft struct {
	m      *Manager
	w      fyllo.WorkspaceID
	window fyllo.WindowID
	agent  fyllo.AgentID
	mode   fyllo.Mode
	scope  fyllo.Scope // what the Session gets if it takes this draft over (R-WS-071)

	ctx   context.Context //nolint:containedctx // the draft owns this lifetime: it ends when the draft is discarded
	stop  context.CancelFunc
	ready chan struct{} // closed when it is ready or has failed

	mu   sync.Mutex
	view fyllo.Draft
	link *warm.Link // nil until ready, and after it was taken or ended
	over bool
}

// OpenDraft returns the window's draft for an Agent and a mode, starting it if there is none. A draft for another
// Agent or mode is discarded first. The state changes come as EventDraft.
func (m *Manager) OpenDraft(_ context.Context, w fyllo.WorkspaceID, window fyllo.WindowID, agent fyllo.AgentID, mode fyllo.Mode) (fyllo.Draft, error) {
	if err := checkMode(mode); err != nil {
		return fyllo.Draft{}, err
	}
	if _, err := m.installed(agent); err != nil {
		return fyllo.Draft{}, err
	}
	scope, err := m.Workspaces.Scope(w)
	if err != nil {
		return fyllo.Draft{}, err
	}
	d := m.newDraft(w, agent, mode, scope)
	d.window = window
	m.mu.Lock()
	old := m.drafts[w]
	if old != nil && old.fits(agent, mode, &scope) {
		old.window = window
		m.mu.Unlock()
		d.stop()
		return old.snapshot(), nil
	}
	if !m.spawnLocked(d.run) {
		m.mu.Unlock()
		d.stop()
		return fyllo.Draft{}, errStopping()
	}
	m.drafts[w] = d
	m.mu.Unlock()
	if old != nil {
		old.end()
	}
	return d.snapshot(), nil
}

// Draft returns the window's draft.
func (m *Manager) Draft(w fyllo.WorkspaceID, window fyllo.WindowID) (fyllo.Draft, bool) {
	m.mu.Lock()
	d := m.drafts[w]
	m.mu.Unlock()
	if d == nil || d.window != window {
		return fyllo.Draft{}, false
	}
	return d.snapshot(), true
}

// CloseDraft discards the window's draft, for example because the window closed (R-WS-123).
func (m *Manager) CloseDraft(w fyllo.WorkspaceID, window fyllo.WindowID) {
	m.mu.Lock()
	d := m.drafts[w]
	if d == nil || d.window != window {
		m.mu.Unlock()
		return
	}
	delete(m.drafts, w)
	m.mu.Unlock()
	d.end()
}

// SetDraftConfig changes one option of a ready draft and returns it with the Agent's new snapshot.
func (m *Manager) SetDraftConfig(ctx context.Context, w fyllo.WorkspaceID, window fyllo.WindowID, id string, value fyllo.ConfigValue) (fyllo.Draft, error) {
	m.mu.Lock()
	d := m.drafts[w]
	m.mu.Unlock()
	if d == nil || d.window != window {
		return fyllo.Draft{}, fyllo.Errorf(fyllo.CodeNotFound, "change the configuration: there is no draft")
	}
	d.mu.Lock()
	l, have := d.link, d.view.ConfigOptions
	d.mu.Unlock()
	if l == nil {
		return fyllo.Draft{}, fyllo.Errorf(fyllo.CodeACPNotReady, "change the configuration: the Agent is not connected yet")
	}
	have, err := warm.Apply(ctx, l, have, []fyllo.ConfigChange{{ID: id, Value: value.String()}})
	if err != nil {
		return fyllo.Draft{}, err
	}
	d.change(func(v *fyllo.Draft) { v.ConfigOptions = orEmpty(have) })
	return d.snapshot(), nil
}

func (m *Manager) newDraft(w fyllo.WorkspaceID, agent fyllo.AgentID, mode fyllo.Mode, scope fyllo.Scope) *draft {
	d := &draft{
		m: m, w: w, agent: agent, mode: mode, scope: scope, ready: make(chan struct{}),
		view: fyllo.Draft{
			AgentID: agent, Mode: mode, State: fyllo.DraftConnecting,
			ConfigOptions: []fyllo.ConfigOption{}, Commands: []fyllo.Command{},
		},
	}
	d.ctx, d.stop = context.WithCancel(m.life)
	return d
}

// fits reports whether the draft serves for the Agent, mode and scope. A failed one is tried again.
func (d *draft) fits(agent fyllo.AgentID, mode fyllo.Mode, scope *fyllo.Scope) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	usable := d.view.State == fyllo.DraftConnecting || d.view.State == fyllo.DraftReady && d.link != nil && d.link.Alive()
	return usable && !d.over && d.agent == agent && d.mode == mode && sameScope(&d.scope, scope)
}

func sameScope(a, b *fyllo.Scope) bool {
	if a.WorkspaceID != b.WorkspaceID || a.PrimaryFolderID != b.PrimaryFolderID || len(a.Folders) != len(b.Folders) {
		return false
	}
	for i := range a.Folders {
		if a.Folders[i] != b.Folders[i] {
			return false
		}
	}
	return true
}

func (d *draft) snapshot() fyllo.Draft {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.view
}

// run opens the ACP session. It ends when the draft is ready, has failed or was discarded.
func (d *draft) run() {
	defer close(d.ready)
	turn := d.m.openLock(d.agent)
	turn.Lock() // one probe of an Agent starts at a time
	defer turn.Unlock()
	if d.ctx.Err() != nil {
		return
	}
	l, opened, err := d.open()
	if err != nil {
		d.change(func(v *fyllo.Draft) { v.State, v.Error = fyllo.DraftFailed, fyllo.FailureOf(err) })
		return
	}
	d.mu.Lock()
	over := d.over
	if !over {
		d.link = l
	}
	d.mu.Unlock()
	if over { // the answer came too late (R-CHAT-030)
		l.Close()
		return
	}
	d.change(func(v *fyllo.Draft) {
		v.State = fyllo.DraftReady
		if opened.HasConfig {
			v.ConfigOptions = orEmpty(opened.ConfigOptions)
		}
	})
}

func (d *draft) open() (*warm.Link, fyllo.SessionOpened, error) {
	agent, err := warm.Connect(d.ctx, d.m.Agents, d.agent)
	if err != nil {
		return nil, fyllo.SessionOpened{}, err
	}
	if err := warm.Gate(agent, &d.scope); err != nil {
		return nil, fyllo.SessionOpened{}, err
	}
	ctx, cancel := context.WithTimeout(d.ctx, warm.OpenTime)
	defer cancel()
	l := warm.NewLink(agent, d.event)
	opened, err := l.Open(ctx, &d.scope)
	return l, opened, warm.InTime(ctx, err, "open an ACP session")
}

// event takes what the Agent says before the first message. It never blocks.
func (d *draft) event(_ *warm.Link, e fyllo.AgentEvent) {
	switch {
	case e.Permission != nil:
		e.Permission.Answer("")
	case e.Closed != nil:
		d.change(func(v *fyllo.Draft) { v.State, v.Error = fyllo.DraftFailed, fyllo.FailureOf(e.Closed.Reason) })
	case e.Update != nil && e.Update.Kind == fyllo.UpdateConfig:
		options := orEmpty(e.Update.Config)
		d.change(func(v *fyllo.Draft) { v.ConfigOptions = options })
	case e.Update != nil && e.Update.Kind == fyllo.UpdateCommands:
		commands := orEmpty(e.Update.Commands)
		d.change(func(v *fyllo.Draft) { v.Commands = commands })
	}
}

// change edits the view and tells the window, unless the draft is over.
func (d *draft) change(f func(*fyllo.Draft)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return
	}
	f(&d.view)
	d.m.Publisher.Publish(fyllo.Event{Workspace: d.w, Type: fyllo.EventDraft, Data: d.view})
}

// end discards the draft and closes its ACP session.
func (d *draft) end() {
	d.stop()
	d.mu.Lock()
	l := d.link
	d.link, d.over = nil, true
	d.mu.Unlock()
	if l != nil {
		l.Close()
	}
}

// take hands the draft's link to the turn that its first message begins (R-CHAT-031): the new holder first gets
// the snapshots seen so far, then every later event. It waits for a draft that is still connecting and returns nil
// when there is nothing to take.
func (d *draft) take(ctx context.Context, t *turn, holder func(*warm.Link, fyllo.AgentEvent)) *warm.Link {
	select {
	case <-d.ready:
	case <-ctx.Done():
		return nil
	}
	d.mu.Lock()
	l := d.link
	d.link = nil
	d.mu.Unlock()
	if l == nil {
		d.end()
		return nil
	}
	l.Hand(holder, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.over = true
		l.Owner, l.Config = t, d.view.ConfigOptions
		holder(l, fyllo.AgentEvent{Update: &fyllo.Update{Kind: fyllo.UpdateConfig, Config: d.view.ConfigOptions}})
		holder(l, fyllo.AgentEvent{Update: &fyllo.Update{Kind: fyllo.UpdateCommands, Commands: d.view.Commands}})
	})
	d.stop()
	return l
}

// openLock returns the lock that serialises the probes of one Agent.
func (m *Manager) openLock(id fyllo.AgentID) *sync.Mutex {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.opening[id] == nil {
		m.opening[id] = &sync.Mutex{}
	}
	return m.opening[id]
}
