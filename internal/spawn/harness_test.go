package spawn_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/acp"
	"fyllocode.dev/fyllo/internal/records"
	"fyllocode.dev/fyllo/internal/records/spawned"
	"fyllocode.dev/fyllo/internal/spawn"
	"fyllocode.dev/fyllo/internal/turns"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const wid = fyllo.WorkspaceID("folder-1")

var (
	mum = fyllo.SpawnOwner{Workspace: wid, Parent: "session-mum"}
	dad = fyllo.SpawnOwner{Workspace: wid, Parent: "session-dad"}
)

// world is an Engine on a real data root, with scripted Agents at the process edge.
type world struct {
	t      *testing.T
	root   string
	store  *faultyStore
	agents *fakeAgents
	scope  fyllo.Scope
	stale  error
	before func(s *faultyStore)     // is called before Core starts on a store; nil = not
	held   func(o fyllo.SpawnOwner) // is called while a parent is looked up; nil = not
	e      *spawn.Engine
	end    func()

	mu       sync.Mutex
	told     []string
	growths  []time.Time // when it was told that a running answer has grown
	notified func(ctx context.Context, o fyllo.SpawnOwner, text string, claim func() error) (bool, error)
}

func run(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newWorld(t)) })
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, root: t.TempDir(), agents: &fakeAgents{agent: newFakeAgent(1)}, scope: oneFolder()}
	real, err := records.Open(w.root, quiet())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []fyllo.SpawnOwner{mum, dad} {
		_, err := real.CreateSession(wid, fyllo.SessionMeta{SessionID: o.Parent, AgentID: "fake"}, fyllo.Message{ID: "m-" + string(o.Parent), Role: fyllo.RoleUser})
		if err != nil {
			t.Fatal(err)
		}
	}
	w.start()
	t.Cleanup(func() { w.end() })
	return w
}

// start begins a life of Core on the data root.
func (w *world) start() {
	w.t.Helper()
	real, err := records.Open(w.root, quiet())
	if err != nil {
		w.t.Fatal(err)
	}
	w.store = &faultyStore{Store: storeBridge{spawned.New(real, quiet())}}
	if w.before != nil {
		w.before(w.store)
	}
	w.e = spawn.New(spawn.Deps{Store: w.store, Agents: w.agents, Parents: w, Workspaces: w, Decoder: decoder{}, Log: quiet(), Grew: w.grew})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	e := w.e
	go func() { done <- e.Serve(ctx) }()
	<-e.Ready()
	w.end = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
}

func (w *world) grew(fyllo.SpawnOwner, fyllo.SessionID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.growths = append(w.growths, time.Now())
}

func (w *world) Scope(_ context.Context, o fyllo.SpawnOwner) (fyllo.Scope, error) {
	if w.held != nil {
		w.held(o)
	}
	if o != mum && o != dad {
		return fyllo.Scope{}, fyllo.Errorf(fyllo.CodeSessionNotFound, "no such Session")
	}
	return w.scope, nil
}

// Notify notes what parents are told; notified answers as the parent's turn does, and a nil one delivers.
func (w *world) Notify(ctx context.Context, o fyllo.SpawnOwner, text string, claim func() error) (bool, error) {
	w.mu.Lock()
	f := w.notified
	w.mu.Unlock()
	if f != nil {
		return f(ctx, o, text, claim)
	}
	if err := claim(); err != nil {
		return false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, text)
	return true, nil
}

func (w *world) CheckScope(fyllo.Scope) error { return w.stale }
func (w *world) IDs() []fyllo.WorkspaceID     { return []fyllo.WorkspaceID{wid} }
func quiet() *slog.Logger                     { return slog.New(slog.NewTextHandler(io.Discard, nil)) }
func oneFolder() fyllo.Scope {
	return fyllo.Scope{
		WorkspaceID: wid, WorkspaceKind: fyllo.KindFolder, PrimaryFolderID: "f1", Cwd: "/p/one",
		Folders: []fyllo.ScopeFolder{{FolderID: "f1", FolderName: "one", FolderPath: "/p/one"}},
	}
}

type decoder struct{}

func (decoder) DecodeLine(l []byte) (fyllo.Update, bool)              { return acp.DecodeLine(l) }
func (decoder) DecodePermission(l []byte) (fyllo.PermissionAsk, bool) { return acp.DecodePermission(l) }

