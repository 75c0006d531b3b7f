package agents

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/term"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/childproc"
)

// Times of the process life.
const (
	initLimit    = 60 * time.Second       // for initialize (R-AGT-053)
	stableAfter  = 10 * time.Second       // of being ready; then earlier failures are forgotten
	joinDelay    = 500 * time.Millisecond // callers wait for a restart that is no further away
	lingerLimit  = 500 * time.Millisecond // for a process to end after its connection did
	stopLimit    = 3500 * time.Millisecond
	serveLimit   = 4 * time.Second // R-AGT-058
	statusMaxAge = 2 * time.Second // of what List shows before it is looked at again
	warmAtOnce   = 2               // R-AGT-065
)

// restartDelays are waited before the first, second, … automatic restart in a row (R-AGT-056).
var restartDelays = []time.Duration{0, 500 * time.Millisecond, 2 * time.Second, 5 * time.Second}

// Conn is one connection to an Agent's process, as this package sees it.
type Conn interface {
	// Initialize speaks to the Agent for the first time. An answer of another protocol version is an error with
	// code AGENT_PROTOCOL_MISMATCH.
	Initialize(context.Context) (fyllo.AgentInfo, error)
	// Done is closed when the connection is over and its last event delivered.
	Done() <-chan struct{}
	// Close ends the Agent's standard input. It may be called often.
	Close() error
}

// Dial makes a connection over a process's pipes; it must not block. The connection calls ended when the output
// ends, to learn why: the reason has code AGENT_EXITED, AGENT_STOPPED when the stop was wanted, or SHUTTING_DOWN.
// ended waits for the end of the process, at most about 3 s.
type Dial[C Conn] func(stdin io.WriteCloser, stdout io.Reader, ended func() error) C

// Config says where a Pool lives. Only Root is needed.
type Config struct {
	Root     string              // the data root; files lie in its folder acp
	Self     []string            // argv that runs the Tour; empty = there is no Tour
	Guard    []string            // argv that runs childproc.GuardMain; empty = no guard
	Env      []string            // environment of Agents and of PATH lookup; nil = that of this process
	OnChange func([]fyllo.Agent) // called by Serve, one call at a time, after changes; must not block; nil = nobody
	Log      *slog.Logger        // nil = none
	HideTour bool
	Registry string // URL of the list of Agents (http, https or file), see DefaultRegistry; "" = none (R-AGT-004)
}

// Pool is the catalogue and all processes. All methods may be called from any goroutine.
type Pool[C Conn] struct {
	cfg    Config
	dial   Dial[C]
	log    *slog.Logger
	start  starter
	lookup *lookup
	custom customFile

	ready     chan struct{} // closed when Serve runs
	quit      chan struct{} // closed when Serve ends: nothing new begins
	dead      chan struct{} // closed when Serve has waited long enough
	dirty     chan struct{} // a change to tell OnChange
	unsaved   chan struct{} // a change of the capability cache
	stale     chan struct{} // the catalogue should be looked at again
	warmSlots chan struct{}
	wg        sync.WaitGroup // all goroutines, except those that Serve itself is
	scout     scout
	reloading sync.Mutex // one look at the file at a time; taken before mu

	mu         sync.Mutex
	entries    []entry // the catalogue; replaced whole, never changed in place
	slots      map[fyllo.AgentID]*slot[C]
	cache      map[fyllo.AgentID]cached
	customErr  *fyllo.Error // why the file of custom Agents is not used
	seen       stamp        // of that file
	lookedAt   time.Time
	generation uint64
	serving    bool
	closing    bool
	hideTour   bool
	warmLater  []func()               // asked for before Serve ran
	warming    map[fyllo.AgentID]bool // asked for and not done yet
}

// New returns a Pool that knows its catalogue and runs nothing. A broken file of custom Agents or a broken cache
// is no error: see CustomProblem.
func New[C Conn](cfg Config, dial Dial[C]) (*Pool[C], error) {
	h := childproc.New(childproc.Options{Guard: cfg.Guard})
	terminal := term.IsTerminal(0) || term.IsTerminal(1) || term.IsTerminal(2)
	return newPool(cfg, dial, host{h}, terminal)
}

