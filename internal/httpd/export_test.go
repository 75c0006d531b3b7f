package httpd

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestExport_R_CLI_008(t *testing.T) {
	r := start(t)
	r.core.body = "all of it"
	g := r.asCommand("GET", "/api/sessions/session-a/export?format=html", "")
	h := g.Header
	if g.StatusCode != http.StatusOK || !strings.Contains(g.body, "all of it") || !strings.HasSuffix(g.body, "</html>\n") ||
		h.Get("Content-Type") != "text/html; charset=utf-8" || !strings.HasPrefix(h.Get("Content-Disposition"), "attachment") ||
		!strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("%d %v %q", g.StatusCode, h, g.body)
	}
	if g := r.asCommand("GET", "/api/sessions/session-a/export?format=pdf", ""); g.StatusCode != http.StatusUnprocessableEntity && g.StatusCode != http.StatusBadRequest {
		t.Errorf("an unknown format: %d", g.StatusCode)
	}
	b, _ := r.open("ws-a")
	if g := b.send("GET", "/api/sessions/session-b/export", ""); g.StatusCode != http.StatusNotFound {
		t.Errorf("another Workspace's Session: %d", g.StatusCode)
	}
}

func TestExportThatFailsIsNoWholeFile_R_CLI_008(t *testing.T) {
	r := start(t)
	r.core.body = "broken"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.host+"/api/sessions/session-a/export", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+bearerToken)
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if err == nil {
		t.Error("the client took the file for a whole one")
	}
}
