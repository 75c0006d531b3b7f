package childproc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fyllocode.dev/fyllo/internal/childproc"
)

func TestEchoAndEndByStdin(t *testing.T) {
	p := start(t, newHost(t, childproc.Options{}), "role:echo")
	fmt.Fprintln(p.Stdin(), "hello")
	if got := line(t, p.Stdout()); got != "hello" {
		t.Fatalf("got %q", got)
	}
	if err := p.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := p.Exit().String(); got != "exited with status 0" {
		t.Fatal(got)
	}
	if _, err := p.Stdout().Read(make([]byte, 1)); err != io.EOF {
		t.Fatalf("after the end: %v", err)
	}
}

func TestExitCauseAndStderrTail_R_AGT_056(t *testing.T) {
	h := newHost(t, childproc.Options{StderrLimit: 1000})
	for _, c := range []struct{ role, cause, tail string }{
		{"role:exit3", "exited with status 3", "first line\nlast words\n"},
		{"role:segv", "was killed by SIGKILL", ""},
	} {
		p := start(t, h, c.role)
		<-p.Exited()
		if p.Exit().String() != c.cause || p.StderrTail() != c.tail {
			t.Errorf("%s: %v, %q", c.role, p.Exit(), p.StderrTail())
		}
		p.Stdout().Close()
	}
	p := start(t, h, "role:noisy")
	<-p.Exited()
	tail := p.StderrTail()
	if len(tail) > 1000 || !strings.HasPrefix(tail, "line ") || !strings.HasSuffix(tail, "line 99999\n") {
		t.Errorf("bounded tail: %d bytes, %.20q", len(tail), tail)
	}
	p.Stdout().Close()
}

