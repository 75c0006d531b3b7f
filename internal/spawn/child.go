package spawn

import (
	"context"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/configplan"
	"fyllocode.dev/fyllo/internal/turns"
)

// growthTime gathers what an Agent says before windows are told that there is more (R-SPAWN-116).
const growthTime = 40 * time.Millisecond

// closeTime is how long an ACP session may take to close.
const closeTime = 300 * time.Millisecond

// child is a spawned Session in memory. Its goroutine owns what stands below the line; others hand it functions by do.
type child struct {
	e     *Engine
	owner fyllo.SpawnOwner
	id    fyllo.SessionID
	agent Agent
	box   *turns.Mailbox[struct{}]
	cmds  chan func()
	gone  chan struct{} // closed when its goroutine has ended

	meta fyllo.SpawnMeta
	acp  fyllo.ACPSessionID // "" before session/new
	turn *turn              // nil when idle
	sent uint64             // prompts so far
	grew *time.Timer        // until the answer's growth is told; nil = there is nothing to tell
	over bool               // nothing more can happen in it
}

// newChild starts the goroutine of a child, which ends when the child is over or the engine ends.
func (e *Engine) newChild(o fyllo.SpawnOwner, meta fyllo.SpawnMeta, agent Agent) *child {
	c := &child{
		e: e, owner: o, id: meta.SessionID, agent: agent, box: turns.NewMailbox[struct{}](),
		cmds: make(chan func()), gone: make(chan struct{}), meta: meta,
	}
	e.mu.Lock()
	e.children[c.id] = c
	e.work.Add(1)
	e.mu.Unlock()
	go c.run()
	return c
}

// do runs f on the child's goroutine and waits for it; false means that the child is over.
func (c *child) do(f func()) bool {
	done := make(chan struct{})
	select {
	case c.cmds <- func() { defer close(done); f() }:
		<-done
		return true
	case <-c.gone:
		return false
	}
}

func (c *child) run() {
	defer c.e.work.Done()
	defer close(c.gone)
	defer c.leave()
	for !c.over {
		select {
		case f := <-c.cmds:
			f()
		case <-c.box.Ready():
			c.drain()
		case <-c.turn.complete():
			c.file()
		case <-c.turn.silent():
			c.silence()
		case <-c.turn.late():
			c.unconfirmed()
		case <-c.grown():
			c.grew = nil
			c.e.Grew(c.owner, c.id)
		case <-c.unopened():
			c.closed()
		case <-c.e.life.Done():
			c.shutdown()
		}
	}
}

// unopened is the end of the process while there is no ACP session yet through which the child would be told. A turn is
// told by its session/new.
func (c *child) unopened() <-chan struct{} {
	if c.acp != "" || c.turn != nil {
		return nil
	}
	return c.agent.Done()
}

// grow has it told soon that the answer has more to show.
func (c *child) grow() {
	if c.grew == nil && c.e.Grew != nil {
		c.grew = time.NewTimer(growthTime)
	}
}

func (c *child) grown() <-chan time.Time {
	if c.grew == nil {
		return nil
	}
	return c.grew.C
}

// leave takes the child out of memory and lets go of its ACP session; the process is the pool's.
func (c *child) leave() {
	c.e.mu.Lock()
	if c.e.children[c.id] == c {
		delete(c.e.children, c.id)
	}
	c.e.mu.Unlock()
	c.box.Close()
	if c.grew != nil {
		c.grew.Stop()
	}
	if c.acp == "" {
		return
	}
	if c.alive() && c.agent.Info().Capabilities.Close {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		_ = c.agent.CloseSession(ctx, c.acp) // best effort
	}
	c.agent.Forget(c.acp) // later updates are dropped for the life of the process (R-SPAWN-069)
}

// alive reports whether the process of the child's ACP session still runs.
func (c *child) alive() bool {
	select {
	case <-c.agent.Done():
		return false
	case <-c.gone:
		return false
	default:
		return true
	}
}

// open makes the ACP session: without any server of FylloCode, so that nothing recurses (R-SPAWN-013). It runs on the
// goroutine of a caller or of a turn's beginning.
func (c *child) open(ctx context.Context) (fyllo.SessionOpened, error) {
	ctx, cancel := context.WithTimeout(ctx, fyllo.SpawnPrepareTime)
	defer cancel()
	s := &c.meta.Snapshot // never changes
	params := fyllo.SessionParams{Cwd: s.Cwd, AdditionalDirectories: s.AdditionalDirectories}
	return c.agent.NewSession(ctx, params, func(ev fyllo.AgentEvent) { c.box.Put(struct{}{}, ev) })
}

// opened takes a new ACP session over.
func (c *child) opened(o fyllo.SessionOpened) {
	c.acp, c.meta.ACPSessionID, c.meta.ProcessGeneration = o.ID, o.ID, c.agent.Generation()
	c.meta.ConfigOptions = o.ConfigOptions
}

