package httpd

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/httpd/internal/windows"
	"fyllocode.dev/fyllo/internal/httpd/internal/wire"
)

func TestEveryRouteAnswers(t *testing.T) {
	r := start(t)
	b, _ := r.open("ws-a")
	r.core.body = "<script>a body</script>"
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string // part of the answer
	}{
		{"GET", "/api/workspaces", "", 200, `"workspaceId":"ws-a","name":"name of ws-a","kind":"folder","primaryFolderId":"","folders":[],"lastOpenedAt":"0001-01-01T00:00:00Z","open":true`},
		{"GET", "/api/workspace", "", 200, `"workspaceId":"ws-a"`},
		{"GET", "/api/directories?prefix=/x", "", 200, `{"home":"/home/me","directories":["/xx"]}`},
		{"GET", "/api/agents", "", 200, `{"agents":[{"id":"custom-x"`},
		{"POST", "/api/agents", `{"name":"X","command":"x","args":[],"env":{"A":"b"}}`, 200, `"id":"custom-x"`},
		{"DELETE", "/api/agents/custom-x", "", 204, ""},
		{"GET", "/api/agents/suggestions", "", 200, `{"suggestions":[]}`},
		{"POST", "/api/agents/custom-x/check", "", 200, `"agentId":"custom-x","ok":true`},
		{"POST", "/api/agents/custom-x/retry", "", 200, `"id":"custom-x"`},
		{"GET", "/api/sessions?limit=5", "", 200, `{"sessions":[{"sessionId":"session-a"`},
		{"POST", "/api/sessions", `{"requestId":"r1","agentId":"tour","mode":"native","text":"hi","useDraft":true,"policy":"ask","config":[{"id":"a","value":"b"}]}`, 201, `{"sessionId":"session-new","message":{"id":"m1"`},
		{"GET", "/api/sessions/session-a", "", 200, `"plan":[]`},
		{"PATCH", "/api/sessions/session-a", `{"title":"new"}`, 200, `"title":"new"`},
		{"GET", "/api/sessions/session-a/messages?before=x&limit=3", "", 200, `{"messages":[],"seq":0}`},
		{"GET", "/api/sessions/session-a/body?part=m.0&field=output", "", 200, "<script>a body</script>"},
		{"GET", "/api/sessions/session-a/messages/m%201/changes", "", 200, `{"messageId":"m 1","changes":[]}`},
		{"GET", "/api/sessions/session-a/messages/m1/changes/file?path=%2Fa%26b%0a", "", 200, `{"path":"/a&b\n","change":"","version":"","segments":0,"oldSize":0,"newSize":0,"texts":[{"new":"m1"}]}`},
		{"POST", "/api/sessions/session-a/prompts", `{"requestId":"r2","text":"go on"}`, 200, `{"message":{"id":"m2"`},
		{"POST", "/api/sessions/session-a/cancel", "", 204, ""},
		{"POST", "/api/sessions/session-a/permissions/p1", `{"requestId":"r3","optionId":"o"}`, 200, `{"id":"p1","outcome":"","optionId":"o"`},
		{"POST", "/api/sessions/session-a/config", `{"id":"fast","value":true}`, 200, `{"options":[{"id":"fast","name":"","type":"","currentValue":true}]}`},
		{"GET", "/api/draft", "", 404, `"code":"NOT_FOUND"`},
		{"PUT", "/api/draft", `{"agentId":"tour","mode":"fyllocode"}`, 200, `{"agentId":"tour","mode":"fyllocode","state":"ready","configOptions":[],"commands":[]}`},
		{"GET", "/api/draft", "", 200, `"agentId":"tour"`},
		{"POST", "/api/draft/config", `{"id":"model","value":"big"}`, 200, `"currentValue":"big"`},
		{"DELETE", "/api/draft", "", 204, ""},
		{"PUT", "/api/composer?sessionId=session-a", `{"text":"half a sent"}`, 204, ""},
		{"GET", "/api/composer?sessionId=session-a", "", 200, `{"text":"half a sent","attachments":[{"handle":"` + handle + `","name":"a.png","mime":"","size":3,"file":""}]}`},
		{"GET", "/api/composer", "", 200, `{"text":"","attachments":[]}`},
		{"PATCH", "/api/settings", `{"theme":"dark","language":""}`, 200, `{"theme":"dark","language":"","railCollapsed":false`},
		{"GET", "/api/settings", "", 200, `"theme":"dark"`},
		{"GET", "/api/status", "", 200, `"running":true`},
		{"DELETE", "/api/sessions/session-a", "", 204, ""},

		{"GET", "/api/doctor", "", 404, `"code":"NOT_FOUND"`},
		{"GET", "/api/nothing", "", 404, `"code":"NOT_FOUND"`},
		{"GET", "/api/sessions/session-b", "", 404, `"code":"CHAT_SESSION_NOT_FOUND"`},
		{"GET", "/api/sessions/session-b/messages/m1/changes", "", 404, `"code":"CHAT_SESSION_NOT_FOUND"`},
		{"GET", "/api/sessions/session-b/messages/m1/changes/file?path=/a", "", 404, `"code":"CHAT_SESSION_NOT_FOUND"`},
		{"GET", "/api/sessions/session-a/messages/m1/changes/file", "", 400, `"code":"INVALID_REQUEST"`},
		{"GET", "/api/composer?sessionId=../x", "", 404, `"code":"CHAT_SESSION_NOT_FOUND"`},
		{"GET", "/api/sessions?limit=0x", "", 400, `"code":"INVALID_REQUEST"`},
		{"PATCH", "/api/settings", `{"theme":"pink"}`, 400, `"where":"body.theme"`},
		{"PATCH", "/api/settings", `{"theme":`, 400, `"code":"INVALID_REQUEST"`},
		{"PATCH", "/api/settings", `{"defaultPermissionPolicy":"always"}`, 400, `"where":"body.defaultPermissionPolicy"`},
		{"POST", "/api/sessions", `{"requestId":"r"}`, 400, `"code":"INVALID_REQUEST"`},
		{"POST", "/api/sessions/session-a/config", `{"id":"fast","value":3}`, 400, `"code":"INVALID_REQUEST"`},
		{"POST", "/api/workspaces/open", `{}`, 400, `"code":"INVALID_REQUEST"`},
		{"POST", "/api/windows/claim", ``, 400, `"code":"INVALID_REQUEST"`},
	} {
		g := b.send(c.method, c.path, c.body)
		if g.StatusCode != c.status || !strings.Contains(g.body, c.want) {
			t.Errorf("%s %s: %d %s, want %d with %s", c.method, c.path, g.StatusCode, g.body, c.status, c.want)
		}
		if strings.Contains(c.path, "/body?") {
			if g.Header.Get("Content-Type") != "text/plain; charset=utf-8" || !strings.HasPrefix(g.Header.Get("Content-Disposition"), "attachment") {
				t.Errorf("a body has headers %v", g.Header)
			}
		}
	}
	if len(r.core.starts) != 1 {
		t.Fatalf("%d starts", len(r.core.starts))
	}
	if got := r.core.starts[0]; got.Window != b.id || !got.UseDraft || got.Config[0].Value != "b" || got.RequestID != "r1" {
		t.Errorf("start = %+v", got)
	}
	if strings.Contains(r.log.String(), "half a sent") {
		t.Error("content in the log")
	}
}

