package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/childproc"
)

// slot is what the Pool knows of one Agent's processes. Its fields belong to Pool.mu.
type slot[C Conn] struct {
	entry    entry // of the run in progress, or of the last one
	state    fyllo.AgentState
	problem  *fyllo.Error
	stderr   string // what the last process that failed wrote; bounded, without secrets
	failures int    // exits in a row
	pid      int
	current  *Process[C]   // while ready
	attempt  *attempt[C]   // the start in flight, or the restart that is waited for
	delay    time.Duration // of that restart
	run      *run          // the supervising goroutine; nil when none
}

// attempt is one start; everybody who asks for the Agent meanwhile waits for it (R-AGT-050).
type attempt[C Conn] struct {
	done     chan struct{}
	answered bool // done is closed
	proc     *Process[C]
	err      error
}

// run is the life of a supervisor, from a start to rest.
type run struct {
	cancel context.CancelFunc
	done   chan struct{}
	ending bool // belongs to Pool.mu: no further attempt follows, callers wait for done and begin anew

	mu    sync.Mutex
	cause *fyllo.Error // why it was told to end
}

func (r *run) wanted() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cause == nil {
		return nil
	}
	return r.cause
}

// Connect returns the Agent's running process, and starts one when there is none. Callers share a start. Codes:
// AGENT_NOT_FOUND, AGENT_NOT_INSTALLED, AGENT_START_FAILED, AGENT_TIMEOUT, AGENT_PROTOCOL_MISMATCH, others of
// initialize, ACP_NOT_READY while a restart is further away than 500 ms, ACP_EXIT_GIVEUP (R-AGT-056),
// AGENT_STOPPED, SHUTTING_DOWN. When ctx ends, the start goes on for others.
func (p *Pool[C]) Connect(ctx context.Context, id fyllo.AgentID) (*Process[C], error) {
	select {
	case <-p.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if p.custom.stamp() != p.lastSeen() {
		p.refresh(false)
	}
	for {
		ending, a, err := p.join(id)
		if err != nil {
			return nil, err
		}
		wait := ending
		if a != nil {
			wait = a.done
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if a != nil {
			return a.proc, a.err
		}
	}
}

func (p *Pool[C]) lastSeen() stamp {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

// join returns the attempt to wait for, or the end of an old run, after which it has to be asked again.
func (p *Pool[C]) join(id fyllo.AgentID) (ending <-chan struct{}, a *attempt[C], err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return nil, nil, fyllo.Errorf(fyllo.CodeShuttingDown, "cannot start an Agent: FylloCode is shutting down")
	}
	e, ok := p.entryLocked(id)
	if !ok {
		return nil, nil, p.notFoundLocked(id)
	}
	s := p.slots[id]
	if s == nil {
		s = &slot[C]{state: fyllo.AgentStopped}
		p.slots[id] = s
	}
	switch {
	case s.run != nil && s.run.ending:
		return s.run.done, nil, nil
	case s.state == fyllo.AgentFailed:
		return nil, nil, s.problem
	case s.state == fyllo.AgentRestarting && s.delay > joinDelay:
		return nil, nil, fyllo.Errorf(fyllo.CodeACPNotReady, "%s is being restarted: %s", e.name, s.problem.Message).
			WithHint("Try again in a few seconds.")
	case s.attempt == nil:
		p.beginLocked(s, e)
	}
	return nil, s.attempt, nil
}

// beginLocked starts a supervisor with its first attempt.
func (p *Pool[C]) beginLocked(s *slot[C], e entry) {
	ctx, cancel := context.WithCancel(context.Background())
	s.entry, s.state, s.problem, s.stderr = e, fyllo.AgentStarting, nil, ""
	s.attempt = &attempt[C]{done: make(chan struct{})}
	s.run = &run{cancel: cancel, done: make(chan struct{})}
	r, a := s.run, s.attempt
	// Ends when the process rests: at a wanted stop, after a failed start, or when it gave up.
	p.goLocked(func() { p.supervise(ctx, s, r, a) })
	poke(p.dirty)
}

// endLocked tells a supervisor to stop its process and not to restart it, and forgets failures (R-AGT-057).
func (p *Pool[C]) endLocked(s *slot[C], cause *fyllo.Error) {
	s.failures = 0
	if s.run == nil {
		if s.state != fyllo.AgentStopped || s.problem != nil {
			s.state, s.problem = fyllo.AgentStopped, nil
			poke(p.dirty)
		}
		return
	}
	s.run.mu.Lock()
	if s.run.cause == nil {
		s.run.cause = cause
	}
	s.run.mu.Unlock()
	s.run.ending = true
	s.run.cancel()
}

// supervise runs one Agent until it rests.
func (p *Pool[C]) supervise(ctx context.Context, s *slot[C], r *run, a *attempt[C]) {
	defer r.cancel()
	defer p.rest(s, r)
	for restarted := false; a != nil; restarted = true {
		x, exited, err := p.launch(ctx, s, r)
		if err != nil {
			a = p.failed(s, a, err, exited && restarted, exited)
		} else {
			p.settle(s, a, x)
			began := time.Now()
			p.watch(ctx, x)
			a = p.exited(s, x, time.Since(began))
		}
		if a != nil && !p.pause(ctx, s) {
			return
		}
	}
}

// rest is the end of a supervisor.
func (p *Pool[C]) rest(s *slot[C], r *run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.run, s.current, s.pid = nil, nil, 0
	if cause := r.wanted(); cause != nil {
		s.state, s.problem, s.failures = fyllo.AgentStopped, nil, 0
		answerLocked(s.attempt, nil, cause)
	}
	s.attempt = nil
	if _, ok := p.entryLocked(s.entry.id); !ok && p.slots[s.entry.id] == s {
		delete(p.slots, s.entry.id)
	}
	close(r.done)
	poke(p.dirty)
}

// answerLocked answers those who wait for an attempt; nil and an answered one are left alone.
func answerLocked[C Conn](a *attempt[C], x *Process[C], err error) {
	if a == nil || a.answered {
		return
	}
	a.answered, a.proc, a.err = true, x, err
	close(a.done)
}

// launch starts a process and initialises it. exited reports that it ended by itself.
func (p *Pool[C]) launch(ctx context.Context, s *slot[C], r *run) (x *Process[C], exited bool, err error) {
	e := s.entry // written only before this goroutine began
	path := p.lookup.effective()
	file := p.lookup.find(e.command, path)
	if ctx.Err() != nil {
		return nil, false, r.wanted()
	}
	if file == "" || e.listed != nil && e.path == "" { // npx is there, the package is not
		return nil, false, e.missing()
	}
	began := time.Now()
	spec := childproc.Spec{Path: file, Args: e.args, Dir: p.workDir(), Env: p.environment(e, path)}
	_, spec.KeepTemp = e.env["TMPDIR"]
	c, err := p.start.Start(spec)
	if err != nil {
		return nil, false, startError(e, err)
	}
	p.mu.Lock()
	p.generation++
	x = &Process[C]{pool: p, entry: e, run: r, child: c, generation: p.generation, lost: make(chan struct{})}
	s.pid = c.PID()
	p.mu.Unlock()
	p.log.Info("Agent started", "agent", e.id, "pid", c.PID(), "generation", x.generation)
	x.conn = p.dial(c.Stdin(), c.Stdout(), x.reason)
	if err = x.initialize(ctx); err == nil {
		x.took = time.Since(began)
		return x, false, nil
	}
	// An Agent that crashes also ends the connection; a moment later it is clear which of the two it was.
	exited = ctx.Err() == nil && endsByItself(x, err)
	p.end(x)
	p.mu.Lock()
	s.stderr = x.stderr()
	p.mu.Unlock()
	if exited {
		err = fyllo.Errorf(fyllo.CodeAgentStartFailed, "cannot start %s: %s", e.name, x.cause()).
			WithHint("Run its command in a terminal to see what it needs.")
	}
	return nil, exited, p.initError(e, err)
}

// answers are the failures of initialize in which the process was there: it answered, or was given time to.
var answers = []fyllo.Code{
	fyllo.CodeAgentProtocol, fyllo.CodeAgentError, fyllo.CodeAuthRequired, fyllo.CodeMethodMissing, fyllo.CodeAgentTimeout,
}

// endsByItself reports whether initialize failed because the process went away.
func endsByItself[C Conn](x *Process[C], err error) bool {
	if slices.Contains(answers, fyllo.CodeOf(err)) {
		return false
	}
	select {
	case <-x.lost:
		return true
	default:
		return waitFor(x.child.Exited(), lingerLimit)
	}
}

// startError is about a process that never came to life.
func startError(e entry, err error) error {
	if errors.Is(err, childproc.ErrClosed) {
		return fyllo.Errorf(fyllo.CodeShuttingDown, "cannot start %s: FylloCode is shutting down", e.name)
	}
	why := err.Error()
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		why = fmt.Sprintf("%s: %v", pe.Path, pe.Err)
		if errors.Is(err, os.ErrNotExist) && executable(pe.Path) {
			why = pe.Path + ": the interpreter in its first line does not exist"
		}
	}
	return fyllo.Errorf(fyllo.CodeAgentStartFailed, "cannot start %s: %s", e.name, why).
		WithHint("Check its command in the settings.")
}

// initError gives a failed initialize a code, and keeps secrets out of what the Agent said.
func (p *Pool[C]) initError(e entry, err error) error {
	known, ok := errors.AsType[*fyllo.Error](err)
	if !ok {
		return fyllo.Errorf(fyllo.CodeAgentStartFailed, "cannot start %s: %s", e.name, p.redact(e, err.Error()))
	}
	clean := *known
	clean.Message = p.redact(e, known.Message)
	if clean.Code == fyllo.CodeAgentExited {
		clean.Code = fyllo.CodeAgentStartFailed
	}
	return &clean
}

// settle makes a process the current one. When it was told to end meanwhile, nobody hears of it: rest answers.
func (p *Pool[C]) settle(s *slot[C], a *attempt[C], x *Process[C]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.run.ending {
		return
	}
	s.state, s.problem, s.current = fyllo.AgentReady, nil, x
	answerLocked(a, x, nil) // and stays, so that later callers find it
	if _, in := p.entryLocked(x.entry.id); !in {
		return
	}
	if c, ok := capture(x.info.Raw, time.Now()); ok {
		c.AgentVersion = x.entry.version()
		p.cache[x.entry.id] = c
		poke(p.unsaved)
	}
	poke(p.dirty)
}

// watch returns when the process is gone.
func (p *Pool[C]) watch(ctx context.Context, x *Process[C]) {
	select {
	case <-x.child.Exited():
	case <-x.lost:
	case <-x.conn.Done():
		if ctx.Err() == nil && !waitFor(x.child.Exited(), lingerLimit) {
			x.lose()
		}
	case <-ctx.Done():
	}
	p.end(x)
}

// end stops a process, if it still runs, and lets its connection finish in its own time.
func (p *Pool[C]) end(x *Process[C]) {
	_ = x.conn.Close() // the pipe is closed in any case
	patience, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	if err := x.child.Stop(patience); err != nil {
		p.log.Error("Agent could not be ended", "agent", x.entry.id, "pid", x.child.PID(), "error", err)
	}
	// Ends when the connection has delivered what the process left, or with Serve.
	p.wg.Go(func() {
		select {
		case <-x.conn.Done():
		case <-p.dead:
		}
		x.child.Stdout().Close()
	})
}

// failed deals with a start that came to nothing. It returns the next attempt, nil for none.
func (p *Pool[C]) failed(s *slot[C], a *attempt[C], err error, again, exited bool) *attempt[C] {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.pid = 0
	if s.run.ending { // rest answers and forgets
		return nil
	}
	cause, _ := errors.AsType[*fyllo.Error](err)
	p.log.Warn("Agent did not start", "agent", s.entry.id, "error", err)
	answerLocked(a, nil, err)
	if exited {
		return p.countLocked(s, cause, again)
	}
	s.run.ending = true
	s.state, s.problem = fyllo.AgentStopped, cause
	return nil
}

// exited deals with the end of a process that was ready.
func (p *Pool[C]) exited(s *slot[C], x *Process[C], lived time.Duration) *attempt[C] {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.current, s.pid = nil, 0
	if s.run.ending {
		p.log.Info("Agent stopped", "agent", s.entry.id, "generation", x.generation)
		return nil
	}
	if lived >= stableAfter {
		s.failures = 0
	}
	cause := fyllo.Errorf(fyllo.CodeAgentExited, "%s stopped working: %s", s.entry.name, x.cause())
	p.log.Warn("Agent exited", "agent", s.entry.id, "generation", x.generation, "cause", cause)
	return p.countLocked(s, cause, true)
}

// countLocked counts an exit and decides between a restart, rest, and giving up (R-AGT-056).
func (p *Pool[C]) countLocked(s *slot[C], cause *fyllo.Error, again bool) *attempt[C] {
	s.failures++
	switch {
	case s.failures > len(restartDelays):
		s.run.ending = true
		s.state = fyllo.AgentFailed
		s.problem = fyllo.Errorf(fyllo.CodeACPGiveUp, "gave up on %s after %d failures in a row: %s", s.entry.name, s.failures, cause.Message).
			WithHint("Retry it in the settings, or with: fyllo agents check %s", s.entry.id)
		return nil
	case !again:
		s.run.ending = true
		s.state, s.problem = fyllo.AgentStopped, cause
		return nil
	}
	s.state, s.problem, s.delay = fyllo.AgentRestarting, cause, restartDelays[s.failures-1]
	s.attempt = &attempt[C]{done: make(chan struct{})}
	poke(p.dirty)
	return s.attempt
}

// pause waits for the time of a restart; false when the run is told to end.
func (p *Pool[C]) pause(ctx context.Context, s *slot[C]) bool {
	p.mu.Lock()
	delay := s.delay
	p.mu.Unlock()
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.run.ending {
		return false
	}
	s.state = fyllo.AgentStarting
	poke(p.dirty)
	return true
}
