package session

import (
	"context"
	"errors"

	"fyllocode.dev/fyllo"
)

// notice is a hidden message that Core itself sends to the Agent of a Session when it is idle: what became of work that the
// Session has delegated (R-SPAWN-103…112).
type notice struct {
	text    string
	claim   func() error // makes it durable that the message is being sent; after it, it is never sent again
	claimed bool
	done    chan error // capacity 1: how it ended
}

// ErrNotClaimed means that a notice was not sent: the Session could not be made ready for it, or it is gone.
var ErrNotClaimed = errors.New("the notice was not sent")

// Notify sends a reminder as a message that nobody sees, and waits until the turn that it begins is over and its answer
// stored; nil means that. It returns early when ctx ends. It waits for the running turn and for messages of the user before it. claim is called when the
// Session is ready, right before the prompt is sent; an error of it, and everything that fails before, is ErrNotClaimed.
// Any other error means that it is not known what the Agent made of it.
func (m *Manager) Notify(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, text string, claim func() error) error {
	n := &notice{text: text, claim: claim, done: make(chan error, 1)}
	_, err := ask(ctx, m, w, s, func(a *actor) (struct{}, error) {
		a.notices = append(a.notices, n)
		return struct{}{}, nil
	})
	if err != nil {
		return errors.Join(ErrNotClaimed, err)
	}
	select {
	case err := <-n.done: // the actor ends every notice, with itself at the latest
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// beginNotice begins the turn of the oldest notice.
func (a *actor) beginNotice() {
	n := a.notices[0]
	a.notices = a.notices[1:]
	user := userMessage("", "")
	user.Parts = []fyllo.Part{{ID: user.ID + ".0", Type: fyllo.PartReminder, Text: n.text}}
	a.begin(user, nil, n)
}

// claimNotice stores that the notice is on its way, and its message.
func (a *actor) claimNotice(t *turn) error {
	if err := t.notice.claim(); err != nil {
		return errors.Join(ErrNotClaimed, err)
	}
	t.notice.claimed = true
	stored, err := a.m.Store.AppendMessage(a.w, a.sid, t.user)
	if err == nil {
		t.user = stored
		a.publish(fyllo.EventMessage, shown(stored)) // without parts: pages know it and show nothing (R-SPAWN-108)
	}
	return err
}

// endNotice tells how a notice ended; err nil means that the answer is stored.
func endNotice(n *notice, err error) {
	if n == nil {
		return
	}
	if err != nil && !n.claimed {
		err = errors.Join(ErrNotClaimed, err)
	}
	select {
	case n.done <- err:
	default: // told already
	}
}

// dropNotices ends what waits when the actor ends.
func (a *actor) dropNotices(err error) {
	for _, n := range a.notices {
		endNotice(n, err)
	}
	a.notices = nil
	for _, t := range []*turn{a.turn, a.late} {
		if t != nil {
			endNotice(t.notice, err)
		}
	}
}