func TestClientCannotNameItsWorkspace_R_CHAT_130(t *testing.T) {
	r := start(t)
	b, _ := r.open("ws-a")
	g := b.send("POST", "/api/sessions", `{"requestId":"r","agentId":"tour","mode":"native","text":"hi","workspaceId":"ws-b","cwd":"/","window":"window-x"}`,
		"X-Fyllo-Workspace", "ws-b")
	if g.StatusCode != http.StatusCreated || r.core.owners["session-new"] != "ws-a" || r.core.starts[0].Window != b.id {
		t.Errorf("%d; started in %s for %s", g.StatusCode, r.core.owners["session-new"], r.core.starts[0].Window)
	}
	l, _ := r.signIn("", "")
	if c := l.register(registration{Path: "/"}); c.Role != roleLauncher || c.Workspace != nil {
		t.Fatalf("a launcher got %+v", c)
	}
	for _, path := range []string{"/api/sessions", "/api/workspace", "/api/draft", "/api/composer", "/api/sessions/session-a"} {
		if g := l.send("GET", path, "", "X-Fyllo-Workspace", "ws-a"); g.code() != fyllo.CodeWindowUnbound {
			t.Errorf("%s without a Workspace: %d %s", path, g.StatusCode, g.body)
		}
	}
}

func TestCommandNamesItsWorkspace(t *testing.T) {
	r := start(t)
	for _, c := range []struct {
		path, workspace string
		status          int
		want            string
	}{
		{"/api/sessions", "ws-b", 200, `"sessionId":"session-b"`},
		{"/api/sessions", "", 200, `"total":2`},
		{"/api/sessions/session-b", "", 200, `"workspaceId":"ws-b"`},
		{"/api/sessions/session-x", "", 404, "CHAT_SESSION_NOT_FOUND"},
		{"/api/sessions/session-b", "ws-a", 404, "CHAT_SESSION_NOT_FOUND"},
		{"/api/sessions", "../x", 400, "INVALID_REQUEST"},
		{"/api/workspace", "ws-a", 200, `"workspaceId":"ws-a"`},
		{"/api/draft", "ws-a", 403, "FORBIDDEN"},
	} {
		var h []string
		if c.workspace != "" {
			h = []string{"X-Fyllo-Workspace", c.workspace}
		}
		if g := r.asCommand("GET", c.path, "", h...); g.StatusCode != c.status || !strings.Contains(g.body, c.want) {
			t.Errorf("%s in %q: %d %s", c.path, c.workspace, g.StatusCode, g.body)
		}
	}
	if g := r.asCommand("POST", "/api/windows", `{}`); g.StatusCode != http.StatusForbidden {
		t.Errorf("the command line registered a window: %d", g.StatusCode)
	}
	g := r.asCommand("POST", "/api/tokens", `{"sessionId":"session-b"}`)
	var u urlAnswer
	if json.Unmarshal([]byte(g.body), &u) != nil || !strings.HasPrefix(u.URL, r.url+"/auth?token=") {
		t.Fatalf("tokens: %d %s", g.StatusCode, g.body)
	}
	if g := r.send("GET", strings.TrimPrefix(u.URL, r.url), ""); !strings.HasPrefix(g.Header.Get("Location"), "/chat/session-b?bind=") {
		t.Errorf("the URL leads to %q", g.Header.Get("Location"))
	}
	if g := r.asCommand("POST", "/api/tokens", `{"workspaceId":"ws-x"}`); g.StatusCode != http.StatusNotFound {
		t.Errorf("a token for an unknown Workspace: %d", g.StatusCode)
	}
}

