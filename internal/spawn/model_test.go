package spawn_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/spawn"
)

const (
	modelRuns  = 100
	modelSteps = 100
)

// modelChild is what the reference knows of one spawned Session.
type modelChild struct {
	owner    fyllo.SpawnOwner
	id       fyllo.SessionID
	mode     fyllo.SpawnMode
	state    string // opening, running, cancelling, idle, error, expired, interrupted
	code     fyllo.Code
	why      fyllo.Code // of a cancelling turn
	open     chan struct{}
	prompt   prompted
	answered int // completed turns
	told     int // notifications that must be there
	pending  *modelCall
	settled  bool // and was looked at since
}

func (c *modelChild) active() bool {
	return c.state == "opening" || c.state == "running" || c.state == "cancelling"
}

// modelCall is a call that waits for its answer.
type modelCall struct {
	reply  <-chan answer
	cancel context.CancelFunc
}

// model drives an Engine with random steps and knows how each must come out.
type model struct {
	*world
	t        *testing.T
	rng      *rand.Rand
	mem      *memory
	owners   []fyllo.SpawnOwner
	children []*modelChild
	prompts  int // of the Agent's process, seen so far
	trace    []string
	seen     map[string]int // answers and ends
}

// Scope knows every parent of the model.
func (m *model) Scope(context.Context, fyllo.SpawnOwner) (fyllo.Scope, error) { return m.scope, nil }

func (m *model) begin() {
	m.mem = m.mem.reopened()
	m.e = spawn.New(spawn.Deps{Store: m.mem, Agents: m.agents, Parents: m, Workspaces: m, Decoder: decoder{}, Log: quiet(), LateTime: time.Microsecond})
	ctx, cancel := context.WithCancel(context.Background())
	done, e := make(chan error, 1), m.e
	go func() { done <- e.Serve(ctx) }()
	<-e.Ready()
	m.end = func() { cancel(); <-done }
}

func (m *model) failf(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("%s\nafter %v", fmt.Sprintf(format, args...), m.trace[max(0, len(m.trace)-12):])
}

func (m *model) active(o fyllo.SpawnOwner) (all, of int) {
	for _, c := range m.children {
		if c.active() {
			all++
			if c.owner == o {
				of++
			}
		}
	}
	return all, of
}

