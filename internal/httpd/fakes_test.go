package httpd

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/attachments"
	"fyllocode.dev/fyllo/internal/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func netipAddr(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

func dialTCP(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const bearerToken = "core-token-of-the-test"

// core is a fake of the use cases behind the server.
type core struct {
	mu        sync.Mutex
	owners    map[fyllo.SessionID]fyllo.WorkspaceID
	drafts    map[fyllo.WindowID]fyllo.Draft
	closed    []string // window and Workspace of each CloseDraft
	starts    []fyllo.StartRequest
	prompts   []fyllo.PromptRequest
	touched   []fyllo.WorkspaceID
	settings  fyllo.Settings
	composer  map[string]string
	body      string
	files     []string // that came with first submissions
	readFiles bool
	media     map[fyllo.MediaQuery]*fyllo.Media
	scans     chan string             // told of searches that wait, and of their end
	fail      error                   // of the next calls that can fail
	boom      bool                    // Settings panics
	scope     *fyllo.Scope            // of every Session
	members   []fyllo.WorkspaceFolder // of every Workspace
}

func newCore() *core {
	return &core{
		owners:   map[fyllo.SessionID]fyllo.WorkspaceID{"session-a": "ws-a", "session-b": "ws-b"},
		drafts:   map[fyllo.WindowID]fyllo.Draft{},
		composer: map[string]string{},
		scans:    make(chan string),
		settings: fyllo.Settings{Theme: "system", DefaultPermissionPolicy: fyllo.PolicyAsk},
	}
}

func (c *core) check(w fyllo.WorkspaceID, s fyllo.SessionID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail != nil {
		return c.fail
	}
	if c.owners[s] != w {
		return fyllo.Errorf(fyllo.CodeSessionNotFound, "Session %s: it does not exist", s)
	}
	return nil
}

func (c *core) List(_ context.Context, w fyllo.WorkspaceID, _ string, limit int) (fyllo.SessionPage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var page fyllo.SessionPage
	for s, owner := range c.owners {
		if owner == w && len(page.Sessions) < limit {
			page.Sessions = append(page.Sessions, fyllo.SessionSummary{SessionID: s, WorkspaceID: w})
		}
	}
	page.Total = len(page.Sessions)
	return page, c.fail
}

func (c *core) Find(_ context.Context, s fyllo.SessionID) (fyllo.WorkspaceID, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.owners[s]; w != "" {
		return w, nil
	}
	return "", fyllo.Errorf(fyllo.CodeSessionNotFound, "Session %s: it does not exist", s)
}

func (c *core) Counts(context.Context) (int, int, error) { return len(c.owners), 1, nil }

func (c *core) Detail(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) (fyllo.SessionDetail, error) {
	return fyllo.SessionDetail{SessionSummary: fyllo.SessionSummary{SessionID: s, WorkspaceID: w}, Scope: c.scope}, c.check(w, s)
}

func (c *core) Messages(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, _ string, _ int) (fyllo.MessagePage, error) {
	return fyllo.MessagePage{}, c.check(w, s)
}

func (c *core) Body(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, _ fyllo.BodyQuery) (string, error) {
	return c.body, c.check(w, s)
}

// Whole fails behind its beginning when the body is "broken".
func (c *core) Whole(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, begin func(fyllo.SessionSummary) error, message func(fyllo.Message) error) error {
	if err := c.check(w, s); err != nil {
		return err
	}
	if err := begin(fyllo.SessionSummary{SessionID: s, Title: "whole"}); err != nil {
		return err
	}
	if c.body == "broken" {
		return fyllo.Errorf(fyllo.CodeStorageFailed, "the disk does not answer")
	}
	return message(fyllo.Message{ID: "m", Parts: []fyllo.Part{{Type: fyllo.PartText, Text: c.body}}})
}

func (c *core) Changes(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, m string) (fyllo.FileChanges, error) {
	return fyllo.FileChanges{MessageID: m, Changes: []fyllo.FileChange{}}, c.check(w, s)
}

func (c *core) FileText(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, m, path string) (fyllo.FileText, error) {
	text := m
	return fyllo.FileText{FileChange: fyllo.FileChange{Path: path}, Texts: []fyllo.FileSegment{{New: &text}}}, c.check(w, s)
}

func (c *core) Media(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, q fyllo.MediaQuery) (*fyllo.Media, error) {
	if err := c.check(w, s); err != nil {
		return nil, err
	}
	if m := c.media[q]; m != nil {
		return m, nil
	}
	return nil, fyllo.Errorf(fyllo.CodeNotFound, "open the attachment: it is not there")
}

func (c *core) Update(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, p fyllo.Patch) (fyllo.SessionSummary, error) {
	sum := fyllo.SessionSummary{SessionID: s}
	if p.Title != nil {
		sum.Title = *p.Title
	}
	return sum, c.check(w, s)
}

func (c *core) Delete(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) error {
	return c.check(w, s)
}

func (c *core) SetConfig(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, id string, v fyllo.ConfigValue) ([]fyllo.ConfigOption, error) {
	return []fyllo.ConfigOption{{ID: id, Current: v}}, c.check(w, s)
}

func (c *core) Start(_ context.Context, w fyllo.WorkspaceID, r fyllo.StartRequest) (fyllo.StartResult, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.readFiles {
		_, err := attachments.Intake(r.Attachments, r.NextFile, func(a fyllo.Attachment, from io.Reader) (fyllo.Attachment, error) {
			b, err := io.ReadAll(from)
			if err != nil {
				return a, fyllo.Errorf(fyllo.CodeInvalidRequest, "attach: cut: %w", err)
			}
			c.files = append(c.files, string(b))
			return a, nil
		})
		if err != nil && r.Attachments != nil {
			return fyllo.StartResult{}, err
		}
	}
	c.starts = append(c.starts, r)
	c.owners["session-new"] = w
	return fyllo.StartResult{SessionID: "session-new", Message: fyllo.Message{ID: "m1"}}, c.fail
}

func (c *core) Prompt(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, r fyllo.PromptRequest) (fyllo.PromptResult, error) {
	err := c.check(w, s)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prompts = append(c.prompts, r)
	return fyllo.PromptResult{Message: fyllo.Message{ID: "m2"}}, err
}

func (c *core) Enqueue(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, r fyllo.QueueRequest) (fyllo.Queue, error) {
	return fyllo.Queue{Entries: []fyllo.Queued{{ID: r.ID, Text: r.Text}}}, c.check(w, s)
}

func (c *core) ChangeQueued(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, id string, q fyllo.QueueChange) (fyllo.Queue, error) {
	return fyllo.Queue{Entries: []fyllo.Queued{{ID: id, Text: *q.Text}}}, c.check(w, s)
}

func (c *core) DropQueued(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, id string) (fyllo.Queue, error) {
	return fyllo.Queue{Entries: []fyllo.Queued{}}, c.check(w, s)
}

func (c *core) ReleaseQueue(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) (fyllo.Queue, error) {
	return fyllo.Queue{Entries: []fyllo.Queued{}}, c.check(w, s)
}

func (c *core) Cancel(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) error {
	return c.check(w, s)
}

func (c *core) Answer(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, r fyllo.AnswerRequest) (fyllo.PermissionNote, error) {
	return fyllo.PermissionNote{ID: r.PermissionID, OptionID: r.OptionID}, c.check(w, s)
}

func (c *core) OpenDraft(_ context.Context, _ fyllo.WorkspaceID, window fyllo.WindowID, agent fyllo.AgentID, mode fyllo.Mode) (fyllo.Draft, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drafts[window] = fyllo.Draft{AgentID: agent, Mode: mode, State: fyllo.DraftReady}
	return c.drafts[window], nil
}

func (c *core) Draft(_ fyllo.WorkspaceID, window fyllo.WindowID) (fyllo.Draft, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, ok := c.drafts[window]
	return d, ok
}

func (c *core) CloseDraft(w fyllo.WorkspaceID, window fyllo.WindowID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.drafts, window)
	c.closed = append(c.closed, string(window)+" "+string(w))
}