func TestOpenWorkspace_R_WS_121(t *testing.T) {
	r := start(t)
	open := func(g got) openResult {
		t.Helper()
		var o openResult
		if g.StatusCode != http.StatusOK || json.Unmarshal([]byte(g.body), &o) != nil {
			t.Fatalf("open: %d %s", g.StatusCode, g.body)
		}
		return o
	}
	l, _ := r.signIn("", "")
	c := l.register(registration{Path: "/"})
	p := l.connect(c.Seq, c.Run)
	if o := open(l.send("POST", "/api/workspaces/open", `{"paths":["/a"]}`)); o.Status != openBoundCurrent || o.URL != "" {
		t.Fatalf("from the launcher: %+v", o)
	}
	if code := p.ended(); code != windows.CloseMoved {
		t.Errorf("the launcher's socket ended with %d", code)
	}
	c = l.register(registration{WindowID: l.id, Path: "/"})
	if c.WorkspaceID != "ws-a" || c.Role != roleWorkspace {
		t.Fatalf("after opening: %+v", c)
	}
	p = l.connect(c.Seq, c.Run)

	o := open(l.send("POST", "/api/workspaces/open", `{"workspaceId":"ws-b"}`))
	if o.Status != openCreated || !strings.HasPrefix(o.URL, "/chat?bind=") {
		t.Fatalf("from a Workspace window: %+v", o)
	}
	second := *l
	second.id = ""
	if x := second.register(registration{Ticket: strings.TrimPrefix(o.URL, "/chat?bind="), Path: "/chat"}); x.WorkspaceID != "ws-b" {
		t.Fatalf("the new tab got %+v", x)
	}
	if o := open(second.send("POST", "/api/workspaces/open", `{"workspaceId":"ws-a"}`)); o.Status != openFocusedExisting {
		t.Fatalf("a Workspace with a window: %+v", o)
	}
	if e := p.mustRead(); e[0].Type != "focus" {
		t.Errorf("its window got %+v", e)
	}
	if o := open(r.asCommand("POST", "/api/workspaces/open", `{"paths":["/a"]}`)); o.Status != openFocusedExisting {
		t.Errorf("from the command line: %+v", o)
	}
	if o := open(r.asCommand("POST", "/api/workspaces/open", `{"paths":["/c"]}`)); o.Status != openCreated || !strings.HasPrefix(o.URL, r.url+"/auth?token=") {
		t.Errorf("from the command line, no window: %+v", o)
	}
	if g := r.asCommand("POST", "/api/workspaces/open", `{"paths":["/nowhere"]}`); g.code() != fyllo.CodeWorkspaceNotFound {
		t.Errorf("a missing directory: %d %s", g.StatusCode, g.body)
	}
}

