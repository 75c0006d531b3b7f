package core

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"fyllocode.dev/fyllo"
)

// window follows the event stream of a Workspace and folds it as a page does. It began before what it follows, so
// that it needs no snapshot.
type window struct {
	t      *testing.T
	c      *served
	cancel context.CancelFunc
	done   chan struct{}

	mu       sync.Mutex
	run      string
	seq      uint64
	messages map[string]*shown
	order    []string // message ids as they appeared
	ends     []fyllo.TurnEndEvent
	asks     []fyllo.Permission
	closed   []fyllo.PermissionClosed
	states   []fyllo.Turn
	at       map[fyllo.EventType]time.Time // of the last event of a type
	faults   []string
}

// shown is a message as a page holds it.
type shown struct {
	fyllo.Message
	texts []*strings.Builder // by part; the text of Part.Text grows here
}

// window connects and begins now.
func (c *served) window() *window {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w := &window{
		t: c.t, c: c, cancel: cancel, done: make(chan struct{}),
		messages: map[string]*shown{}, at: map[fyllo.EventType]time.Time{},
	}
	conn, err := w.dial(ctx)
	if err != nil {
		cancel()
		c.t.Fatal(err)
	}
	go w.read(ctx, conn) // ends with close, or with Core
	c.t.Cleanup(w.close)
	return w
}

// close ends the window.
func (w *window) close() {
	w.cancel()
	<-w.done
}

