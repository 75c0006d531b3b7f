package agents

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const installLimit = 5 * time.Minute

// install installs what the lock file of an Agent's folder says, unless that was done before, and returns the folder.
// It is `npm install` and not `npm ci`, since some packages name binaries for other platforms that not every registry
// has: those are not in the lock file, which ci refuses. Without npm or its registry the test is skipped, except in CI.
func install(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(dir, "package-lock.json")
	stamp := filepath.Join(dir, "node_modules", ".installed")
	if newer(stamp, lock) {
		return dir
	}
	ctx, cancel := context.WithTimeout(t.Context(), installLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-save", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("npm install: %v\n%s", err, out)
		}
		t.Skipf("not installed, npm install: %v\n%s", err, out)
	}
	if err := os.WriteFile(stamp, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func newer(stamp, than string) bool {
	a, err := os.Stat(stamp)
	if err != nil {
		return false
	}
	b, err := os.Stat(than)
	return err == nil && !a.ModTime().Before(b.ModTime())
}
