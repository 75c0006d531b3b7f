package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/session/internal/roster"
)

// scanDelay is how long after the start the lists are read ahead.
const scanDelay = 300 * time.Millisecond

// Manager is the door to all Sessions. Its methods may be called from any goroutine.
type Manager struct {
	Deps
	*roster.Directory // the lists: List, Rows, Find, Counts

	life context.Context //nolint:containedctx // the Manager owns this lifetime, the parent of every turn
	stop context.CancelFunc
	work sync.WaitGroup // every goroutine of this package

	mu      sync.Mutex
	closed  bool
	actors  map[fyllo.SessionID]*actor
	deleted map[fyllo.SessionID]bool      // late events and calls must not recreate these (R-WS-134)
	drafts  map[fyllo.WorkspaceID]*draft  // a Workspace has at most one window
	starts  map[string]*startCall         // first submissions in flight, by request id
	opening map[fyllo.AgentID]*sync.Mutex // serialises the probes of one Agent (R-AGT-092)
}

// New returns a Manager. Serve must be called once, and methods work until it returns.
func New(d Deps) *Manager {
	m := &Manager{
		Deps:    d,
		actors:  make(map[fyllo.SessionID]*actor),
		deleted: make(map[fyllo.SessionID]bool),
		drafts:  make(map[fyllo.WorkspaceID]*draft),
		starts:  make(map[string]*startCall),
		opening: make(map[fyllo.AgentID]*sync.Mutex),
	}
	m.life, m.stop = context.WithCancel(context.Background())
	m.Directory = roster.NewDirectory(lists{m})
	return m
}

// Serve reads the lists of all Workspaces in the background and, when ctx ends, ends every turn as interrupted,
// files what is in memory and returns. Agents must still run then.
func (m *Manager) Serve(ctx context.Context) error {
	m.spawn(func() {
		select { // a start stays quick; whoever asks for a list earlier begins its scan
		case <-time.After(scanDelay):
		case <-ctx.Done():
			return
		}
		m.ReadAhead(ctx)
	})
	<-ctx.Done()
	m.mu.Lock()
	m.closed = true
	drafts := m.drafts
	m.drafts = make(map[fyllo.WorkspaceID]*draft)
	m.mu.Unlock()
	m.stop()
	for _, d := range drafts {
		d.End()
	}
	m.work.Wait()
	return nil
}

// spawn runs f on a goroutine that Serve waits for. It reports false when the Manager has stopped.
func (m *Manager) spawn(f func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spawnLocked(f)
}

func (m *Manager) spawnLocked(f func()) bool {
	if m.closed {
		return false
	}
	m.work.Add(1)
	go func() { // ends with f; Serve waits
		defer m.work.Done()
		f()
	}()
	return true
}

func errStopping() error {
	return fyllo.Errorf(fyllo.CodeShuttingDown, "FylloCode is stopping")
}

// lists is where the lists of a Manager's Workspaces come from.
type lists struct{ m *Manager }

func (l lists) IDs() []fyllo.WorkspaceID       { return l.m.Workspaces.IDs() }
func (l lists) Seq(w fyllo.WorkspaceID) uint64 { return l.m.Publisher.Seq(w) }

func (l lists) Scan(x *roster.Index) error {
	if !l.m.spawn(func() { l.m.scan(x) }) {
		return errStopping()
	}
	return nil
}

// scan fills an index and recovers the turns that a crash interrupted, before anybody sees their Sessions.
func (m *Manager) scan(x *roster.Index) {
	err := m.Store.ScanSessions(m.life, x.Workspace(), func(meta fyllo.SessionMeta, inFlight bool) {
		if inFlight {
			if recovered, err := m.recover(x.Workspace(), meta); err != nil {
				m.Log.Error("recover turn", "session", meta.SessionID, "err", err)
			} else {
				meta = recovered
			}
		}
		x.Put(roster.Summarise(x.Workspace(), &meta), meta.StartRequestID)
	})
	x.Loaded(err)
}

// acquire returns the actor of a Session, starting it if need be, and holds it until release.
func (m *Manager) acquire(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) (*actor, error) {
	x, err := m.Loaded(ctx, w)
	if err != nil {
		return nil, err
	}
	if !x.Has(s) {
		return nil, roster.NoSession(s)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch a := m.actors[s]; {
	case m.closed:
		return nil, errStopping()
	case m.deleted[s]:
		return nil, roster.NoSession(s)
	case a != nil:
		a.refs++
		return a, nil
	}
	return m.addActorLocked(newActor(m, x, s)), nil
}

// addActorLocked starts an actor and holds it for the caller.
func (m *Manager) addActorLocked(a *actor) *actor {
	a.refs = 1
	m.actors[a.sid] = a
	m.spawnLocked(a.run)
	return a
}

func (m *Manager) release(a *actor) {
	m.mu.Lock()
	a.refs--
	m.mu.Unlock()
}

// retire lets an idle actor end unless somebody holds it. Only the actor itself calls this.
func (m *Manager) retire(a *actor) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a.refs > 0 {
		return false
	}
	if m.actors[a.sid] == a {
		delete(m.actors, a.sid)
	}
	return true
}

// ask runs f in the actor of a Session and returns its result. f always runs to its end once it was taken, also
// when ctx ends first: a turn belongs to the Session, not to the request.
func ask[T any](ctx context.Context, m *Manager, w fyllo.WorkspaceID, s fyllo.SessionID, f func(*actor) (T, error)) (T, error) {
	var zero T
	a, err := m.acquire(ctx, w, s)
	if err != nil {
		return zero, err
	}
	defer m.release(a)
	return askActor(ctx, a, f)
}

func askActor[T any](ctx context.Context, a *actor, f func(*actor) (T, error)) (T, error) {
	var zero T
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	command := func() {
		v, err := f(a)
		done <- answer{v, err}
	}
	select {
	case a.commands <- command:
	case <-a.gone:
		return zero, a.goneErr()
	case <-ctx.Done():
		return zero, ctx.Err()
	}
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return zero, ctx.Err()
	}
}

// newID returns prefix and 20 random hex digits.
func newID(prefix string) string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return prefix + hex.EncodeToString(b[:])
}

// now is the time as it is stored: UTC, whole milliseconds.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
