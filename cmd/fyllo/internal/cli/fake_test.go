package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/records"
)

const (
	fakeToken     = "secret"
	fakeWorkspace = fyllo.WorkspaceID("w1")
	fakeSession   = fyllo.SessionID("session-1")
	fakeMessage   = "msg-user"
	fakeAnswer    = "msg-agent"
)

// fakeCore is the HTTP side of a Core whose turns a test plays by hand.
type fakeCore struct {
	t      *testing.T
	root   string // its data root, which it holds
	mux    *http.ServeMux
	frames chan string                                   // each is written to the stream as one message
	cut    chan struct{}                                 // breaks the stream once
	dials  chan string                                   // queries of the stream
	said   int                                           // UTF-16 units of the answer so far
	before func(http.ResponseWriter, *http.Request) bool // nil, or told of each request; true when it has dealt with it

	mu    sync.Mutex
	calls []string // METHOD PATH BODY
}

// newFakeCore returns a running Core that knows one Workspace and one Session.
func newFakeCore(t *testing.T) *fakeCore {
	t.Helper()
	t.Parallel() // turns wait for late content
	return newFake(t)
}

// newFake is newFakeCore for the second Core of a test.
func newFake(t *testing.T) *fakeCore {
	t.Helper()
	f := &fakeCore{
		t: t, root: filepath.Join(t.TempDir(), "home"), mux: http.NewServeMux(),
		frames: make(chan string, 1000), cut: make(chan struct{}), dials: make(chan string, 10),
	}
	f.answer("GET /api/status", `{"running":true,"pid":7,"version":"1","uptimeSeconds":0,"sessions":{"total":1,"running":0},"spawned":{"running":0},"agents":[]}`)
	f.answer("GET /api/settings", `{}`)
	f.answer("POST /api/workspaces/open", `{"status":"created","workspace":{"workspaceId":"w1"}}`)
	f.answer("POST /api/sessions", `{"sessionId":"session-1","message":{"id":"msg-user"}}`)
	f.answer("POST /api/sessions/session-1/prompts", `{"message":{"id":"msg-user"}}`)
	f.mux.HandleFunc("GET /api/stream", f.stream)
	server := httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(server.Close)
	lock, err := records.Lock(f.root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Release() })
	if err := lock.Publish(records.LockInfo{Address: strings.TrimPrefix(server.URL, "http://")}, fakeToken); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fakeCore) serve(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+fakeToken {
		f.t.Errorf("%s %s came without the token", r.Method, r.URL)
	}
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.calls = append(f.calls, r.Method+" "+r.URL.Path+" "+string(body))
	f.mu.Unlock()
	if f.before != nil && f.before(w, r) {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.mux.ServeHTTP(w, r)
}

// called returns the calls that begin with prefix.
func (f *fakeCore) called(prefix string) (found []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if strings.HasPrefix(c, prefix) {
			found = append(found, c)
		}
	}
	return found
}

// answer makes a route answer JSON.
func (f *fakeCore) answer(pattern, body string) {
	f.handle(pattern, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
}

func (f *fakeCore) handle(pattern string, h http.HandlerFunc) { f.mux.HandleFunc(pattern, h) }

func (f *fakeCore) stream(w http.ResponseWriter, r *http.Request) {
	f.dials <- r.URL.RawQuery
	w.Header().Set("X-Fyllo-Run", "run-1")
	w.Header().Set("X-Fyllo-Seq", "100")
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	gone := conn.CloseRead(r.Context())
	for {
		select {
		case frame := <-f.frames:
			if conn.Write(gone, websocket.MessageText, []byte(frame)) != nil {
				return
			}
		case <-f.cut:
			return
		case <-gone.Done():
			return
		}
	}
}

// send streams one event of the Session.
func (f *fakeCore) send(seq uint64, typ fyllo.EventType, data any) {
	encoded, err := json.Marshal([]map[string]any{{"seq": seq, "sessionId": fakeSession, "type": typ, "data": data}})
	if err != nil {
		f.t.Fatal(err)
	}
	f.frames <- string(encoded)
}

// begin streams the start of the turn.
func (f *fakeCore) begin() {
	f.send(101, fyllo.EventTurn, fyllo.Turn{State: fyllo.TurnStreaming, UserMessageID: fakeMessage, MessageID: fakeAnswer})
}

func (f *fakeCore) text(seq uint64, text string) {
	f.send(seq, fyllo.EventDelta, fyllo.Delta{
		MessageID: fakeAnswer, PartID: fakeAnswer + ".0", Kind: fyllo.PartText, At: f.said, Text: text,
	})
	f.said += fyllo.UTF16Len(text)
}

func (f *fakeCore) end(seq uint64, reason string) {
	f.send(seq, fyllo.EventTurnEnd, fyllo.TurnEndEvent{
		UserMessageID: fakeMessage, MessageID: fakeAnswer, End: fyllo.TurnEnd{StopReason: reason},
	})
}

// ran is what a command left.
type ran struct {
	code           int
	stdout, stderr string
}

// lines decodes the JSON lines of stdout.
func (r ran) lines(t *testing.T) (out []map[string]any) {
	t.Helper()
	for line := range strings.Lines(r.stdout) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("stdout has a line that is not JSON: %q", line)
		}
		out = append(out, v)
	}
	return out
}

// types returns the types of the JSON lines of stdout.
func (r ran) types(t *testing.T) string {
	t.Helper()
	var types []string
	for _, l := range r.lines(t) {
		typ, _ := l["type"].(string)
		types = append(types, typ)
	}
	return strings.Join(types, " ")
}

// testApp returns an app without terminal or environment, whose commands never start a Core of their own.
func testApp(stdin string) (a *app, stdout, stderr *bytes.Buffer) {
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	return &app{
		stdin: strings.NewReader(stdin), stdout: stdout, stderr: stderr,
		getenv: func(string) string { return "" },
		start: func(context.Context, CoreOptions) (Core, error) {
			return nil, errors.New("a Core was started")
		},
	}, stdout, stderr
}

// run runs a command line against the Core.
func (f *fakeCore) run(ctx context.Context, args ...string) ran {
	a, stdout, stderr := testApp("")
	code := a.run(ctx, append([]string{"--home", f.root}, args...))
	return ran{code, stdout.String(), stderr.String()}
}

// background runs a command line while the test goes on.
func (f *fakeCore) background(ctx context.Context, args ...string) <-chan ran {
	done := make(chan ran, 1)
	go func() { done <- f.run(ctx, args...) }() // ends with the command
	return done
}

func wait(t *testing.T, done <-chan ran) ran {
	t.Helper()
	select {
	case r := <-done:
		return r
	case <-time.After(20 * time.Second):
		t.Fatal("the command did not end")
		return ran{}
	}
}

// eventually waits until a call that begins with prefix came.
func (f *fakeCore) eventually(prefix string) {
	f.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); len(f.called(prefix)) == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("no call %s came", prefix)
		}
	}
}
