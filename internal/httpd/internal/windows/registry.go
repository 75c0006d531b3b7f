// Package windows is the registry of tabs: which of them exist, what each is bound to, and which has a socket.
//
// Its timers end with Registry.Stop; nothing else of it outlives a call.
package windows

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/coder/websocket"

	"fyllocode.dev/fyllo"
)

// How long things about a window last.
const (
	windowGrace = 30 * time.Second       // without its socket, until it is gone (R-WS-123)
	freshGrace  = 10 * time.Second       // after it registered, until its first socket: it counts as alive
	reloadWait  = 300 * time.Millisecond // for the socket of a page that is being reloaded to close
	probeWait   = 3 * time.Second        // for a socket to show that somebody is still there

	maxPredecessors = 8 // sockets of one window that a new one waits for, one after another
)

// Close codes of a socket that the registry decides on. After each of them the client registers its window and
// connects again.
const (
	CloseUnknown websocket.StatusCode = 4001 // Core does not know the window
	CloseInUse   websocket.StatusCode = 4002 // the window has another socket
	CloseMoved   websocket.StatusCode = 4004 // the Workspace of the window changed
)

// Unknown is the error of a call that names a window which Core does not know.
func Unknown() error {
	return fyllo.Errorf(fyllo.CodeWindowUnknown, "window: Core does not know it (any more)")
}

// Registry knows all windows (R-WS-120…127). Methods may be called from any goroutine.
//
// A window is alive while it has a socket, and for a moment after it registered. One that lost its socket keeps its
// identity for windowGrace, but not its Workspace if another window wants it.
type Registry struct {
	closed func(fyllo.WindowID, fyllo.WorkspaceID) // a window lost its Workspace; called without the lock

	mu      sync.Mutex
	byID    map[fyllo.WindowID]*window
	holders map[fyllo.WorkspaceID]*window // the one window of each Workspace (R-WS-121)
	ended   bool
	timers  sync.WaitGroup
}

type window struct {
	id        fyllo.WindowID
	workspace fyllo.WorkspaceID // "" for a launcher
	wanted    fyllo.WorkspaceID // what it could not be bound to because another window holds it
	fresh     time.Time         // when it registered; zero once it had a socket
	link      *Link             // nil without a socket
	expiry    *time.Timer       // nil while it has a socket
	round     int               // counts how often expiry was disarmed
}

func (w *window) alive() bool {
	return w.link != nil || !w.fresh.IsZero() && time.Since(w.fresh) < freshGrace
}

// Link is the socket of a window as the registry sees it.
type Link struct {
	cut   func(code websocket.StatusCode, reason string)
	alive func(context.Context) bool
	gone  chan struct{} // closed by Disconnect
}

// NewLink returns the Link of a socket. cut ends it and must not wait: it is called with the lock of the registry.
// alive asks the other side whether somebody is there, and waits for the answer or for its context.
func NewLink(cut func(code websocket.StatusCode, reason string), alive func(context.Context) bool) *Link {
	return &Link{cut: cut, alive: alive, gone: make(chan struct{})}
}

// New returns a Registry without windows. closed is told when a window lost its Workspace, from the goroutine of the
// call or of the timer that took it.
func New(closed func(fyllo.WindowID, fyllo.WorkspaceID)) *Registry {
	return &Registry{
		closed:  closed,
		byID:    make(map[fyllo.WindowID]*window),
		holders: make(map[fyllo.WorkspaceID]*window),
	}
}

// State is a copy of what the registry knows about a window.
type State struct {
	ID        fyllo.WindowID
	Workspace fyllo.WorkspaceID // "" for a launcher
	Wanted    fyllo.WorkspaceID // what it may claim because another window holds it; "" if there is none
	Linked    bool              // it has a socket
}

// losses are windows that lost their Workspace; they are told about after the lock is released.
type losses []State

func (ws *Registry) report(l losses) {
	for _, x := range l {
		ws.closed(x.ID, x.Workspace)
	}
}

// Register returns the window with the presented id, or a new one if there is none or if it belongs to another tab
// that is alive: a duplicated tab brings the id of its original along (R-WS-127).
func (ws *Registry) Register(ctx context.Context, presented fyllo.WindowID) State {
	ws.awaitDisconnect(ctx, presented)
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.byID[presented]
	if w == nil || w.link != nil {
		w = &window{id: fyllo.WindowID("window-" + rand.Text())}
		ws.byID[w.id] = w
	}
	w.fresh = time.Now()
	ws.arm(w)
	return w.state()
}

func (w *window) state() State {
	return State{ID: w.id, Workspace: w.workspace, Wanted: w.wanted, Linked: w.link != nil}
}

// Bind gives a Workspace to a window. While another window that is alive holds it, it stays there, unless force is
// set. Whoever loses a Workspace hears of it through its socket and registers again.
func (ws *Registry) Bind(id fyllo.WindowID, to fyllo.WorkspaceID, force bool) (State, error) {
	ws.mu.Lock()
	w := ws.byID[id]
	if w == nil {
		ws.mu.Unlock()
		return State{}, Unknown()
	}
	lost := ws.bindLocked(w, to, force)
	state := w.state()
	ws.mu.Unlock()
	ws.report(lost)
	return state, nil
}

