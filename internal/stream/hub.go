package stream

import (
	"crypto/rand"
	"sync"
)

// Item is one thing to publish. Data is shared by all readers and must not change after Publish.
type Item struct {
	Type    string
	Session string // "" when the item belongs to no session
	Data    any
	Size    int // estimated bytes of Data in memory; a small constant is added for the item itself
}

// Entry is an Item with its number in the topic.
type Entry struct {
	Seq uint64
	Item
}

// Options bound the memory of each topic. Zero values take the defaults named here.
type Options struct {
	KeepItems int // kept for readers that come back; 20,000
	KeepBytes int // likewise, by estimate; 4 MiB
	LagItems  int // kept while an attached reader has not taken them; 200,000
	LagBytes  int // likewise, by estimate; 160 MiB, since one line of an Agent may hold 64 MiB
}

// itemOverhead is what an Entry costs besides its Data.
const itemOverhead = 72

// Hub is a set of topics. Its methods may be called from any goroutine.
type Hub struct {
	opts Options
	run  string

	mu     sync.RWMutex
	topics map[string]*topic
}

// New returns an empty Hub with a fresh run id.
func New(o Options) *Hub {
	o.KeepItems = orDefault(o.KeepItems, 20_000)
	o.KeepBytes = orDefault(o.KeepBytes, 4<<20)
	o.LagItems = max(orDefault(o.LagItems, 200_000), o.KeepItems)
	o.LagBytes = max(orDefault(o.LagBytes, 160<<20), o.KeepBytes)
	return &Hub{opts: o, run: rand.Text(), topics: make(map[string]*topic)}
}

func orDefault(v, d int) int {
	if v <= 0 {
		return d
	}
	return v
}

// Run names this Hub; numbers of another run mean nothing here.
func (h *Hub) Run() string { return h.run }

// Publish appends items to a topic, in order and without anything between them. Topic "" appends to every topic
// that exists; a topic exists once it was published to, subscribed to or asked for its Seq.
func (h *Hub) Publish(name string, items ...Item) {
	if name != "" {
		h.topic(name).publish(items)
		return
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, t := range h.topics {
		t.publish(items)
	}
}

// Seq returns the number of the last item of a topic, 0 if there was none.
func (h *Hub) Seq(name string) uint64 {
	t := h.topic(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// Subscribe attaches a reader that gets every item after the given number. When run is another run, or those
// items are gone, or after lies in the future, the reader starts behind the newest item instead and reset is
// true. The reader must be closed.
func (h *Hub) Subscribe(name string, after uint64, run string) (r *Reader, reset bool) {
	t := h.topic(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	if run != h.run || after > t.last || after+1 < t.first() {
		after, reset = t.last, true
	}
	r = &Reader{t: t, next: after + 1, ready: make(chan struct{}, 1)}
	t.readers = append(t.readers, r)
	if after < t.last {
		r.wake()
	}
	return r, reset
}

// Trim releases, in every topic, the items that were there at the last call already, unless an attached reader
// still needs them. Called every half minute, it keeps items for half a minute to a minute.
func (h *Hub) Trim() {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, t := range h.topics {
		t.trim()
	}
}

func (h *Hub) topic(name string) *topic {
	h.mu.RLock()
	t := h.topics[name]
	h.mu.RUnlock()
	if t != nil {
		return t
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if t = h.topics[name]; t == nil {
		t = &topic{opts: &h.opts}
		h.topics[name] = t
	}
	return t
}