type storeBridge struct{ *spawned.Store }

func (s storeBridge) BeginTurn(o fyllo.SpawnOwner, id fyllo.SessionID, h fyllo.TurnHeader) (turns.TurnLog, error) {
	log, err := s.Store.BeginTurn(o, id, h)
	if err != nil {
		return nil, err
	}
	return log, nil
}

// faultyStore fails the n-th write from now on, and those after it if broken.
type faultyStore struct {
	spawn.Store
	mu     sync.Mutex
	writes int
	failAt int // 0 = never
	stays  bool
	after  func(what string) // told of each operation that has changed the disk; nil = nobody
}

// did is called after each operation that changes the disk.
func (s *faultyStore) did(what string, err error) error {
	s.mu.Lock()
	after := s.after
	s.mu.Unlock()
	if err == nil && after != nil {
		after(what)
	}
	return err
}

func (s *faultyStore) watch(after func(what string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.after = after
}

var errDisk = fyllo.Errorf(fyllo.CodeStorageFailed, "write: the disk is full")

func (s *faultyStore) fail(n int, stays bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes, s.failAt, s.stays = 0, n, stays
}

func (s *faultyStore) write() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.failAt > 0 && (s.writes == s.failAt || s.stays && s.writes > s.failAt) {
		return errDisk
	}
	return nil
}

func (s *faultyStore) PutMeta(o fyllo.SpawnOwner, m fyllo.SpawnMeta) error {
	if err := s.write(); err != nil {
		return err
	}
	return s.did("metadata "+string(m.Status), s.Store.PutMeta(o, m))
}

func (s *faultyStore) PutTurn(o fyllo.SpawnOwner, id fyllo.SessionID, t fyllo.SpawnTurn) error {
	if err := s.write(); err != nil {
		return err
	}
	return s.did("turn "+string(t.Phase), s.Store.PutTurn(o, id, t))
}

func (s *faultyStore) PutResponse(o fyllo.SpawnOwner, id fyllo.SessionID, r string, from io.Reader) error {
	if err := s.write(); err != nil {
		return err
	}
	return s.did("response", s.Store.PutResponse(o, id, r, from))
}

func (s *faultyStore) AppendMessage(o fyllo.SpawnOwner, id fyllo.SessionID, m fyllo.Message) (fyllo.Message, error) {
	if err := s.write(); err != nil {
		return m, err
	}
	stored, err := s.Store.AppendMessage(o, id, m)
	return stored, s.did("message "+string(m.Role), err)
}

func (s *faultyStore) BeginTurn(o fyllo.SpawnOwner, id fyllo.SessionID, h fyllo.TurnHeader) (turns.TurnLog, error) {
	if err := s.write(); err != nil {
		return nil, err
	}
	log, err := s.Store.BeginTurn(o, id, h)
	if err != nil {
		return nil, err
	}
	return faultyLog{log, s}, s.did("log", nil)
}

type faultyLog struct {
	turns.TurnLog
	s *faultyStore
}

func (l faultyLog) Append(r []fyllo.TurnRecord) error {
	if err := l.s.write(); err != nil {
		return err
	}
	return l.s.did("log lines", l.TurnLog.Append(r))
}

func (l faultyLog) Remove() error { return l.s.did("log removed", l.TurnLog.Remove()) }

func (s *faultyStore) Remove(o fyllo.SpawnOwner, id fyllo.SessionID) error {
	return s.did("removed", s.Store.Remove(o, id))
}

func (s *faultyStore) DropTurn(o fyllo.SpawnOwner, id fyllo.SessionID) error {
	return s.did("log dropped", s.Store.DropTurn(o, id))
}

// fakeAgents is a catalogue of one Agent, "fake", and two of the registry, of which "absent" is not installed.
type fakeAgents struct {
	mu    sync.Mutex
	agent *fakeAgent
	roots fyllo.Support
	err   error
}

func (f *fakeAgents) List() []fyllo.Agent {
	a, _ := f.Describe("fake")
	return []fyllo.Agent{
		{ID: "absent", Name: "Absent", Source: fyllo.SourceRegistry, Description: "not here"},
		{ID: "listed", Name: "Listed", Source: fyllo.SourceRegistry, Description: "from the registry", Installed: true}, a, {ID: "tour", Name: "Tour", Source: fyllo.SourceBuiltin, Installed: true},
	}
}