func (ws *Registry) bindLocked(w *window, to fyllo.WorkspaceID, force bool) losses {
	if w.workspace == to {
		w.wanted = ""
		return nil
	}
	holder := ws.holders[to]
	if holder != nil && holder.alive() && !force {
		w.wanted = to
		return nil
	}
	var lost losses
	if holder != nil {
		lost = append(lost, ws.release(holder))
		holder.wanted = to
		ws.rebound(holder)
	}
	if w.workspace != "" {
		lost = append(lost, ws.release(w))
	}
	w.workspace, w.wanted = to, ""
	ws.holders[to] = w
	ws.rebound(w)
	return lost
}

// release takes the Workspace from a window.
func (ws *Registry) release(w *window) State {
	was := w.state()
	delete(ws.holders, w.workspace)
	w.workspace = ""
	return was
}

// rebound cuts the socket of a window whose Workspace changed: it follows the wrong log.
func (ws *Registry) rebound(w *window) {
	if w.link == nil {
		return
	}
	w.link.cut(CloseMoved, "the Workspace of this window changed")
	w.link = nil
	ws.arm(w)
}

// Lookup returns the state of a window, false if there is no such window.
func (ws *Registry) Lookup(id fyllo.WindowID) (State, bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.byID[id]
	if w == nil {
		return State{}, false
	}
	return w.state(), true
}

// Holder returns the living window of a Workspace, "" if there is none.
func (ws *Registry) Holder(of fyllo.WorkspaceID) fyllo.WindowID {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w := ws.holders[of]; w != nil && w.alive() {
		return w.id
	}
	return ""
}

// Connect makes l the socket of a window and returns its Workspace. A window has one socket: a second one is
// refused with CloseInUse, an unknown window with CloseUnknown; otherwise the code is 0.
func (ws *Registry) Connect(ctx context.Context, id fyllo.WindowID, l *Link) (fyllo.WorkspaceID, websocket.StatusCode) {
	for range maxPredecessors {
		old := ws.awaitDisconnect(ctx, id)
		if now := ws.linkOf(id); now == nil || now == old {
			break
		}
		// A connection that waited as well has come first. Its page may have left it by then, so it is asked too.
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.byID[id]
	switch {
	case w == nil || ws.ended:
		return "", CloseUnknown
	case w.link != nil:
		return "", CloseInUse
	}
	w.link, w.fresh = l, time.Time{}
	ws.disarm(w)
	return w.workspace, 0
}

// linkOf returns the socket of a window, nil if there is none.
func (ws *Registry) linkOf(id fyllo.WindowID) *Link {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w := ws.byID[id]; w != nil {
		return w.link
	}
	return nil
}

// Disconnect says that the socket is over. It must be called once for every Link that Connect took.
func (ws *Registry) Disconnect(id fyllo.WindowID, l *Link) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	close(l.gone)
	if w := ws.byID[id]; w != nil && w.link == l {
		w.link = nil
		ws.arm(w)
	}
}

// awaitDisconnect gives the old socket of a window time to end. A page that was reloaded or cut off comes back while
// Core may not have noticed yet; a duplicated tab comes while its original is alive, which the socket can tell. It returns the socket it waited for, nil if there was none.
func (ws *Registry) awaitDisconnect(ctx context.Context, id fyllo.WindowID) *Link {
	l := ws.linkOf(id)
	if l == nil {
		return nil
	}
	begun := time.Now()
	answered := make(chan bool, 1)
	var probe sync.WaitGroup
	defer probe.Wait()
	ctx, cancel := context.WithTimeout(ctx, probeWait)
	defer cancel()
	probe.Go(func() { answered <- l.alive(ctx) }) // ends with the answer or with ctx
	select {
	case <-l.gone:
		return l
	case alive := <-answered:
		if alive {
			ctx, cancel = context.WithDeadline(ctx, begun.Add(reloadWait))
			defer cancel()
		}
	}
	select {
	case <-l.gone:
	case <-ctx.Done():
	}
	return l
}

// arm starts the time after which a window without socket is gone.
func (ws *Registry) arm(w *window) {
	ws.disarm(w)
	if ws.ended {
		return
	}
	ws.timers.Add(1)
	round := w.round
	w.expiry = time.AfterFunc(windowGrace, func() {
		defer ws.timers.Done()
		ws.expire(w, round)
	})
}

func (ws *Registry) disarm(w *window) {
	if w.expiry != nil && w.expiry.Stop() {
		ws.timers.Done()
	}
	w.expiry = nil
	w.round++
}

// expire forgets a window, unless its timer was disarmed while this call waited for the lock.
func (ws *Registry) expire(w *window, round int) {
	ws.mu.Lock()
	if w.round != round {
		ws.mu.Unlock()
		return
	}
	w.expiry = nil
	delete(ws.byID, w.id)
	var lost losses
	if w.workspace != "" {
		lost = append(lost, ws.release(w))
	}
	ws.mu.Unlock()
	ws.report(lost)
}

// Stop ends all timers and waits for those that fired. Windows are not told: Core ends, and with it their drafts.
func (ws *Registry) Stop() {
	ws.mu.Lock()
	ws.ended = true
	for _, w := range ws.byID {
		ws.disarm(w)
	}
	ws.mu.Unlock()
	ws.timers.Wait()
}
