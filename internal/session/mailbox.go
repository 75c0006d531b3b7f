package session

import (
	"sync"

	"fyllocode.dev/fyllo"
)

// Bounds of a mailbox. A single event may exceed the byte bound: it waits until the box is empty.
const (
	mailboxItems = 2048
	mailboxBytes = 16 << 20
)

// mail is an event with the link it came over; raw lies in the batch's arena.
type mail struct {
	link  *link
	event fyllo.AgentEvent
}

// mailbox carries Agent events from the readers of connections to an actor. put blocks while it is full, which is
// the back-pressure of architecture §3; take empties it in one go.
type mailbox struct {
	mu     sync.Mutex
	room   sync.Cond
	items  []mail
	spare  []mail // the slice of the batch before last, for reuse
	bytes  int
	closed bool
	ready  chan struct{} // holds one token while items wait
}

func newMailbox() *mailbox {
	b := &mailbox{ready: make(chan struct{}, 1)}
	b.room.L = &b.mu
	return b
}

// put appends an event, waiting for room. Events after close are dropped. The lines an event refers to are
// copied, since the reader uses its buffer again.
func (b *mailbox) put(l *link, e fyllo.AgentEvent) {
	size := weigh(&e)
	b.mu.Lock()
	for !b.closed && len(b.items) > 0 && (len(b.items) >= mailboxItems || b.bytes+size > mailboxBytes) {
		b.room.Wait()
	}
	if b.closed {
		b.mu.Unlock()
		return
	}
	b.items = append(b.items, mail{link: l, event: e})
	b.bytes += size
	b.mu.Unlock()
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// take returns all waiting events. The slice is valid until the next but one call.
func (b *mailbox) take() []mail {
	b.mu.Lock()
	items := b.items
	b.items, b.spare = b.spare[:0], items
	b.bytes = 0
	b.mu.Unlock()
	b.room.Broadcast()
	return items
}

// close wakes every waiting reader and drops what comes later.
func (b *mailbox) close() {
	b.mu.Lock()
	b.closed = true
	b.items = nil
	b.mu.Unlock()
	b.room.Broadcast()
}

// weigh makes an event independent of the reader's buffer and returns its size.
func weigh(e *fyllo.AgentEvent) int {
	switch {
	case e.Update != nil:
		u := e.Update
		u.Raw = clone(u.Raw)
		if t := u.Tool; t != nil {
			t.RawInput, t.RawOutput = clone(t.RawInput), clone(t.RawOutput)
		}
		return 2*len(u.Raw) + 256
	case e.Permission != nil:
		p := e.Permission
		p.Raw = clone(p.Raw)
		if t := p.Tool; t != nil {
			t.RawInput, t.RawOutput = clone(t.RawInput), clone(t.RawOutput)
		}
		return 2*len(p.Raw) + 256
	}
	return 256
}

func clone(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append(make([]byte, 0, len(b)), b...)
}
