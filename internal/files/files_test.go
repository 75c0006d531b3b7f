package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
