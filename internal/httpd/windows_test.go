package httpd

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"fyllocode.dev/fyllo"
)

func netipAddr(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

// registry is a windows with its losses and a way to open sockets.
type registry struct {
	*windows
	t    *testing.T
	told sync.Mutex // guards lost
	lost []string
}

func newRegistry(t *testing.T) *registry {
	r := &registry{t: t}
	r.windows = newWindows(func(_ fyllo.WindowID, w fyllo.WorkspaceID) {
		r.told.Lock()
		defer r.told.Unlock()
		r.lost = append(r.lost, string(w))
	})
	t.Cleanup(r.stop)
	return r
}

func (r *registry) losses() []string {
	r.told.Lock()
	defer r.told.Unlock()
	return slices.Clone(r.lost)
}

func isAlive(context.Context) bool { return true }

// socket opens a socket and returns it with the codes it is cut with.
func (r *registry) socket(id fyllo.WindowID) (*link, chan websocket.StatusCode) {
	r.t.Helper()
	codes := make(chan websocket.StatusCode, 1)
	l := &link{cut: func(c websocket.StatusCode, _ string) { codes <- c }, alive: isAlive, gone: make(chan struct{})}
	if _, code := r.connect(r.t.Context(), id, l); code != 0 {
		r.t.Fatalf("connect %s = %d", id, code)
	}
	return l, codes
}

func (r *registry) mustBind(id fyllo.WindowID, w fyllo.WorkspaceID, force bool) windowState {
	r.t.Helper()
	s, err := r.bind(id, w, force)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func TestReloadWithin30SecondsKeepsTheWindow_R_WS_123(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		w := r.register(t.Context(), "")
		r.mustBind(w.id, "ws-a", false)
		l, _ := r.socket(w.id)
		r.disconnect(w.id, l)
		time.Sleep(windowGrace - time.Second)
		again := r.register(t.Context(), w.id)
		if again.id != w.id || again.workspace != "ws-a" {
			t.Fatalf("after a reload: %+v, want %s in ws-a", again, w.id)
		}
		l, _ = r.socket(w.id)
		time.Sleep(time.Hour)
		r.disconnect(w.id, l)
		time.Sleep(windowGrace - time.Second)
		if len(r.losses()) != 0 {
			t.Fatalf("lost %v too early", r.losses())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(r.losses()) != 1 || r.losses()[0] != "ws-a" {
			t.Fatalf("lost %v, want ws-a", r.losses())
		}
		if _, ok := r.workspaceOf(w.id); ok {
			t.Error("the window is still known")
		}
		if other := r.register(t.Context(), w.id); other.id == w.id {
			t.Error("an id was used again")
		}
	})
}

func TestWindowThatNeverConnectsIsForgotten_R_WS_127(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		w := r.register(t.Context(), "")
		time.Sleep(windowGrace + time.Second)
		synctest.Wait()
		if _, ok := r.workspaceOf(w.id); ok {
			t.Error("it is still known")
		}
	})
}

func TestSecondLiveConnectionGetsANewID_R_WS_127(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		w := r.register(t.Context(), "")
		r.mustBind(w.id, "ws-a", false)
		l, _ := r.socket(w.id)
		copied := r.register(t.Context(), w.id)
		if copied.id == w.id || copied.workspace != "" {
			t.Fatalf("a duplicated tab got %+v", copied)
		}
		second := &link{alive: isAlive, gone: make(chan struct{})}
		if _, code := r.connect(t.Context(), w.id, second); code != closeInUse {
			t.Errorf("a second socket was answered with %d", code)
		}
		if _, code := r.connect(t.Context(), "window-x", second); code != closeUnknown {
			t.Errorf("an unknown window was answered with %d", code)
		}
		// The socket of a page that is being reloaded may close a moment late.
		go func() { // ends after the disconnect
			time.Sleep(reloadWait / 2)
			r.disconnect(w.id, l)
		}()
		if again := r.register(t.Context(), w.id); again.id != w.id {
			t.Errorf("a reload got %s, want %s", again.id, w.id)
		}
	})
}