func (c *core) SetDraftConfig(_ context.Context, _ fyllo.WorkspaceID, _ fyllo.WindowID, id string, v fyllo.ConfigValue) (fyllo.Draft, error) {
	return fyllo.Draft{State: fyllo.DraftReady, ConfigOptions: []fyllo.ConfigOption{{ID: id, Current: v}}}, nil
}

// workspaces is a fake registry of ws-a, ws-b and ws-c, whose directories are /a, /b and /c.
type workspaces struct{ *core }

func (w workspaces) Open(paths []string) (fyllo.Workspace, error) {
	return w.Get(fyllo.WorkspaceID("ws-" + strings.TrimPrefix(paths[0], "/")))
}

func (w workspaces) Get(id fyllo.WorkspaceID) (fyllo.Workspace, error) {
	if id != "ws-a" && id != "ws-b" && id != "ws-c" {
		return fyllo.Workspace{}, fyllo.Errorf(fyllo.CodeWorkspaceNotFound, "Workspace %s: it does not exist", id)
	}
	return fyllo.Workspace{ID: id, Name: "name of " + string(id), Kind: fyllo.KindFolder, Folders: w.members}, nil
}

func (w workspaces) Touch(id fyllo.WorkspaceID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.touched = append(w.touched, id)
	return nil
}

