package httpd

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
)

// windows is the registry of tabs (R-WS-120…127). Methods may be called from any goroutine.
//
// A window is alive while it has a socket, and for a moment after it registered. One that lost its socket keeps its
// identity for windowGrace, but not its Workspace if another window wants it.
type windows struct {
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
	link      *link             // nil without a socket
	expiry    *time.Timer       // nil while it has a socket
	round     int               // counts how often expiry was disarmed
}

func (w *window) alive() bool {
	return w.link != nil || !w.fresh.IsZero() && time.Since(w.fresh) < freshGrace
}

// link is the socket of a window as the registry sees it.
type link struct {
	cut   func(code websocket.StatusCode, reason string) // ends it; does not wait
	alive func(context.Context) bool                     // asks the other side; waits for its answer
	gone  chan struct{}                                  // closed by disconnect
}

func newWindows(closed func(fyllo.WindowID, fyllo.WorkspaceID)) *windows {
	return &windows{
		closed:  closed,
		byID:    make(map[fyllo.WindowID]*window),
		holders: make(map[fyllo.WorkspaceID]*window),
	}
}

// windowState is a copy of what a window is bound to.
type windowState struct {
	id        fyllo.WindowID
	workspace fyllo.WorkspaceID
	wanted    fyllo.WorkspaceID
}

// losses are windows that lost their Workspace; they are told about after the lock is released.
type losses []windowState

func (ws *windows) report(l losses) {
	for _, x := range l {
		ws.closed(x.id, x.workspace)
	}
}

// register returns the window with the presented id, or a new one if there is none or if it belongs to another tab
// that is alive: a duplicated tab brings the id of its original along (R-WS-127).
func (ws *windows) register(ctx context.Context, presented fyllo.WindowID) windowState {
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

func (w *window) state() windowState {
	return windowState{id: w.id, workspace: w.workspace, wanted: w.wanted}
}

// bind gives a Workspace to a window. While another window that is alive holds it, it stays there, unless force is
// set. Whoever loses a Workspace hears of it through its socket and registers again.
func (ws *windows) bind(id fyllo.WindowID, to fyllo.WorkspaceID, force bool) (windowState, error) {
	ws.mu.Lock()
	w := ws.byID[id]
	if w == nil {
		ws.mu.Unlock()
		return windowState{}, errWindowUnknown()
	}
	lost := ws.bindLocked(w, to, force)
	state := w.state()
	ws.mu.Unlock()
	ws.report(lost)
	return state, nil
}

func (ws *windows) bindLocked(w *window, to fyllo.WorkspaceID, force bool) losses {
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
func (ws *windows) release(w *window) windowState {
	was := w.state()
	delete(ws.holders, w.workspace)
	w.workspace = ""
	return was
}

// rebound cuts the socket of a window whose Workspace changed: it follows the wrong log.
func (ws *windows) rebound(w *window) {
	if w.link == nil {
		return
	}
	w.link.cut(closeMoved, "the Workspace of this window changed")
	w.link = nil
	ws.arm(w)
}

// workspaceOf returns what a window is bound to, false if there is no such window.
func (ws *windows) workspaceOf(id fyllo.WindowID) (fyllo.WorkspaceID, bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.byID[id]
	if w == nil {
		return "", false
	}
	return w.workspace, true
}

// wanted returns the Workspace that a window may claim, "" if there is none.
func (ws *windows) wanted(id fyllo.WindowID) fyllo.WorkspaceID {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w := ws.byID[id]; w != nil {
		return w.wanted
	}
	return ""
}

// holder returns the living window of a Workspace, "" if there is none.
func (ws *windows) holder(of fyllo.WorkspaceID) fyllo.WindowID {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w := ws.holders[of]; w != nil && w.alive() {
		return w.id
	}
	return ""
}

// connect makes l the socket of a window and returns its Workspace. A window has one socket: a second one is
// refused with closeInUse, an unknown window with closeUnknown; otherwise the code is 0.
func (ws *windows) connect(ctx context.Context, id fyllo.WindowID, l *link) (fyllo.WorkspaceID, websocket.StatusCode) {
	ws.awaitDisconnect(ctx, id)
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.byID[id]
	switch {
	case w == nil || ws.ended:
		return "", closeUnknown
	case w.link != nil:
		return "", closeInUse
	}
	w.link, w.fresh = l, time.Time{}
	ws.disarm(w)
	return w.workspace, 0
}

// disconnect says that the socket is over. It must be called once for every link that connect took.
func (ws *windows) disconnect(id fyllo.WindowID, l *link) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	close(l.gone)
	if w := ws.byID[id]; w != nil && w.link == l {
		w.link = nil
		ws.arm(w)
	}
}

// awaitDisconnect gives the old socket of a window time to end. A page that was reloaded or cut off comes back while
// Core may not have noticed yet; a duplicated tab comes while its original is alive, which the socket can tell.
func (ws *windows) awaitDisconnect(ctx context.Context, id fyllo.WindowID) {
	ws.mu.Lock()
	w := ws.byID[id]
	if w == nil || w.link == nil {
		ws.mu.Unlock()
		return
	}
	l := w.link
	ws.mu.Unlock()
	begun := time.Now()
	answered := make(chan bool, 1)
	var probe sync.WaitGroup
	defer probe.Wait()
	ctx, cancel := context.WithTimeout(ctx, probeWait)
	defer cancel()
	probe.Go(func() { answered <- l.alive(ctx) }) // ends with the answer or with ctx
	select {
	case <-l.gone:
		return
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
}

// arm starts the time after which a window without socket is gone.
func (ws *windows) arm(w *window) {
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

func (ws *windows) disarm(w *window) {
	if w.expiry != nil && w.expiry.Stop() {
		ws.timers.Done()
	}
	w.expiry = nil
	w.round++
}

// expire forgets a window, unless its timer was disarmed while this call waited for the lock.
func (ws *windows) expire(w *window, round int) {
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

// stop ends all timers and waits for those that fired. Windows are not told: Core ends, and with it their drafts.
func (ws *windows) stop() {
	ws.mu.Lock()
	ws.ended = true
	for _, w := range ws.byID {
		ws.disarm(w)
	}
	ws.mu.Unlock()
	ws.timers.Wait()
}