func newPool[C Conn](cfg Config, dial Dial[C], start starter, terminal bool) (*Pool[C], error) {
	if cfg.Root == "" || dial == nil {
		return nil, errors.New("agents: a data root and a Dial are needed")
	}
	if cfg.Env == nil {
		cfg.Env = os.Environ()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	p := &Pool[C]{
		cfg: cfg, dial: dial, log: cfg.Log, start: start,
		lookup:    newLookup(cfg.Env, terminal || usableTerm(cfg.Env), start),
		custom:    customFile{filepath.Join(cfg.Root, "acp", "custom-agents.json"), cfg.Log},
		ready:     make(chan struct{}),
		quit:      make(chan struct{}),
		dead:      make(chan struct{}),
		dirty:     make(chan struct{}, 1),
		unsaved:   make(chan struct{}, 1),
		stale:     make(chan struct{}, 1),
		warmSlots: make(chan struct{}, warmAtOnce),
		slots:     map[fyllo.AgentID]*slot[C]{},
		hideTour:  cfg.HideTour,
		warming:   map[fyllo.AgentID]bool{},
		// Spawned Sessions store the generation they belong to, so it must not come again after a restart of
		// Core: counting begins at the time of day in milliseconds.
		generation: uint64(time.Now().UnixMilli()),
	}
	cache, err := readCache(p.cachePath())
	if err != nil {
		p.log.Warn("the capability cache is not used", "file", p.cachePath(), "error", err)
	}
	p.cache = cache
	p.newScout()
	p.refresh(true)
	return p, nil
}

func usableTerm(env []string) bool {
	t := getenv(env, "TERM")
	return t != "" && t != "dumb"
}

func (p *Pool[C]) cachePath() string {
	return filepath.Join(p.cfg.Root, "acp", "agent-capabilities.json")
}

// Serve runs the Pool until ctx ends, then stops all children in parallel and returns within 4 s. The error tells
// of children that could not be ended. It may be called once.
func (p *Pool[C]) Serve(ctx context.Context) error {
	p.mu.Lock()
	if p.serving {
		p.mu.Unlock()
		return errors.New("agents: Serve was called twice")
	}
	p.serving = true
	close(p.ready)
	for _, f := range p.warmLater {
		p.goLocked(f)
	}
	p.warmLater = nil
	// Ends with the answer of the login shell, which has its own limit and dies at shutdown.
	p.goLocked(func() { p.lookup.effective(); poke(p.stale) })
	p.goLocked(func() { p.runScout(ctx) }) // ends with ctx; its processes die at shutdown
	p.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return p.shutdown()
		case <-p.dirty:
			if p.cfg.OnChange != nil {
				p.cfg.OnChange(p.List())
			}
		case <-p.unsaved:
			p.saveCache()
		case <-p.stale:
			p.refresh(false)
		}
	}
}

func (p *Pool[C]) shutdown() error {
	p.mu.Lock()
	p.closing = true
	close(p.quit)
	for _, s := range p.slots {
		p.endLocked(s, fyllo.Errorf(fyllo.CodeShuttingDown, "%s was stopped: FylloCode is shutting down", s.entry.name))
	}
	p.mu.Unlock()
	patience, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	all := make(chan struct{})
	deadline := time.NewTimer(serveLimit)
	defer deadline.Stop()
	go func() { // ends when everything has, at the latest a moment after p.dead is closed
		p.wg.Wait()
		close(all)
	}()
	err := p.start.Close(patience)
	select {
	case <-all:
	case <-deadline.C:
	}
	close(p.dead)
	select {
	case <-p.unsaved:
		p.saveCache()
	default:
	}
	return err
}

// goLocked starts a goroutine that Serve waits for; false when the Pool does not run. It is called with mu held.
func (p *Pool[C]) goLocked(f func()) bool {
	if !p.serving || p.closing {
		return false
	}
	p.wg.Go(f)
	return true
}

// poke leaves a signal that is not lost and never blocks; several become one.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// saveCache writes the capability cache. Serve alone calls it while it runs, so writes never overlap; a failure
// costs the cache and nothing else (R-AGT-070).
func (p *Pool[C]) saveCache() {
	p.mu.Lock()
	agents := maps.Clone(p.cache)
	p.mu.Unlock()
	if err := writeCache(p.cachePath(), agents); err != nil {
		p.log.Warn("the capability cache was not saved", "file", p.cachePath(), "error", err)
	}
}