// configure sets the options that a call wants before its prompt (step 12).
func (c *child) configure(ctx context.Context, p *fyllo.SpawnPrompt) (*ready, error) {
	var acp fyllo.ACPSessionID
	var options []fyllo.ConfigOption
	c.do(func() { acp, options = c.acp, c.meta.ConfigOptions })
	if acp == "" {
		opened, err := c.open(ctx)
		if err != nil {
			return nil, err
		}
		if !c.do(func() { c.opened(opened); err = c.e.Store.PutMeta(c.owner, c.meta) }) {
			c.agent.Forget(opened.ID)
			return nil, fyllo.Errorf(fyllo.CodeProcessInvalidated, "the process of the Agent ended")
		}
		if err != nil {
			return nil, err
		}
		acp, options = opened.ID, opened.ConfigOptions
	}
	if options == nil {
		options = []fyllo.ConfigOption{}
	}
	var r *ready
	var err error
	if p.Model == nil && p.ThoughtLevel == nil {
		r, options, err = c.setRaw(ctx, acp, options, p.Config)
	} else {
		r, options, err = c.setSemantic(ctx, acp, options, p)
	}
	var failed error
	c.do(func() {
		c.meta.ConfigOptions = options
		failed = c.e.Store.PutMeta(c.owner, c.meta)
	})
	if err == nil {
		err = failed
	}
	return r, err
}

func (c *child) set(ctx context.Context, acp fyllo.ACPSessionID, step configplan.Step) ([]fyllo.ConfigOption, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, fyllo.SpawnPrepareTime)
	defer cancel()
	return c.agent.SetOption(ctx, acp, step.Option, step.Value)
}

// setRaw never blocks the prompt (R-SPAWN-053, 054).
func (c *child) setRaw(ctx context.Context, acp fyllo.ACPSessionID, options []fyllo.ConfigOption, values []fyllo.SpawnValue) (*ready, []fyllo.ConfigOption, error) {
	plan := configplan.NewRaw(values)
	for {
		step, done := plan.Next(options)
		if done {
			return &ready{warnings: plan.Warnings()}, options, nil
		}
		next, whole, err := c.set(ctx, acp, step)
		switch {
		case ctx.Err() != nil:
			return nil, options, ctx.Err()
		case err != nil:
			plan.Failed(plain(err))
		case !whole:
			plan.Failed("the Agent did not tell its settings afterwards")
		default:
			options = next
		}
	}
}

// setSemantic resolves and sets by the strict rules; what cannot be resolved is the answer (R-SPAWN-042…052).
func (c *child) setSemantic(ctx context.Context, acp fyllo.ACPSessionID, options []fyllo.ConfigOption, p *fyllo.SpawnPrompt) (*ready, []fyllo.ConfigOption, error) {
	plan := configplan.NewSemantic(configplan.Wanted{Model: p.Model, ThoughtLevel: p.ThoughtLevel, Raw: p.Config})
	known := options
	for {
		step, verdict, err := plan.Next(options)
		switch {
		case err != nil:
			return nil, known, err
		case verdict == configplan.Done:
			return &ready{warnings: []fyllo.SpawnWarning{}}, known, nil
		case verdict == configplan.Required:
			no, items := false, configItems(known)
			return &ready{answer: &fyllo.SpawnPromptResult{
				Status: "configuration_required", SessionID: c.id, PromptDispatched: &no, Config: &items, Issues: plan.Issues(),
			}}, known, nil
		}
		next, whole, err := c.set(ctx, acp, step)
		switch {
		case ctx.Err() != nil:
			return nil, known, ctx.Err()
		case err != nil:
			return nil, known, fyllo.Errorf(fyllo.CodeSpawnConfig, "The settings could not be applied: the Agent refused %q for option %q: %s.", step.Value, step.Option.ID, plain(err))
		case !whole:
			options = nil // the plan says what that means
		default:
			options, known = next, next
		}
	}
}

// configItems is the configuration as results show it (R-SPAWN-018).
func configItems(options []fyllo.ConfigOption) []fyllo.SpawnConfigItem {
	items := []fyllo.SpawnConfigItem{}
	for _, o := range options {
		if o.Type == "select" || o.Type == "boolean" {
			items = append(items, fyllo.SpawnConfigItem{ID: o.ID, Name: o.Name, Type: o.Type, CurrentValue: o.Current})
		}
	}
	return items
}

// discard removes a spawned Session that nobody was told about.
func (c *child) discard() {
	c.do(func() {
		c.over = true
		if err := c.e.Store.Remove(c.owner, c.id); err != nil {
			c.e.Log.Warn("remove a spawned Session that was not begun", "session", c.id, "err", err)
		}
	})
}

// fail ends an idle Session for good.
func (c *child) fail(why *fyllo.Failure) {
	c.over = true
	c.meta.Status, c.meta.Error, c.meta.UpdatedAt = fyllo.SpawnFailed, why, now()
	c.put()
}

// put stores the metadata as far as that is possible; a start reads the truth from the turns.
func (c *child) put() {
	defer c.e.changed(c.owner, c.id)
	if err := c.e.Store.PutMeta(c.owner, c.meta); err != nil {
		c.e.Log.Error("store metadata of a spawned Session", "session", c.id, "err", err)
	}
}

// expired marks an idle child whose process is gone and returns the answer about it.
func (c *child) expired() fyllo.SpawnPromptResult {
	<-c.gone // its goroutine has seen the end, or is about to
	meta, err := c.e.Store.Meta(c.owner, c.id)
	if err != nil {
		return fyllo.SpawnPromptResult{Status: "not_found", SessionID: c.id}
	}
	if reusable(meta.Status) {
		meta = c.e.expire(c.owner, meta)
	}
	return notReusable(&meta)
}
