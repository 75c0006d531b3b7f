package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
)

// mentioned tells the links of a text: their places below the first directory, and their names.
func mentioned(t *testing.T, text string, dirs ...fyllo.ScopeFolder) (out []string) {
	t.Helper()
	for _, b := range New().Mentioned(t.Context(), dirs, text) {
		at := strings.TrimPrefix(b.URI, "file://"+filepath.ToSlash(dirs[0].FolderPath)+"/")
		if b.Type != "resource_link" || b.Text != "" {
			t.Errorf("%+v", b)
		}
		out = append(out, at+" "+b.Name)
	}
	return out
}

func TestMentionsBecomeLinks(t *testing.T) {
	dir := tree(t, "site", "main.go", "src/main.go", "docs/计划.md", "with blank.txt", "with", "a(1).txt", "100%#.txt")
	outside := tree(t, "outside", "secret.txt")
	for from, to := range map[string]string{"out.txt": filepath.Join(outside.FolderPath, "secret.txt"), "in.txt": "main.go", "gone.txt": "no"} {
		if err := os.Symlink(to, filepath.Join(dir.FolderPath, from)); err != nil {
			t.Skip(err)
		}
	}
	for text, want := range map[string][]string{
		"see @src/main.go and @main.go, then @src/main.go.": {"src/main.go main.go", "main.go main.go"},
		"请看@docs/计划.md 谢谢":                                  {"docs/%E8%AE%A1%E5%88%92.md 计划.md"},
		"（@docs/计划.md）":                                     {"docs/%E8%AE%A1%E5%88%92.md 计划.md"},
		"@with blank.txt is longer":                         {"with%20blank.txt with blank.txt"},
		"@with more":                                        {"with with"},
		"@a(1).txt!":                                        {"a%281%29.txt a(1).txt"},
		"@100%#.txt":                                        {"100%25%23.txt 100%#.txt"},
		"line\n@main.go\r\nnext":                            {"main.go main.go"},
		"@main.go.bak":                                      nil, // gone: it is not the other file
		"@gone.go":                                          nil,
		"@src":                                              nil,
		"@src/":                                             nil,
		"@../outside":                                       nil,
		"@./main.go":                                        nil,
		"@" + dir.FolderPath + "/main.go":                   nil,
		"@out.txt":                                          nil,
		"@gone.txt":                                         nil,
		"@in.txt":                                           {"in.txt in.txt"},
		"ana@main.go":                                       nil,
		"@":                                                 nil,
		"@main.go\x00":                                      nil,
		"@@main.go":                                         nil,
	} {
		if diff := cmp.Diff(want, mentioned(t, text, dir)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestMentionsInSeveralDirectoriesNameTheirProject(t *testing.T) {
	site, api := tree(t, "site", "a.go"), tree(t, "my api", "a.go", "b.go")
	gone := fyllo.ScopeFolder{FolderName: "gone", FolderPath: filepath.Join(t.TempDir(), "no")}
	got := New().Mentioned(t.Context(), []fyllo.ScopeFolder{gone, site, api}, "@a.go @site/a.go @my api/b.go @gone/a.go @site/b.go")
	want := []fyllo.PromptBlock{
		{Type: "resource_link", Name: "a.go", URI: fileURI(filepath.Join(site.FolderPath, "a.go"))},
		{Type: "resource_link", Name: "b.go", URI: fileURI(filepath.Join(api.FolderPath, "b.go"))},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMentionsAreBounded(t *testing.T) {
	dir := tree(t, "site", "last.txt")
	if got := mentioned(t, strings.Repeat("@no no ", 100_000)+"@last.txt", dir); got != nil {
		t.Errorf("looked up more than %d paths: %q", maxTries, got)
	}
	if got := mentioned(t, strings.Repeat("word ", 100_000)+"@last.txt"+strings.Repeat(" word", 100_000), dir); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}
