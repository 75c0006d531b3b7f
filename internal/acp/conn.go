package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"math/bits"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/jsonrpc"
)

// ClientInfo is how the application presents itself to Agents.
type ClientInfo struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitzero"`
	Version string `json:"version"`
}

// Options configure a Conn. The zero value works.
type Options struct {
	Ended  func() error // why the stream ended; asked once, at its end, and may wait for the exit; nil, or nil returned = AGENT_EXITED without more
	Log    *slog.Logger // nil = none; never gets conversation text
	Client ClientInfo   // empty fields: fyllocode, FylloCode, dev
}

// Conn is a connection to one Agent process. All methods may be called from any goroutine; those with a context
// wait for the Agent and must not be called from a sink.
type Conn struct {
	rpc  *jsonrpc.Conn
	opts Options
	log  *slog.Logger

	// Used on the reader goroutine only.
	decode  decoder
	dropped uint64 // updates and requests for nobody
	noise   uint64 // lines that are no ACP
	stop    sync.Once

	caps atomic.Pointer[fyllo.Capabilities] // nil before Initialize

	mu       sync.Mutex
	sessions map[fyllo.ACPSessionID]*session
	children map[fyllo.ACPSessionID]*session // of subagents with a session of their own: whose events theirs are
	opening  int                             // session/new requests in flight
	early    []event                         // for sessions not known yet, while opening > 0
	earlySum int                             // bytes of their lines
	ended    error                           // why the connection ended; nil until then
}

// session is an ACP session with a receiver.
type session struct {
	id   fyllo.ACPSessionID
	sink func(fyllo.AgentEvent)

	// Used on the reader goroutine only. The slices are never changed once they are set.
	config []fyllo.ConfigOption // the last complete snapshot
	legacy []fyllo.ConfigOption // options made from modes and models
}

// take makes list the snapshot and returns it.
func (s *session) take(list []fyllo.ConfigOption) []fyllo.ConfigOption {
	s.config, s.legacy = list, keepCurrent(s.legacy, list)
	return list
}

// event is an AgentEvent with its session and the size of its line.
type event struct {
	id   fyllo.ACPSessionID
	ev   fyllo.AgentEvent
	size int
}

// The bounds of what is kept for sessions not known yet (R-ACP-017).
const (
	maxEarly      = 1000
	maxEarlyBytes = 16 << 20
)

