package windows

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"fyllocode.dev/fyllo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// registry is a Registry with its losses and a way to open sockets.
type registry struct {
	*Registry
	t    *testing.T
	told sync.Mutex // guards lost
	lost []string
}

func newRegistry(t *testing.T) *registry {
	r := &registry{t: t}
	r.Registry = New(func(_ fyllo.WindowID, w fyllo.WorkspaceID) {
		r.told.Lock()
		defer r.told.Unlock()
		r.lost = append(r.lost, string(w))
	})
	t.Cleanup(r.Stop)
	return r
}

func (r *registry) losses() []string {
	r.told.Lock()
	defer r.told.Unlock()
	return slices.Clone(r.lost)
}

func isAlive(context.Context) bool { return true }

// socket opens a socket and returns it with the codes it is cut with.
func (r *registry) socket(id fyllo.WindowID) (*Link, chan websocket.StatusCode) {
	r.t.Helper()
	codes := make(chan websocket.StatusCode, 1)
	l := &Link{cut: func(c websocket.StatusCode, _ string) { codes <- c }, alive: isAlive, gone: make(chan struct{})}
	if _, code := r.Connect(r.t.Context(), id, l); code != 0 {
		r.t.Fatalf("connect %s = %d", id, code)
	}
	return l, codes
}

func (r *registry) mustBind(id fyllo.WindowID, w fyllo.WorkspaceID, force bool) State {
	r.t.Helper()
	s, err := r.Bind(id, w, force)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func TestReloadWithin30SecondsKeepsTheWindow_R_WS_123(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		w := r.Register(t.Context(), "")
		r.mustBind(w.ID, "ws-a", false)
		l, _ := r.socket(w.ID)
		r.Disconnect(w.ID, l)
		time.Sleep(windowGrace - time.Second)
		again := r.Register(t.Context(), w.ID)
		if again.ID != w.ID || again.Workspace != "ws-a" {
			t.Fatalf("after a reload: %+v, want %s in ws-a", again, w.ID)
		}
		l, _ = r.socket(w.ID)
		time.Sleep(time.Hour)
		r.Disconnect(w.ID, l)
		time.Sleep(windowGrace - time.Second)
		if len(r.losses()) != 0 {
			t.Fatalf("lost %v too early", r.losses())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(r.losses()) != 1 || r.losses()[0] != "ws-a" {
			t.Fatalf("lost %v, want ws-a", r.losses())
		}
		if _, ok := r.Lookup(w.ID); ok {
			t.Error("the window is still known")
		}
		if other := r.Register(t.Context(), w.ID); other.ID == w.ID {
			t.Error("an id was used again")
		}
	})
}

func TestWindowThatNeverConnectsIsForgotten_R_WS_127(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		w := r.Register(t.Context(), "")
		time.Sleep(windowGrace + time.Second)
		synctest.Wait()
		if _, ok := r.Lookup(w.ID); ok {
			t.Error("it is still known")
		}
	})
}

func TestSecondLiveConnectionGetsANewID_R_WS_127(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		w := r.Register(t.Context(), "")
		r.mustBind(w.ID, "ws-a", false)
		l, _ := r.socket(w.ID)
		copied := r.Register(t.Context(), w.ID)
		if copied.ID == w.ID || copied.Workspace != "" {
			t.Fatalf("a duplicated tab got %+v", copied)
		}
		second := &Link{alive: isAlive, gone: make(chan struct{})}
		if _, code := r.Connect(t.Context(), w.ID, second); code != CloseInUse {
			t.Errorf("a second socket was answered with %d", code)
		}
		if _, code := r.Connect(t.Context(), "window-x", second); code != CloseUnknown {
			t.Errorf("an unknown window was answered with %d", code)
		}
		// The socket of a page that is being reloaded may close a moment late.
		go func() { // ends after the disconnect
			time.Sleep(reloadWait / 2)
			r.Disconnect(w.ID, l)
		}()
		if again := r.Register(t.Context(), w.ID); again.ID != w.ID {
			t.Errorf("a reload got %s, want %s", again.ID, w.ID)
		}
	})
}

// On a busy machine Core may take a while to notice that a page is gone; its socket does not answer then.
func TestReloadWaitsForASocketThatDoesNotAnswer_R_WS_123(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		w := r.Register(t.Context(), "")
		l, _ := r.socket(w.ID)
		l.alive = func(ctx context.Context) bool { <-ctx.Done(); return false }
		go func() { // ends after the disconnect
			time.Sleep(probeWait - time.Millisecond)
			r.Disconnect(w.ID, l)
		}()
		if again := r.Register(t.Context(), w.ID); again.ID != w.ID {
			t.Errorf("it got %s, want %s", again.ID, w.ID)
		}
	})
}