func (f *fakeAgents) Describe(id fyllo.AgentID) (fyllo.Agent, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fyllo.Agent{ID: "fake", Name: "Fake", Source: fyllo.SourceCustom, Installed: true, Capabilities: fyllo.Capabilities{MultiRoot: f.roots}}, id == "fake"
}

func (f *fakeAgents) Connect(context.Context, fyllo.AgentID) (spawn.Agent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.agent, f.err
}

func (f *fakeAgents) now() *fakeAgent {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.agent
}

// replace ends the process and starts the next generation.
func (f *fakeAgents) replace() {
	f.mu.Lock()
	old := f.agent
	f.agent = newFakeAgent(old.gen + 1)
	f.mu.Unlock()
	old.die()
}

// fakeAgent is one generation of an Agent; what is sent to it is told in calls.
type fakeAgent struct {
	gen  uint64
	done chan struct{}

	mu      sync.Mutex
	dead    bool
	opened  int
	opening chan struct{} // session/new waits for it; nil = it does not
	openErr error
	options []fyllo.ConfigOption
	set     func(o []fyllo.ConfigOption, id string, v fyllo.ConfigValue) ([]fyllo.ConfigOption, bool, error)
	onSend  func(p prompted)
	sinks   map[fyllo.ACPSessionID]func(fyllo.AgentEvent)
	params  []fyllo.SessionParams
	prompts []prompted
	calls   []string
}

type prompted struct {
	id     fyllo.ACPSessionID
	token  uint64
	blocks []fyllo.PromptBlock
}

func newFakeAgent(gen uint64) *fakeAgent {
	return &fakeAgent{gen: gen, done: make(chan struct{}), sinks: map[fyllo.ACPSessionID]func(fyllo.AgentEvent){}}
}

func (a *fakeAgent) Generation() uint64 { return a.gen }
func (a *fakeAgent) Info() fyllo.AgentInfo {
	return fyllo.AgentInfo{Capabilities: fyllo.Capabilities{MultiRoot: fyllo.Supported}}
}
func (a *fakeAgent) Done() <-chan struct{} { return a.done }

func (a *fakeAgent) call(what string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, what)
	if a.dead {
		return fyllo.Errorf(fyllo.CodeAgentExited, "the Agent exited")
	}
	return nil
}

func (a *fakeAgent) seen() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.calls, ", ")
}