func (w workspaces) Recents(int) []fyllo.Workspace {
	a, _ := w.Get("ws-a")
	b, _ := w.Get("ws-b")
	return []fyllo.Workspace{a, b}
}

func (w workspaces) IDs() []fyllo.WorkspaceID        { return []fyllo.WorkspaceID{"ws-a", "ws-b", "ws-c"} }
func (w workspaces) Complete(prefix string) []string { return []string{prefix + "x"} }

// catalogue is a fake of the Agents.
type catalogue struct{ *core }

func (c catalogue) List() []fyllo.Agent {
	return []fyllo.Agent{{ID: "custom-x", Name: "X", Source: fyllo.SourceCustom, State: fyllo.AgentReady, PID: 7}}
}
func (c catalogue) CustomProblem() *fyllo.Error                        { return nil }
func (c catalogue) AddCustom(fyllo.CustomAgent) (fyllo.AgentID, error) { return "custom-x", c.fail }
func (c catalogue) RemoveCustom(string) error                          { return c.fail }
func (c catalogue) Suggestions() []fyllo.AgentSuggestion               { return nil }
func (c catalogue) Check(_ context.Context, id fyllo.AgentID) (fyllo.AgentCheck, error) {
	return fyllo.AgentCheck{AgentID: id, OK: true}, c.fail
}
func (c catalogue) Look(bool)                                  {}
func (c catalogue) Registry() *fyllo.RegistryState             { return nil }
func (c catalogue) Retry(context.Context, fyllo.AgentID) error { return c.fail }

// store is a fake of the data root.
type store struct{ *core }

func (s store) Settings() fyllo.Settings {
	if s.boom {
		panic("secret words of a conversation")
	}
	return s.settings
}

func (s store) UpdateSettings(change func(*fyllo.Settings)) (fyllo.Settings, error) {
	change(&s.settings)
	return s.settings, nil
}

func (s store) ComposerText(w fyllo.WorkspaceID, id fyllo.SessionID) string {
	return s.composer[string(w)+"/"+string(id)]
}

func (s store) SetComposerText(w fyllo.WorkspaceID, id fyllo.SessionID, text string) error {
	s.composer[string(w)+"/"+string(id)] = text
	return nil
}

var testUI = fstest.MapFS{
	"index.html":            {Data: []byte("<!doctype html><title>ui</title>")},
	"theme.js":              {Data: []byte("theme()")},
	"assets/app-1a2b.js":    {Data: []byte("app()")},
	"assets/app-1a2b.js.gz": {Data: []byte("gzipped app()")},
	"assets/lib-3c4d.js.gz": {Data: packed("lib()")},
}

