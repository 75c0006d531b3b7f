package httpd

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
)

// finder is the fake of a search for files: it finds where it was told to look.
type finder struct{ *core }

func (f finder) Find(_ context.Context, dirs []fyllo.ScopeFolder, query string) (fyllo.FoundFiles, error) {
	out := fyllo.FoundFiles{Paths: []string{}}
	for _, d := range dirs {
		out.Paths = append(out.Paths, d.FolderPath+"?"+query)
	}
	return out, nil
}

func TestFilesAreLookedForInTheCallersOwnDirectories_R_CHAT_130(t *testing.T) {
	r := start(t)
	r.core.scope = &fyllo.Scope{Folders: []fyllo.ScopeFolder{{FolderPath: "/fixed"}}}
	r.core.members = []fyllo.WorkspaceFolder{
		{ScopeFolder: fyllo.ScopeFolder{FolderPath: "/now"}}, {ScopeFolder: fyllo.ScopeFolder{FolderPath: "/gone"}, PathMissing: true},
	}
	b, _ := r.open("ws-a")
	for query, want := range map[string]string{
		"q=a%20b":                       `{"paths":["/now?a b"],"capped":false}`,
		"":                              `{"paths":["/now?"],"capped":false}`,
		"q=x&sessionId=session-a":       `{"paths":["/fixed?x"],"capped":false}`,
		"q=x&dir=/etc&workspaceId=ws-b": `{"paths":["/now?x"],"capped":false}`,
		"q=..%2F&sessionId=session-a":   `{"paths":["/fixed?../"],"capped":false}`,
	} {
		if g := b.send("GET", "/api/files?"+query, ""); g.StatusCode != http.StatusOK || g.body != want {
			t.Errorf("%s: %d %s", query, g.StatusCode, g.body)
		}
	}
	for query, code := range map[string]fyllo.Code{
		"q=x&sessionId=session-b":       fyllo.CodeSessionNotFound,
		"q=x&sessionId=nope":            fyllo.CodeSessionNotFound,
		"q=" + strings.Repeat("x", 201): fyllo.CodeInvalidRequest,
	} {
		if g := b.send("GET", "/api/files?"+query, ""); g.code() != code {
			t.Errorf("%.40s: %d %s", query, g.StatusCode, g.body)
		}
	}
}
