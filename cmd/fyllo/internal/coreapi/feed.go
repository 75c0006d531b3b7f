package coreapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"fyllocode.dev/fyllo"
)

// Frame is one event of a Workspace's stream.
type Frame struct {
	Seq       uint64          `json:"seq"`
	SessionID fyllo.SessionID `json:"sessionId"`
	Type      fyllo.EventType `json:"type"`
	Data      json.RawMessage `json:"data"`
}

// feedPatience is how long a feed tries to come back to a Core that does not answer.
const feedPatience = 5 * time.Second

// Feed is the event stream of a Workspace, in order and without gaps. It reads as fast as Core sends and holds
// what the command has not taken yet, so that a slow stdout never looks to Core like a slow window. When the
// connection breaks it resumes; what cannot be resumed appears as one frame of type reset, after which the
// command looks at the Session itself.
type Feed struct {
	client *Client
	run    string // names the run of Core that seq belongs to; the dialler's own
	cancel context.CancelFunc
	done   chan struct{} // closed when the reader has ended
	more   chan struct{} // capacity 1: frames or err changed

	mu     sync.Mutex // guards what follows
	only   fyllo.SessionID
	frames []Frame
	seq    uint64 // of the last frame received
	err    error  // why the feed ended
}

// OpenFeed begins a feed now. Its caller closes it.
func OpenFeed(ctx context.Context, c *Client) (*Feed, error) {
	f := &Feed{client: c, done: make(chan struct{}), more: make(chan struct{}, 1)}
	conn, err := f.dial(ctx)
	if err != nil {
		return nil, err
	}
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f.cancel = cancel
	go f.read(reading, conn) // ends when Close cancels it, or when Core is gone for good
	return f, nil
}

// Close ends the feed and waits for its reader.
func (f *Feed) Close() {
	f.cancel()
	<-f.done
}

// Keep drops the frames of other Sessions, also those that are waiting.
func (f *Feed) Keep(id fyllo.SessionID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.only = id
	kept := f.frames[:0]
	for _, fr := range f.frames {
		if f.wanted(fr) {
			kept = append(kept, fr)
		}
	}
	f.frames = kept
}

// Next returns the next frame. The error is ctx's, or says why the feed ended.
func (f *Feed) Next(ctx context.Context) (Frame, error) {
	for {
		if ctx.Err() != nil {
			return Frame{}, ctx.Err() // also while frames keep coming
		}
		fr, ok, err := f.take()
		if ok || err != nil {
			return fr, err
		}
		select {
		case <-f.more:
		case <-ctx.Done():
			return Frame{}, ctx.Err()
		}
	}
}

// NextUntil is Next that ends when everything up to seq has been returned: false without an error.
func (f *Feed) NextUntil(ctx context.Context, seq uint64) (Frame, bool, error) {
	for {
		f.mu.Lock()
		over := len(f.frames) == 0 && f.seq >= seq
		f.mu.Unlock()
		if over || ctx.Err() != nil {
			return Frame{}, false, ctx.Err()
		}
		fr, ok, err := f.take()
		if ok || err != nil {
			return fr, ok, err
		}
		select {
		case <-f.more:
		case <-ctx.Done():
		}
	}
}

func (f *Feed) take() (Frame, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.frames) == 0 {
		return Frame{}, false, f.err
	}
	fr := f.frames[0]
	f.frames[0] = Frame{} // lets go of its data
	f.frames = f.frames[1:]
	return fr, true, nil
}

func (f *Feed) read(ctx context.Context, conn *websocket.Conn) {
	defer close(f.done)
	for {
		err := f.drain(ctx, conn)
		_ = conn.CloseNow()
		if ctx.Err() == nil {
			conn, err = f.redial(ctx)
		}
		if err != nil {
			f.end(err)
			return
		}
	}
}

// drain takes frames from conn until it breaks, and returns why.
func (f *Feed) drain(ctx context.Context, conn *websocket.Conn) error {
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		var frames []Frame
		if err := json.Unmarshal(data, &frames); err != nil {
			return err
		}
		f.put(frames)
	}
}

func (f *Feed) put(frames []Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fr := range frames {
		f.seq = fr.Seq
		if f.wanted(fr) {
			f.frames = append(f.frames, fr)
		}
	}
	f.wake()
}

func (f *Feed) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
	f.wake()
}

func (f *Feed) wake() {
	select {
	case f.more <- struct{}{}:
	default:
	}
}

func (f *Feed) wanted(fr Frame) bool {
	return f.only == "" || fr.SessionID == f.only || fr.Type == fyllo.EventReset
}

// redial tries to resume until feedPatience is over.
func (f *Feed) redial(ctx context.Context) (*websocket.Conn, error) {
	deadline := time.Now().Add(feedPatience)
	for {
		conn, err := f.dial(ctx)
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) {
			return conn, err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// dial connects: from now on the first time, from after the last frame received later.
func (f *Feed) dial(ctx context.Context) (*websocket.Conn, error) {
	path := "/api/stream"
	if f.run != "" {
		f.mu.Lock()
		q := url.Values{"after": {strconv.FormatUint(f.seq, 10)}, "run": {f.run}}
		f.mu.Unlock()
		path += "?" + q.Encode()
	}
	header := http.Header{}
	f.client.authorise(header)
	conn, resp, err := websocket.Dial(ctx, f.client.base+path, &websocket.DialOptions{
		HTTPClient: f.client.http, HTTPHeader: header,
	})
	if err != nil {
		if resp != nil && resp.StatusCode >= 400 {
			return nil, failedAnswer(resp, http.MethodGet, "/api/stream")
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fyllo.Errorf(fyllo.CodeInternal, "Core: its event stream at %s broke: %w", f.client.base, err)
	}
	conn.SetReadLimit(-1) // Core is trusted, and a part may be as long as an Agent made it
	first := f.run == ""
	f.run = resp.Header.Get("X-Fyllo-Run")
	if seq, err := strconv.ParseUint(resp.Header.Get("X-Fyllo-Seq"), 10, 64); first && err == nil {
		f.seq = seq
	}
	return conn, nil
}
