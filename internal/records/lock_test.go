package records_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/records"
)

func TestOneCorePerRoot_R_WS_124_R_CLI_001_003(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a", "home")
	l, err := records.Lock(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Publish(records.LockInfo{Address: "127.0.0.1:4242"}, "secret"); err != nil {
		t.Fatal(err)
	}
	info, running := records.ReadLock(root)
	if !running || info.PID != os.Getpid() || info.Address != "127.0.0.1:4242" || info.StartedAt.IsZero() {
		t.Fatalf("ReadLock = %+v, %v", info, running)
	}
	if token, err := records.ReadToken(root); err != nil || token != "secret" {
		t.Fatalf("token %q, %v", token, err)
	}
	_, err = records.Lock(root)
	wantCode(t, err, fyllo.CodeAlreadyRunning)
	e, _ := errors.AsType[*fyllo.Error](err)
	if details, ok := e.Details.(records.LockInfo); !ok || details.PID != os.Getpid() || details.Address != info.Address {
		t.Errorf("details %+v", e.Details)
	}
	for name, want := range map[string]os.FileMode{"": 0o700, "core.lock": 0o600, "core.token": 0o600} {
		if st, err := os.Stat(filepath.Join(root, name)); err != nil || st.Mode().Perm() != want {
			t.Errorf("%q has mode %v, %v; want %v", name, st.Mode(), err, want)
		}
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if _, running := records.ReadLock(root); running {
		t.Error("reads as running after Release")
	}
	if _, err := records.ReadToken(root); err == nil {
		t.Error("the token is still there")
	}
	again, err := records.Lock(root)
	if err != nil {
		t.Fatal(err)
	}
	again.Release()
}

// A Core that is killed leaves its files; they read as not running and do not keep the next one out.
func TestLockOfAKilledCoreIsFree_R_CLI_001(t *testing.T) {
	if root := os.Getenv("FYLLO_TEST_LOCK"); root != "" {
		l, err := records.Lock(root)
		if err == nil {
			err = l.Publish(records.LockInfo{Address: "127.0.0.1:1"}, "t")
		}
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("locked\n")
		select {} // until it is killed
	}
	root := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestLockOfAKilledCoreIsFree_R_CLI_001$")
	cmd.Env = append(os.Environ(), "FYLLO_TEST_LOCK="+root)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	for buf := make([]byte, 64); !strings.Contains(seen.String(), "locked"); {
		n, err := out.Read(buf)
		if err != nil {
			t.Fatal(err, seen.String())
		}
		seen.Write(buf[:n])
	}
	if info, running := records.ReadLock(root); !running || info.PID != cmd.Process.Pid {
		t.Errorf("ReadLock = %+v, %v; want pid %d", info, running, cmd.Process.Pid)
	}
	_, err = records.Lock(root)
	wantCode(t, err, fyllo.CodeAlreadyRunning)
	cmd.Process.Kill()
	cmd.Wait()
	if info, running := records.ReadLock(root); running {
		t.Errorf("a killed Core reads as running: %+v", info)
	}
	l, err := records.Lock(root)
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
}

// Also for the superuser, whom permissions do not stop.
func TestRootThatCannotBeWritten_R_CLI_011(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, filepath.Join(dir, "file"), "x")
	mustWrite(t, filepath.Join(dir, "taken", "core.lock", "x"), "x")
	before := strings.Join(tree(t, dir), "\n")
	for _, root := range []string{"file", "file/home", "file/a/b", "taken"} {
		_, err := records.Lock(filepath.Join(dir, root))
		wantCode(t, err, fyllo.CodeHomeNotWritable)
		if _, running := records.ReadLock(filepath.Join(dir, root)); running {
			t.Errorf("%s reads as running", root)
		}
	}
	if after := strings.Join(tree(t, dir), "\n"); after != before {
		t.Errorf("changed:\n%s\nwas:\n%s", after, before)
	}
}
