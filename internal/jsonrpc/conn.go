package jsonrpc

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Handler is called on the reader goroutine, in wire order. A nil function ignores the event; a nil Request
// answers CodeMethodMissing. Slices are only valid during the call.
type Handler struct {
	Notify  func(method string, params, line []byte) // params is nil when absent
	Request func(r *Request)                         // must see to it that r is answered, now or later
	Cancel  func(r *Request)                         // the peer gave up a request that is still unanswered; answer it all the same

	Noise     func(line []byte)      // a line that is no message for us
	Oversized func(size int64)       // a line of that many bytes was skipped
	Panicked  func(v any, st []byte) // a handler or callback panicked
	Ended     func()                 // after the last callback, before Done is closed
}

// Options are limits; the zero value means the defaults.
type Options struct {
	MaxLine   int           // longest line in bytes, newline excluded; 0 = 64 MiB
	MaxQueue  int           // bytes that may wait to be written besides one message; 0 = 64 MiB
	WriteTime time.Duration // how long one write may take; 0 = one minute
	CloseTime time.Duration // how long Close lets the queue drain; 0 = 200 ms
}

func (o *Options) defaults() {
	if o.MaxLine == 0 {
		o.MaxLine = 64 << 20
	}
	if o.MaxQueue == 0 {
		o.MaxQueue = 64 << 20
	}
	if o.WriteTime == 0 {
		o.WriteTime = time.Minute
	}
	if o.CloseTime == 0 {
		o.CloseTime = 200 * time.Millisecond
	}
}

// Conn is a connection. Its methods may be called from any goroutine.
type Conn struct {
	in   io.Reader
	out  io.WriteCloser
	h    Handler
	opts Options
	done chan struct{}

	busy       atomic.Bool  // the reader is inside a handler
	writeStart atomic.Value // time.Time of the write under way; zero when none is
	watch      *time.Timer  // runs overdue during a write

	mu       sync.Mutex
	lastID   uint64
	calls    map[uint64]func(json.RawMessage, error)
	requests map[string]*Request // unanswered, by raw id
	queue    [][]byte
	queued   int         // bytes in queue
	closing  bool        // write what is queued, then end the output
	failure  error       // set once; nothing is queued any more
	grace    *time.Timer // set by broken
	closeOut sync.Once

	wake       chan struct{} // holds a token when the writer has something to do
	writerDone chan struct{}
}

// New starts a connection that reads in and writes out. Closing out must release a Write that blocks, as it does
// for pipes; in is closed when the connection fails, if it can be.
func New(in io.Reader, out io.WriteCloser, h Handler, o Options) *Conn {
	o.defaults()
	c := &Conn{
		in: in, out: out, h: h, opts: o,
		done: make(chan struct{}), wake: make(chan struct{}, 1), writerDone: make(chan struct{}),
		calls: map[uint64]func(json.RawMessage, error){}, requests: map[string]*Request{},
	}
	c.watch = time.AfterFunc(time.Hour, c.overdue)
	c.watch.Stop()
	go c.read()  // ends with the input; waits for the writer
	go c.write() // ends when the connection is closed or failed
	return c
}

// Done is closed after the last handler and callback returned.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns why the connection cannot be used any more, nil while it can.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}

// Go queues a call. done is called once on the reader goroutine, in wire order, with the result or with an *Error
// of the peer, or with the reason why no answer can come any more. When Go returns an error, done is never called.
// The result stays valid. The returned id is for Abandon.
func (c *Conn) Go(method string, params any, done func(json.RawMessage, error)) (id uint64, err error) {
	raw, err := encode(params)
	if err != nil {
		return 0, fmt.Errorf("%s: encode: %w", method, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	id = c.lastID + 1
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, raw)
	if err := c.enqueue(line); err != nil {
		return 0, fmt.Errorf("%s: %w", method, err)
	}
	c.lastID = id
	c.calls[id] = done
	return id, nil
}

// Abandon tells the peer that the answer is not needed. The callback of Go still gets it if it comes.
func (c *Conn) Abandon(id uint64) {
	c.mu.Lock()
	_, open := c.calls[id]
	c.mu.Unlock()
	if open {
		_ = c.Notify("$/cancel_request", cancelParams{RequestID: id}) // a dead connection ends the call anyway
	}
}

type cancelParams struct {
	RequestID uint64 `json:"requestId"`
}

// Call calls and waits. When ctx ends first the peer is told and the error wraps ctx.Err. Not for handlers.
func (c *Conn) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	type answer struct {
		result json.RawMessage
		err    error
	}
	ch := make(chan answer, 1)
	id, err := c.Go(method, params, func(r json.RawMessage, err error) { ch <- answer{r, err} })
	if err != nil {
		return nil, err
	}
	select {
	case a := <-ch:
		return a.result, a.err
	case <-ctx.Done():
		c.Abandon(id)
		return nil, fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

// Notify queues a notification.
func (c *Conn) Notify(method string, params any) error {
	raw, err := encode(params)
	if err != nil {
		return fmt.Errorf("%s: encode: %w", method, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.enqueue(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`+"\n", method, raw)); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// Close sends what is queued, for CloseTime at most, and ends the output. It does not wait.
func (c *Conn) Close() error {
	c.mu.Lock()
	if c.failure == nil {
		c.failure = ErrClosed
	}
	first := !c.closing
	c.closing = true
	c.mu.Unlock()
	c.signal()
	if first {
		time.AfterFunc(c.opts.CloseTime, c.endOutput)
	}
	return nil
}

// fail ends a connection that cannot go on. Callbacks see err as soon as the reader comes to its end.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	if c.failure == nil {
		c.failure = err
	}
	c.queue, c.queued, c.closing = nil, 0, true
	c.mu.Unlock()
	c.signal()
	c.endOutput()
	if in, ok := c.in.(io.Closer); ok {
		_ = in.Close() // releases the reader
	}
}

func (c *Conn) endOutput() {
	c.closeOut.Do(func() { _ = c.out.Close() }) // the peer may be gone
}

// finish fails what is still open once nothing more can arrive. It runs on the reader goroutine.
func (c *Conn) finish() {
	c.mu.Lock()
	if c.failure == nil {
		c.failure = ErrClosed
	}
	err := c.failure
	c.closing = true
	calls := c.calls
	c.calls, c.requests = nil, nil
	c.mu.Unlock()
	c.signal()
	for _, id := range slices.Sorted(maps.Keys(calls)) {
		c.guard(func() { calls[id](nil, err) })
	}
	c.endOutput()
	<-c.writerDone
	c.mu.Lock()
	if c.grace != nil {
		c.grace.Stop()
	}
	c.mu.Unlock()
	if c.h.Ended != nil {
		c.guard(c.h.Ended)
	}
	close(c.done)
}

// guard calls f and survives its panic, which it reports.
func (c *Conn) guard(f func()) (ok bool) {
	defer func() {
		if v := recover(); v != nil && c.h.Panicked != nil {
			c.h.Panicked(v, debug.Stack())
		}
	}()
	f()
	return true
}

// encode turns params into JSON without escaping what only HTML needs; nil slices become [].
func encode(v any) ([]byte, error) {
	return jsonv2.Marshal(v, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}
