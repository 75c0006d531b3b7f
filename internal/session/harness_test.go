package session_test

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/acp"
	"fyllocode.dev/fyllo/internal/files"
	"fyllocode.dev/fyllo/internal/records"
	"fyllocode.dev/fyllo/internal/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const wid = fyllo.WorkspaceID("folder-1")

// world is a Manager on a real data root, with a scripted Agent at the process edge.
type world struct {
	t      *testing.T
	root   string
	store  *faultyStore
	agents *fakeAgents
	spaces *fakeSpaces
	events *recorder
	m      *session.Manager
	end    func()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, root: t.TempDir(), agents: &fakeAgents{agent: newFakeAgent(1)}, spaces: &fakeSpaces{dir: t.TempDir()}}
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
	w.store = &faultyStore{Store: storeBridge{real}, fail: map[string]bool{}}
	w.events = &recorder{}
	w.m = session.New(session.Deps{
		Store: w.store, Agents: w.agents, Workspaces: w.spaces, Mentions: files.New(), Publisher: w.events, Decoder: decoder{},
		Settings: func() fyllo.Settings { return fyllo.Settings{DefaultPermissionPolicy: fyllo.PolicyAsk} },
		Log:      quiet(),
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.m.Serve(ctx) }()
	w.end = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
}

// restart ends Core in good order and starts it again; the Agents' processes end with it.
func (w *world) restart() {
	w.t.Helper()
	w.end()
	w.agents.replace()
	w.start()
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// first starts a Session with a message.
func (w *world) first(text string) fyllo.SessionID {
	w.t.Helper()
	return w.startWith(fyllo.StartRequest{AgentID: "fake", Text: text})
}

func (w *world) startWith(r fyllo.StartRequest) fyllo.SessionID {
	w.t.Helper()
	got, err := w.m.Start(w.t.Context(), wid, r)
	if err != nil {
		w.t.Fatal(err)
	}
	return got.SessionID
}

func (w *world) prompt(s fyllo.SessionID, text string) fyllo.Message {
	w.t.Helper()
	got, err := w.m.Prompt(w.t.Context(), wid, s, fyllo.PromptRequest{Text: text})
	if err != nil {
		w.t.Fatal(err)
	}
	return got.Message
}

func (w *world) detail(s fyllo.SessionID) fyllo.SessionDetail {
	w.t.Helper()
	d, err := w.m.Detail(w.t.Context(), wid, s)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// messages returns the transcript as a window sees it: what is stored, and what is live over it.
func (w *world) messages(s fyllo.SessionID) []fyllo.Message {
	w.t.Helper()
	live := w.detail(s).Live
	page, err := w.m.Messages(w.t.Context(), wid, s, "", 0)
	if err != nil {
		w.t.Fatal(err)
	}
	out := page.Messages
	if live == nil {
		return out
	}
	for i := range out {
		if out[i].ID == live.ID {
			out[i] = *live
			return out
		}
	}
	return append(out, *live)
}

// texts flattens a transcript to "role: text" lines; an error end stands in brackets.
func (w *world) texts(s fyllo.SessionID) string {
	var b strings.Builder
	for _, m := range w.messages(s) {
		b.WriteString(string(m.Role) + ":")
		for _, p := range m.Parts {
			switch p.Type {
			case fyllo.PartTool:
				b.WriteString(" <" + p.Tool.Title + " " + string(p.Tool.Status) + ">")
			default:
				b.WriteString(" " + p.Text)
			}
		}
		if m.End != nil && m.End.Error != nil {
			b.WriteString(" [" + string(m.End.Error.Code) + "]")
		} else if m.End != nil {
			b.WriteString(" (" + m.End.StopReason + ")")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// until polls cond, which must become true soon; under synctest the polling takes no real time.
func (w *world) until(what string, cond func() bool) {
	w.t.Helper()
	for range 4000 {
		if cond() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	w.t.Fatalf("never: %s", what)
}

func (w *world) idle(s fyllo.SessionID) {
	w.t.Helper()
	w.until("the turn ends", func() bool { return w.detail(s).Turn.State == fyllo.TurnIdle })
}

// recorder is a Publisher that keeps everything.
type recorder struct {
	mu     sync.Mutex
	events []fyllo.Event
}

func (r *recorder) Publish(e fyllo.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *recorder) Seq(fyllo.WorkspaceID) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return uint64(len(r.events))
}

func (r *recorder) of(t fyllo.EventType) (out []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Type == t {
			out = append(out, e.Data)
		}
	}
	return out
}

type decoder struct{}

func (decoder) DecodeLine(l []byte) (fyllo.Update, bool)              { return acp.DecodeLine(l) }
func (decoder) DecodePermission(l []byte) (fyllo.PermissionAsk, bool) { return acp.DecodePermission(l) }

// storeBridge gives *records.Store the interface types of this package.
type storeBridge struct{ *records.Store }

func (s storeBridge) BeginTurn(w fyllo.WorkspaceID, id fyllo.SessionID, h fyllo.TurnHeader) (session.TurnLog, error) {
	return s.Store.BeginTurn(w, id, h)
}

// faultyStore fails the operations named in fail.
type faultyStore struct {
	session.Store
	mu   sync.Mutex
	fail map[string]bool
}

var errDisk = fyllo.Errorf(fyllo.CodeStorageFailed, "write: the disk is full")

func (s *faultyStore) broken(op string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fail[op]
}

func (s *faultyStore) set(op string, fail bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail[op] = fail
}

func (s *faultyStore) CreateSession(w fyllo.WorkspaceID, m fyllo.SessionMeta, first fyllo.Message) (fyllo.Message, error) {
	if s.broken("create") {
		return fyllo.Message{}, errDisk
	}
	return s.Store.CreateSession(w, m, first)
}

func (s *faultyStore) AppendMessage(w fyllo.WorkspaceID, id fyllo.SessionID, m fyllo.Message) (fyllo.Message, error) {
	if s.broken("message") {
		return fyllo.Message{}, errDisk
	}
	return s.Store.AppendMessage(w, id, m)
}

func (s *faultyStore) BeginTurn(w fyllo.WorkspaceID, id fyllo.SessionID, h fyllo.TurnHeader) (session.TurnLog, error) {
	if s.broken("turn") {
		return nil, errDisk
	}
	log, err := s.Store.BeginTurn(w, id, h)
	if err != nil {
		return nil, err
	}
	return &faultyLog{TurnLog: log, s: s}, nil
}

func (s *faultyStore) PutQueue(w fyllo.WorkspaceID, id fyllo.SessionID, q fyllo.Queue) error {
	if s.broken("queue") {
		return errDisk
	}
	return s.Store.PutQueue(w, id, q)
}

type faultyLog struct {
	session.TurnLog
	s *faultyStore
}

func (l *faultyLog) Append(recs []fyllo.TurnRecord) error {
	if l.s.broken("append") {
		return errDisk
	}
	return l.TurnLog.Append(recs)
}

// fakeSpaces is one Workspace.
type fakeSpaces struct {
	dir   string
	extra []string
	kind  fyllo.WorkspaceKind // "" means a single Project
	stale error
}

func (s *fakeSpaces) IDs() []fyllo.WorkspaceID { return []fyllo.WorkspaceID{wid} }

func (s *fakeSpaces) Scope(fyllo.WorkspaceID) (fyllo.Scope, error) {
	return fyllo.Scope{
		WorkspaceID: wid, WorkspaceKind: cmp.Or(s.kind, fyllo.KindFolder), PrimaryFolderID: "folder-1", Cwd: s.dir,
		Folders:               []fyllo.ScopeFolder{{FolderID: "folder-1", FolderName: "one", FolderPath: s.dir}},
		AdditionalDirectories: s.extra,
	}, nil
}

func (s *fakeSpaces) CheckScope(fyllo.Scope) error { return s.stale }

// fakeAgents is a catalogue of one Agent, "fake".
type fakeAgents struct {
	mu    sync.Mutex
	agent *fakeAgent
	dead  *fakeAgent // handed out once more, as a pool does that has not noticed a crash yet
	err   error
}

func (f *fakeAgents) Connect(context.Context, fyllo.AgentID) (session.Agent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	if dead := f.dead; dead != nil {
		f.dead = nil
		return dead, nil
	}
	return f.agent, nil
}

func (f *fakeAgents) Describe(id fyllo.AgentID) (fyllo.Agent, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fyllo.Agent{ID: "fake", Name: "Fake", Installed: true, Capabilities: f.agent.info.Capabilities}, id == "fake"
}

func (f *fakeAgents) Missing(id fyllo.AgentID) error {
	return fyllo.Errorf(fyllo.CodeAgentNotFound, "agent %q: there is no such Agent", id)
}

func (f *fakeAgents) now() *fakeAgent {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.agent
}

// replace starts a new generation; the old one dies first.
func (f *fakeAgents) replace() *fakeAgent {
	f.mu.Lock()
	old := f.agent
	f.agent = newFakeAgent(old.gen + 1)
	f.agent.info = old.info
	next := f.agent
	f.mu.Unlock()
	old.die()
	return next
}

// fakeAgent is one generation of an Agent. Its fields may be set before use; hooks run on the caller's goroutine.
type fakeAgent struct {
	setTime  time.Duration // that a set takes
	setting  atomic.Int32  // sets in flight
	overlaps atomic.Bool   // two sets were in flight at once (R-AGT-094)

	gen  uint64
	info fyllo.AgentInfo
	done chan struct{}

	mu       sync.Mutex
	calls    []string
	sinks    map[fyllo.ACPSessionID]func(fyllo.AgentEvent)
	sessions int
	config   []fyllo.ConfigOption
	tells    bool             // its options and commands by updates only, ahead of the answer that opens an ACP session
	fail     map[string]error // by method
	prompts  []fakePrompt
	resumed  fyllo.SessionParams // of the last session/resume
	dead     bool
}

type fakePrompt struct {
	id     fyllo.ACPSessionID
	token  uint64
	blocks []fyllo.PromptBlock
}

func newFakeAgent(gen uint64) *fakeAgent {
	return &fakeAgent{gen: gen, done: make(chan struct{}), sinks: map[fyllo.ACPSessionID]func(fyllo.AgentEvent){}, fail: map[string]error{}}
}

func (a *fakeAgent) Generation() uint64    { return a.gen }
func (a *fakeAgent) Info() fyllo.AgentInfo { return a.info }
func (a *fakeAgent) Done() <-chan struct{} { return a.done }

func (a *fakeAgent) call(method string, id fyllo.ACPSessionID) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dead {
		return fyllo.Errorf(fyllo.CodeAgentExited, "the Agent exited")
	}
	a.calls = append(a.calls, strings.TrimSpace(method+" "+string(id)))
	return a.fail[method]
}

func (a *fakeAgent) seen() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.calls, ", ")
}

func (a *fakeAgent) NewSession(_ context.Context, _ fyllo.SessionParams, sink func(fyllo.AgentEvent)) (fyllo.SessionOpened, error) {
	if err := a.call("new", ""); err != nil {
		return fyllo.SessionOpened{}, err
	}
	a.mu.Lock()
	a.sessions++
	id := fyllo.ACPSessionID("g" + strconv.FormatUint(a.gen, 10) + "s" + strconv.Itoa(a.sessions))
	a.mu.Unlock()
	return a.opened(id, sink)
}

func (a *fakeAgent) opened(id fyllo.ACPSessionID, sink func(fyllo.AgentEvent)) (fyllo.SessionOpened, error) {
	a.mu.Lock()
	a.sinks[id] = sink
	config, tells := a.config, a.tells
	a.mu.Unlock()
	if tells {
		sink(fyllo.AgentEvent{Update: &fyllo.Update{Kind: fyllo.UpdateCommands, SessionID: id, Commands: []fyllo.Command{{Name: "early"}}}})
	}
	if config != nil {
		sink(fyllo.AgentEvent{Update: &fyllo.Update{Kind: fyllo.UpdateConfig, SessionID: id, Config: config}})
	}
	if tells {
		return fyllo.SessionOpened{ID: id}, nil
	}
	return fyllo.SessionOpened{ID: id, ConfigOptions: config, HasConfig: config != nil}, nil
}

func (a *fakeAgent) LoadSession(_ context.Context, id fyllo.ACPSessionID, _ fyllo.SessionParams, sink func(fyllo.AgentEvent)) (fyllo.SessionOpened, error) {
	if err := a.call("load", id); err != nil {
		return fyllo.SessionOpened{}, err
	}
	sink(text("old history"))
	return a.opened(id, sink)
}

func (a *fakeAgent) ResumeSession(_ context.Context, id fyllo.ACPSessionID, p fyllo.SessionParams, sink func(fyllo.AgentEvent)) (fyllo.SessionOpened, error) {
	if err := a.call("resume", id); err != nil {
		return fyllo.SessionOpened{}, err
	}
	a.mu.Lock()
	a.resumed = p
	a.mu.Unlock()
	return a.opened(id, sink)
}

func (a *fakeAgent) CloseSession(_ context.Context, id fyllo.ACPSessionID) error {
	err := a.call("close", id)
	a.Forget(id)
	return err
}

func (a *fakeAgent) Forget(id fyllo.ACPSessionID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.sinks, id)
}