// A page that reconnects several times at once leaves sockets that wait as well; the last one gets the window.
func TestLastOfSeveralReconnectsGetsTheWindow_R_WS_123(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		w := r.Register(t.Context(), "")
		first, _ := r.socket(w.ID)
		silent := func(ctx context.Context) bool { <-ctx.Done(); return false }
		first.alive = silent
		second, third := NewLink(nil, silent), NewLink(nil, isAlive)
		codes := make(chan websocket.StatusCode, 1)
		go func() { // ends when the second socket was noticed to be gone, or refused
			if _, code := r.Connect(t.Context(), w.ID, second); code == 0 {
				time.Sleep(time.Second)
				r.Disconnect(w.ID, second)
			}
		}()
		synctest.Wait()
		go func() { // ends with its answer
			time.Sleep(time.Millisecond)
			_, code := r.Connect(t.Context(), w.ID, third)
			codes <- code
		}()
		time.Sleep(time.Second)
		r.Disconnect(w.ID, first)
		if code := <-codes; code != 0 {
			t.Errorf("the last one was answered with %d", code)
		}
		if r.linkOf(w.ID) != third {
			t.Error("the last socket does not have the window")
		}
	})
}

func TestOneWindowPerWorkspace_R_WS_121(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		a, b := r.Register(t.Context(), ""), r.Register(t.Context(), "")
		r.mustBind(a.ID, "ws-a", false)
		_, codes := r.socket(a.ID)
		if s := r.mustBind(b.ID, "ws-a", false); s.Workspace != "" || s.Wanted != "ws-a" {
			t.Fatalf("the second window got %+v", s)
		}
		if r.Holder("ws-a") != a.ID {
			t.Fatalf("held by %s", r.Holder("ws-a"))
		}
		if s := r.mustBind(b.ID, "ws-a", true); s.Workspace != "ws-a" || s.Wanted != "" {
			t.Fatalf("after the move: %+v", s)
		}
		if code := <-codes; code != CloseMoved {
			t.Errorf("the old socket was cut with %d", code)
		}
		if len(r.losses()) != 1 {
			t.Errorf("lost %v, want the old window's Workspace", r.losses())
		}
		if s := r.Register(t.Context(), a.ID); s.ID != a.ID || s.Workspace != "" || s.Wanted != "ws-a" {
			t.Errorf("the old window is %+v, want it to be able to take ws-a back", s)
		}
	})
}

func TestWorkspaceOfAClosedTabIsFreeAtOnce_R_WS_127(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		a, b := r.Register(t.Context(), ""), r.Register(t.Context(), "")
		r.mustBind(a.ID, "ws-a", false)
		l, _ := r.socket(a.ID)
		r.Disconnect(a.ID, l)
		if s := r.mustBind(b.ID, "ws-a", false); s.Workspace != "ws-a" {
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
		a, b := r.Register(t.Context(), ""), r.Register(t.Context(), "")
		r.mustBind(a.ID, "ws-a", false)
		if s := r.mustBind(b.ID, "ws-a", false); s.Wanted != "ws-a" {
			t.Fatalf("taken away at once: %+v", s)
		}
		time.Sleep(freshGrace + time.Second)
		if s := r.mustBind(b.ID, "ws-a", false); s.Workspace != "ws-a" {
			t.Fatalf("never given up: %+v", s)
		}
	})
}

func TestBindingCutsTheSocketOfTheOldLog_R_WS_122(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		a := r.Register(t.Context(), "")
		old, codes := r.socket(a.ID)
		r.mustBind(a.ID, "ws-a", false)
		if code := <-codes; code != CloseMoved {
			t.Errorf("cut with %d", code)
		}
		l, _ := r.socket(a.ID)
		r.Disconnect(a.ID, old) // late
		time.Sleep(time.Hour)
		if w, ok := r.Lookup(a.ID); !ok || w.Workspace != "ws-a" {
			t.Error("the late end of the old socket ended the window")
		}
		r.mustBind(a.ID, "ws-b", false)
		if len(r.losses()) != 1 || r.losses()[0] != "ws-a" || r.Holder("ws-a") != "" {
			t.Errorf("lost %v, ws-a held by %q", r.losses(), r.Holder("ws-a"))
		}
		r.Disconnect(a.ID, l)
	})
}
