package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/testagent"
)

func TestMain(m *testing.M) {
	testagent.Main()
	goleak.VerifyTestMain(m)
}

// agent is the other side, played by the test line by line.
type agent struct {
	t    *testing.T
	in   *bufio.Reader
	out  io.WriteCloser
	last json.RawMessage // id of the last request that was read
}

func dial(t *testing.T, o Options) (*Conn, *agent) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := NewConn(outW, inR, o)
	t.Cleanup(func() {
		_ = inW.Close()
		_ = outR.Close()
		<-c.Done()
	})
	return c, &agent{t: t, in: bufio.NewReader(outR), out: inW}
}

// read returns the next line of the client.
func (a *agent) read() string {
	l, err := a.in.ReadString('\n')
	if err != nil {
		a.t.Error(err)
	}
	var m struct{ ID json.RawMessage }
	if err := json.Unmarshal([]byte(l), &m); err != nil {
		a.t.Error(err)
	}
	a.last = m.ID
	return strings.TrimSuffix(l, "\n")
}

func (a *agent) send(lines ...string) {
	for _, l := range lines {
		if _, err := io.WriteString(a.out, l+"\n"); err != nil {
			a.t.Error(err)
		}
	}
}

// answer reads a request and answers it; an answer that begins with "!" is an error object.
func (a *agent) answer(result string) string {
	l := a.read()
	member := "result"
	if rest, bad := strings.CutPrefix(result, "!"); bad {
		member, result = "error", rest
	}
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%q:%s}`, a.last, member, result))
	return l
}

// log collects what a sink got, one word or so per event.
type log struct {
	mu     sync.Mutex
	events []string
	asks   []*fyllo.PermissionAsk
	news   chan struct{}
}

func newLog() *log { return &log{news: make(chan struct{}, 1<<20)} }

func (l *log) sink(ev fyllo.AgentEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case ev.Update != nil:
		u := ev.Update
		s := fmt.Sprint("kind", u.Kind)
		switch u.Kind {
		case fyllo.UpdateText:
			s = u.Text
		case fyllo.UpdateTool:
			s = "tool " + u.Tool.CallID
		case fyllo.UpdateConfig:
			s = "config " + current(u.Config)
		default:
		}
		l.events = append(l.events, s)
	case ev.Withdrawn != nil:
		l.events = append(l.events, "withdrawn "+ev.Withdrawn.Request)
	case ev.Permission != nil:
		l.events = append(l.events, "ask "+ev.Permission.Tool.CallID)
		l.asks = append(l.asks, ev.Permission)
	case ev.PromptDone != nil:
		l.events = append(l.events, fmt.Sprintf("done %d %s %s", ev.PromptDone.Token, ev.PromptDone.StopReason, fyllo.CodeOf(ev.PromptDone.Err)))
	case ev.Closed != nil:
		l.events = append(l.events, "closed "+string(fyllo.CodeOf(ev.Closed.Reason)))
	}
	l.news <- struct{}{}
}

// current lists option values, as "mode=ask model=m1".
func current(list []fyllo.ConfigOption) string {
	var out []string
	for _, o := range list {
		out = append(out, o.ID+"="+o.Current.String())
	}
	return strings.Join(out, " ")
}

// until waits for an event that begins with prefix.
func (l *log) until(t *testing.T, prefix string) {
	t.Helper()
	for {
		l.mu.Lock()
		found := slices.ContainsFunc(l.events, func(e string) bool { return strings.HasPrefix(e, prefix) })
		l.mu.Unlock()
		if found {
			return
		}
		select {
		case <-l.news:
		case <-time.After(20 * time.Second):
			t.Fatalf("no %q in %q", prefix, l.all())
		}
	}
}

func (l *log) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

func (l *log) want(t *testing.T, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, l.all()); d != "" {
		t.Errorf("events (-want +got)\n%s", d)
	}
}

func update(session, u string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + session + `","update":` + u + `}}`
}

func say(session, text string) string {
	return update(session, `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`+text+`"}}`)
}