// NewConn starts to talk. Closing stdin must release a Write that blocks, as pipes do; stdout is closed if the
// connection fails, when it can be.
func NewConn(stdin io.WriteCloser, stdout io.Reader, o Options) *Conn {
	if o.Client.Name == "" {
		o.Client.Name, o.Client.Title = "fyllocode", "FylloCode"
	}
	if o.Client.Version == "" {
		o.Client.Version = "dev"
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Conn{opts: o, log: o.Log, sessions: map[fyllo.ACPSessionID]*session{}, children: map[fyllo.ACPSessionID]*session{}}
	ready := make(chan struct{})
	c.rpc = jsonrpc.New(stdout, stdin, jsonrpc.Handler{
		Notify:    func(method string, params, line []byte) { <-ready; c.notified(method, params, line) },
		Request:   func(r *jsonrpc.Request) { <-ready; c.requested(r) },
		Cancel:    func(r *jsonrpc.Request) { <-ready; c.withdrawn(r) },
		Noise:     c.noisy,
		Oversized: func(n int64) { c.log.Warn("agent line too long, skipped", "bytes", n) },
		Panicked:  func(v any, st []byte) { c.log.Error("panic while handling a message", "panic", v, "stack", string(st)) },
		Ended:     func() { <-ready; c.finish() },
	}, jsonrpc.Options{})
	close(ready) // c.rpc is set
	return c
}

// Done is closed after the last event was delivered.
func (c *Conn) Done() <-chan struct{} { return c.rpc.Done() }

// Close ends stdin after what is queued was written, at most 200 ms later. It does not wait for the Agent.
func (c *Conn) Close() error { return c.rpc.Close() }

// Forget drops later events of the session and of its subagents.
func (c *Conn) Forget(id fyllo.ACPSessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(id)
}

// notified receives every notification.
func (c *Conn) notified(method string, params, line []byte) {
	if method != methodUpdate {
		return // extensions of single Agents
	}
	u, ok := c.decode.update(params)
	if !ok {
		c.noisy(line)
		return
	}
	u.Raw = line
	if s := c.receiver(u.SessionID); s != nil {
		c.deliverUpdate(s, &u)
		return
	}
	c.unknown(event{id: u.SessionID, ev: fyllo.AgentEvent{Update: &u}, size: len(line)})
}

// requested receives every request. Everything but permission requests is refused, also what was never offered and
// is asked for all the same.
func (c *Conn) requested(r *jsonrpc.Request) {
	if r.Method != methodPermission {
		r.Fail(jsonrpc.CodeMethodMissing, "Method not found")
		return
	}
	p, ok := permission(r.Params)
	if !ok {
		r.Fail(jsonrpc.CodeInvalidParams, "Invalid params: no sessionId")
		return
	}
	r.Tag = p.SessionID
	p.Request, p.Raw = string(r.ID), r.Line
	p.Answer = func(optionID string) { r.Reply(outcome(optionID)) }
	if s := c.receiver(p.SessionID); s != nil {
		c.deliver(s, fyllo.AgentEvent{Permission: &p})
		return
	}
	c.unknown(event{id: p.SessionID, ev: fyllo.AgentEvent{Permission: &p}, size: len(r.Line)})
}

// withdrawn receives the Agent's $/cancel_request for a permission request, the only kind that stays open. Who was
// asked answers it, so that what is recorded and what the Agent hears agree.
func (c *Conn) withdrawn(r *jsonrpc.Request) {
	id, _ := r.Tag.(fyllo.ACPSessionID)
	if s := c.receiver(id); s != nil {
		c.deliver(s, fyllo.AgentEvent{Withdrawn: &fyllo.PermissionWithdrawn{Request: string(r.ID)}})
		return
	}
	c.mu.Lock()
	c.early = slices.DeleteFunc(c.early, func(e event) bool { // nobody was asked yet
		gone := e.id == id && e.ev.Permission != nil && e.ev.Permission.Request == string(r.ID)
		if gone {
			c.earlySum -= e.size
		}
		return gone
	})
	c.mu.Unlock()
	r.Reply(outcome(""))
}

// unknown keeps an event of a session that may be about to be known, or drops it (R-AGT-059).
func (c *Conn) unknown(e event) {
	c.mu.Lock()
	keep := c.opening > 0 && len(c.early) < maxEarly && c.earlySum+e.size <= maxEarlyBytes
	if keep {
		if e.ev.Update != nil {
			e.ev.Update.Raw = bytes.Clone(e.ev.Update.Raw)
		} else {
			e.ev.Permission.Raw = bytes.Clone(e.ev.Permission.Raw)
		}
		c.early = append(c.early, e)
		c.earlySum += e.size
	}
	c.mu.Unlock()
	if !keep {
		c.drop(e)
	}
}

// drop gives up an event that nobody waits for (R-CHAT-141).
func (c *Conn) drop(e event) {
	if e.ev.Permission != nil {
		e.ev.Permission.Answer("")
	}
	if c.dropped++; bits.OnesCount64(c.dropped) == 1 { // 1, 2, 4, 8 …: a flood must not fill the log
		c.log.Info("event of an unknown ACP session dropped", "session", e.id, "total", c.dropped)
	}
}

// noisy reports a line that is no ACP. Broken JSON may hold conversation text, so only its size is logged.
func (c *Conn) noisy(line []byte) {
	if c.noise++; bits.OnesCount64(c.noise) != 1 {
		return
	}
	if line[0] == '{' {
		c.log.Debug("agent line skipped", "bytes", len(line), "total", c.noise)
		return
	}
	c.log.Debug("agent line skipped", "text", string(line[:min(len(line), 200)]), "total", c.noise)
}

// deliver calls a sink and survives its panic.
func (c *Conn) deliver(s *session, ev fyllo.AgentEvent) {
	defer func() {
		if v := recover(); v != nil {
			c.log.Error("panic in the receiver of a session", "session", s.id, "panic", v, "stack", string(debug.Stack()))
		}
	}()
	s.sink(ev)
}

// deliverUpdate delivers an update, with configuration made complete first.
func (c *Conn) deliverUpdate(s *session, u *fyllo.Update) {
	if u.SessionID != s.id || u.Kind == fyllo.UpdateSubagent {
		c.ofChild(s, u)
	}
	if u.Kind == fyllo.UpdateConfig && u.Config != nil {
		u.Config = s.take(withLegacy(u.Config, s.legacy))
	}
	if u.Kind == fyllo.UpdateMode {
		if list, ok := withMode(s.config, u.Mode); ok {
			u.Kind, u.Config = fyllo.UpdateConfig, s.take(list)
		}
	}
	c.deliver(s, fyllo.AgentEvent{Update: u})
}

// finish tells every session that it is over. Outstanding calls were told before.
func (c *Conn) finish() {
	reason := c.end()
	c.mu.Lock()
	sessions := c.sessions
	c.sessions = map[fyllo.ACPSessionID]*session{}
	clear(c.children)
	c.mu.Unlock()
	at := time.Now()
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		c.deliver(sessions[id], fyllo.AgentEvent{Closed: &fyllo.AgentClosed{Reason: reason, At: at}})
	}
}

