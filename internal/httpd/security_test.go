package httpd

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
)

const wantPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func TestTheWholeServerHasNoOptionsForStrangers(t *testing.T) {
	r := start(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, r.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.URL.Opaque = "*" // "OPTIONS *", which net/http likes to answer itself
	resp, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden || resp.Header.Get("Content-Security-Policy") != wantPolicy {
		t.Errorf("status %d, policy %q", resp.StatusCode, resp.Header.Get("Content-Security-Policy"))
	}
}

func TestRequestsOfStrangersAreRefused(t *testing.T) {
	r := start(t)
	b, _ := r.open("ws-a")
	bearer := []string{"Authorization", "Bearer " + bearerToken}
	page := []string{"Cookie", b.cookie, "X-Fyllo-Window", string(b.id)}
	_, port, _ := strings.Cut(r.host, ":")
	for _, c := range []struct {
		name    string
		method  string
		path    string
		headers []string
		status  int
	}{
		{"no secret", "GET", "/api/sessions", nil, 401},
		{"no secret, unknown route", "GET", "/api/nothing", nil, 401},
		{"no secret, change", "POST", "/api/sessions", []string{"Origin", r.url}, 401},
		{"no secret, registration", "POST", "/api/windows", []string{"Origin", r.url}, 401},
		{"no secret, status", "GET", "/api/status", nil, 401},
		{"wrong bearer", "GET", "/api/status", []string{"Authorization", "Bearer nonsense"}, 401},
		{"empty bearer", "GET", "/api/status", []string{"Authorization", "Bearer "}, 401},
		{"cookie of another port", "GET", "/api/status", []string{"Cookie", "fyllo_1=" + r.browserSecret}, 401},
		{"bearer", "GET", "/api/status", bearer, 200},
		{"bearer, other spelling of the host", "GET", "/api/status", append([]string{"Host", "localhost:" + port}, bearer...), 200},
		{"rebound name", "GET", "/api/status", append([]string{"Host", "evil.example:" + port}, bearer...), 403},
		{"rebound name, page", "GET", "/", append([]string{"Host", "evil.example"}, page...), 403},
		{"rebound name, sign-in", "GET", "/auth?token=x", []string{"Host", "evil.example:" + port}, 403},
		{"host with another port", "GET", "/api/status", append([]string{"Host", "127.0.0.1:1"}, bearer...), 403},
		{"page", "GET", "/api/sessions", page, 200},
		{"page, its own origin", "GET", "/api/sessions", append([]string{"Origin", r.url}, page...), 200},
		{"page, foreign origin", "GET", "/api/sessions", append([]string{"Origin", "https://evil.example"}, page...), 403},
		{"page, another port's origin", "GET", "/api/sessions", append([]string{"Origin", "http://127.0.0.1:1"}, page...), 403},
		{"page, opaque origin", "GET", "/api/sessions", append([]string{"Origin", "null"}, page...), 403},
		{"page, two origins", "GET", "/api/sessions", append([]string{"Origin", r.url, "Origin", "http://x"}, page...), 403},
		{"page, change without origin", "POST", "/api/sessions/session-a/cancel", page, 403},
		{"page, change", "POST", "/api/sessions/session-a/cancel", append([]string{"Origin", r.url}, page...), 204},
		{"page, change from elsewhere", "POST", "/api/sessions/session-a/cancel", append([]string{"Origin", "http://evil.example"}, page...), 403},
		{"bearer, change from elsewhere", "POST", "/api/stop", append([]string{"Origin", "http://evil.example"}, bearer...), 403},
		{"bearer, change", "POST", "/api/stop", bearer, 204},
		{"image on another site", "GET", "/api/sessions", append([]string{"Sec-Fetch-Site", "cross-site"}, page...), 403},
		{"image on another port", "GET", "/api/sessions", append([]string{"Sec-Fetch-Site", "same-site"}, page...), 403},
		{"fetch of our page", "GET", "/api/sessions", append([]string{"Sec-Fetch-Site", "same-origin"}, page...), 200},
		{"preflight", "OPTIONS", "/api/sessions", append([]string{"Origin", "http://evil.example"}, page...), 403},
		{"form post", "POST", "/api/sessions", append([]string{"Origin", r.url, "Content-Type", "text/plain"}, page...), 415},
		{"cookie without window", "GET", "/api/sessions", []string{"Cookie", b.cookie}, 409},
		{"cookie, unknown window", "GET", "/api/sessions", []string{"Cookie", b.cookie, "X-Fyllo-Window", "window-x"}, 409},
		{"page asks for a token", "POST", "/api/tokens", append([]string{"Origin", r.url}, page...), 403},
		{"page stops Core", "POST", "/api/stop", append([]string{"Origin", r.url}, page...), 403},
		{"page without cookie", "GET", "/", nil, 401},
		{"chat without cookie", "GET", "/chat/session-a", nil, 401},
		{"asset without cookie", "GET", "/assets/app-1a2b.js", nil, 401},
		{"page with cookie", "GET", "/", page, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := ""
			if c.method == "POST" {
				body = "{}"
			}
			g := r.rigFor(t).send(c.method, c.path, body, c.headers...)
			if g.StatusCode != c.status {
				t.Errorf("status %d, want %d: %s", g.StatusCode, c.status, g.body)
			}
			if got := g.Header.Get("Content-Security-Policy"); got != wantPolicy {
				t.Errorf("policy %q", got)
			}
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
				"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			} {
				if g.Header.Get(name) != want {
					t.Errorf("%s = %q, want %q", name, g.Header.Get(name), want)
				}
			}
			if g.StatusCode >= 400 && strings.HasPrefix(c.path, "/api/") && g.code() == "" {
				t.Errorf("an error without code: %s", g.body)
			}
			if g.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Error("an answer opens itself to other origins")
			}
		})
	}
}

