package session

import (
	"context"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/session/internal/warm"
)

// SetConfig changes one option of a Session and returns the Agent's new snapshot; a cold Session is activated by
// resume or load only (R-CHAT-039).
func (m *Manager) SetConfig(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, id string, value fyllo.ConfigValue) ([]fyllo.ConfigOption, error) {
	a, err := m.acquire(ctx, w, s)
	if err != nil {
		return nil, err
	}
	defer m.release(a)
	return m.change(ctx, a, []fyllo.ConfigChange{{ID: id, Value: value.String()}}, false)
}

// configured sets the options of a further submission before anything of it is stored, so that a refused one leaves
// no message behind (R-CLI-006). done tells that the submission was taken before and how it was answered.
func (m *Manager) configured(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, r fyllo.PromptRequest) (result fyllo.PromptResult, done bool, err error) {
	a, err := m.acquire(ctx, w, s)
	if err != nil {
		return fyllo.PromptResult{}, false, err
	}
	defer m.release(a)
	done, err = askActor(ctx, a, func(a *actor) (bool, error) {
		message, ok, err := a.repeatedPrompt(r.RequestID)
		result.Message = message
		if ok || err != nil {
			return ok, err
		}
		return false, a.checkPrompt(r)
	})
	if done || err != nil {
		return result, done, err
	}
	_, err = m.change(ctx, a, r.Config, true)
	return result, false, err
}

// opening owns the link that a change of configuration opens, until the Session takes it.
type opening struct{ _ byte } // not empty: each has an address of its own

// change makes the Session warm and sets options, each against the latest snapshot. fresh allows a new ACP session.
func (m *Manager) change(ctx context.Context, a *actor, changes []fyllo.ConfigChange, fresh bool) ([]fyllo.ConfigOption, error) {
	select {
	case a.changing <- struct{}{}:
		defer func() { <-a.changing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	job, err := askActor(ctx, a, func(a *actor) (*warm.Job, error) {
		if a.turn != nil && !a.turn.sent() {
			return nil, fyllo.Errorf(fyllo.CodeSessionBusy, "change the configuration: the Session is being activated")
		}
		job := a.activation(nil)
		a.opening = &opening{}
		job.Owner, job.Fresh, job.Changes = a.opening, fresh, changes
		return job, nil
	})
	if err != nil {
		return nil, err
	}
	got, err := job.Run(ctx)
	return askActor(context.WithoutCancel(ctx), a, func(a *actor) ([]fyllo.ConfigOption, error) {
		a.drain() // what came over the new link before it is the Session's
		a.opening = nil
		if err == nil && a.link == nil && a.turn == nil && got.Link.Alive() {
			a.link = got.Link
		}
		if got.Link != nil && got.Link != a.link {
			a.m.spawn(got.Link.Close)
		}
		if err != nil {
			return nil, err
		}
		a.setConfig(got.Config)
		return orEmpty(got.Config), a.changeMeta(func(*fyllo.SessionMeta) {})
	})
}