func TestTabOnASessionIsBoundToItsWorkspace_R_WS_127(t *testing.T) {
	r := start(t)
	b, _ := r.signIn("", "")
	if c := b.register(registration{Path: "/chat/session-b"}); c.WorkspaceID != "ws-b" {
		t.Errorf("bound to %+v", c)
	}
	other, _ := r.signIn("", "")
	r.core.mu.Lock()
	r.core.owners["session-gone"] = "ws-gone" // its Workspace was removed
	r.core.mu.Unlock()
	for _, path := range []string{"/chat/session-gone", "/chat/session-x", "/chat/../../x", "/chat", "/settings", ""} {
		if c := other.register(registration{Path: path, Ticket: "wrong"}); c.Role != roleLauncher || c.Conflict != nil {
			t.Errorf("%q gave %+v", path, c)
		}
	}
	if c := other.register(registration{Path: "/chat/session-b"}); c.Conflict == nil || c.Conflict.Name != "name of ws-b" {
		t.Errorf("a second tab on the Session: %+v", c)
	}
}

func TestDraftEndsWhenItsWindowLosesTheWorkspace_R_WS_123(t *testing.T) {
	r := start(t)
	b, _ := r.open("ws-a")
	b.send("PUT", "/api/draft", `{"agentId":"tour","mode":"native"}`)
	other, _ := r.signIn("", "")
	other.register(registration{Path: "/chat/session-a"})
	other.send("POST", "/api/windows/claim", "")
	r.core.mu.Lock()
	defer r.core.mu.Unlock()
	if want := string(b.id) + " ws-a"; len(r.core.closed) != 1 || r.core.closed[0] != want {
		t.Errorf("closed %v, want %s", r.core.closed, want)
	}
}

func TestFailuresKeepTheirCode(t *testing.T) {
	r := start(t)
	b, _ := r.open("ws-a")
	for _, c := range []struct {
		err    error
		status int
		want   string
	}{
		{fyllo.Errorf(fyllo.CodeSessionBusy, "Session: it runs").WithHint("Wait."), 409, `{"error":{"code":"SESSION_BUSY","message":"Session: it runs","hint":"Wait."}}`},
		{&fyllo.Error{Code: fyllo.CodeFolderRemoved, Message: "m", Details: map[string]int{"a": 1}}, 409, `{"error":{"code":"SESSION_FOLDER_REMOVED","message":"m","details":{"a":1}}}`},
		{&fyllo.Error{Code: "SOMETHING_NEW", Message: "m"}, 500, `{"error":{"code":"SOMETHING_NEW","message":"m"}}`},
		{io.ErrUnexpectedEOF, 500, `{"error":{"code":"INTERNAL","message":"FylloCode failed: an error inside Core"}}`},
	} {
		r.core.fail = c.err
		g := b.send("GET", "/api/sessions/session-a", "")
		if g.StatusCode != c.status || strings.TrimSpace(g.body) != c.want {
			t.Errorf("%v: %d %s", c.err, g.StatusCode, g.body)
		}
	}
}

func TestFaultsOfCoreAreLoggedWithoutTheirText(t *testing.T) {
	r := start(t)
	b, _ := r.open("ws-a")
	r.core.fail = fmt.Errorf("words of a conversation: %w", &fs.PathError{Op: "open", Path: "secret/path", Err: syscall.ENOSPC})
	b.send("GET", "/api/sessions/session-a", "")
	if l := r.log.String(); !strings.Contains(l, "getSession") || !strings.Contains(l, "no space left") || strings.Contains(l, "words") {
		t.Errorf("log: %s", l)
	}
}

