package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"fyllocode.dev/fyllo"
)

// An Agent that takes context gets a link to what the text mentions, behind the text and before its files; the text is sent
// and stored as it was written.
func TestMentionsAreLinked(t *testing.T) {
	for name, c := range map[string]struct {
		can  fyllo.Capabilities
		want int
	}{
		"context": {takesAll, 1},
		"none":    {fyllo.Capabilities{EmbeddedContext: fyllo.Unsupported, Resume: true}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.can(c.can)
				path := filepath.Join(w.spaces.dir, "a b.go")
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				const text = "see @a b.go and @gone.go and @../x"
				s := w.first(text)
				p := w.agents.now().prompted(w, 1)
				var links []fyllo.PromptBlock
				said := ""
				for _, b := range p.blocks {
					if b.Type == "resource_link" {
						links = append(links, b)
					} else {
						said = b.Text
					}
				}
				if said != text || len(links) != c.want {
					t.Fatalf("the Agent got %+v", p.blocks)
				}
				if c.want > 0 && (links[0].Name != "a b.go" || links[0].URI != "file://"+filepath.ToSlash(w.spaces.dir)+"/a%20b.go") {
					t.Errorf("link %+v", links[0])
				}
				w.agents.now().finish(p, "end_turn")
				w.idle(s)
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				w.prompt(s, text)
				for _, b := range w.agents.now().prompted(w, 2).blocks {
					if b.Type == "resource_link" {
						t.Errorf("a link to a file that is gone: %+v", b)
					}
				}
				if got := w.user(s); got != text+"|"+text {
					t.Errorf("stored %q", got)
				}
			})
		})
	}
}
