package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"fyllocode.dev/fyllo/internal/atomicfile"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWriteReplacesPrivately_R_WS_130_136(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	for _, text := range []string{"one", "a longer two", ""} {
		if err := atomicfile.Write(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); got != text {
			t.Fatalf("content %q, want %q", got, text)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Fatalf("directory holds %v, want the file alone", got)
	}
}

// Whatever operation fails, the file is whole (old or new) and no temporary file stays.
func TestEveryFailingOperationLeavesAWholeFile_R_WS_130(t *testing.T) {
	for n := 1; ; n++ {
		path := filepath.Join(t.TempDir(), "a.json")
		if err := atomicfile.Write(path, []byte("old content"), 0o600); err != nil {
			t.Fatal(err)
		}
		seen, boom := 0, errors.New("injected")
		var failed atomicfile.Op
		restore := atomicfile.SetFault(func(op atomicfile.Op, _ string) error {
			if seen++; seen == n {
				failed = op
				return boom
			}
			return nil
		})
		err := atomicfile.Write(path, []byte("new content"), 0o600)
		restore()
		if failed == "" {
			if n < 5 {
				t.Fatalf("only %d operations seen", n-1)
			}
			return
		}
		if !errors.Is(err, boom) {
			t.Fatalf("%s failed but Write returned %v", failed, err)
		}
		want := "old content"
		if failed == atomicfile.OpSyncDir {
			want = "new content"
		}
		if got := content(t, path); got != want {
			t.Errorf("after failing %s: content %q, want %q", failed, got, want)
		}
		if got := names(t, filepath.Dir(path)); len(got) != 1 {
			t.Errorf("after failing %s: directory holds %v", failed, got)
		}
	}
}

func TestUpdatesOfOneFileAreSerialised_R_WS_130(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			err := atomicfile.Update(path, 0o600, func(old []byte) ([]byte, error) {
				n, _ := strconv.Atoi(string(old))
				return []byte(strconv.Itoa(n + 1)), nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := content(t, path); got != "20" {
		t.Fatalf("counter is %s, want 20", got)
	}
}

func TestUpdateWritesNothingWhenNothingChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	if err := atomicfile.Write(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	defer atomicfile.SetFault(func(op atomicfile.Op, _ string) error {
		t.Errorf("disk operation %s", op)
		return nil
	})()
	boom := errors.New("no")
	if err := atomicfile.Update(path, 0o600, func([]byte) ([]byte, error) { return nil, boom }); !errors.Is(err, boom) || err.Error() != "no" {
		t.Errorf("got %v, want the callback's own error", err)
	}
	if err := atomicfile.Update(path, 0o600, func(old []byte) ([]byte, error) { return old, nil }); err != nil {
		t.Error(err)
	}
}

func TestMkdirAllAndRemove_R_WS_136(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b", "c")
	for range 2 {
		if err := atomicfile.MkdirAll(deep, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(root, "a"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("mode %v, %v; want 0700", info.Mode(), err)
	}
	for range 2 {
		if err := atomicfile.Remove(filepath.Join(root, "a")); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(t, root); len(got) != 0 {
		t.Fatalf("left %v", got)
	}
	file := filepath.Join(root, "file")
	if err := atomicfile.Write(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if atomicfile.MkdirAll(filepath.Join(file, "x"), 0o700) == nil {
		t.Fatal("a directory below a file was made")
	}
	if atomicfile.MkdirAll(file, 0o700) == nil {
		t.Fatal("a file was taken for a directory")
	}
}

func TestOnlyTemporaryFilesOfOthersAreStale(t *testing.T) {
	for name, want := range map[string]bool{
		".meta.json.tmp-abcdefghij-3": true, "meta.json": false, ".hidden": false, "x.tmp-abc-1": false,
	} {
		if got := atomicfile.IsStaleTemp(name); got != want {
			t.Errorf("IsStaleTemp(%q) = %v", name, got)
		}
	}
	var own string
	defer atomicfile.SetFault(func(op atomicfile.Op, path string) error {
		if op == atomicfile.OpCreate {
			own = filepath.Base(path)
		}
		return nil
	})()
	if err := atomicfile.Write(filepath.Join(t.TempDir(), "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if own == "" || atomicfile.IsStaleTemp(own) {
		t.Errorf("our own temporary file %q counts as stale", own)
	}
}