// rigFor reports to a subtest.
func (r *rig) rigFor(t *testing.T) *rig {
	c := *r
	c.t = t
	return &c
}

func TestForeignWebSocketsAreRefused(t *testing.T) {
	r := start(t)
	b, _ := r.open("ws-a")
	_, port, _ := strings.Cut(r.host, ":")
	for _, c := range []struct {
		name   string
		header http.Header
		host   string
		status int
	}{
		{"foreign origin", http.Header{"Cookie": {b.cookie}, "Origin": {"http://evil.example"}}, "", 403},
		{"another port's origin", http.Header{"Cookie": {b.cookie}, "Origin": {"http://127.0.0.1:1"}}, "", 403},
		{"no origin", http.Header{"Cookie": {b.cookie}}, "", 403},
		{"no cookie", http.Header{"Origin": {r.url}}, "", 401},
		{"rebound name", http.Header{"Cookie": {b.cookie}, "Origin": {"http://evil.example:" + port}}, "evil.example:" + port, 403},
	} {
		conn, answer, err := r.dialSocket("?window="+string(b.id), c.header, c.host)
		if err == nil {
			conn.CloseNow()
			t.Errorf("%s: the socket opened", c.name)
			continue
		}
		if answer.status != c.status {
			t.Errorf("%s: %v, want status %d", c.name, err, c.status)
		}
	}
}

