package session

import (
	"context"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/reminder"
	"fyllocode.dev/fyllo/internal/session/internal/warm"
)

// historyBytes bounds the history reminder of a fresh ACP session (R-GOV-162).
const historyBytes = 48 << 10

// activation is the job that makes the Session warm for a turn, or for a change of configuration when t is nil.
func (a *actor) activation(t *turn) *warm.Job {
	scope, err := a.scope()
	job := &warm.Job{
		Agents: a.m.Agents, Log: a.m.Log, AgentID: a.meta.AgentID, ACPID: a.meta.ACPSessionID, Link: a.link,
		Scope: func() (*fyllo.Scope, error) { return scope, err }, Holder: a.box.Put, Stored: a.config, Fresh: true,
		Lease: a.m.lease(a.w, a.sid, a.meta.Mode),
	}
	if t == nil {
		return job
	}
	job.Owner, job.After = t, t.way
	if d := t.draft; d != nil {
		job.Draft = func(ctx context.Context) *warm.Link {
			l := d.Take(ctx, t, a.box.Put)
			if l != nil {
				l.Bind(a.sid)
			}
			return l
		}
	}
	return job
}

// lease is how an activation gets FylloCode's own MCP servers: in FylloCode mode only (R-AGT-100, R-CHAT-028).
func (m *Manager) lease(w fyllo.WorkspaceID, s fyllo.SessionID, mode fyllo.Mode) func(context.Context) warm.Lease {
	if m.Servers == nil || mode != fyllo.ModeFyllo {
		return nil
	}
	return func(ctx context.Context) warm.Lease { return m.Servers.Lease(ctx, w, s) }
}

// reminders are the hidden parts a fresh ACP session starts with (R-GOV-161, 162, R-CHAT-146).
func (a *actor) reminders(user fyllo.Message) ([]fyllo.Part, error) {
	text, err := reminder.Workspace(*a.meta.Scope)
	if err != nil {
		return nil, err
	}
	parts := []fyllo.Part{{ID: user.ID + ".workspace", Type: fyllo.PartReminder, Text: text}}
	page, err := a.m.Store.Messages(a.w, a.sid, "", 0)
	if err != nil {
		return nil, err
	}
	before := page.Messages[:0]
	for _, m := range page.Messages {
		if m.ID != user.ID {
			before = append(before, m)
		}
	}
	if text := reminder.History(before, historyBytes); text != "" {
		parts = append(parts, fyllo.Part{ID: user.ID + ".history", Type: fyllo.PartReminder, Text: text})
	}
	return parts, nil
}

// visibleParts are the parts of a message without reminders.
func visibleParts(m fyllo.Message) []fyllo.Part {
	var parts []fyllo.Part
	for _, p := range m.Parts {
		if p.Type != fyllo.PartReminder {
			parts = append(parts, p)
		}
	}
	return parts
}