func packed(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

// rig is a Server on a real listener, and what a test knows about it.
type rig struct {
	*Server
	t      *testing.T
	core   *core
	log    *lockedBuffer
	url    string
	host   string
	client *http.Client
	stop   func() error // ends Serve and returns its error
}

func start(t *testing.T) *rig { return startWith(t, stream.Options{}) }

func startWith(t *testing.T, o stream.Options) *rig {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := newCore()
	logged := &lockedBuffer{}
	s, err := New(Config{
		Addr: netip.MustParseAddrPort(ln.Addr().String()), Token: bearerToken, Version: "1.2.3", Home: "/home/me",
		UI: testUI, Feed: NewFeed(o), Sessions: c, Media: c, Attachments: waiting{c}, Search: searcher{c}, Files: finder{c}, Workspaces: workspaces{c}, Agents: catalogue{c}, Store: store{c},
		Stop: func() {}, Log: slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }() // ends with stop
	r := &rig{Server: s, t: t, core: c, log: logged, host: ln.Addr().String(), url: "http://" + ln.Addr().String()}
	r.client = &http.Client{
		Transport:     &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	r.stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(10 * time.Second):
			t.Error("Serve does not return")
			return nil
		}
	})
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		r.client.CloseIdleConnections()
	})
	return r
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// got is an answer that was read.
type got struct {
	*http.Response
	body string
}

func (g got) code() fyllo.Code {
	var e struct{ Error fyllo.Failure }
	_ = json.Unmarshal([]byte(g.body), &e)
	return e.Error.Code
}

// send sends a request with the given headers, "Host" among them.
func (r *rig) send(method, path, body string, headers ...string) got {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Add(headers[i], headers[i+1])
	}
	if body != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := r.client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return got{resp, string(text)}
}

// asCommand sends a call of the command line.
func (r *rig) asCommand(method, path, body string, headers ...string) got {
	r.t.Helper()
	return r.send(method, path, body, append(headers, "Authorization", "Bearer "+bearerToken)...)
}

// tab is a browser tab that is signed in.
type tab struct {
	*rig
	cookie string
	id     fyllo.WindowID
}

// signIn opens a one-time URL and returns the signed-in tab and the page it was sent to.
func (r *rig) signIn(w fyllo.WorkspaceID, s fyllo.SessionID) (*tab, *url.URL) {
	r.t.Helper()
	u, err := url.Parse(r.LaunchURL(w, s))
	if err != nil {
		r.t.Fatal(err)
	}
	g := r.send("GET", u.RequestURI(), "")
	to, err := g.Location()
	if g.StatusCode != http.StatusSeeOther || err != nil || len(g.Cookies()) != 1 {
		r.t.Fatalf("sign-in answered %d, %v, cookies %v", g.StatusCode, err, g.Cookies())
	}
	c := g.Cookies()[0]
	return &tab{rig: r, cookie: c.Name + "=" + c.Value}, to
}

// send sends a call of the tab's page.
func (b *tab) send(method, path, body string, headers ...string) got {
	b.t.Helper()
	headers = append(headers, "Cookie", b.cookie, "Origin", b.url, "Sec-Fetch-Site", "same-origin")
	if b.id != "" {
		headers = append(headers, "X-Fyllo-Window", string(b.id))
	}
	return b.rig.send(method, path, body, headers...)
}

// register registers the tab and takes over the id it gets.
func (b *tab) register(in registration) windowContext {
	b.t.Helper()
	body, _ := json.Marshal(in)
	g := b.send("POST", "/api/windows", string(body))
	var c windowContext
	if g.StatusCode != http.StatusOK || json.Unmarshal([]byte(g.body), &c) != nil {
		b.t.Fatalf("register: %d %s", g.StatusCode, g.body)
	}
	b.id = c.WindowID
	return c
}

// open signs in and registers a tab bound to a Workspace.
func (r *rig) open(w fyllo.WorkspaceID) (*tab, windowContext) {
	r.t.Helper()
	b, to := r.signIn(w, "")
	c := b.register(registration{Ticket: to.Query().Get("bind"), Path: to.Path})
	if c.WorkspaceID != w {
		r.t.Fatalf("the tab was bound to %q, want %q", c.WorkspaceID, w)
	}
	return b, c
}
