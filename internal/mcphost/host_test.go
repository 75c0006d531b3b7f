package mcphost_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/mcphost"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine is a Spawner that notes what it is asked.
type engine struct {
	mu     sync.Mutex
	owners []fyllo.SpawnOwner
	prompt fyllo.SpawnPrompt
	err    error
	block  chan struct{} // Prompt waits for it
	ended  chan error    // how the context of a blocked Prompt ended
}

func (e *engine) note(o fyllo.SpawnOwner) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.owners = append(e.owners, o)
	return e.err
}

func (e *engine) AvailableAgents(context.Context) ([]fyllo.SpawnAgent, error) {
	return []fyllo.SpawnAgent{{AgentID: "a", Name: "A <b>"}}, nil
}

func (e *engine) Prompt(ctx context.Context, o fyllo.SpawnOwner, p fyllo.SpawnPrompt) (fyllo.SpawnPromptResult, error) {
	if err := e.note(o); err != nil {
		return fyllo.SpawnPromptResult{}, err
	}
	e.mu.Lock()
	e.prompt = p
	e.mu.Unlock()
	if e.block != nil {
		select {
		case <-e.block:
		case <-ctx.Done():
			e.ended <- ctx.Err()
			return fyllo.SpawnPromptResult{}, fyllo.Errorf(fyllo.CodeSpawnCancelled, "gone")
		}
	}
	return fyllo.SpawnPromptResult{Status: "accepted", SessionID: "s-" + o.Parent}, nil
}

func (e *engine) Status(_ context.Context, o fyllo.SpawnOwner, _ string) (fyllo.SpawnStatusResult, error) {
	return fyllo.SpawnStatusResult{Status: fyllo.SpawnNotFound}, e.note(o)
}

func (e *engine) Read(_ context.Context, o fyllo.SpawnOwner, r fyllo.SpawnRead) (fyllo.SpawnChunk, error) {
	return fyllo.SpawnChunk{Content: r.SessionID + r.ResponseID + r.Cursor, Done: true}, e.note(o)
}

func (e *engine) Cancel(_ context.Context, o fyllo.SpawnOwner, _ string) (fyllo.SpawnCancelResult, error) {
	return fyllo.SpawnCancelResult{Reason: "Session not found"}, e.note(o)
}

type fixture struct {
	t      *testing.T
	engine *engine
	host   *mcphost.Host
	url    string
	ready  chan struct{}
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{t: t, engine: &engine{ended: make(chan error, 1)}, ready: make(chan struct{})}
	close(f.ready)
	f.serve(mcphost.Config{Beat: 20 * time.Millisecond})
	return f
}

func (f *fixture) serve(c mcphost.Config) {
	server := httptest.NewUnstartedServer(nil)
	c.Address, c.Spawner, c.Ready = server.Listener.Addr().String(), f.engine, f.ready
	f.host = mcphost.New(c)
	server.Config.Handler = f.host
	server.Start()
	f.url = server.URL
	f.t.Cleanup(func() {
		f.host.Close()
		server.CloseClientConnections()
		server.Close()
		http.DefaultClient.CloseIdleConnections()
	})
}

func (f *fixture) lease(s fyllo.SessionID) (*mcphost.Lease, fyllo.MCPServer) {
	f.t.Helper()
	l := f.host.Lease(f.t.Context(), "w", s)
	if l == nil {
		f.t.Fatal("no lease")
	}
	return l, l.Servers()[0]
}

