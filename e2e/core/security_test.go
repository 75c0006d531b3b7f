package core

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"fyllocode.dev/fyllo"
)

// probe sends a bare request and returns its status and body. Headers named Host set the host.
func (c *served) probe(method, path string, headers map[string]string) (int, string) {
	c.t.Helper()
	var body io.Reader
	if method != http.MethodGet {
		body = strings.NewReader("{}")
	}
	req, err := http.NewRequest(method, c.base+path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	for k, v := range headers {
		if k == "Host" {
			req.Host = v
		}
		req.Header.Set(k, v)
	}
	client := &http.Client{Timeout: patience, Transport: c.http.Transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	resp, err := client.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

// upgrade asks for the event stream and returns the status, 101 when it was opened.
func (c *served) upgrade(headers map[string]string) int {
	c.t.Helper()
	o := &websocket.DialOptions{HTTPHeader: http.Header{}}
	for k, v := range headers {
		if k == "Host" {
			o.Host = v
			continue
		}
		o.HTTPHeader.Set(k, v)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, resp, err := websocket.Dial(ctx, c.base+"/api/stream", o)
	if err == nil {
		_ = conn.CloseNow()
	}
	if resp == nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode
}

// routes are calls that read, that change something, and that run programs.
var routes = []struct{ method, path string }{
	{http.MethodGet, "/api/sessions"}, {http.MethodGet, "/api/agents"}, {http.MethodGet, "/api/settings"},
	{http.MethodGet, "/api/status"}, {http.MethodGet, "/api/directories?prefix=/"}, {http.MethodGet, "/api/doctor"},
	{http.MethodPost, "/api/sessions"}, {http.MethodPost, "/api/agents"}, {http.MethodPost, "/api/stop"},
	{http.MethodPost, "/api/tokens"}, {http.MethodPost, "/api/workspaces/open"}, {http.MethodPost, "/api/windows"},
	{http.MethodPatch, "/api/settings"}, {http.MethodDelete, "/api/agents/tour"}, {http.MethodPut, "/api/composer"},
	{http.MethodGet, "/api/sessions/session-x/body?part=a"}, {http.MethodGet, "/api/no-such-route"},
}

func TestNothingIsServedWithoutTheToken(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	s := c.start(c.agent("default"), "echo private")
	c.stored(s)
	own := map[string]string{"Origin": c.base}
	for _, r := range append(routes, struct{ method, path string }{http.MethodGet, sessionPath(s, "/messages")}) {
		for name, headers := range map[string]map[string]string{
			"no token":    own,
			"wrong token": {"Origin": c.base, "Authorization": "Bearer " + strings.Repeat("A", len(c.token))},
			"part of it":  {"Origin": c.base, "Authorization": "Bearer " + c.token[:len(c.token)-1]},
			"empty token": {"Origin": c.base, "Authorization": "Bearer "},
			"a cookie":    {"Origin": c.base, "Cookie": "fyllo=" + c.token},
			"other ways":  {"Origin": c.base, "X-Fyllo-Token": c.token, "X-Fyllo-Window": "w"},
		} {
			if code, body := c.probe(r.method, r.path, headers); code != http.StatusUnauthorized || strings.Contains(body, "private") {
				t.Errorf("%s %s with %s: %d %s", r.method, r.path, name, code, body)
			}
		}
	}
	if code := c.upgrade(own); code != http.StatusUnauthorized {
		t.Errorf("WebSocket without a token: %d", code)
	}
	if code, _ := c.probe(http.MethodGet, "/api/sessions?token="+url.QueryEscape(c.token), own); code != http.StatusUnauthorized {
		t.Errorf("the token in a query: %d", code)
	}
	if c.ended() {
		t.Error("somebody stopped Core")
	}
}

func TestOtherHostsAndOriginsAreRefused(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	host := strings.TrimPrefix(c.base, "http://")
	port := host[strings.LastIndex(host, ":"):]
	bearer := "Bearer " + c.token
	for name, headers := range map[string]map[string]string{
		"host rebound":           {"Host": "evil.example" + port},
		"host without port":      {"Host": "127.0.0.1"},
		"host of all interfaces": {"Host": "0.0.0.0" + port},
		"host with a suffix":     {"Host": "127.0.0.1.evil.example" + port},
		"foreign origin":         {"Origin": "https://evil.example"},
		"origin of another port": {"Origin": "http://127.0.0.1:1"},
		"origin null":            {"Origin": "null"},
		"origin with a suffix":   {"Origin": c.base + ".evil.example"},
		"origin https":           {"Origin": "https://" + host},
	} {
		headers["Authorization"] = bearer // even the owner's token opens nothing from there
		for _, r := range routes {
			if code, _ := c.probe(r.method, r.path, headers); code != http.StatusForbidden {
				t.Errorf("%s: %s %s: %d", name, r.method, r.path, code)
			}
		}
		for _, path := range []string{"/", "/chat", "/auth?token=x"} {
			if code, _ := c.probe(http.MethodGet, path, headers); code != http.StatusForbidden {
				t.Errorf("%s: GET %s: %d", name, path, code)
			}
		}
		if code := c.upgrade(headers); code != http.StatusForbidden {
			t.Errorf("%s: WebSocket: %d", name, code)
		}
	}
	if code := c.upgrade(map[string]string{"Authorization": bearer, "X-Fyllo-Workspace": string(c.workspace)}); code != http.StatusSwitchingProtocols {
		t.Errorf("the owner's own WebSocket: %d", code)
	}
	for _, name := range []string{"127.0.0.1", "localhost"} {
		headers := map[string]string{"Host": name + port, "Authorization": bearer}
		if code, body := c.probe(http.MethodGet, "/api/settings", headers); code != http.StatusOK {
			t.Errorf("host %s: %d %s", name, code, body)
		}
	}
}

func TestOneTimeLinkWorksOnce(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	line, _ := c.out.firstLine()
	page, err := url.Parse(strings.TrimPrefix(line, "FylloCode ready at "))
	if err != nil {
		t.Fatal(err)
	}
	code, _ := c.probe(http.MethodGet, page.RequestURI(), nil)
	if code != http.StatusSeeOther {
		t.Errorf("the first time %d", code)
	}
	if code, body := c.probe(http.MethodGet, page.RequestURI(), nil); code == http.StatusSeeOther || code < 400 {
		t.Errorf("the second time %d %.200s", code, body)
	}
	if out := c.out.String(); strings.Count(out, "\n") != 1 {
		t.Errorf("stdout has more than the ready line: %q", out)
	}
}

func TestCoreListensOnLoopbackOnly(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	if !strings.HasPrefix(c.base, "http://127.0.0.1:") {
		t.Errorf("address %s", c.base)
	}
}

// TestSecretsStayWhereTheyBelong_R_AGT_024: what a user typed, what an Agent said, values of an Agent's environment and
// the tokens of Core are in no log, no answer and no file but their own.
func TestSecretsStayWhereTheyBelong_R_AGT_024(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	const said, typed = "words-of-the-agent", "words-of-the-user"
	agent := c.agent("default")
	s := c.startAs(fyllo.StartRequest{
		AgentID: agent, Text: "echo " + said + typed + ";permission;noise;unknown;stderr quiet;diff;error -32603 " + said, Policy: fyllo.PolicyAllowOnce,
	})
	c.failure(s)
	c.start(c.agent("crash-once+auth-new"), "echo "+typed)
	crash := c.start(agent, "echo "+said+";exit 9")
	c.failure(crash)
	if code, body := c.probe(http.MethodGet, "/api/agents", map[string]string{"Authorization": "Bearer " + c.token}); code != 200 || strings.Contains(body, secret) {
		t.Errorf("GET /api/agents: %d %s", code, body)
	}
	line, _ := c.out.firstLine()
	_, oneTime, _ := strings.Cut(line, "token=")
	token := c.token
	c.stop()
	log := c.errs.String()
	for name, hidden := range map[string]string{
		"env value": secret, "Core's token": token, "one-time token": oneTime, "text of the Agent": said, "text of the user": typed,
	} {
		if strings.Contains(log, hidden) {
			t.Errorf("the log holds the %s: %s", name, log)
		}
		for _, path := range l.files("*") {
			own := name == "env value" && filepath.Base(path) == "custom-agents.json" ||
				strings.HasPrefix(name, "text") && strings.Contains(path, "sessions")
			if !own && strings.Contains(l.read(path), hidden) {
				t.Errorf("%s holds the %s", path, name)
			}
		}
	}
}

// TestEverythingUnderTheDataRootIsPrivate_R_WS_136 looks at all files and directories while turns run and afterwards,
// also those that a wide umask would have opened.
func TestEverythingUnderTheDataRootIsPrivate_R_WS_136(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	s := c.start(c.agent("default"), "bigtool 100000;slow 100000 1ms")
	c.heard(s)
	c.must(http.MethodPatch, "/api/settings", map[string]any{"theme": "dark"}, nil)
	c.must(http.MethodPut, "/api/composer", map[string]any{"text": "not sent yet"}, nil)
	l.private()
	c.kill()
	c = l.serve()
	c.failure(s)
	l.private()
	c.stop()
	l.private()
	if _, err := os.Stat(filepath.Join(l.root, "core.token")); err == nil {
		t.Error("the token of a Core that ended is left")
	}
}

// private wants 0700 for directories and 0600 for files.
func (l *lab) private() {
	l.t.Helper()
	n := 0
	err := filepath.WalkDir(l.root, func(path string, d fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // replaced while we look
		}
		if err != nil {
			return err
		}
		n++
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			l.t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return nil
	})
	if err != nil || n < 8 {
		l.t.Errorf("%d entries, %v", n, err)
	}
}

// TestHugeAndBrokenRequestsHarmNobody sends what no client sends.
func TestHugeAndBrokenRequestsHarmNobody(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	agent := c.agent("default")
	err := c.call(http.MethodPost, "/api/sessions", fyllo.StartRequest{
		AgentID: agent, Mode: fyllo.ModeFyllo, Text: strings.Repeat("x", 5<<20),
	}, nil)
	if codeOf(err) != fyllo.CodeTooLarge {
		t.Errorf("5 MiB of text: %v", err)
	}
	for _, path := range []string{
		"/api/sessions/..%2f..%2fsettings", "/api/sessions/%00", "/api/sessions/" + strings.Repeat("a", 4000),
		"/api/sessions/session-x/messages?before=%ff", "/api/sessions?cursor=%f0%9f", "/api/sessions?limit=-1",
		"/..%2f..%2f..%2fetc%2fpasswd", "/assets/..%2f..%2fcore.token",
	} {
		code, body := c.probe(http.MethodGet, path, map[string]string{"Authorization": "Bearer " + c.token})
		if code >= 500 || strings.Contains(body, "goroutine") || strings.Contains(body, "root:") || strings.Contains(body, c.token) {
			t.Errorf("GET %s: %d %.300s", path, code, body)
		}
	}
	s := c.start(agent, strings.Repeat("y", 3<<20))
	start := time.Now()
	if got := c.answer(s); len(got) < 3<<20 {
		t.Errorf("%d bytes came back after %s", len(got), time.Since(start))
	}
}