func TestStartErrors(t *testing.T) {
	h := newHost(t, childproc.Options{})
	if _, err := h.Start(childproc.Spec{Path: "/no/such/program"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := h.Start(childproc.Spec{Path: t.TempDir()}); !errors.Is(err, os.ErrPermission) {
		t.Errorf("directory: %v", err)
	}
	h = newHost(t, childproc.Options{Guard: []string{"/no/such/guard"}})
	if _, err := h.Start(childproc.Spec{Path: os.Args[0], Args: []string{"role:sleep"}}); err == nil {
		t.Error("a child without its guard was started")
	}
	if err := h.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := h.Start(childproc.Spec{Path: os.Args[0]}); !errors.Is(err, childproc.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestOutputIsCompleteAfterDeath(t *testing.T) {
	p := start(t, newHost(t, childproc.Options{}), "role:flood")
	<-p.Exited()
	time.Sleep(150 * time.Millisecond) // past the time a pipe may stay open
	if n := len(readAll(t, p.Stdout())); n != 60_000 {
		t.Fatalf("%d bytes", n)
	}
}

func TestEscapedProcessDoesNotHoldTheReader(t *testing.T) {
	// Without a private directory the escaped process is not found, and lives on.
	p, err := newHost(t, childproc.Options{}).Start(childproc.Spec{
		Path: os.Args[0], Args: []string{"role:escape"}, KeepTemp: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, p.Stdout()); got != "gone\n" {
		t.Fatalf("got %q", got)
	}
	<-p.Exited()
	pid, err := strconv.Atoi(strings.TrimSpace(p.StderrTail()))
	if err != nil {
		t.Fatal(err)
	}
	if !alive(pid) {
		t.Error("the escaped process is dead, so this shows nothing")
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

func TestEscapedProcessDiesWithLeader_R_AGT_058(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it cannot be found here")
	}
	p := start(t, newHost(t, childproc.Options{}), "role:escape")
	p.Stdout().Close()
	<-p.Exited()
	pid, err := strconv.Atoi(strings.TrimSpace(p.StderrTail()))
	if err != nil {
		t.Fatal(err)
	}
	if alive(pid) {
		t.Errorf("%d is alive", pid)
	}
}

func TestGrandchildDiesWithLeader_R_AGT_058(t *testing.T) {
	p := start(t, newHost(t, childproc.Options{}), "role:parent")
	grand, err := strconv.Atoi(line(t, p.Stdout()))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	waitDead(t, grand, p.PID())
	p.Stdout().Close()
}

func TestStopLadder_R_AGT_058(t *testing.T) {
	h := newHost(t, childproc.Options{Grace: 100 * time.Millisecond})
	t.Run("SIGTERM", func(t *testing.T) {
		p := start(t, h, "role:term")
		line(t, p.Stdout())
		if err := p.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, p.Stdout()); got != "got SIGTERM\n" {
			t.Fatalf("got %q", got)
		}
	})
	t.Run("SIGKILL, by several callers", func(t *testing.T) {
		p := start(t, h, "role:stubborn")
		line(t, p.Stdout())
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := p.Stop(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if p.Exit().Signal != syscall.SIGKILL {
			t.Fatal(p.Exit())
		}
		waitDead(t, p.PID())
		p.Stdout().Close()
	})
	t.Run("context ends the patience", func(t *testing.T) {
		h := newHost(t, childproc.Options{Grace: time.Hour})
		p := start(t, h, "role:stubborn")
		line(t, p.Stdout())
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := p.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		p.Stdout().Close()
	})
}

func TestCloseStopsAllInParallel_R_AGT_058(t *testing.T) {
	h := newHost(t, childproc.Options{})
	var pids []int
	for range 6 {
		p := start(t, h, "role:stubborn")
		line(t, p.Stdout())
		pids = append(pids, p.PID())
		defer p.Stdout().Close()
	}
	began := time.Now()
	if err := h.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d > 3*time.Second {
		t.Errorf("took %v", d)
	}
	waitDead(t, pids...)
}

func TestPrivateTempDirGoesAway(t *testing.T) {
	p := start(t, newHost(t, childproc.Options{}), "role:tmp")
	dir := line(t, p.Stdout())
	if err := os.WriteFile(filepath.Join(dir, "left-behind"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%s is still there", dir)
	}
}

// A kill -9 of Core leaves nobody alive: neither children nor grandchildren that ignore SIGTERM.
func TestNobodySurvivesKillOfCore_R_AGT_058(t *testing.T) {
	temp := t.TempDir()
	for range 10 {
		cmd := exec.Command(os.Args[0], "role:core", temp)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		text, err := bufio.NewReader(out).ReadString('\n')
		var pids corePIDs
		if err != nil || json.Unmarshal([]byte(text), &pids) != nil || len(pids.Pids) != 6 {
			t.Fatalf("core said %q: %v", text, err)
		}
		for _, pid := range pids.Pids {
			if !alive(pid) {
				t.Fatalf("%d was not alive", pid)
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		waitDead(t, pids.Pids...)
	}
	// The guards also remove the temporary directories.
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		left, err := os.ReadDir(temp)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d temporary directories are left", len(left))
		}
	}
}

// A guard that is killed is replaced at the next start and then knows the older children too.
// TestNobodySurvivesKillOfCoreDuringAStart_R_AGT_058: the child begins something and kills Core before Core can have
// told a guard that it would only now start.
func TestNobodySurvivesKillOfCoreDuringAStart_R_AGT_058(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere nobody can find a grandchild whose group is not known")
	}
	for range 5 {
		temp, file := t.TempDir(), filepath.Join(t.TempDir(), "pid")
		cmd := exec.Command(os.Args[0], "role:victim", temp, file)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil || len(out) > 0 {
			t.Fatalf("%v %s", err, out)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(string(text))
		if err != nil {
			t.Fatal(err)
		}
		waitDead(t, pid)
	}
}

func TestKilledGuardIsReplaced(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	h := newHost(t, childproc.Options{Guard: []string{guardScript(t, pidFile)}})
	first := start(t, h, "role:sleep")
	guard := waitPID(t, pidFile, 0)
	if err := syscall.Kill(guard, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitDead(t, guard)
	second := start(t, h, "role:sleep")
	waitPID(t, pidFile, guard)
	for _, p := range []*childproc.Proc{first, second} {
		if !alive(p.PID()) {
			t.Errorf("%d died with the old guard", p.PID())
		}
		p.Stdout().Close()
	}
}

func waitPID(t *testing.T, file string, not int) int {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		b, _ := os.ReadFile(file)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && pid != not {
			return pid
		}
	}
	t.Fatal("no guard was started")
	return 0
}

// A guard that dies is replaced by itself, however young it was: nothing may depend on a later start, and a group
// that was registered while the old guard was dying must not be lost.
func TestKilledGuardIsReplacedWithoutAnotherStart_R_AGT_058(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	h := newHost(t, childproc.Options{Guard: []string{guardScript(t, pidFile)}})
	p := start(t, h, "role:sleep")
	defer p.Stdout().Close()
	guard := waitPID(t, pidFile, 0)
	for range 2 {
		if err := syscall.Kill(guard, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		guard = waitPID(t, pidFile, guard)
	}
	if !alive(p.PID()) {
		t.Error("the child died with a guard")
	}
}

// guardScript writes a guard that leaves its pid in a file.
func guardScript(t *testing.T, pidFile string) string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "guard")
	body := fmt.Sprintf("#!/bin/sh\necho $$ >%s.tmp && mv %s.tmp %s\nexec %s role:guard\n", pidFile, pidFile, pidFile, os.Args[0])
	if err := os.WriteFile(script, []byte(body), 0o700); err != nil {
		t.Fatal(err)
	}
	return script
}