const listing = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`

// post sends one request as the newer protocol does, and returns status and body.
func (f *fixture) post(s fyllo.MCPServer, body string, change func(*http.Request)) (int, string) {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, s.URL, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	for k, v := range s.Headers {
		r.Header.Set(k, v)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", "tools/list")
	if change != nil {
		change(r)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(b)
}

func TestDoor_R_SPAWN_002_004_008_R_AGT_102(t *testing.T) {
	f := newFixture(t)
	l, s := f.lease("session-1")
	revoked, old := f.lease("session-1")
	revoked.End()
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, c := range map[string]struct {
		server fyllo.MCPServer
		body   string
		change func(*http.Request)
		want   int
	}{
		"right":              {s, listing, nil, 200},
		"no bearer":          {fyllo.MCPServer{URL: s.URL}, listing, nil, 401},
		"unknown bearer":     {s, listing, set("Authorization", "Bearer nonsense"), 401},
		"another scheme":     {s, listing, set("Authorization", strings.Replace(s.Headers["Authorization"], "Bearer", "Basic", 1)), 401},
		"revoked":            {old, listing, nil, 401},
		"its own origin":     {s, listing, set("Origin", f.url), 403},
		"a foreign origin":   {s, listing, set("Origin", "https://evil.example"), 403},
		"origin null":        {s, listing, set("Origin", "null"), 403},
		"a foreign host":     {s, listing, func(r *http.Request) { r.Host = "evil.example" }, 403},
		"another port":       {s, listing, func(r *http.Request) { r.Host = "127.0.0.1:1" }, 403},
		"another server":     {fyllo.MCPServer{URL: f.url + "/mcp/fyllo-specs", Headers: s.Headers}, listing, nil, 404},
		"below the server":   {fyllo.MCPServer{URL: s.URL + "/x", Headers: s.Headers}, listing, nil, 404},
		"a body of 9 MiB":    {s, strings.Repeat(" ", 9<<20), nil, 413},
		"the same, unstated": {s, strings.Repeat(" ", 9<<20), func(r *http.Request) { r.ContentLength = -1 }, 413},
	} {
		status, body := f.post(c.server, c.body, c.change)
		if status != c.want {
			t.Errorf("%s: %d %s, want %d", name, status, body, c.want)
		}
		if token := strings.TrimPrefix(s.Headers["Authorization"], "Bearer "); strings.Contains(body, token) || strings.Contains(body, "goroutine") {
			t.Errorf("%s tells too much: %s", name, body)
		}
	}
	l.End()
	if status, _ := f.post(s, listing, nil); status != 401 {
		t.Errorf("%d after the end of the lease (R-SPAWN-009)", status)
	}
	if len(strings.TrimPrefix(s.Headers["Authorization"], "Bearer ")) != 43 {
		t.Error("the bearer is not 32 bytes in base64url (R-SPAWN-005)")
	}
}

func TestNotReadyAndDisabled_R_SPAWN_003(t *testing.T) {
	f := &fixture{t: t, engine: &engine{}, ready: make(chan struct{})}
	f.serve(mcphost.Config{})
	began := time.Now()
	if l := f.host.Lease(t.Context(), "w", "s"); l != nil || time.Since(began) < 2*time.Second {
		t.Errorf("a lease %v after %s", l, time.Since(began))
	}
	status, _ := f.post(fyllo.MCPServer{URL: f.url + "/mcp/fyllo-spawn"}, listing, nil)
	if status != 503 {
		t.Errorf("%d before it is ready", status)
	}
	close(f.ready)
	if l := f.host.Lease(t.Context(), "w", "s"); l == nil {
		t.Error("no lease once it is ready")
	}
	g := &fixture{t: t, engine: &engine{}, ready: f.ready}
	g.serve(mcphost.Config{Disabled: true})
	if l := g.host.Lease(t.Context(), "w", "s"); l != nil {
		t.Error("a lease although it is switched off")
	}
}

// connect connects the official client as an Agent does.
func (f *fixture) connect(s fyllo.MCPServer) *mcp.ClientSession {
	f.t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(f.t.Context(), &mcp.StreamableClientTransport{
		Endpoint: s.URL, HTTPClient: &http.Client{Transport: withHeaders(s.Headers)}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = session.Close() })
	return session
}

type withHeaders map[string]string

func (h withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range h {
		r.Header.Set(k, v)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func call(t *testing.T, s *mcp.ClientSession, tool string, args any) (string, bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	text := r.Content[0].(*mcp.TextContent).Text
	var a, b any
	structured, _ := json.Marshal(r.StructuredContent)
	if json.Unmarshal([]byte(text), &a) != nil || json.Unmarshal(structured, &b) != nil || !cmp.Equal(a, b) {
		t.Errorf("%s: text %s and structured content %s differ (R-SPAWN-022)", tool, text, structured)
	}
	return text, r.IsError
}

func TestTools_R_SPAWN_017_022_to_025(t *testing.T) {
	f := newFixture(t)
	_, s := f.lease("session-1")
	c := f.connect(s)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		for _, schema := range []any{tool.InputSchema, tool.OutputSchema} {
			b, _ := json.Marshal(schema)
			var m map[string]any
			if json.Unmarshal(b, &m) != nil || m["additionalProperties"] != false {
				t.Errorf("%s: the schema %s is open", tool.Name, b)
			}
		}
		if strings.ContainsAny(tool.Description, "<{") || strings.Contains(tool.Description, "/") {
			t.Errorf("%s: a path or a filled-in Signal in %q", tool.Name, tool.Description)
		}
	}
	if d := cmp.Diff([]string{"available_agents", "prompt_to_agent", "check_session_status", "read_response", "cancel_session"}, names); d != "" {
		t.Error(d)
	}
	if text, failed := call(t, c, "available_agents", map[string]any{}); failed || text != `{"agents":[{"agentId":"a","name":"A <b>"}]}` {
		t.Error(text)
	}
	call(t, c, "prompt_to_agent", json.RawMessage(`{"agentId":"a","prompt":" p ","config":{"z":"1","a":true,"m":"x"},"model":"big","background":false}`))
	big := "big"
	if d := cmp.Diff(fyllo.SpawnPrompt{AgentID: "a", Prompt: " p ", Model: &big, Mode: fyllo.SpawnSync, Config: []fyllo.SpawnValue{
		{ID: "z", Value: fyllo.StringValue("1")}, {ID: "a", Value: fyllo.BoolValue(true)}, {ID: "m", Value: fyllo.StringValue("x")},
	}}, f.engine.prompt); d != "" {
		t.Error(d)
	}
	if text, _ := call(t, c, "read_response", map[string]any{"sessionId": "s", "responseId": "r", "cursor": "c", "maxBytes": 4}); text != `{"content":"src","done":true}` {
		t.Error(text)
	}
	if text, _ := call(t, c, "cancel_session", map[string]any{"sessionId": "s"}); text != `{"cancelled":false,"reason":"Session not found"}` {
		t.Error(text)
	}
}

func TestBadInput_R_SPAWN_007(t *testing.T) {
	f := newFixture(t)
	_, s := f.lease("session-1")
	c := f.connect(s)
	long := strings.Repeat("x", 257)
	many := map[string]any{}
	for i := range 65 {
		many[string(rune('a'+i%26))+string(rune('a'+i/26))] = "v"
	}
	for _, in := range []struct {
		tool string
		args any
	}{
		{"available_agents", map[string]any{"x": 1}},
		{"prompt_to_agent", map[string]any{"prompt": "p"}},
		{"prompt_to_agent", map[string]any{"agentId": "a"}},
		{"prompt_to_agent", map[string]any{"agentId": "", "prompt": "p"}},
		{"prompt_to_agent", map[string]any{"agentId": 1, "prompt": "p"}},
		{"prompt_to_agent", map[string]any{"agentId": "a", "prompt": "p", "parentSessionId": "session-2"}},
		{"prompt_to_agent", map[string]any{"agentId": "a", "prompt": "p", "sessionId": "a/b"}},
		{"prompt_to_agent", map[string]any{"agentId": "a", "prompt": "p", "sessionId": long}},
		{"prompt_to_agent", map[string]any{"agentId": "a", "prompt": "p", "background": "yes"}},
		{"prompt_to_agent", map[string]any{"agentId": "a", "prompt": "p", "config": map[string]any{"a": 1}}},
		{"prompt_to_agent", map[string]any{"agentId": "a", "prompt": "p", "config": map[string]any{"": "x"}}},
		{"prompt_to_agent", map[string]any{"agentId": "a", "prompt": "p", "config": many}},
		{"prompt_to_agent", json.RawMessage(`{"agentId":"a","prompt":"p","config":{"a":"1","a":"2"}}`)},
		{"check_session_status", map[string]any{}},
		{"check_session_status", map[string]any{"sessionId": "s", "workspaceId": "w"}},
		{"read_response", map[string]any{"sessionId": "s"}},
		{"read_response", map[string]any{"sessionId": "s", "responseId": "r", "maxBytes": 3}},
		{"read_response", map[string]any{"sessionId": "s", "responseId": "r", "maxBytes": 1.5}},
		{"read_response", map[string]any{"sessionId": "s", "responseId": "r", "cursor": long}},
		{"cancel_session", map[string]any{"sessionId": nil}},
	} {
		text, failed := call(t, c, in.tool, in.args)
		if !failed || !strings.Contains(text, `"code":"SPAWN_INVALID_REQUEST"`) || !strings.Contains(text, `"retryable":false`) {
			t.Errorf("%s %v: %s", in.tool, in.args, text)
		}
	}
	if len(f.engine.owners) != 0 {
		t.Errorf("the engine was asked: %v", f.engine.owners)
	}
}

func TestErrorsAreThoseOfTheTable_R_SPAWN_012_038(t *testing.T) {
	f := newFixture(t)
	l, s := f.lease("")
	c := f.connect(s)
	for tool, args := range map[string]map[string]any{
		"available_agents": {}, "prompt_to_agent": {"agentId": "a", "prompt": "p"}, "check_session_status": {"sessionId": "s"},
		"read_response": {"sessionId": "s", "responseId": "r"}, "cancel_session": {"sessionId": "s"},
	} {
		if text, failed := call(t, c, tool, args); !failed || !strings.Contains(text, "SPAWN_PARENT_SESSION_REQUIRED") {
			t.Errorf("%s: %s", tool, text)
		}
	}
	l.Bind("session-7") // the draft became a Session and keeps its grant (R-SPAWN-009)
	for err, want := range map[error]string{
		fyllo.Errorf(fyllo.CodeSpawnUnavailable, "closing"):      `{"error":{"code":"SPAWN_RPC_UNAVAILABLE","message":"closing","retryable":true}}`,
		fyllo.Errorf(fyllo.CodeStorageFailed, "/home/x is full"): `SPAWN_INTERNAL_ERROR`,
		io.ErrUnexpectedEOF: `SPAWN_INTERNAL_ERROR`,
		fyllo.Errorf(fyllo.CodeSpawnAgent, "no such Agent"): `"code":"SPAWN_AGENT_NOT_FOUND"`,
	} {
		f.engine.err = err
		text, failed := call(t, c, "prompt_to_agent", map[string]any{"agentId": "a", "prompt": "p"})
		if !failed || !strings.Contains(text, want) || strings.Contains(text, "/home") {
			t.Errorf("%v: %s", err, text)
		}
	}
	if o := f.engine.owners[0]; o != (fyllo.SpawnOwner{Workspace: "w", Parent: "session-7"}) {
		t.Errorf("%+v", o)
	}
}

// Two parents in one Agent's process, and forged headers: each call has the owner of its bearer (R-SPAWN-007, 011).
func TestCallerIsTheBearer_R_SPAWN_007_011(t *testing.T) {
	f := newFixture(t)
	var calls sync.WaitGroup
	for _, parent := range []fyllo.SessionID{"session-1", "session-2"} {
		_, s := f.lease(parent)
		s.Headers["X-Fyllo-Session-Id"], s.Headers["x-fYLLO-workspace"], s.Headers["X-Fyllo-Request"] = "session-9", "w9", "1"
		c := f.connect(s)
		for range 20 {
			calls.Go(func() {
				if text, _ := call(t, c, "prompt_to_agent", map[string]any{"agentId": "a", "prompt": "p"}); !strings.Contains(text, `"sessionId":"s-`+string(parent)+`"`) {
					t.Errorf("%s: %s", parent, text)
				}
			})
		}
	}
	calls.Wait()
	for _, o := range f.engine.owners {
		if o.Workspace != "w" {
			t.Errorf("%+v", o)
		}
	}
}

// blocked sends a prompt that waits, in the protocol of the official client, and returns how to end it.
func TestBlockedCallLivesAndEnds_R_SPAWN_011_075_R_AGT_107(t *testing.T) {
	f := newFixture(t)
	f.engine.block = make(chan struct{})
	l, s := f.lease("session-1")
	ask := map[string]any{"agentId": "a", "prompt": "p", "background": false}
	ended := func(how string) {
		t.Helper()
		select {
		case err := <-f.engine.ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", how, err)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%s: the engine was not told", how)
		}
	}

	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"prompt_to_agent","arguments":{"agentId":"a","prompt":"p","background":false},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`))
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "prompt_to_agent", "Authorization": s.Headers["Authorization"]} {
		r.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(r) // headers come although nothing is known yet
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res, err)
	}
	lines := bufio.NewScanner(res.Body)
	for beats := 0; beats < 3 && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), ":") {
			beats++
		}
	}
	res.Body.Close()
	ended("the caller hung up")

	progress := make(chan struct{}, 100)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { progress <- struct{}{} },
	})
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: &http.Client{Transport: withHeaders(s.Headers)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	ctx, cancel := context.WithCancel(t.Context())
	params := &mcp.CallToolParams{Name: "prompt_to_agent", Arguments: ask}
	params.SetProgressToken(0)
	go func() { <-progress; <-progress; cancel() }()
	if _, err := session.CallTool(ctx, params); err == nil {
		t.Error("the call had a result")
	}
	ended("the client cancelled")

	c := f.connect(s)
	go func() { time.Sleep(50 * time.Millisecond); l.End() }()
	got, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "prompt_to_agent", Arguments: ask})
	if err == nil && !got.IsError {
		t.Errorf("%+v", got)
	}
	ended("the lease ended")
}
