package turns

import (
	"sync"

	"fyllocode.dev/fyllo"
)

// Bounds of a mailbox. A single event may exceed the byte bound: it waits until the box is empty.
const (
	mailboxItems = 2048
	mailboxBytes = 16 << 20
)

// Mail is an event with the link it came over.
type Mail[L any] struct {
	Link  L
	Event fyllo.AgentEvent
}

// Mailbox carries Agent events from the readers of connections to the owner of a Session. Put blocks while it is full, which is
// the back-pressure of architecture §3; Take empties it in one go.
type Mailbox[L any] struct {
	mu     sync.Mutex
	room   sync.Cond
	items  []Mail[L]
	spare  []Mail[L] // the slice of the batch before last, for reuse
	bytes  int
	closed bool
	ready  chan struct{} // holds one token while items wait
}

// NewMailbox returns an empty mailbox.
func NewMailbox[L any]() *Mailbox[L] {
	b := &Mailbox[L]{ready: make(chan struct{}, 1)}
	b.room.L = &b.mu
	return b
}

// Put appends an event, waiting for room. Events after close are dropped. The lines an event refers to are
// copied, since the reader uses its buffer again.
func (b *Mailbox[L]) Put(l L, e fyllo.AgentEvent) {
	size := weigh(&e)
	b.mu.Lock()
	for !b.closed && len(b.items) > 0 && (len(b.items) >= mailboxItems || b.bytes+size > mailboxBytes) {
		b.room.Wait()
	}
	if b.closed {
		b.mu.Unlock()
		return
	}
	b.items = append(b.items, Mail[L]{Link: l, Event: e})
	b.bytes += size
	b.mu.Unlock()
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// Take returns all waiting events. The slice is valid until the next but one call.
func (b *Mailbox[L]) Take() []Mail[L] {
	b.mu.Lock()
	items := b.items
	b.items, b.spare = b.spare[:0], items
	b.bytes = 0
	b.mu.Unlock()
	b.room.Broadcast()
	return items
}

// Close wakes every waiting reader and drops what comes later.
func (b *Mailbox[L]) Close() {
	b.mu.Lock()
	b.closed = true
	b.items = nil
	b.mu.Unlock()
	b.room.Broadcast()
}

// Ready holds a token while events wait.
func (b *Mailbox[L]) Ready() <-chan struct{} { return b.ready }

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