func (a *fakeAgent) NewSession(ctx context.Context, p fyllo.SessionParams, sink func(fyllo.AgentEvent)) (fyllo.SessionOpened, error) {
	if err := a.call("new"); err != nil {
		return fyllo.SessionOpened{}, err
	}
	a.mu.Lock()
	wait, err, options := a.opening, a.openErr, a.options
	a.mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return fyllo.SessionOpened{}, ctx.Err()
		}
	}
	if err != nil {
		return fyllo.SessionOpened{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opened++
	id := fyllo.ACPSessionID("acp" + strconv.FormatUint(a.gen, 10) + "-" + strconv.Itoa(a.opened))
	a.sinks[id] = sink
	a.params = append(a.params, p)
	return fyllo.SessionOpened{ID: id, ConfigOptions: options, HasConfig: options != nil}, nil
}

func (a *fakeAgent) SetOption(_ context.Context, _ fyllo.ACPSessionID, o fyllo.ConfigOption, v fyllo.ConfigValue) ([]fyllo.ConfigOption, bool, error) {
	if err := a.call("set " + o.ID + "=" + v.String()); err != nil {
		return nil, false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	next, whole, err := a.set(a.options, o.ID, v)
	if err == nil {
		a.options = next
	}
	return next, whole, err
}

func (a *fakeAgent) Prompt(id fyllo.ACPSessionID, token uint64, blocks []fyllo.PromptBlock) error {
	if err := a.call("prompt"); err != nil {
		return err
	}
	a.mu.Lock()
	p := prompted{id, token, blocks}
	a.prompts = append(a.prompts, p)
	hook := a.onSend
	a.mu.Unlock()
	if hook != nil {
		hook(p)
	}
	return nil
}

func (a *fakeAgent) Cancel(fyllo.ACPSessionID) error                        { return a.call("cancel") }
func (a *fakeAgent) CloseSession(context.Context, fyllo.ACPSessionID) error { return a.call("close") }
func (a *fakeAgent) Forget(fyllo.ACPSessionID)                              { _ = a.call("forget") }

// die ends the process: prompts are answered, then every ACP session closed.
func (a *fakeAgent) die() {
	a.mu.Lock()
	a.dead = true
	sinks, prompts := a.sinks, a.prompts
	a.mu.Unlock()
	gone := fyllo.Errorf(fyllo.CodeAgentExited, "the Agent exited")
	for _, p := range prompts {
		sinks[p.id](fyllo.AgentEvent{PromptDone: &fyllo.PromptDone{Token: p.token, Err: gone}})
	}
	for _, sink := range sinks {
		sink(fyllo.AgentEvent{Closed: &fyllo.AgentClosed{Reason: gone, At: time.Now()}})
	}
	close(a.done)
}

// prompted waits for the n-th prompt.
func (a *fakeAgent) prompted(w *world, n int) (p prompted) {
	w.t.Helper()
	w.until("prompt "+strconv.Itoa(n), func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		if len(a.prompts) < n {
			return false
		}
		p = a.prompts[n-1]
		return true
	})
	return p
}

func (a *fakeAgent) send(p prompted, events ...fyllo.AgentEvent) {
	a.mu.Lock()
	sink := a.sinks[p.id]
	a.mu.Unlock()
	for _, ev := range events {
		if u := ev.Update; u != nil && u.Raw != nil { // written for any session
			line := []byte(strings.Replace(string(u.Raw), `"sessionId":"x"`, `"sessionId":"`+string(p.id)+`"`, 1))
			next, _ := acp.DecodeLine(line)
			next.Raw = line
			ev.Update = &next
		}
		sink(ev)
	}
}

func (a *fakeAgent) finish(p prompted, reason string) {
	a.send(p, fyllo.AgentEvent{PromptDone: &fyllo.PromptDone{Token: p.token, StopReason: reason}})
}

func says(text string) fyllo.AgentEvent {
	quoted, _ := json.Marshal(text)
	line := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"x","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + string(quoted) + `}}}}`
	u, _ := acp.DecodeLine([]byte(line))
	u.Raw = []byte(line)
	return fyllo.AgentEvent{Update: &u}
}

func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	for range 2000 {
		synctest.Wait()
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Fatalf("waited in vain: %s", what)
}

// answer is how a call of Prompt came out.
type answer struct {
	fyllo.SpawnPromptResult
	err error
}

// ask calls Prompt on a goroutine of its own.
func (w *world) ask(ctx context.Context, o fyllo.SpawnOwner, p fyllo.SpawnPrompt) <-chan answer {
	if p.AgentID == "" {
		p.AgentID = "fake"
	}
	if p.Prompt == "" {
		p.Prompt = "do it"
	}
	if p.Mode == "" {
		p.Mode = fyllo.SpawnBackground
	}
	out := make(chan answer, 1)
	go func() {
		r, err := w.e.Prompt(ctx, o, p)
		out <- answer{r, err}
	}()
	return out
}

func (w *world) prompt(o fyllo.SpawnOwner, p fyllo.SpawnPrompt) answer {
	w.t.Helper()
	return <-w.ask(context.Background(), o, p)
}

// accepted begins a background turn.
func (w *world) accepted(o fyllo.SpawnOwner, p fyllo.SpawnPrompt) fyllo.SessionID {
	w.t.Helper()
	got := w.prompt(o, p)
	if got.Status != "accepted" {
		w.t.Fatalf("%+v", got)
	}
	return got.SessionID
}

func (w *world) status(o fyllo.SpawnOwner, id fyllo.SessionID) fyllo.SpawnStatusResult {
	w.t.Helper()
	got, err := w.e.Status(context.Background(), o, string(id))
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

func (w *world) settled(o fyllo.SpawnOwner, id fyllo.SessionID) fyllo.SpawnStatusResult {
	w.t.Helper()
	w.until("the turn is settled", func() bool { return w.status(o, id).Status != fyllo.SpawnIsRunning })
	return w.status(o, id)
}

func (w *world) turns(o fyllo.SpawnOwner, id fyllo.SessionID) []fyllo.SpawnTurn {
	w.t.Helper()
	all, err := w.store.Turns(o, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

func (w *world) free() {
	w.t.Helper()
	if n := w.e.Counts().Running; n != 0 {
		w.t.Errorf("%d reservations are left", n)
	}
}
