package agents

import (
	"context"

	"fyllocode.dev/fyllo"
)

// Stop ends an Agent's process on purpose: no restart follows, earlier failures are forgotten (R-AGT-057). It
// returns when the process is gone.
func (p *Pool[C]) Stop(ctx context.Context, id fyllo.AgentID) error {
	p.mu.Lock()
	s := p.slots[id]
	if s == nil {
		defer p.mu.Unlock()
		if _, ok := p.entryLocked(id); !ok {
			return p.notFoundLocked(id)
		}
		return nil
	}
	p.endLocked(s, fyllo.Errorf(fyllo.CodeAgentStopped, "%s was stopped", s.entry.name))
	r := s.run
	p.mu.Unlock()
	if r == nil {
		return nil
	}
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Retry is a user's wish to try again: it forgets failures, does not wait for a restart that is pending, and
// connects. A process that runs is left alone. The errors are those of Connect.
func (p *Pool[C]) Retry(ctx context.Context, id fyllo.AgentID) error {
	_, err := p.retry(ctx, id)
	return err
}

func (p *Pool[C]) retry(ctx context.Context, id fyllo.AgentID) (*Process[C], error) {
	p.mu.Lock()
	if s := p.slots[id]; s != nil && s.state != fyllo.AgentReady && s.state != fyllo.AgentStarting {
		p.endLocked(s, fyllo.Errorf(fyllo.CodeAgentStopped, "%s is started again", s.entry.name))
	}
	p.mu.Unlock()
	return p.Connect(ctx, id)
}

// Check starts an Agent, or takes the running process, and reports what it says of itself; no session is created
// (R-CLI-005). That the Agent does not work is an answer, with what it wrote to standard error; the error is about
// an id that is not in the catalogue, a shutdown, or the end of ctx. Check is a user's act, so it also retries an
// Agent that was given up.
func (p *Pool[C]) Check(ctx context.Context, id fyllo.AgentID) (fyllo.AgentCheck, error) {
	x, err := p.retry(ctx, id)
	if err == nil {
		info := x.info
		info.AuthMethods = append([]fyllo.AuthMethod{}, info.AuthMethods...) // [] in JSON
		return fyllo.AgentCheck{AgentID: id, OK: true, Info: &info, StartMillis: x.took.Milliseconds()}, nil
	}
	_, inCatalogue := p.Describe(id)
	if !inCatalogue || ctx.Err() != nil || fyllo.CodeOf(err) == fyllo.CodeShuttingDown {
		return fyllo.AgentCheck{}, err
	}
	r := fyllo.AgentCheck{AgentID: id, Problem: fyllo.FailureOf(err)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.slots[id]; s != nil {
		r.StderrTail = s.stderr
	}
	return r, nil
}

// Capabilities returns what the Agent can do: as the running process said, else from the cache if it is whole and
// of this installation, else by starting the Agent (R-AGT-071, R-AGT-073).
func (p *Pool[C]) Capabilities(ctx context.Context, id fyllo.AgentID) (fyllo.Capabilities, error) {
	p.mu.Lock()
	e, ok := p.entryLocked(id)
	if !ok {
		defer p.mu.Unlock()
		return fyllo.Capabilities{}, p.notFoundLocked(id)
	}
	if s := p.slots[id]; s != nil && s.current != nil {
		defer p.mu.Unlock()
		return s.current.info.Capabilities, nil
	}
	// The Tour has no cache that outlives the binary, and a registry Agent of unknown version may be another by now.
	known := e.source == fyllo.SourceCustom || e.version() != ""
	if c, ok := p.cache[id]; ok && known && c.usable(e.version()) {
		defer p.mu.Unlock()
		return c.capabilities(), nil
	}
	p.mu.Unlock()
	x, err := p.Connect(ctx, id)
	if err != nil {
		return fyllo.Capabilities{}, err
	}
	return x.info.Capabilities, nil
}

// Warm starts Agents in the background, two at a time, and only to initialize; without ids, all installed ones,
// and what is installed of the registry is looked at behind them.
// The Tour is never warmed. Failures show in List and nowhere else; callers of Connect do not wait for this queue
// (R-AGT-065).
func (p *Pool[C]) Warm(ids ...fyllo.AgentID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(ids) == 0 {
		if len(p.scout.list.Agents) > 0 && !p.closing { // only what is installed is looked at, which goes nowhere
			p.wakeScoutLocked()
		}
		for _, e := range p.entries {
			ids = append(ids, e.id)
		}
	}
	for _, id := range ids {
		if id == fyllo.TourAgent || p.warming[id] {
			continue
		}
		p.warming[id] = true
		f := func() { p.warm(id) }
		if !p.serving {
			p.warmLater = append(p.warmLater, f)
			continue
		}
		p.goLocked(f) // ends when the Agent is ready or not, at the latest at shutdown
	}
}

func (p *Pool[C]) warm(id fyllo.AgentID) {
	defer func() {
		p.mu.Lock()
		delete(p.warming, id)
		p.mu.Unlock()
	}()
	select {
	case p.warmSlots <- struct{}{}:
		defer func() { <-p.warmSlots }()
	case <-p.quit:
		return
	}
	p.lookup.effective() // what is installed may depend on it
	p.mu.Lock()
	e, ok := p.entryLocked(id)
	s := p.slots[id]
	idle := s == nil || s.state == fyllo.AgentStopped
	p.mu.Unlock()
	if !ok || !idle || e.listed != nil && e.path == "" || p.lookup.find(e.command, p.lookup.known()) == "" {
		return
	}
	if _, err := p.Connect(context.Background(), id); err != nil { // bounded by initialize and by shutdown
		p.log.Debug("Agent was not warmed", "agent", id, "error", err)
	}
}