func (m *model) pick(ok func(*modelChild) bool) *modelChild {
	var fit []*modelChild
	for _, c := range m.children {
		if ok(c) {
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return fit[m.rng.IntN(len(fit))]
}

func (m *model) owner() fyllo.SpawnOwner { return m.owners[m.rng.IntN(len(m.owners))] }

// call begins a prompt and lets it run as far as it gets.
func (m *model) call(o fyllo.SpawnOwner, p fyllo.SpawnPrompt) *modelCall {
	ctx, cancel := context.WithCancel(context.Background())
	call := &modelCall{reply: m.ask(ctx, o, p), cancel: cancel}
	synctest.Wait()
	return call
}

// refused expects the answer of a call that gets no turn.
func (m *model) refused(call *modelCall, want string) {
	defer call.cancel()
	select {
	case got := <-call.reply:
		m.seen[want]++
		if got.Status != want && string(fyllo.CodeOf(got.err)) != want {
			m.failf("a call got %+v, not %s", got, want)
		}
	default:
		m.failf("a call has no answer, not %s", want)
	}
}

func (m *model) mode() fyllo.SpawnMode {
	if m.rng.IntN(3) == 0 {
		return fyllo.SpawnSync
	}
	return fyllo.SpawnBackground
}

// newTurn begins a turn in a new Session, whose opening may be held.
func (m *model) newTurn() {
	o, mode, hold := m.owner(), m.mode(), m.rng.IntN(4) == 0
	all, of := m.active(o)
	known := map[fyllo.SessionID]bool{}
	for _, s := range m.list(o) {
		known[s.SessionID] = true
	}
	gate := make(chan struct{})
	if !hold {
		close(gate)
	}
	agent := m.agents.now()
	agent.mu.Lock()
	agent.opening = gate
	agent.mu.Unlock()
	call := m.call(o, fyllo.SpawnPrompt{Mode: mode})
	if all >= fyllo.SpawnPerCore || of >= fyllo.SpawnPerParent {
		m.refused(call, "capacity_exceeded")
		return
	}
	var id fyllo.SessionID
	for _, s := range m.list(o) {
		if !known[s.SessionID] {
			id = s.SessionID
		}
	}
	if id == "" {
		m.failf("no Session was made for %v", o)
	}
	c := &modelChild{owner: o, id: id, mode: mode, open: gate, state: "opening", pending: call}
	m.children = append(m.children, c)
	if !hold {
		m.opened(c)
	}
}

func (m *model) list(o fyllo.SpawnOwner) []fyllo.SpawnSummary {
	all, err := m.e.List(context.Background(), o)
	if err != nil {
		m.failf("list: %v", err)
	}
	return all
}

// opened follows a turn to its prompt.
func (m *model) opened(c *modelChild) {
	agent := m.agents.now()
	agent.mu.Lock()
	defer agent.mu.Unlock()
	if len(agent.prompts) != m.prompts+1 {
		m.failf("%d prompts, not %d", len(agent.prompts), m.prompts+1)
	}
	c.prompt, c.state = agent.prompts[m.prompts], "running"
	m.prompts++
	if c.mode == fyllo.SpawnBackground {
		m.answers(c, "accepted", "")
	}
}

// answers expects the answer of a child's call.
func (m *model) answers(c *modelChild, status string, code fyllo.Code) {
	if c.pending == nil {
		return
	}
	select {
	case got := <-c.pending.reply:
		if status == "" && fyllo.CodeOf(got.err) != code || status != "" && (got.Status != status || got.Code != code || got.SessionID != c.id) {
			m.failf("%s gets %+v, not %s %s", c.id, got, status, code)
		}
		if status == "completed" && got.ResponseID == "" {
			m.failf("completed without a response")
		}
	default:
		m.failf("%s has no answer, not %s %s", c.id, status, code)
	}
	c.pending.cancel()
	c.pending = nil
}

// over ends the turn of a child in the reference.
func (m *model) over(c *modelChild, state string, code fyllo.Code) {
	if c.mode == fyllo.SpawnBackground && c.pending == nil {
		c.told++ // it was accepted
	}
	c.state, c.code = state, code
	m.seen[state+" "+string(code)]++
	switch {
	case state == "idle":
		c.answered++
		m.answers(c, "completed", "")
	case code == fyllo.CodeTurnCancelled:
		m.answers(c, "", fyllo.CodeSpawnCancelled)
	default:
		m.answers(c, "error", code)
	}
}

func (m *model) goOn() {
	c := m.pick(func(*modelChild) bool { return true })
	if c == nil {
		return
	}
	o := c.owner
	if m.rng.IntN(5) == 0 {
		o = m.owner()
	}
	mode := m.mode()
	all, of := m.active(o)
	want := ""
	switch {
	case o == c.owner && c.active():
		want = "busy"
	case all >= fyllo.SpawnPerCore || of >= fyllo.SpawnPerParent:
		want = "capacity_exceeded"
	case o != c.owner:
		want = "not_found"
	case c.state != "idle":
		want = "expired"
	}
	call := m.call(o, fyllo.SpawnPrompt{Mode: mode, SessionID: string(c.id)})
	if want != "" {
		m.refused(call, want)
		return
	}
	c.mode, c.pending = mode, call
	m.opened(c)
}

func (m *model) finish() {
	c := m.pick(func(c *modelChild) bool { return c.state == "running" || c.state == "cancelling" })
	if c == nil {
		return
	}
	agent := m.agents.now()
	agent.send(c.prompt, says("some words"))
	reasons := []string{"end_turn", "max_tokens", "refusal", "cancelled", "error"}
	reason := reasons[m.rng.IntN(len(reasons))]
	if reason == "error" {
		agent.send(c.prompt, fyllo.AgentEvent{PromptDone: &fyllo.PromptDone{Token: c.prompt.token, Err: fyllo.Errorf(fyllo.CodeAgentError, "no")}})
	} else {
		agent.finish(c.prompt, reason)
	}
	synctest.Wait()
	switch {
	case c.state == "cancelling":
		m.over(c, "error", c.why)
	case reason == "cancelled" || reason == "error":
		m.over(c, "error", fyllo.CodeTurnFailed)
	default:
		time.Sleep(time.Microsecond) // what comes behind the answer
		synctest.Wait()
		m.over(c, "idle", "")
	}
}

func (m *model) letOpen() {
	if c := m.pick(func(c *modelChild) bool { return c.state == "opening" }); c != nil {
		close(c.open)
		synctest.Wait()
		m.opened(c)
	}
}

func (m *model) cancelOne() {
	c := m.pick(func(*modelChild) bool { return true })
	if c == nil {
		return
	}
	o := c.owner
	if m.rng.IntN(5) == 0 {
		o = m.owner()
	}
	got, err := m.e.Cancel(context.Background(), o, string(c.id))
	synctest.Wait()
	if want := o == c.owner && c.active(); err != nil || got.Cancelled != want {
		m.failf("cancel in state %s: %+v %v", c.state, got, err)
	}
	if o != c.owner {
		return
	}
	switch c.state {
	case "opening":
		m.over(c, "error", fyllo.CodeTurnParentCancelled)
	case "running":
		c.state, c.why = "cancelling", fyllo.CodeTurnParentCancelled
	}
}

// goAway ends the wait of a caller.
func (m *model) goAway() {
	c := m.pick(func(c *modelChild) bool { return c.pending != nil })
	if c == nil {
		return
	}
	c.pending.cancel()
	synctest.Wait()
	m.answers(c, "", fyllo.CodeSpawnCancelled)
	switch c.state {
	case "opening":
		c.state, c.code = "error", fyllo.CodeTurnCancelled
	case "running":
		c.state, c.why = "cancelling", fyllo.CodeTurnCancelled
	}
}

// later lets time pass: long enough for every cancel, or for every silence too.
func (m *model) later() {
	m.openAll()
	long := m.rng.IntN(3) == 0
	d := fyllo.SpawnCancelTime
	if long {
		d += fyllo.SpawnInactivity
	}
	time.Sleep(d + time.Second)
	synctest.Wait()
	for _, c := range m.children {
		switch {
		case c.state == "cancelling":
			m.over(c, "error", c.why)
		case c.state == "running" && long:
			m.over(c, "error", fyllo.CodeTurnUnconfirmed)
		}
	}
}

// lose ends every turn and Session that a process or a life of Core had.
func (m *model) lose(state string, code fyllo.Code) {
	for _, c := range m.children {
		switch {
		case c.active():
			m.over(c, state, code)
		case c.state == "idle":
			c.state, c.code = "expired", fyllo.CodeProcessInvalidated
		}
	}
	m.prompts = 0
}

func (m *model) openAll() {
	for _, c := range m.children {
		if c.state == "opening" {
			close(c.open)
			synctest.Wait()
			m.opened(c)
		}
	}
}

func (m *model) crashAgent() {
	m.openAll()
	m.agents.replace()
	synctest.Wait()
	m.lose("expired", fyllo.CodeProcessInvalidated)
}

func (m *model) restart() {
	m.openAll()
	m.end()
	synctest.Wait()
	m.lose("interrupted", fyllo.CodeAppShutdown)
	m.agents.mu.Lock()
	m.agents.agent = newFakeAgent(m.agents.agent.gen + 1)
	m.agents.mu.Unlock()
	m.begin()
}

// kill ends Core without a word: the records stay as they are at this moment.
func (m *model) kill() {
	m.openAll()
	kept := m.mem.copied()
	m.end()
	synctest.Wait()
	m.lose("interrupted", fyllo.CodeAppShutdown) // what callers hear of the old life
	for _, c := range m.children {
		if c.code == fyllo.CodeAppShutdown && kept.live(memKey{c.owner, c.id}) {
			c.code = fyllo.CodeAppRestarted
		}
	}
	m.agents.mu.Lock()
	m.agents.agent = newFakeAgent(m.agents.agent.gen + 1)
	m.agents.mu.Unlock()
	m.mem = kept
	m.begin()
}

// remove deletes a parent, whose place another takes.
func (m *model) remove() {
	i := m.rng.IntN(len(m.owners))
	o := m.owners[i]
	m.e.StopParent(context.Background(), o)
	synctest.Wait()
	for _, c := range m.children {
		if c.owner == o {
			m.answers(c, "", fyllo.CodeSpawnParentMissing)
		}
	}
	m.children = slices.DeleteFunc(m.children, func(c *modelChild) bool { return c.owner == o })
	m.mem.drop(o)
	m.refused(m.call(o, fyllo.SpawnPrompt{}), string(fyllo.CodeSpawnParentMissing))
	m.owners[i] = fyllo.SpawnOwner{Workspace: wid, Parent: o.Parent + "+"}
	agent := m.agents.now()
	agent.mu.Lock()
	m.prompts = len(agent.prompts)
	agent.mu.Unlock()
}

// check compares everything that can be seen with the reference.
func (m *model) check() {
	if bad := m.mem.illegal(); bad != "" {
		m.failf("%s", bad)
	}
	all, _ := m.active(fyllo.SpawnOwner{})
	if n := m.e.Counts().Running; n != all {
		m.failf("%d reservations, not %d", n, all)
	}
	want := map[string]fyllo.SpawnStatus{"opening": fyllo.SpawnIsRunning, "running": fyllo.SpawnIsRunning, "cancelling": fyllo.SpawnIsRunning}
	for _, c := range m.children {
		if c.settled && m.rng.IntN(10) != 0 {
			continue // nothing more may happen in it; now and then a look
		}
		c.settled = !c.active() && c.state != "idle"
		s := m.status(c.owner, c.id)
		expected, ok := want[c.state]
		if !ok {
			expected = fyllo.SpawnStatus(c.state)
		}
		if s.Status != expected || s.Code != c.code && !c.active() {
			m.failf("%s is %+v, not %s %s", c.id, s, c.state, c.code)
		}
		if n := m.mem.notifications(memKey{c.owner, c.id}); n != c.told {
			m.failf("%s (%s, %s) has %d notifications, not %d", c.id, c.state, c.mode, n, c.told)
		}
		if n := m.mem.responses(memKey{c.owner, c.id}); n != c.answered {
			m.failf("%s has %d responses, not %d", c.id, n, c.answered)
		}
	}
}

// Random interleavings of everything that can happen, against a reference: no reservation is lost, no record takes a step
// that it may not, and every caller gets the code of the specification (R-SPAWN-057 to 066, 070 to 075, 093 to 101).
func TestRandomInterleavings_R_SPAWN_057_to_101(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(modelRuns) {
		t.Run("", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { modelRun(t, seed, seen) })
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for _, what := range []string{
		"busy", "capacity_exceeded", "not_found", "expired", "SPAWN_PARENT_SESSION_NOT_FOUND", "idle ", "error TURN_FAILED", "error TURN_CANCELLED",
		"error TURN_CANCELLED_BY_PARENT", "error TURN_CANCEL_UNCONFIRMED", "expired AGENT_PROCESS_INVALIDATED", "interrupted APP_SHUTDOWN",
	} {
		if seen[what] < 10 {
			t.Errorf("only %d times %q: %v", seen[what], what, seen)
		}
	}
}

func modelRun(t *testing.T, seed uint64, seen map[string]int) {
	w := &world{t: t, agents: &fakeAgents{agent: newFakeAgent(1)}, scope: oneFolder()}
	m := &model{world: w, t: t, rng: rand.New(rand.NewPCG(seed, 1)), mem: newMemory(), seen: seen}
	m.owners = []fyllo.SpawnOwner{mum, dad, {Workspace: wid, Parent: "session-aunt"}}
	m.begin()
	steps := map[string]func(){
		"new": m.newTurn, "go on": m.goOn, "finish": m.finish, "open": m.letOpen, "cancel": m.cancelOne, "go away": m.goAway,
		"later": m.later, "crash": m.crashAgent, "restart": m.restart, "kill": m.kill, "delete": m.remove,
	}
	weights := map[string]int{"new": 26, "go on": 24, "finish": 18, "open": 6, "cancel": 7, "go away": 5, "later": 5, "crash": 2, "restart": 2, "kill": 2, "delete": 2}
	var deck []string
	for _, name := range slices.Sorted(maps.Keys(steps)) {
		deck = append(deck, slices.Repeat([]string{name}, weights[name])...)
	}
	for range modelSteps {
		name := deck[m.rng.IntN(len(deck))]
		m.trace = append(m.trace, name)
		steps[name]()
		synctest.Wait()
		m.check()
	}
	m.openAll()
	m.end()
	synctest.Wait()
	m.lose("interrupted", fyllo.CodeAppShutdown)
}
