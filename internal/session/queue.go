package session

import (
	"context"
	"slices"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/attachments"
	"fyllocode.dev/fyllo/internal/session/internal/queue"
)

// Enqueue has a message sent when the running turn has ended (R-CHAT-052); it is durable when Enqueue returns. The id of a
// message that waits or was sent already changes nothing. Codes: EMPTY_MESSAGE, QUEUE_FULL, those of attachments.
func (m *Manager) Enqueue(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, r fyllo.QueueRequest) (fyllo.Queue, error) {
	return ask(ctx, m, w, s, func(a *actor) (fyllo.Queue, error) { return a.enqueue(r) })
}

// ChangeQueued edits or moves a message that waits, or sends it next. Codes: EMPTY_MESSAGE, NOT_FOUND.
func (m *Manager) ChangeQueued(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, id string, c fyllo.QueueChange) (fyllo.Queue, error) {
	return ask(ctx, m, w, s, func(a *actor) (fyllo.Queue, error) { return a.changeQueued(id, c) })
}

// DropQueued takes a message out of the queue, with its files. Code NOT_FOUND.
func (m *Manager) DropQueued(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, id string) (fyllo.Queue, error) {
	return ask(ctx, m, w, s, func(a *actor) (fyllo.Queue, error) { return a.dropQueued(id) })
}

// ReleaseQueue lets a queue that is held go on.
func (m *Manager) ReleaseQueue(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) (fyllo.Queue, error) {
	return ask(ctx, m, w, s, func(a *actor) (fyllo.Queue, error) {
		err := a.setQueue(queue.Release(a.queue))
		return a.queue, err
	})
}

// loadQueue reads what waits. A message that was stored before Core died has left the queue.
func (a *actor) loadQueue() error {
	q, err := a.m.Store.Queue(a.w, a.sid)
	if err != nil || len(q.Entries) == 0 {
		a.queue = fyllo.Queue{Entries: []fyllo.Queued{}}
		return err
	}
	sent, err := a.requests() // of all messages: the file may be many turns old
	if err != nil {
		return err
	}
	a.queue = queue.Loaded(q, func(id string) bool { return sent[id] != "" })
	return nil
}

// setQueue makes a queue durable, then tells it. An error leaves the old one.
func (a *actor) setQueue(q fyllo.Queue) error {
	if err := a.m.Store.PutQueue(a.w, a.sid, q); err != nil {
		return err
	}
	a.queue = q
	a.publish(fyllo.EventQueue, q)
	return nil
}

func (a *actor) enqueue(r fyllo.QueueRequest) (fyllo.Queue, error) {
	if err := checkText(r.Text); err != nil {
		return a.queue, err
	}
	if queue.Has(a.queue, r.ID) {
		return a.queue, nil
	}
	if a.turn != nil && a.turn.notice != nil {
		return a.queue, errNoticed()
	}
	if _, sent, err := a.repeatedPrompt(r.ID); sent || err != nil {
		return a.queue, err
	}
	var files []fyllo.KeptAttachment
	if len(r.Attachments) > 0 {
		kept, err := a.m.Store.KeptAttachments(a.w, a.sid)
		if err != nil {
			return a.queue, err
		}
		if files, err = attachments.Kept(r.Attachments, kept); err != nil {
			return a.queue, err
		}
		if slices.ContainsFunc(r.Attachments, a.queue.Holds) {
			return a.queue, queue.ErrFile()
		}
	}
	q, err := queue.Add(a.queue, fyllo.Queued{ID: r.ID, Text: r.Text, Attachments: files, CreatedAt: now()})
	if err == nil {
		err = a.setQueue(q)
	}
	return a.queue, err
}

func (a *actor) changeQueued(id string, c fyllo.QueueChange) (fyllo.Queue, error) {
	if c.Text != nil {
		if err := checkText(*c.Text); err != nil {
			return a.queue, err
		}
	}
	q, err := queue.Change(a.queue, id, c)
	if err != nil {
		return a.queue, err
	}
	if c.Now {
		q = queue.Release(q)
	}
	if err := a.setQueue(q); err != nil {
		return a.queue, err
	}
	if c.Now && a.turn != nil {
		a.urgent = true
		a.cancel()
	}
	return a.queue, nil
}

func (a *actor) dropQueued(id string) (fyllo.Queue, error) {
	q, e, err := queue.Remove(a.queue, id)
	if err == nil {
		err = a.setQueue(q)
	}
	if err != nil || len(e.Attachments) == 0 {
		return a.queue, err
	}
	if err := a.m.Store.DropAttachments(a.w, a.sid, handles(e), false); err != nil {
		a.m.Log.Error("remove the files of a queued message", "session", a.sid, "err", err) // they show in the composer again
	}
	return a.queue, nil
}

func handles(e fyllo.Queued) (all []string) {
	for _, k := range e.Attachments {
		all = append(all, k.Handle)
	}
	return all
}

// holdQueue decides at the end of a turn whether what waits goes on: not after a turn that the user stopped or that
// failed, unless it was stopped for a queued message.
func (a *actor) holdQueue(end *fyllo.TurnEnd) {
	urgent := a.urgent
	a.urgent = false
	if a.turn != nil && a.turn.notice != nil {
		return // it is not the user's turn
	}
	why := fyllo.HeldReason("")
	switch {
	case urgent:
	case end.Error != nil:
		why = fyllo.HeldFailed
	case end.StopReason == stopCancelled:
		why = fyllo.HeldStopped
	}
	if why == "" || len(a.queue.Entries) == 0 || a.queue.Held != "" {
		return
	}
	q := queue.Hold(a.queue, why, nil)
	if err := a.setQueue(q); err != nil {
		a.m.Log.Error("store the queue", "session", a.sid, "err", err)
		a.queue = q // nothing may be sent by itself; a restart holds it anyway
		a.publish(fyllo.EventQueue, q)
	}
}

// pump sends the first message that waits as soon as nothing runs and the last answer is stored, so that late content
// still joins its own turn (R-ACP-022). The message is stored under the entry's id before the entry leaves the queue: a
// crash between the two neither loses it nor sends it twice. When nothing waits, a notice may go (R-SPAWN-104, 105).
func (a *actor) pump() {
	for a.turn == nil && a.late == nil && a.queue.Held == "" && len(a.queue.Entries) > 0 && !a.deleted {
		e := a.queue.Entries[0]
		_, err := a.prompt(fyllo.PromptRequest{RequestID: e.ID, Text: e.Text, Attachments: handles(e)})
		q, _, _ := queue.Remove(a.queue, e.ID)
		if err != nil {
			q = queue.Hold(a.queue, fyllo.HeldFailed, fyllo.FailureOf(err))
		}
		if err := a.setQueue(q); err != nil {
			a.m.Log.Error("store the queue", "session", a.sid, "err", err)
			a.queue = q // the stored message says that it was sent
			a.publish(fyllo.EventQueue, q)
		}
	}
	if a.turn == nil && a.late == nil && len(a.notices) > 0 && !a.deleted {
		a.beginNotice()
	}
}
