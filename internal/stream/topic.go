package stream

import (
	"slices"
	"sync"
)

// topic is one log. items[head:] are the kept entries, whose numbers end at last.
type topic struct {
	opts *Options

	mu      sync.Mutex
	items   []Item
	head    int
	bytes   int    // estimate over items[head:]
	last    uint64 // number of the newest item
	mark    uint64 // last at the time of the last trim
	readers []*Reader
}

func (t *topic) len() int { return len(t.items) - t.head }

// first is the number of the oldest kept entry; last+1 when nothing is kept.
func (t *topic) first() uint64 { return t.last + 1 - uint64(t.len()) }

func (t *topic) publish(items []Item) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, it := range items {
		it.Size += itemOverhead
		t.items = append(t.items, it)
		t.bytes += it.Size
		t.last++
	}
	t.evict()
	for _, r := range t.readers {
		r.wake()
	}
}

// evict drops the oldest entries until the bounds hold.
func (t *topic) evict() {
	need := t.needed()
	for t.len() > 0 {
		over := t.len() > t.opts.KeepItems || t.bytes > t.opts.KeepBytes
		far := t.len() > t.opts.LagItems || t.bytes > t.opts.LagBytes
		if !far && (!over || t.first() >= need) {
			break
		}
		t.drop()
	}
	t.compact()
}

// needed is the number of the oldest entry that an attached reader has yet to take; last+1 if there is none.
func (t *topic) needed() uint64 {
	need := t.last + 1
	for _, r := range t.readers {
		need = min(need, r.next)
	}
	return need
}

func (t *topic) drop() {
	t.bytes -= t.items[t.head].Size
	t.items[t.head] = Item{} // releases Data
	t.head++
}

// compact gives memory back once most of the slice is unused. Each move is paid for by as many drops or appends.
func (t *topic) compact() {
	n := t.len()
	switch {
	case n == 0:
		t.head = 0
		if cap(t.items) > 64 {
			t.items = nil
		}
		t.items = t.items[:0]
	case t.head > 64 && t.head > n && cap(t.items) > 4*n:
		t.items, t.head = append(make([]Item, 0, 2*n), t.items[t.head:]...), 0
	case t.head > 64 && t.head > n:
		copy(t.items, t.items[t.head:])
		clear(t.items[n:])
		t.items, t.head = t.items[:n], 0
	}
}

func (t *topic) trim() {
	t.mu.Lock()
	defer t.mu.Unlock()
	until := min(t.mark+1, t.needed())
	for t.len() > 0 && t.first() < until {
		t.drop()
	}
	t.mark = t.last
	t.compact()
}

func (t *topic) detach(r *Reader) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.readers = slices.DeleteFunc(t.readers, func(x *Reader) bool { return x == r })
	t.evict()
}