// On a busy machine Core may take a while to notice that a page is gone; its socket does not answer then.
func TestReloadWaitsForASocketThatDoesNotAnswer_R_WS_123(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		w := r.register(t.Context(), "")
		l, _ := r.socket(w.id)
		l.alive = func(ctx context.Context) bool { <-ctx.Done(); return false }
		go func() { // ends after the disconnect
			time.Sleep(probeWait - time.Millisecond)
			r.disconnect(w.id, l)
		}()
		if again := r.register(t.Context(), w.id); again.id != w.id {
			t.Errorf("it got %s, want %s", again.id, w.id)
		}
	})
}

func TestOneWindowPerWorkspace_R_WS_121(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		a, b := r.register(t.Context(), ""), r.register(t.Context(), "")
		r.mustBind(a.id, "ws-a", false)
		_, codes := r.socket(a.id)
		if s := r.mustBind(b.id, "ws-a", false); s.workspace != "" || s.wanted != "ws-a" {
			t.Fatalf("the second window got %+v", s)
		}
		if r.holder("ws-a") != a.id {
			t.Fatalf("held by %s", r.holder("ws-a"))
		}
		if s := r.mustBind(b.id, "ws-a", true); s.workspace != "ws-a" || s.wanted != "" {
			t.Fatalf("after the move: %+v", s)
		}
		if code := <-codes; code != closeMoved {
			t.Errorf("the old socket was cut with %d", code)
		}
		if len(r.losses()) != 1 {
			t.Errorf("lost %v, want the old window's Workspace", r.losses())
		}
		if s := r.register(t.Context(), a.id); s.id != a.id || s.workspace != "" || s.wanted != "ws-a" {
			t.Errorf("the old window is %+v, want it to be able to take ws-a back", s)
		}
	})
}

func TestWorkspaceOfAClosedTabIsFreeAtOnce_R_WS_127(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		a, b := r.register(t.Context(), ""), r.register(t.Context(), "")
		r.mustBind(a.id, "ws-a", false)
		l, _ := r.socket(a.id)
		r.disconnect(a.id, l)
		if s := r.mustBind(b.id, "ws-a", false); s.workspace != "ws-a" {
			t.Fatalf("the new tab got %+v", s)
		}
		if len(r.losses()) != 1 {
			t.Errorf("lost %v", r.losses())
		}
	})
}

func TestFreshWindowHoldsItsWorkspaceUntilItsSocketComes_R_WS_121(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		a, b := r.register(t.Context(), ""), r.register(t.Context(), "")
		r.mustBind(a.id, "ws-a", false)
		if s := r.mustBind(b.id, "ws-a", false); s.wanted != "ws-a" {
			t.Fatalf("taken away at once: %+v", s)
		}
		time.Sleep(freshGrace + time.Second)
		if s := r.mustBind(b.id, "ws-a", false); s.workspace != "ws-a" {
			t.Fatalf("never given up: %+v", s)
		}
	})
}

func TestBindingCutsTheSocketOfTheOldLog_R_WS_122(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		a := r.register(t.Context(), "")
		old, codes := r.socket(a.id)
		r.mustBind(a.id, "ws-a", false)
		if code := <-codes; code != closeMoved {
			t.Errorf("cut with %d", code)
		}
		l, _ := r.socket(a.id)
		r.disconnect(a.id, old) // late
		time.Sleep(time.Hour)
		if w, ok := r.workspaceOf(a.id); !ok || w != "ws-a" {
			t.Error("the late end of the old socket ended the window")
		}
		r.mustBind(a.id, "ws-b", false)
		if len(r.losses()) != 1 || r.losses()[0] != "ws-a" || r.holder("ws-a") != "" {
			t.Errorf("lost %v, ws-a held by %q", r.losses(), r.holder("ws-a"))
		}
		r.disconnect(a.id, l)
	})
}

func dialTCP(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
