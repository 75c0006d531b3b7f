// Package queue keeps the messages of one Session that wait for their turn (R-CHAT-052): a list, and whether the user has
// to let it go on. It is pure; what it returns is never changed afterwards.
package queue

import (
	"slices"

	"fyllocode.dev/fyllo"
)

// Loaded is the queue as a new owner of the Session finds it on disk: what was sent is gone, and nothing is sent by itself.
func Loaded(q fyllo.Queue, sent func(id string) bool) fyllo.Queue {
	q = with(q, slices.DeleteFunc(slices.Clone(q.Entries), func(e fyllo.Queued) bool { return sent(e.ID) }))
	if len(q.Entries) > 0 && q.Held == "" {
		q.Held = fyllo.HeldRestarted
	}
	return q
}

// with returns q with other entries. An empty queue is not held by anything.
func with(q fyllo.Queue, entries []fyllo.Queued) fyllo.Queue {
	if len(entries) == 0 {
		return fyllo.Queue{Entries: []fyllo.Queued{}}
	}
	q.Entries = entries
	return q
}

// Has reports whether an entry waits.
func Has(q fyllo.Queue, id string) bool { return index(q, id) >= 0 }

func index(q fyllo.Queue, id string) int {
	return slices.IndexFunc(q.Entries, func(e fyllo.Queued) bool { return e.ID == id })
}

// Add puts an entry at the end. Code QUEUE_FULL.
func Add(q fyllo.Queue, e fyllo.Queued) (fyllo.Queue, error) {
	if len(q.Entries) >= fyllo.QueueMax {
		return q, fyllo.Errorf(fyllo.CodeQueueFull, "queue the message: %d wait already", fyllo.QueueMax).
			WithHint("Send or remove one of them first.")
	}
	return with(q, append(slices.Clone(q.Entries), e)), nil
}

// Remove takes an entry out and returns it. Code NOT_FOUND: it was sent or removed.
func Remove(q fyllo.Queue, id string) (fyllo.Queue, fyllo.Queued, error) {
	i := index(q, id)
	if i < 0 {
		return q, fyllo.Queued{}, gone()
	}
	e := q.Entries[i]
	return with(q, slices.Delete(slices.Clone(q.Entries), i, i+1)), e, nil
}

func gone() error {
	return fyllo.Errorf(fyllo.CodeNotFound, "change the queue: the message is no longer in it").
		WithHint("It was sent or removed meanwhile.")
}

// ErrFile says that a file is one of a queued message.
func ErrFile() error {
	return fyllo.Errorf(fyllo.CodeAttachmentNotFound, "attachment: it waits with a queued message").
		WithHint("Change or remove that message.")
}

// Change edits an entry or moves it. Codes NOT_FOUND.
func Change(q fyllo.Queue, id string, c fyllo.QueueChange) (fyllo.Queue, error) {
	i := index(q, id)
	if i < 0 {
		return q, gone()
	}
	entries := slices.Clone(q.Entries)
	if c.Text != nil {
		entries[i].Text = *c.Text
	}
	before := c.Before
	if c.Now {
		before = &entries[0].ID
	}
	if before != nil && *before != id {
		e := entries[i]
		entries = slices.Delete(entries, i, i+1)
		at := len(entries)
		if *before != "" {
			if at = slices.IndexFunc(entries, func(o fyllo.Queued) bool { return o.ID == *before }); at < 0 {
				return q, gone()
			}
		}
		entries = slices.Insert(entries, at, e)
	}
	return with(q, entries), nil
}

// Release lets a held queue go on.
func Release(q fyllo.Queue) fyllo.Queue {
	q.Held, q.Failure = "", nil
	return q
}

// Hold keeps what waits until the user lets it go on. An empty queue has nothing to hold.
func Hold(q fyllo.Queue, why fyllo.HeldReason, failure *fyllo.Failure) fyllo.Queue {
	if len(q.Entries) > 0 {
		q.Held, q.Failure = why, failure
	}
	return q
}