func ask1(id, session, call string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"session/request_permission","params":{"sessionId":"` + session +
		`","toolCall":{"toolCallId":"` + call + `"},"options":[{"optionId":"ok","name":"OK","kind":"allow_once"}]}}`
}

const allCaps = `{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"mcpCapabilities":{"http":true},
	"sessionCapabilities":{"resume":{},"close":{},"additionalDirectories":{}}}}`

// start initialises and opens session s.
func start(t *testing.T, c *Conn, a *agent, l *log) {
	t.Helper()
	go a.answer(strings.ReplaceAll(allCaps, "\n", ""))
	if _, err := c.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	go a.answer(`{"sessionId":"s"}`)
	if _, err := c.NewSession(t.Context(), fyllo.SessionParams{Cwd: "/p"}, l.sink); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsSent(t *testing.T) {
	c, a := dial(t, Options{Client: ClientInfo{Name: "fyllocode", Title: "FylloCode", Version: "0.1.0"}})
	opt := func(id, legacy string) fyllo.ConfigOption {
		return fyllo.ConfigOption{ID: id, Type: "select", Legacy: legacy}
	}
	p := fyllo.SessionParams{Cwd: "/p", AdditionalDirectories: []string{"/q"}, MCPServers: []fyllo.MCPServer{
		{Name: "fyllo-spawn", URL: "http://127.0.0.1:1/mcp", Headers: map[string]string{"X-B": "2", "Authorization": "Bearer t<"}}, {Name: "n", URL: "u"},
	}}
	const servers = `"mcpServers":[{"type":"http","name":"fyllo-spawn","url":"http://127.0.0.1:1/mcp","headers":[` +
		`{"name":"Authorization","value":"Bearer t<"},{"name":"X-B","value":"2"}]},{"type":"http","name":"n","url":"u","headers":[]}]`
	sink := newLog().sink
	ctx := t.Context()
	for _, step := range []struct {
		do     func() error
		want   string // params
		answer string // "" for notifications
	}{
		{func() error { _, err := c.Initialize(ctx); return err }, `"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"fyllocode","title":"FylloCode","version":"0.1.0"},"clientCapabilities":{"session":{"configOptions":{"boolean":{}}}}}`, strings.ReplaceAll(allCaps, "\n", "")},
		{func() error { _, err := c.NewSession(ctx, p, sink); return err }, `"method":"session/new","params":{"cwd":"/p","additionalDirectories":["/q"],` + servers + `}`, `{"sessionId":"s"}`},
		{func() error { _, err := c.NewSession(ctx, fyllo.SessionParams{Cwd: "/p"}, sink); return err }, `"method":"session/new","params":{"cwd":"/p","mcpServers":[]}`, `{"sessionId":"t"}`},
		{func() error { _, err := c.LoadSession(ctx, "u", p, sink); return err }, `"method":"session/load","params":{"sessionId":"u","cwd":"/p","additionalDirectories":["/q"],` + servers + `}`, `null`},
		{func() error { _, err := c.ResumeSession(ctx, "u", fyllo.SessionParams{Cwd: "/p"}, sink); return err }, `"method":"session/resume","params":{"sessionId":"u","cwd":"/p","mcpServers":[]}`, `{}`},
		{func() error { _, err := c.SetConfig(ctx, "s", opt("model", ""), fyllo.StringValue("m2")); return err }, `"method":"session/set_config_option","params":{"sessionId":"s","configId":"model","value":"m2"}`, `{}`},
		{func() error { _, err := c.SetConfig(ctx, "s", opt("fast", ""), fyllo.BoolValue(true)); return err }, `"method":"session/set_config_option","params":{"sessionId":"s","configId":"fast","type":"boolean","value":true}`, `{}`},
		{func() error {
			_, err := c.SetConfig(ctx, "s", opt("mode", "modes"), fyllo.StringValue("plan"))
			return err
		}, `"method":"session/set_mode","params":{"sessionId":"s","modeId":"plan"}`, `null`},
		{func() error {
			_, err := c.SetConfig(ctx, "s", opt("model", "models"), fyllo.StringValue("m"))
			return err
		}, `"method":"session/set_model","params":{"sessionId":"s","modelId":"m"}`, `{}`},
		{func() error {
			return c.Prompt("s", 1, []fyllo.PromptBlock{
				{Type: "text", Text: "a <b> & \u2028"}, {Type: "text"}, {Type: "image", MIME: "image/png", Data: []byte{0}},
				{Type: "resource", URI: "file:///a", MIME: "text/plain", Text: "t"}, {Type: "resource", URI: "file:///b", Data: []byte{0}},
				{Type: "resource_link", URI: "file:///c", Name: "c"},
			})
		}, `"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"a <b> & ` + "\u2028" + `"},{"type":"text","text":""},{"type":"image","data":"AA==","mimeType":"image/png"},` +
			`{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"t"}},{"type":"resource","resource":{"uri":"file:///b","blob":"AA=="}},{"type":"resource_link","uri":"file:///c","name":"c"}]`, `{"stopReason":"end_turn"}`},
		{func() error { return c.Cancel("s") }, `"method":"session/cancel","params":{"sessionId":"s"}`, ""},
		{func() error { return c.CloseSession(ctx, "s") }, `"method":"session/close","params":{"sessionId":"s"}`, `{}`},
	} {
		got := make(chan string, 1)
		go func() {
			if step.answer == "" {
				got <- a.read()
			} else {
				got <- a.answer(step.answer)
			}
		}()
		if err := step.do(); err != nil {
			t.Errorf("%s: %v", step.want, err)
		}
		line := <-got
		if !strings.Contains(line, step.want) || !strings.HasPrefix(line, `{"jsonrpc":"2.0",`) {
			t.Errorf("sent %s\nwant %s", line, step.want)
		}
	}
}

func TestUnsupportedParamsAreLeftOut(t *testing.T) {
	c, a := dial(t, Options{})
	go a.answer(`{"protocolVersion":1}`)
	if _, err := c.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	go func() { got <- a.answer(`{"sessionId":"s"}`) }()
	_, err := c.NewSession(t.Context(), fyllo.SessionParams{
		Cwd: "/p", AdditionalDirectories: []string{"/q"}, MCPServers: []fyllo.MCPServer{{Name: "n", URL: "u"}},
	}, newLog().sink)
	if line := <-got; err != nil || !strings.HasSuffix(line, `"params":{"cwd":"/p","mcpServers":[]}}`) {
		t.Errorf("%v %s", err, line)
	}
	if err := c.CloseSession(t.Context(), "s"); err != nil { // sends nothing
		t.Error(err)
	}
}

func TestInitialize_R_AGT_072(t *testing.T) {
	for answer, want := range map[string]fyllo.Capabilities{
		`{"protocolVersion":1}`: {Image: "unsupported", Audio: "unsupported", EmbeddedContext: "unsupported", HTTPMCP: "unsupported", MultiRoot: "unsupported"},
		`{"protocolVersion":1.0,"agentInfo":null,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":"true","embeddedContext":null},"mcpCapabilities":{"http":true},"sessionCapabilities":{"resume":{},"close":null,"additionalDirectories":{"x":1}}}}`: {
			Image: "supported", Audio: "unsupported", EmbeddedContext: "unsupported", HTTPMCP: "supported", MultiRoot: "supported", Load: true, Resume: true,
		},
	} {
		c, a := dial(t, Options{})
		go a.answer(answer)
		info, err := c.Initialize(t.Context())
		if d := cmp.Diff(want, info.Capabilities); err != nil || d != "" || string(info.Raw) != answer {
			t.Errorf("%v %s raw %s", err, d, info.Raw)
		}
	}
}

func TestInitializeTellsNameAndSignIn(t *testing.T) {
	c, a := dial(t, Options{})
	go a.answer(`{"protocolVersion":1,"agentInfo":{"name":"n","title":"T","version":"1"},"authMethods":[{"id":"a","name":"A"},{"name":"x"},{"id":"b","name":"B","type":"terminal","description":"d"}]}`)
	info, err := c.Initialize(t.Context())
	info.Raw, info.Capabilities = nil, fyllo.Capabilities{}
	want := fyllo.AgentInfo{ProtocolVersion: 1, Name: "n", Title: "T", Version: "1", AuthMethods: []fyllo.AuthMethod{
		{ID: "a", Name: "A"}, {ID: "b", Name: "B", Type: "terminal", Description: "d"},
	}}
	if d := cmp.Diff(want, info); err != nil || d != "" {
		t.Error(err, d)
	}
}

func TestVersionMismatch_R_AGT_053(t *testing.T) {
	for _, answer := range []string{`{"protocolVersion":2}`, `{}`} {
		c, a := dial(t, Options{})
		go a.answer(answer)
		if _, err := c.Initialize(t.Context()); fyllo.CodeOf(err) != fyllo.CodeAgentProtocol {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

func TestErrorsOfAgents_R_CHAT_144(t *testing.T) {
	c, a := dial(t, Options{})
	for answer, want := range map[string]fyllo.Code{
		`{"code":-32000,"message":"Authentication required"}`:                                                          fyllo.CodeAuthRequired,
		`{"code":-32002,"message":"Resource not found"}`:                                                               fyllo.CodeACPSessionMissing,
		`{"code":-32603,"message":"Internal error","data":{"details":"Session not found"}}`:                            fyllo.CodeACPSessionMissing,
		`{"code":-32603,"message":"Internal error","data":{"details":"Session abc-1 not found"}}`:                      fyllo.CodeACPSessionMissing,
		`{"code":-32602,"message":"Invalid params: no abc-1"}`:                                                         fyllo.CodeACPSessionMissing,
		`{"code":-32603,"message":"Internal error","data":{"details":"No previous sessions found for this project."}}`: fyllo.CodeACPSessionMissing,
		`{"code":1,"message":"x","data":"resource_not_found"}`:                                                         fyllo.CodeACPSessionMissing,
		`{"code":-32601,"message":"Method not found"}`:                                                                 fyllo.CodeMethodMissing,
		`{"code":-32603,"message":"Internal error","data":{"details":"disk on fire"}}`:                                 fyllo.CodeAgentError,
		`{"code":-32603,"message":"no xabc-1 and no abc-12"}`:                                                          fyllo.CodeAgentError,
		`{"code":401,"message":"no"}`:                                                                                  fyllo.CodeAgentError,
		`{"code":-32602,"message":"` + strings.Repeat("é", 1000) + `"}`:                                                fyllo.CodeAgentError,
		`{"code":-32000,"message":"Authentication required","data":{"sessionId":"abc-1","details":7}}`:                 fyllo.CodeAuthRequired,
	} {
		go a.answer("!" + answer)
		_, err := c.ResumeSession(t.Context(), "abc-1", fyllo.SessionParams{Cwd: "/"}, newLog().sink)
		if fyllo.CodeOf(err) != want {
			t.Errorf("%s: %s", answer, fyllo.CodeOf(err))
		}
		if len(err.Error()) > maxReason+100 || strings.Contains(answer, "disk") && !strings.Contains(err.Error(), "disk on fire") {
			t.Errorf("message %q", err)
		}
		if c.session("abc-1") != nil {
			t.Error("the session stays open after an error")
		}
	}
}

func TestErrorsOfSets_R_AGT_094(t *testing.T) {
	c, a := dial(t, Options{})
	start(t, c, a, newLog())
	for answer, want := range map[string]fyllo.Code{
		`{"code":-32602,"message":"Invalid params","data":{"sessionId":"s","configId":"x"}}`: fyllo.CodeConfigInvalid,
		`{"code":-32601,"message":"Method not found"}`:                                       fyllo.CodeConfigUnsupported,
		`{"code":-32002,"message":"Resource not found"}`:                                     fyllo.CodeACPSessionMissing,
	} {
		go a.answer("!" + answer)
		if _, err := c.SetConfig(t.Context(), "s", fyllo.ConfigOption{ID: "x"}, fyllo.StringValue("v")); fyllo.CodeOf(err) != want {
			t.Errorf("%s: %v", answer, err)
		}
	}
	if _, err := c.SetConfig(t.Context(), "zz", fyllo.ConfigOption{}, fyllo.StringValue("")); fyllo.CodeOf(err) != fyllo.CodeACPSessionMissing {
		t.Errorf("unknown session: %v", err)
	}
}

func TestUpdatesBeforeTheAnswerOfNewArriveFirst_R_ACP_017(t *testing.T) {
	c, a := dial(t, Options{})
	l := newLog()
	refused := make(chan string, 1)
	go func() {
		a.read()
		a.send(say("s", "early 1"), say("other", "not mine"), ask1("7", "other", "x"), ask1("8", "s", "y"), say("s", "early 2"),
			`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`, say("s", "late"))
		refused <- a.read()
	}()
	if _, err := c.NewSession(t.Context(), fyllo.SessionParams{Cwd: "/"}, l.sink); err != nil {
		t.Fatal(err)
	}
	l.until(t, "late")
	l.want(t, "early 1", "ask y", "early 2", "late")
	if got := <-refused; got != `{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"cancelled"}}}` {
		t.Errorf("request of an unknown session: %s", got)
	}
}

func TestEarlyUpdatesAreBounded_R_ACP_017(t *testing.T) {
	c, a := dial(t, Options{})
	l := newLog()
	go func() {
		a.read()
		for i := range 1200 {
			a.send(say("s", fmt.Sprint(i)))
		}
		a.send(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`, say("s", "end"))
	}()
	if _, err := c.NewSession(t.Context(), fyllo.SessionParams{Cwd: "/"}, l.sink); err != nil {
		t.Fatal(err)
	}
	l.until(t, "end")
	if got := l.all(); len(got) != maxEarly+1 || got[999] != "999" {
		t.Errorf("%d events", len(got))
	}
}

func TestTwoOpeningSessionsGetTheirOwn_R_ACP_027(t *testing.T) {
	c, a := dial(t, Options{})
	l1, l2 := newLog(), newLog()
	done := make(chan error, 2)
	go func() { _, err := c.NewSession(t.Context(), fyllo.SessionParams{Cwd: "/1"}, l1.sink); done <- err }()
	first := a.read()
	go func() { _, err := c.NewSession(t.Context(), fyllo.SessionParams{Cwd: "/2"}, l2.sink); done <- err }()
	a.read()
	if !strings.Contains(first, `"/1"`) {
		t.Fatal(first)
	}
	a.send(say("b", "b1"), say("a", "a1"), `{"id":1,"result":{"sessionId":"a"}}`, say("b", "b2"), say("a", "a2"),
		`{"id":2,"result":{"sessionId":"b"}}`, say("b", "b3"), say("a", "a3"))
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	l1.until(t, "a3")
	l2.until(t, "b3")
	l1.want(t, "a1", "a2", "a3")
	l2.want(t, "b1", "b2", "b3")
}

func TestPermissionStaysBehindTheUpdateInFrontOfIt(t *testing.T) {
	c, a := dial(t, Options{})
	l := newLog()
	start(t, c, a, l)
	var want []string
	for i := range 500 {
		a.send(update("s", fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"%d"}`, i)), ask1(fmt.Sprint(i), "s", fmt.Sprint(i)), say("s", "x"))
		want = append(want, fmt.Sprint("tool ", i), fmt.Sprint("ask ", i), "x")
	}
	a.send(say("s", "end"))
	l.until(t, "end")
	l.want(t, append(want, "end")...)
}

func TestPermissionAnswers(t *testing.T) {
	c, a := dial(t, Options{})
	l := newLog()
	start(t, c, a, l)
	for id, option := range map[string]string{`0`: "ok", `"uuid"`: ""} {
		a.send(ask1(id, "s", "c"))
		l.until(t, "ask")
		l.mu.Lock()
		ask := l.asks[len(l.asks)-1]
		l.events, l.asks = nil, nil
		l.mu.Unlock()
		go func() { ask.Answer(option); ask.Answer("again") }()
		want := `{"jsonrpc":"2.0","id":` + id + `,"result":{"outcome":{"outcome":"selected","optionId":"ok"}}}`
		if option == "" {
			want = `{"jsonrpc":"2.0","id":` + id + `,"result":{"outcome":{"outcome":"cancelled"}}}`
		}
		if got := a.read(); got != want {
			t.Errorf("got %s want %s", got, want)
		}
	}
}

func TestOtherRequestsAreRefused(t *testing.T) {
	c, a := dial(t, Options{})
	start(t, c, a, newLog())
	for _, m := range []string{"fs/write_text_file", "terminal/create", "craft/drainMidTurnQueue", "elicitation/create", "_x"} {
		a.send(`{"jsonrpc":"2.0","id":0,"method":"` + m + `","params":{"sessionId":"s"}}`)
		if got := a.read(); got != `{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"Method not found"}}` {
			t.Errorf("%s: %s", m, got)
		}
	}
	a.send(`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{}}`)
	if got := a.read(); !strings.Contains(got, `-32602`) {
		t.Errorf("permission without session: %s", got)
	}
	a.send(ask1("3", "gone", "c")) // R-CHAT-141
	if got := a.read(); got != `{"jsonrpc":"2.0","id":3,"result":{"outcome":{"outcome":"cancelled"}}}` {
		t.Errorf("permission of an unknown session: %s", got)
	}
}

// Who was asked hears of it and answers; the Agent's answer is theirs.
func TestWithdrawnPermissionReachesItsSession_R_CHAT_141(t *testing.T) {
	const withdraw = `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}`
	const cancelled = `{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"cancelled"}}}`
	c, a := dial(t, Options{})
	l := newLog()
	start(t, c, a, l)
	a.send(ask1("5", "s", "c"), withdraw, say("s", "on"))
	l.until(t, "on")
	l.want(t, "ask c", "withdrawn 5", "on")
	l.asks[0].Answer("")
	if got := a.read(); got != cancelled {
		t.Errorf("answer %s", got)
	}

	a.send(ask1("5", "s", "c"), say("s", "again"))
	l.until(t, "again")
	c.Forget("s") // nobody is left to hear of it
	a.send(withdraw)
	if got := a.read(); got != cancelled {
		t.Errorf("answer after the session was forgotten: %s", got)
	}
}

func TestPermissionWithdrawnBeforeItsSessionIsKnown_R_ACP_017(t *testing.T) {
	c, a := dial(t, Options{})
	l := newLog()
	opened := make(chan error, 1)
	go func() {
		_, err := c.NewSession(t.Context(), fyllo.SessionParams{Cwd: "/"}, l.sink)
		opened <- err
	}()
	a.read()
	a.send(ask1(`"w"`, "s", "c"), say("s", "on"), `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"w"}}`)
	if got := a.read(); got != `{"jsonrpc":"2.0","id":"w","result":{"outcome":{"outcome":"cancelled"}}}` {
		t.Errorf("answer %s", got)
	}
	a.send(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`)
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
	l.want(t, "on")
}

func TestPromptDoneComesAfterTheUpdatesInFrontOfIt(t *testing.T) {
	c, a := dial(t, Options{})
	l := newLog()
	start(t, c, a, l)
	if err := c.Prompt("s", 7, nil); err != nil {
		t.Fatal(err)
	}
	a.read()
	a.send(say("s", "a"), say("s", "b"), fmt.Sprintf(`{"id":%s,"result":{"stopReason":"weird"}}`, a.last), say("s", "late"))
	l.until(t, "late")
	l.want(t, "a", "b", "done 7 weird ", "late")
}

func TestPromptAnswers(t *testing.T) {
	for answer, want := range map[string]string{
		`{"stopReason":"cancelled"}`:             "done 1 cancelled ",
		`{}`:                                     "done 1 end_turn ",
		`null`:                                   "done 1 end_turn ",
		`!{"code":-32800,"message":"cancelled"}`: "done 1 cancelled ",
		`!{"code":-32000,"message":"Authentication required"}`:               "done 1  AGENT_AUTH_REQUIRED",
		`!{"code":-32602,"message":"unknown session s"}`:                     "done 1  ACP_SESSION_MISSING",
		`!{"code":-32603,"message":"Internal error","data":{"details":"x"}}`: "done 1  AGENT_ERROR",
	} {
		c, a := dial(t, Options{})
		l := newLog()
		start(t, c, a, l)
		if err := c.Prompt("s", 1, nil); err != nil {
			t.Fatal(err)
		}
		a.answer(answer)
		l.until(t, "done")
		l.want(t, want)
	}
}

func TestEndOfStreamDeliversEverythingFirst(t *testing.T) {
	gone := fyllo.Errorf(fyllo.CodeAgentExited, "The Agent ended: exit code 3")
	c, a := dial(t, Options{Ended: func() error { return gone }})
	l := newLog()
	start(t, c, a, l)
	if err := c.Prompt("s", 1, nil); err != nil {
		t.Fatal(err)
	}
	a.read()
	opening := make(chan error, 1)
	go func() { _, err := c.NewSession(t.Context(), fyllo.SessionParams{Cwd: "/"}, l.sink); opening <- err }()
	a.read()
	a.send(say("s", "last words"))
	_ = a.out.Close()
	<-c.Done()
	l.want(t, "last words", "done 1  AGENT_EXITED", "closed AGENT_EXITED")
	if err := <-opening; !errors.Is(err, gone) || fyllo.CodeOf(err) != fyllo.CodeAgentExited || !strings.Contains(err.Error(), "exit code 3") {
		t.Errorf("session/new ended with %v", err)
	}
	for _, err := range []error{c.Prompt("s", 2, nil), c.Cancel("s")} {
		if fyllo.CodeOf(err) != fyllo.CodeAgentExited {
			t.Errorf("afterwards: %v", err)
		}
	}
}

func TestAnswerAndEndOfStreamTogether(t *testing.T) {
	for range 500 {
		c, a := dial(t, Options{})
		l := newLog()
		start(t, c, a, l)
		if err := c.Prompt("s", 1, nil); err != nil {
			t.Fatal(err)
		}
		a.read()
		a.send(say("s", "a") + "\n" + fmt.Sprintf(`{"id":%s,"result":{"stopReason":"end_turn"}}`, a.last))
		_ = a.out.Close()
		<-c.Done()
		l.want(t, "a", "done 1 end_turn ", "closed AGENT_EXITED")
	}
}

func TestForgottenSessionGetsNothing(t *testing.T) {
	c, a := dial(t, Options{})
	l := newLog()
	start(t, c, a, l)
	if err := c.Prompt("s", 1, nil); err != nil {
		t.Fatal(err)
	}
	a.read()
	c.Forget("s")
	a.send(say("s", "x"), fmt.Sprintf(`{"id":%s,"result":{}}`, a.last))
	_ = a.out.Close()
	<-c.Done()
	l.want(t)
}

func TestSessionOpenedTooLateIsClosedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, a := dial(t, Options{})
		l := newLog()
		start(t, c, a, l)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go a.read()
		_, err := c.NewSession(ctx, fyllo.SessionParams{Cwd: "/"}, l.sink)
		if fyllo.CodeOf(err) != fyllo.CodeAgentTimeout || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		synctest.Wait()
		if got := a.read(); !strings.Contains(got, `"$/cancel_request","params":{"requestId":3}`) {
			t.Errorf("sent %s", got)
		}
		go a.send(say("z", "nobody hears"), `{"id":3,"result":{"sessionId":"z"}}`)
		if got := a.read(); !strings.Contains(got, `"session/close","params":{"sessionId":"z"}`) {
			t.Errorf("sent %s", got)
		}
		l.want(t)
	})
}

func TestPanicInASinkIsSurvived(t *testing.T) {
	c, a := dial(t, Options{})
	l := newLog()
	start(t, c, a, l)
	go a.answer(`{"sessionId":"bad"}`)
	if _, err := c.NewSession(t.Context(), fyllo.SessionParams{Cwd: "/"}, func(fyllo.AgentEvent) { panic("sink") }); err != nil {
		t.Fatal(err)
	}
	a.send(say("bad", "x"), say("s", "y"))
	_ = a.out.Close()
	<-c.Done()
	l.want(t, "y", "closed AGENT_EXITED")
}

const legacyFields = `"modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"yolo","name":"YOLO","description":"d"}]},` +
	`"models":{"currentModelId":"m1","availableModels":[{"modelId":"m1","name":"One"},{"modelId":"m2"}]}`

func TestLegacyFieldsBecomeOptions_R_AGT_097(t *testing.T) {
	c, a := dial(t, Options{})
	l := newLog()
	start(t, c, a, l)
	go a.answer(`{` + legacyFields + `}`)
	o, err := c.LoadSession(t.Context(), "g", fyllo.SessionParams{Cwd: "/"}, l.sink)
	if err != nil {
		t.Fatal(err)
	}
	want := fyllo.SessionOpened{ID: "g", HasConfig: true, ConfigOptions: []fyllo.ConfigOption{
		{ID: "mode", Name: "Mode", Category: "mode", Type: "select", Current: fyllo.StringValue("ask"), Legacy: "modes", Choices: []fyllo.ConfigGroup{
			{Choices: []fyllo.ConfigChoice{{Value: "ask", Name: "Ask"}, {Value: "yolo", Name: "YOLO", Description: "d"}}},
		}},
		{ID: "model", Name: "Model", Category: "model", Type: "select", Current: fyllo.StringValue("m1"), Legacy: "models", Choices: []fyllo.ConfigGroup{
			{Choices: []fyllo.ConfigChoice{{Value: "m1", Name: "One"}, {Value: "m2", Name: "m2"}}},
		}},
	}}
	if d := cmp.Diff(want, o); d != "" {
		t.Error(d)
	}
	go a.answer(`null`)
	list, err := c.SetConfig(t.Context(), "g", o.ConfigOptions[1], fyllo.StringValue("m2"))
	if err != nil || current(list) != "mode=ask model=m2" {
		t.Errorf("set model: %v %s", err, current(list))
	}
	a.send(update("g", `{"sessionUpdate":"current_mode_update","currentModeId":"yolo"}`),
		update("g", `{"sessionUpdate":"current_mode_update","currentModeId":"unheard"}`),
		update("g", `{"sessionUpdate":"config_option_update","configOptions":[{"id":"x","type":"boolean","currentValue":true}]}`))
	l.until(t, "config x")
	l.want(t, "config mode=ask model=m1", "config mode=ask model=m2", "config mode=yolo model=m2", fmt.Sprint("kind", fyllo.UpdateMode), "config x=true mode=yolo model=m2")
	if current(o.ConfigOptions) != "mode=ask model=m1" {
		t.Error("a snapshot was changed after it was handed out")
	}
}

func TestLegacyFieldsYieldToOptionsOfTheSameCategory(t *testing.T) {
	o, _ := opened([]byte(`{"sessionId":"s","configOptions":[{"id":"agentmode","category":"mode","type":"select","currentValue":"a","options":[{"value":"a"},{"value":"b"}]}],` + legacyFields + `}`))
	if current(o.ConfigOptions) != "agentmode=a model=m1" {
		t.Errorf("options %s", current(o.ConfigOptions))
	}
	for raw, has := range map[string]bool{`{"sessionId":"s"}`: false, `{"configOptions":null}`: false, `{"configOptions":[]}`: true, `null`: false, `{"modes":null}`: false} {
		if o, _ := opened([]byte(raw)); o.HasConfig != has { // R-AGT-095
			t.Errorf("%s: HasConfig %v", raw, o.HasConfig)
		}
	}
}

func TestSetAnswersWithTheWholeSnapshot_R_AGT_093(t *testing.T) {
	c, a := dial(t, Options{})
	l := newLog()
	start(t, c, a, l)
	go a.answer(`{"configOptions":[{"id":"b","type":"select","currentValue":"2"},{"id":"a","type":"select","currentValue":"1"}]}`)
	list, err := c.SetConfig(t.Context(), "s", fyllo.ConfigOption{ID: "a"}, fyllo.StringValue("3"))
	if err != nil || current(list) != "b=2 a=1" { // the Agent's word, not ours
		t.Errorf("%v %s", err, current(list))
	}
	go a.answer(`{}`) // without a list: the value was taken
	list, err = c.SetConfig(t.Context(), "s", fyllo.ConfigOption{ID: "a"}, fyllo.StringValue("3"))
	if err != nil || current(list) != "b=2 a=3" {
		t.Errorf("%v %s", err, current(list))
	}
}
