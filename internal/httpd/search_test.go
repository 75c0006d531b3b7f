package httpd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
)

// searcher is the fake of a search: it finds what it was asked for. "wait" goes on until its context ends.
type searcher struct{ *core }

func (s searcher) Find(ctx context.Context, w fyllo.WorkspaceID, text string, limit int) ([]fyllo.SearchHit, error) {
	if text == "wait" {
		s.scans <- "begun"
		<-ctx.Done()
		s.scans <- "ended"
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return nil, s.fail
	}
	if text == "" {
		return []fyllo.SearchHit{}, nil
	}
	return []fyllo.SearchHit{{
		SessionID: "session-a", Title: fmt.Sprintf("%s for %q, at most %d", w, text, limit), Match: fyllo.MatchMessage,
		UpdatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), MessageID: "m", Snippet: "…a b", Mark: fyllo.SearchMark{Start: 1, Length: 1},
	}}, nil
}

func TestSearch_R_CHAT_018_019_020(t *testing.T) {
	r := start(t)
	b, _ := r.open("ws-a")
	const hit = `{"hits":[{"sessionId":"session-a","title":%q,"match":"message","updatedAt":"2026-01-02T03:04:05Z",` +
		`"messageId":"m","snippet":"…a b","mark":{"start":1,"length":1}}]}`
	for query, want := range map[string]string{
		"q=%E4%B8%AD%20+%3C": fmt.Sprintf(hit, `ws-a for "中  <", at most 50`),
		"q=x&limit=7":        fmt.Sprintf(hit, `ws-a for "x", at most 7`),
		"":                   `{"hits":[]}`,
	} {
		if g := b.send("GET", "/api/search?"+query, ""); g.StatusCode != http.StatusOK || g.body != want {
			t.Errorf("%s: %d %s", query, g.StatusCode, g.body)
		}
	}
	for _, query := range []string{"q=x&limit=0", "q=x&limit=51", "q=x&limit=y"} {
		if g := b.send("GET", "/api/search?"+query, ""); g.code() != fyllo.CodeInvalidRequest {
			t.Errorf("%s: %d %s", query, g.StatusCode, g.body)
		}
	}
	r.core.fail = fyllo.Errorf(fyllo.CodeInvalidRequest, "search: too long")
	if g := b.send("GET", "/api/search?q=x", ""); g.code() != fyllo.CodeInvalidRequest {
		t.Errorf("a refusal: %d %s", g.StatusCode, g.body)
	}
}

// A window searches its own Workspace and cannot name another one.
func TestSearchIsOfTheWindowsWorkspace_R_CHAT_016_130(t *testing.T) {
	r := start(t)
	launcher, _ := r.open("")
	if g := launcher.send("GET", "/api/search?q=x", ""); g.code() != fyllo.CodeWindowUnbound {
		t.Errorf("without Workspace: %d %s", g.StatusCode, g.body)
	}
	b, _ := r.open("ws-b")
	g := b.send("GET", "/api/search?q=x&workspace=ws-a", "", "X-Fyllo-Workspace", "ws-a")
	if g.StatusCode != http.StatusOK || !strings.Contains(g.body, "ws-b for") {
		t.Errorf("ws-b: %d %s", g.StatusCode, g.body)
	}
}

// Who goes away ends the scan.
func TestSearchEndsWithTheCall_R_CHAT_023(t *testing.T) {
	r := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+"/api/search?q=wait", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+bearerToken)
	req.Header.Set("X-Fyllo-Workspace", "ws-a")
	done := make(chan error, 1)
	go func() { // ends with the call
		resp, err := r.client.Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		done <- err
	}()
	if got := <-r.core.scans; got != "begun" {
		t.Fatal(got)
	}
	cancel()
	if got := <-r.core.scans; got != "ended" {
		t.Fatal(got)
	}
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the call: %v", err)
	}
}
