package files

import (
	order "cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"fyllocode.dev/fyllo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tree makes a directory with empty files and returns it as a Project.
func tree(t *testing.T, name string, paths ...string) fyllo.ScopeFolder {
	t.Helper()
	dir := t.TempDir()
	for _, p := range paths {
		full := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return fyllo.ScopeFolder{FolderName: name, FolderPath: dir}
}

func find(t *testing.T, query string, dirs ...fyllo.ScopeFolder) fyllo.FoundFiles {
	t.Helper()
	got, err := New().Find(t.Context(), dirs, query)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestFindRanksByName(t *testing.T) {
	dir := tree(t, "site", "main.go", "cmd/domain.go", "cmd/main_test.go", "main/readme.md", "docs/计划.md", "docs/a b.txt",
		".git/main.go", ".env", "node_modules/x/main.go", "web/node_modules/main.js", "vendor/main.go")
	for query, want := range map[string][]string{
		"main":        {"main.go", "cmd/main_test.go", "cmd/domain.go", "main/readme.md"},
		"MAIN.GO":     {"main.go", "cmd/domain.go"},
		"cmd/main":    {"cmd/main_test.go"},
		"计划":          {"docs/计划.md"},
		"a b":         {"docs/a b.txt"},
		"env":         {".env"},
		"":            {".env", "main.go", "docs/a b.txt", "cmd/domain.go", "docs/计划.md", "main/readme.md", "cmd/main_test.go"},
		"../":         {},
		"/etc":        {},
		"main.go\x00": {},
		"*":           {},
	} {
		if diff := cmp.Diff(want, find(t, query, dir).Paths); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
}

func TestSeveralDirectoriesHaveTheNameOfTheirProjectInFront(t *testing.T) {
	got := find(t, "go", tree(t, "api", "a.go"), fyllo.ScopeFolder{FolderName: "gone", FolderPath: filepath.Join(t.TempDir(), "no")}, tree(t, "web", "b/a.go"))
	if diff := cmp.Diff([]string{"api/a.go", "web/b/a.go"}, got.Paths); diff != "" {
		t.Error(diff)
	}
}

// write replaces a file of a tree.
func write(t *testing.T, dir fyllo.ScopeFolder, path, content string) {
	t.Helper()
	full := filepath.Join(dir.FolderPath, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWhatGitIgnoresIsLeftOut(t *testing.T) {
	dir := tree(t, "site", "a.txt", "a.log", "keep.log", "secret.txt", "gen/a.txt", "docs/gen/a.txt", "docs/a.log", "docs/own.txt",
		"docs/deep/own.txt", "docs/deep/secret.txt", "dist/a.txt", "vendor/a.txt", "node_modules/a.txt")
	write(t, dir, ".gitignore", "*.log\n!keep.log\n/gen/\n!/dist/\n")
	write(t, dir, "docs/.gitignore", "own.txt\n!a.log\n")
	write(t, dir, "docs/deep/.gitignore", "!own.txt\n")
	write(t, dir, ".git/info/exclude", "secret.txt\n")
	want := []string{"a.txt", "keep.log", "dist/a.txt", "docs/a.log", "docs/gen/a.txt", "docs/deep/own.txt"}
	got := slices.Concat(find(t, ".txt", dir).Paths, find(t, ".log", dir).Paths)
	slices.SortFunc(got, func(a, b string) int { return order.Or(order.Compare(len(a), len(b)), order.Compare(a, b)) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	other := tree(t, "other", "a.log")
	if diff := cmp.Diff([]string{"other/a.log", "site/docs/a.log"}, find(t, "a.log", dir, other).Paths); diff != "" {
		t.Errorf("rules of one Project in another: %s", diff)
	}
	if err := os.Remove(filepath.Join(dir.FolderPath, ".gitignore")); err != nil {
		t.Fatal(err)
	}
	outside := tree(t, "outside", "rules")
	write(t, outside, "rules", "*")
	if err := os.Symlink(filepath.Join(outside.FolderPath, "rules"), filepath.Join(dir.FolderPath, ".gitignore")); err != nil {
		t.Skip(err)
	}
	if got := find(t, "gen/a", dir).Paths; len(got) != 2 {
		t.Errorf("with a link: %q", got)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	outside := tree(t, "outside", "secret.txt")
	dir := tree(t, "site", "in/here.txt")
	for from, to := range map[string]string{"out": outside.FolderPath, "in/loop": "..", "link.txt": filepath.Join(outside.FolderPath, "secret.txt")} {
		if err := os.Symlink(to, filepath.Join(dir.FolderPath, from)); err != nil {
			t.Skip(err)
		}
	}
	got := find(t, "txt", dir)
	if diff := cmp.Diff(fyllo.FoundFiles{Paths: []string{"link.txt", "in/here.txt"}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestASearchIsBounded(t *testing.T) {
	var paths []string
	for i := range 300 {
		paths = append(paths, fmt.Sprintf("deep/er/file%03d.txt", i))
	}
	dir := tree(t, "site", append(paths, "file.txt")...)
	got := find(t, "file", dir)
	if len(got.Paths) != maxFound || got.Paths[0] != "file.txt" || got.Capped {
		t.Errorf("%d paths, first %q, capped %v", len(got.Paths), got.Paths[0], got.Capped)
	}
	f := New()
	f.limit = 100
	got, err := f.Find(t.Context(), []fyllo.ScopeFolder{dir}, "file")
	if err != nil || !got.Capped || got.Paths[0] != "file.txt" {
		t.Errorf("100 entries: %v, %d paths, capped %v", err, len(got.Paths), got.Capped)
	}
	f = New()
	f.time = time.Nanosecond
	if got, err = f.Find(t.Context(), []fyllo.ScopeFolder{dir}, "file"); err != nil || !got.Capped {
		t.Errorf("no time: %v, capped %v", err, got.Capped)
	}
}

func TestASearchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New().Find(ctx, []fyllo.ScopeFolder{tree(t, "site", "a.txt")}, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
