package session

import (
	"context"
	"sync"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/session/internal/warm"
)

// draft is a window's draft.
type draft struct {
	*warm.Draft
	window fyllo.WindowID
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
	if old != nil && old.Fits(agent, mode, &scope) {
		old.window = window
		m.mu.Unlock()
		d.End()
		return old.Snapshot(), nil
	}
	if !m.spawnLocked(d.Run) {
		m.mu.Unlock()
		d.End()
		return fyllo.Draft{}, errStopping()
	}
	m.drafts[w] = d
	m.mu.Unlock()
	if old != nil {
		old.End()
	}
	return d.Snapshot(), nil
}

// Draft returns the window's draft.
func (m *Manager) Draft(w fyllo.WorkspaceID, window fyllo.WindowID) (fyllo.Draft, bool) {
	m.mu.Lock()
	d := m.drafts[w]
	m.mu.Unlock()
	if d == nil || d.window != window {
		return fyllo.Draft{}, false
	}
	return d.Snapshot(), true
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
	d.End()
}

// SetDraftConfig changes one option of a ready draft and returns it with the Agent's new snapshot.
func (m *Manager) SetDraftConfig(ctx context.Context, w fyllo.WorkspaceID, window fyllo.WindowID, id string, value fyllo.ConfigValue) (fyllo.Draft, error) {
	m.mu.Lock()
	d := m.drafts[w]
	m.mu.Unlock()
	if d == nil || d.window != window {
		return fyllo.Draft{}, fyllo.Errorf(fyllo.CodeNotFound, "change the configuration: there is no draft")
	}
	err := d.Configure(ctx, []fyllo.ConfigChange{{ID: id, Value: value.String()}})
	return d.Snapshot(), err
}

func (m *Manager) newDraft(w fyllo.WorkspaceID, agent fyllo.AgentID, mode fyllo.Mode, scope fyllo.Scope) *draft {
	return &draft{Draft: warm.NewDraft(m.life, warm.DraftSpec{
		Agents: m.Agents, AgentID: agent, Mode: mode, Scope: scope, Turn: m.openLock(agent), Lease: m.lease(w, "", mode),
		Publish: func(d fyllo.Draft) {
			m.Publisher.Publish(fyllo.Event{Workspace: w, Type: fyllo.EventDraft, Data: d})
		},
	})}
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
