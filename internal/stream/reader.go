package stream

import (
	"context"
	"errors"
)

// ErrTooSlow tells a reader that items it has not taken are gone.
var ErrTooSlow = errors.New("the reader fell too far behind")

// The bounds of one batch: enough to write much at once, little enough that one batch is no burst.
const (
	batchItems = 2048
	batchBytes = 256 << 10
)

// Reader follows one topic. Ready may be used anywhere; the other methods belong to one goroutine.
type Reader struct {
	t     *topic
	next  uint64        // number of the next entry to take; guarded by t.mu
	ready chan struct{} // holds a token when there may be something to take
	batch []Entry       // reused between calls of Take
}

// wake must not block: it is called by publishers.
func (r *Reader) wake() {
	select {
	case r.ready <- struct{}{}:
	default:
	}
}

// Ready gives a token when Take may return something.
func (r *Reader) Ready() <-chan struct{} { return r.ready }

// Take returns the next entries in order without waiting, none if there are none now. The slice is valid until
// the next call. ErrTooSlow is final.
func (r *Reader) Take() ([]Entry, error) {
	clear(r.batch) // releases what the caller is done with
	if cap(r.batch) > 256 && len(r.batch) <= 64 {
		r.batch = nil
	}
	r.batch = r.batch[:0]

	t := r.t
	t.mu.Lock()
	defer t.mu.Unlock()
	first := t.first()
	if r.next < first {
		return nil, ErrTooSlow
	}
	size := 0
	for i := t.head + int(r.next-first); i < len(t.items); i++ {
		if len(r.batch) == batchItems || size > batchBytes {
			r.wake()
			break
		}
		r.batch = append(r.batch, Entry{Seq: r.next, Item: t.items[i]})
		size += t.items[i].Size
		r.next++
	}
	if t.len() > t.opts.KeepItems || t.bytes > t.opts.KeepBytes {
		t.evict()
	}
	return r.batch, nil
}

// Next waits for at least one entry. Its error is ErrTooSlow or that of ctx.
func (r *Reader) Next(ctx context.Context) ([]Entry, error) {
	for {
		batch, err := r.Take()
		if err != nil || len(batch) > 0 {
			return batch, err
		}
		select {
		case <-r.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Close detaches the reader, so that nothing is kept for it any more.
func (r *Reader) Close() { r.t.detach(r) }

// Position returns the number of the last entry taken, or the one the reader starts after.
func (r *Reader) Position() uint64 {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	return r.next - 1
}