func (a *fakeAgent) Prompt(id fyllo.ACPSessionID, token uint64, blocks []fyllo.PromptBlock) error {
	if err := a.call("prompt", id); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.prompts = append(a.prompts, fakePrompt{id, token, blocks})
	return nil
}

func (a *fakeAgent) Cancel(id fyllo.ACPSessionID) error { return a.call("cancel", id) }

func (a *fakeAgent) SetConfig(_ context.Context, id fyllo.ACPSessionID, o fyllo.ConfigOption, v fyllo.ConfigValue) ([]fyllo.ConfigOption, error) {
	if a.setting.Add(1) > 1 {
		a.overlaps.Store(true)
	}
	defer a.setting.Add(-1)
	time.Sleep(a.setTime)
	if err := a.call("set "+o.ID+"="+v.String(), id); err != nil {
		return nil, err
	}
	a.mu.Lock()
	next := append([]fyllo.ConfigOption(nil), a.config...)
	for i := range next {
		if next[i].ID == o.ID {
			next[i].Current = v
		}
	}
	a.config = next
	sink := a.sinks[id]
	a.mu.Unlock()
	sink(fyllo.AgentEvent{Update: &fyllo.Update{Kind: fyllo.UpdateConfig, SessionID: id, Config: next}})
	return next, nil
}