// end finds out why the stream ended. It runs on the reader goroutine, which has reached the end, so it may wait.
func (c *Conn) end() error {
	c.stop.Do(func() {
		var reason error
		if c.opts.Ended != nil {
			reason = c.opts.Ended()
		}
		if reason == nil {
			reason = fyllo.Errorf(fyllo.CodeAgentExited, "The Agent ended: it closed the connection")
			if errors.Is(c.rpc.Err(), jsonrpc.ErrStuck) {
				reason = fyllo.Errorf(fyllo.CodeAgentExited, "The Agent was given up: it does not read its input")
			}
		}
		c.mu.Lock()
		c.ended = reason
		c.mu.Unlock()
	})
	return c.endReason()
}

// endReason returns what end found out, or a general reason before that.
func (c *Conn) endReason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended == nil {
		return fyllo.Errorf(fyllo.CodeAgentExited, "the connection to the Agent is closed")
	}
	return c.ended
}

// send queues a call. got runs on the reader goroutine, with an error that is fit for people.
func (c *Conn) send(k call, params any, got func(json.RawMessage, error)) (uint64, error) {
	id, err := c.rpc.Go(k.method, params, func(raw json.RawMessage, err error) {
		if _, answered := errors.AsType[*jsonrpc.Error](err); err != nil && !answered {
			_ = c.end() // failure reads it
		}
		got(raw, c.failure(err, k))
	})
	if err != nil {
		return 0, c.failure(err, k)
	}
	return id, nil
}

// reply is how a call ended.
type reply struct {
	raw       json.RawMessage
	err       error // fit for people
	abandoned bool  // the caller is gone: ctx ended first
}

// ask calls and waits. got is called exactly once, in wire order on the reader goroutine, and decides what the
// caller gets; when the call could not even be sent, it is called by ask.
func ask[T any](ctx context.Context, c *Conn, k call, params any, got func(reply) (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	var taken atomic.Bool // by the answer or by the end of ctx, whichever is first
	id, err := c.send(k, params, func(raw json.RawMessage, err error) {
		v, err := got(reply{raw: raw, err: err, abandoned: taken.Swap(true)})
		done <- result{v, err}
	})
	if err != nil {
		return got(reply{err: err})
	}
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		if taken.Swap(true) {
			r := <-done
			return r.v, r.err
		}
		c.rpc.Abandon(id)
		var zero T
		return zero, c.failure(ctx.Err(), k)
	}
}
