package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"math"
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

	life context.Context //nolint:containedctx // the Manager owns this lifetime, the parent of every turn
	stop context.CancelFunc
	work sync.WaitGroup // every goroutine of this package

	mu      sync.Mutex
	closed  bool
	indexes map[fyllo.WorkspaceID]*roster.Index
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
		indexes: make(map[fyllo.WorkspaceID]*roster.Index),
		actors:  make(map[fyllo.SessionID]*actor),
		deleted: make(map[fyllo.SessionID]bool),
		drafts:  make(map[fyllo.WorkspaceID]*draft),
		starts:  make(map[string]*startCall),
		opening: make(map[fyllo.AgentID]*sync.Mutex),
	}
	m.life, m.stop = context.WithCancel(context.Background())
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
		for _, w := range m.Workspaces.IDs() {
			if x, err := m.index(w); err != nil || x.Wait(ctx) != nil {
				return
			}
		}
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

func errNoSession(s fyllo.SessionID) error {
	return fyllo.Errorf(fyllo.CodeSessionNotFound, "session %s: it does not exist or has expired", s)
}

// index returns the list of a Workspace, starting its scan on first use.
func (m *Manager) index(w fyllo.WorkspaceID) (*roster.Index, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x := m.indexes[w]; x != nil {
		return x, nil
	}
	x := roster.New(w)
	if !m.spawnLocked(func() { m.scan(x) }) {
		return nil, errStopping()
	}
	m.indexes[w] = x
	return x, nil
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

// loadedIndex returns the list of a Workspace once it is filled.
func (m *Manager) loadedIndex(ctx context.Context, w fyllo.WorkspaceID) (*roster.Index, error) {
	x, err := m.index(w)
	if err != nil {
		return nil, err
	}
	return x, x.Wait(ctx)
}

// List returns a page of a Workspace's Sessions in list order; limit is cut to 1…500.
func (m *Manager) List(ctx context.Context, w fyllo.WorkspaceID, cursor string, limit int) (fyllo.SessionPage, error) {
	x, err := m.loadedIndex(ctx, w)
	if err != nil {
		return fyllo.SessionPage{}, err
	}
	// Read before the rows: an event that is in both is applied twice, which session events allow.
	seq := m.Publisher.Seq(w)
	page, err := x.Page(cursor, min(max(limit, 1), 500))
	page.Seq = seq
	return page, err
}

// Rows returns all of a Workspace's Sessions in list order, as they are at one moment.
func (m *Manager) Rows(ctx context.Context, w fyllo.WorkspaceID) ([]fyllo.SessionSummary, error) {
	x, err := m.loadedIndex(ctx, w)
	if err != nil {
		return nil, err
	}
	page, err := x.Page("", math.MaxInt)
	return page.Sessions, err
}

// Find returns the Workspace that owns a Session, or CHAT_SESSION_NOT_FOUND.
func (m *Manager) Find(ctx context.Context, s fyllo.SessionID) (fyllo.WorkspaceID, error) {
	if !s.Valid() {
		return "", errNoSession(s)
	}
	for _, w := range m.Workspaces.IDs() {
		x, err := m.loadedIndex(ctx, w)
		if err != nil {
			return "", err
		}
		if x.Has(s) {
			return w, nil
		}
	}
	return "", errNoSession(s)
}

// Counts returns how many Sessions exist and how many run a turn, over all Workspaces.
func (m *Manager) Counts(ctx context.Context) (total, running int, err error) {
	for _, w := range m.Workspaces.IDs() {
		x, err := m.loadedIndex(ctx, w)
		if err != nil {
			return 0, 0, err
		}
		t, r := x.Counts()
		total, running = total+t, running+r
	}
	return total, running, nil
}

// acquire returns the actor of a Session, starting it if need be, and holds it until release.
func (m *Manager) acquire(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) (*actor, error) {
	x, err := m.loadedIndex(ctx, w)
	if err != nil {
		return nil, err
	}
	if !x.Has(s) {
		return nil, errNoSession(s)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch a := m.actors[s]; {
	case m.closed:
		return nil, errStopping()
	case m.deleted[s]:
		return nil, errNoSession(s)
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