func TestOneTimeTokenWorksOnce(t *testing.T) {
	r := start(t)
	u, _ := url.Parse(r.LaunchURL("ws-a", "session-a"))
	if g := r.send("HEAD", u.RequestURI(), ""); g.StatusCode != http.StatusMethodNotAllowed {
		t.Fatalf("HEAD answered %d", g.StatusCode)
	}
	g := r.send("GET", u.RequestURI(), "")
	if g.StatusCode != http.StatusSeeOther || !strings.HasPrefix(g.Header.Get("Location"), "/chat/session-a?bind=") {
		t.Fatalf("first use: %d to %q", g.StatusCode, g.Header.Get("Location"))
	}
	_, port, _ := strings.Cut(r.host, ":")
	c := g.Cookies()[0]
	if c.Name != "fyllo_"+port || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || len(c.Value) < 40 {
		t.Errorf("cookie %v", c)
	}
	for _, uri := range []string{u.RequestURI(), "/auth", "/auth?token=unknown"} {
		g := r.send("GET", uri, "")
		if g.StatusCode != http.StatusUnauthorized || !strings.Contains(g.body, "Run fyllo") || strings.Contains(g.body, "<script") {
			t.Errorf("%s: %d %s", uri, g.StatusCode, g.body)
		}
		if len(g.Cookies()) != 0 {
			t.Errorf("%s: sets a cookie", uri)
		}
	}
	if strings.Contains(r.log.String(), u.Query().Get("token")) {
		t.Error("the token is in the log")
	}
}

// A Strict cookie is held back when a link on another site led here; loading once more brings it.
func TestPageOpenedFromAnotherSiteIsLoadedOnceMore(t *testing.T) {
	r := start(t)
	g := r.send("GET", "/chat", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate")
	if g.StatusCode != http.StatusUnauthorized || !strings.Contains(g.body, `http-equiv="refresh"`) {
		t.Errorf("%d %s", g.StatusCode, g.body)
	}
	g = r.send("GET", "/chat", "", "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "navigate")
	if g.StatusCode != http.StatusUnauthorized || strings.Contains(g.body, "refresh") {
		t.Errorf("%d %s", g.StatusCode, g.body)
	}
}

func TestBodiesAreLimited(t *testing.T) {
	r := start(t)
	b, _ := r.open("ws-a")
	long := func(n int) string { return `{"requestId":"r","text":"` + strings.Repeat("x", n) + `"}` }
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		code                     fyllo.Code
	}{
		{"settings over 1 MiB", "PATCH", "/api/settings", `{"theme":"` + strings.Repeat("x", 1<<20) + `"}`, 413, fyllo.CodeTooLarge},
		{"prompt of 4 MiB", "POST", "/api/sessions/session-a/prompts", long(maxText), 200, ""},
		{"prompt over 4 MiB", "POST", "/api/sessions/session-a/prompts", long(maxText + 1), 413, fyllo.CodeTooLarge},
		{"prompt far over 4 MiB", "POST", "/api/sessions/session-a/prompts", long(maxTextBody), 413, fyllo.CodeTooLarge},
	} {
		g := b.send(c.method, c.path, c.body)
		if g.StatusCode != c.status || g.code() != c.code {
			t.Errorf("%s: %d %s", c.name, g.StatusCode, g.body[:min(200, len(g.body))])
		}
	}
}

func TestPanicTellsNothing(t *testing.T) {
	r := start(t)
	b, _ := r.open("ws-a")
	r.core.boom = true
	g := b.send("GET", "/api/settings", "")
	if g.StatusCode != http.StatusInternalServerError || g.code() != fyllo.CodeInternal {
		t.Errorf("%d %s", g.StatusCode, g.body)
	}
	if strings.Contains(g.body, "secret") || strings.Contains(g.body, ".go") {
		t.Errorf("the answer tells of the panic: %s", g.body)
	}
	if l := r.log.String(); strings.Contains(l, "secret") || !strings.Contains(l, "panic in a handler") || !strings.Contains(l, "fakes_test.go") {
		t.Errorf("log: %s", l)
	}
}

func TestLoopbackOnly(t *testing.T) {
	r := start(t)
	c := r.Config
	for _, addr := range []string{"0.0.0.0:80", "192.168.1.2:80", "[::]:80"} {
		c.Addr = netipAddr(addr)
		if _, err := New(c); err == nil {
			t.Errorf("New accepts %s", addr)
		}
	}
	c.Addr = netipAddr("[::1]:80")
	if _, err := New(c); err != nil {
		t.Error(err)
	}
}