// constants returns the string constants of a type in a file of the vocabulary.
func constants(t *testing.T, file, typ string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../../"+file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := v.Type.(*ast.Ident); ok && id.Name == typ {
			s, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, s)
		}
		return true
	})
	if len(out) == 0 {
		t.Fatalf("%s has no constants of type %s", file, typ)
	}
	return out
}

func TestEveryCodeHasAStatus(t *testing.T) {
	for _, code := range constants(t, "errors.go", "Code") {
		if wire.StatusOf[fyllo.Code(code)] == 0 {
			t.Errorf("%s has no status", code)
		}
	}
}

func TestEveryEventIsDescribed(t *testing.T) {
	described := map[string]bool{}
	for _, e := range eventPayloads {
		described[string(e.Type)] = true
	}
	for _, name := range constants(t, "event.go", "EventType") {
		if !described[name] {
			t.Errorf("%s is not in eventPayloads", name)
		}
	}
}

func TestCheckedInDescriptionIsCurrent(t *testing.T) {
	want, err := Spec()
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../web/src/api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != string(want) {
		t.Error("web/src/api/openapi.json is not what the Go code says; run `go generate ./internal/httpd`")
	}
	for range 3 {
		if again, _ := Spec(); string(again) != string(want) {
			t.Fatal("the description differs between calls")
		}
	}
}

func TestInterfaceFiles(t *testing.T) {
	r := start(t)
	b, _ := r.open("ws-a")
	for _, c := range []struct {
		path, encoding string
		status         int
		body, typ      string
		cache          string
	}{
		{"/", "", 200, "<title>ui", "text/html; charset=utf-8", "no-cache"},
		{"/chat", "", 200, "<title>ui", "text/html; charset=utf-8", "no-cache"},
		{"/chat/session-a?bind=x", "", 200, "<title>ui", "text/html; charset=utf-8", "no-cache"},
		{"/settings/agents", "", 200, "<title>ui", "text/html; charset=utf-8", "no-cache"},
		{"/theme.js", "gzip", 200, "theme()", "text/javascript; charset=utf-8", "no-cache"},
		{"/assets/app-1a2b.js", "", 200, "app()", "text/javascript; charset=utf-8", "private, max-age=31536000, immutable"},
		{"/assets/app-1a2b.js", "br, gzip", 200, "gzipped app()", "text/javascript; charset=utf-8", "private, max-age=31536000, immutable"},
		{"/assets/lib-3c4d.js", "", 200, "lib()", "text/javascript; charset=utf-8", "private, max-age=31536000, immutable"},
		{"/assets/app-1a2b.js.gz", "", 404, "no such page", "text/html; charset=utf-8", "no-store"},
		{"/assets/app-9999.js", "", 404, "no such page", "text/html; charset=utf-8", "no-store"},
		{"/assets/", "", 404, "no such page", "text/html; charset=utf-8", "no-store"},
		{"/chat/a/b", "", 404, "no such page", "text/html; charset=utf-8", "no-store"},
		{"/nothing", "", 404, "no such page", "text/html; charset=utf-8", "no-store"},
		{"/..%2findex.html", "", 404, "no such page", "text/html; charset=utf-8", "no-store"},
		{"/assets/..%2ftheme.js", "", 404, "no such page", "text/html; charset=utf-8", "no-store"},
	} {
		g := b.send("GET", c.path, "", "Accept-Encoding", c.encoding)
		h := g.Header
		if g.StatusCode != c.status || !strings.Contains(g.body, c.body) || h.Get("Content-Type") != c.typ || h.Get("Cache-Control") != c.cache {
			t.Errorf("%s: %d %q %v", c.path, g.StatusCode, g.body, h)
		}
		if gz := strings.HasPrefix(g.body, "gzipped"); gz != (h.Get("Content-Encoding") == "gzip") {
			t.Errorf("%s: Content-Encoding %q", c.path, h.Get("Content-Encoding"))
		}
	}
	if g := b.send("POST", "/", "{}"); g.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST / = %d", g.StatusCode)
	}
}

// Browsers open connections ahead; they must not hold a shutdown up.
func TestShutdownDoesNotWaitForSilentConnections(t *testing.T) {
	r := start(t)
	conn := dialTCP(t, r.host)
	defer conn.Close()
	r.asCommand("GET", "/api/status", "")
	begun := time.Now()
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}