// prompted waits for the n-th prompt, counted from 1.
func (a *fakeAgent) prompted(w *world, n int) fakePrompt {
	w.t.Helper()
	var p fakePrompt
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

// send delivers events of the ACP session of a prompt, as a connection's reader does.
func (a *fakeAgent) send(p fakePrompt, events ...fyllo.AgentEvent) {
	for _, e := range events {
		a.mu.Lock()
		sink := a.sinks[p.id]
		a.mu.Unlock()
		if sink != nil {
			sink(under(p.id, e))
		}
	}
}

// under returns an event of the session "s", as line and askEvent make them, as one of the session id.
func under(id fyllo.ACPSessionID, e fyllo.AgentEvent) fyllo.AgentEvent {
	readdress := func(raw []byte) []byte {
		return bytes.Replace(raw, []byte(`"sessionId":"s"`), []byte(`"sessionId":"`+id+`"`), 1)
	}
	if u := e.Update; u != nil && u.SessionID == "s" {
		moved := *u
		moved.SessionID, moved.Raw = id, readdress(u.Raw)
		e.Update = &moved
	}
	if p := e.Permission; p != nil && p.SessionID == "s" {
		moved := *p
		moved.SessionID, moved.Raw = id, readdress(p.Raw)
		e.Permission = &moved
	}
	return e
}

// done ends a prompt.
func (a *fakeAgent) finish(p fakePrompt, reason string) {
	a.send(p, fyllo.AgentEvent{PromptDone: &fyllo.PromptDone{Token: p.token, StopReason: reason}})
}

// die ends the process: sinks get Closed, then Done is closed.
func (a *fakeAgent) die() {
	a.mu.Lock()
	if a.dead {
		a.mu.Unlock()
		return
	}
	a.dead = true
	sinks := a.sinks
	a.sinks = map[fyllo.ACPSessionID]func(fyllo.AgentEvent){}
	a.mu.Unlock()
	for _, sink := range sinks {
		sink(fyllo.AgentEvent{Closed: &fyllo.AgentClosed{Reason: fyllo.Errorf(fyllo.CodeAgentExited, "the Agent exited with status 3")}})
	}
	close(a.done)
}

// line makes an event of an update in its wire form.
func line(update string) fyllo.AgentEvent {
	raw := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + update + `}}`)
	u, ok := acp.DecodeLine(raw)
	if !ok {
		panic("not an update: " + update)
	}
	return fyllo.AgentEvent{Update: &u}
}

func text(s string) fyllo.AgentEvent {
	return line(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + strconv.Quote(s) + `}}`)
}

// ask makes a permission request whose answers go to the returned channel.
func askEvent(call string) (fyllo.AgentEvent, chan string) {
	raw := []byte(`{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s",` +
		`"toolCall":{"toolCallId":"` + call + `","title":"Write a file"},"options":[` +
		`{"optionId":"always","name":"Always","kind":"allow_always"},{"optionId":"once","name":"Once","kind":"allow_once"},` +
		`{"optionId":"no","name":"No","kind":"reject_once"}]}}`)
	p, ok := acp.DecodePermission(raw)
	if !ok {
		panic("not a permission request")
	}
	answers := make(chan string, 2)
	p.Answer = func(id string) { answers <- id }
	return fyllo.AgentEvent{Permission: &p}, answers
}

// copyRoot copies the data root as it is now, like a crash leaves it.
func (w *world) copyRoot() string {
	w.t.Helper()
	to := w.t.TempDir()
	if err := os.CopyFS(to, os.DirFS(w.root)); err != nil {
		w.t.Fatal(err)
	}
	return to
}