func (w *window) dial(ctx context.Context) (*websocket.Conn, error) {
	path := "/api/stream"
	w.mu.Lock()
	if w.run != "" {
		path += "?" + url.Values{"after": {strconv.FormatUint(w.seq, 10)}, "run": {w.run}}.Encode()
	}
	w.mu.Unlock()
	header := http.Header{}
	w.c.authorise(header)
	conn, resp, err := websocket.Dial(ctx, w.c.base+path, &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(-1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.run == "" {
		if w.seq, err = strconv.ParseUint(resp.Header.Get("X-Fyllo-Seq"), 10, 64); err != nil {
			w.fault("the upgrade does not tell its seq: " + err.Error())
		}
	}
	w.run = resp.Header.Get("X-Fyllo-Run")
	return conn, nil
}

// read reads as fast as Core sends, so that a test machine that is slow to fold never looks like a slow window.
func (w *window) read(ctx context.Context, conn *websocket.Conn) {
	frames := &queue{more: make(chan struct{}, 1)}
	folded := make(chan struct{})
	go func() { // ends when read has closed the queue
		defer close(folded)
		for data, ok := frames.next(); ok; data, ok = frames.next() {
			w.take(data)
		}
	}()
	defer close(w.done)
	defer func() { <-folded }()
	defer frames.end()
	for {
		_, data, err := conn.Read(ctx)
		if err == nil {
			frames.put(data)
			continue
		}
		_ = conn.CloseNow()
		if ctx.Err() != nil || w.c.ended() {
			return // a test that cares looks at what is missing
		}
		frames.drained()
		if conn, err = w.dial(ctx); err != nil {
			return // Core is just ending
		}
	}
}

// queue holds frames that are not folded yet.
type queue struct {
	mu     sync.Mutex
	frames [][]byte
	busy   bool // a frame was taken and the next one not yet asked for
	ended  bool
	more   chan struct{} // capacity 1: something has changed
}

func (q *queue) put(data []byte) {
	q.mu.Lock()
	q.frames = append(q.frames, data)
	q.mu.Unlock()
	q.wake()
}

func (q *queue) end() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// next waits for a frame; ok is false at the end.
func (q *queue) next() (data []byte, ok bool) {
	for {
		q.mu.Lock()
		if q.busy = len(q.frames) > 0; q.busy {
			data, q.frames = q.frames[0], q.frames[1:]
			q.mu.Unlock()
			return data, true
		}
		ended := q.ended
		q.mu.Unlock()
		if ended {
			return nil, false
		}
		<-q.more
	}
}

// drained waits until everything is folded, after which the seq of the window is that of the last frame.
func (q *queue) drained() {
	_ = within(patience, func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return len(q.frames) == 0 && !q.busy
	})
}

func (w *window) take(data []byte) {
	var frames []struct {
		Seq  uint64          `json:"seq"`
		Type fyllo.EventType `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := json.Unmarshal(data, &frames); err != nil {
		w.fault("a frame cannot be read: " + err.Error())
		return
	}
	for _, f := range frames {
		if f.Seq <= w.seq {
			w.fault("the seq went back from " + strconv.FormatUint(w.seq, 10) + " to " + strconv.FormatUint(f.Seq, 10))
		}
		w.seq = f.Seq
		w.at[f.Type] = time.Now()
		w.apply(f.Type, f.Data)
	}
}

func (w *window) fault(text string) { w.faults = append(w.faults, text) }

// apply folds one event.
func (w *window) apply(kind fyllo.EventType, data json.RawMessage) {
	switch kind {
	case fyllo.EventMessage:
		w.message(decoded[fyllo.Message](w, data))
	case fyllo.EventDelta:
		w.delta(decoded[fyllo.Delta](w, data))
	case fyllo.EventPart:
		w.part(decoded[fyllo.PartEvent](w, data))
	case fyllo.EventTurn:
		w.states = append(w.states, decoded[fyllo.Turn](w, data))
	case fyllo.EventTurnEnd:
		w.ends = append(w.ends, decoded[fyllo.TurnEndEvent](w, data))
	case fyllo.EventPermission:
		w.asks = append(w.asks, decoded[fyllo.Permission](w, data))
	case fyllo.EventPermissionClosed:
		w.closed = append(w.closed, decoded[fyllo.PermissionClosed](w, data))
	case fyllo.EventReset:
		w.fault("a window that kept up was reset")
	default: // no part of a transcript
	}
}

func decoded[T any](w *window, data json.RawMessage) T {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		w.fault("an event cannot be read: " + err.Error())
	}
	return v
}

func (w *window) message(m fyllo.Message) {
	if w.messages[m.ID] == nil {
		w.order = append(w.order, m.ID)
	}
	s := &shown{Message: m}
	for _, p := range m.Parts {
		s.texts = append(s.texts, builderOf(p.Text))
	}
	w.messages[m.ID] = s
}

func builderOf(text string) *strings.Builder {
	var b strings.Builder
	b.WriteString(text)
	return &b
}

func (w *window) delta(d fyllo.Delta) {
	m := w.messages[d.MessageID]
	switch {
	case m == nil || d.Index > len(m.Parts):
		w.fault("a delta for a part that nobody announced: " + d.PartID)
		return
	case d.Index == len(m.Parts):
		m.Parts = append(m.Parts, fyllo.Part{ID: d.PartID, Type: d.Kind})
		m.texts = append(m.texts, &strings.Builder{})
	}
	if m.Parts[d.Index].ID != d.PartID {
		w.fault("a delta for part " + d.PartID + " stands at the index of " + m.Parts[d.Index].ID)
	}
	m.texts[d.Index].WriteString(d.Text)
}

func (w *window) part(e fyllo.PartEvent) {
	m := w.messages[e.MessageID]
	switch {
	case m == nil || e.Index > len(m.Parts):
		w.fault("a part of a message that nobody announced: " + e.Part.ID)
	case e.Index == len(m.Parts):
		m.Parts = append(m.Parts, e.Part)
		m.texts = append(m.texts, builderOf(e.Part.Text))
	default:
		m.Parts[e.Index], m.texts[e.Index] = e.Part, builderOf(e.Part.Text)
	}
}

// texts returns the text that the window shows of each message, in order of appearance.
func (w *window) texts() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]string{}
	for id, m := range w.messages {
		var b strings.Builder
		for i, p := range m.Parts {
			if p.Type == fyllo.PartText {
				b.WriteString(m.texts[i].String())
			}
		}
		out[id] = b.String()
	}
	return out
}

// text returns the text that the window shows of a message.
func (w *window) text(message string) string { return w.texts()[message] }

// sound fails the test when the stream broke its own rules.
func (w *window) sound() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.faults {
		w.t.Error("window: " + f)
	}
}

// turnEnd waits for the n-th end of a turn and returns it.
func (w *window) turnEnd(n int) fyllo.TurnEndEvent {
	w.t.Helper()
	var e fyllo.TurnEndEvent
	eventually(w.t, "the window sees the end of the turn", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.ends) <= n {
			return false
		}
		e = w.ends[n]
		return true
	})
	return e
}

// asked waits for the n-th permission request.
func (w *window) asked(n int) fyllo.Permission {
	w.t.Helper()
	var p fyllo.Permission
	eventually(w.t, "the window sees the permission request", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.asks) <= n {
			return false
		}
		p = w.asks[n]
		return true
	})
	return p
}

// has waits until the window shows the text in some message.
func (w *window) has(text string) {
	w.t.Helper()
	eventually(w.t, "the window shows "+text, func() bool {
		for _, t := range w.texts() {
			if strings.Contains(t, text) {
				return true
			}
		}
		return false
	})
}
