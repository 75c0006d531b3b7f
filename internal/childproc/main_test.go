package childproc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fyllocode.dev/fyllo/internal/childproc"
)

// The test binary plays every part; the first argument names it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if role, ok := roles[os.Args[1]]; ok {
			role(os.Args[2:])
			os.Exit(0)
		}
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // or every child lives a second longer under -race
	goleak.VerifyTestMain(m)
}

var roles map[string]func(args []string)

func init() {
	roles = map[string]func([]string){
		"role:echo":     func([]string) { _, _ = io.Copy(os.Stdout, os.Stdin) },
		"role:exit3":    func([]string) { fmt.Fprint(os.Stderr, "first line\nlast words\n"); os.Exit(3) },
		"role:segv":     func([]string) { signal.Reset(); _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} },
		"role:stubborn": stubborn,
		"role:parent":   parent,
		"role:flood":    flood,
		"role:tmp":      func([]string) { fmt.Println(os.Getenv("TMPDIR")); _, _ = io.Copy(io.Discard, os.Stdin) },
		"role:escape":   escape,
		"role:sleep":    func([]string) { time.Sleep(time.Minute) },
		"role:term":     term,
		"role:noisy":    noisy,
		"role:guard":    func([]string) { _ = childproc.GuardMain(os.Stdin) },
		"role:core":     core,
		"role:victim":   victim,
		"role:regicide": regicide,
	}
}

// stubborn ignores the end of its input and SIGTERM.
func stubborn([]string) {
	signal.Ignore(syscall.SIGTERM)
	fmt.Println("ready")
	time.Sleep(time.Minute)
}

// term ignores the end of its input and says so when SIGTERM comes.
func term([]string) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	fmt.Println("ready")
	<-c
	fmt.Println("got SIGTERM")
}

// parent starts a grandchild that ignores SIGTERM, in the same group, and prints its pid. With "stay" it then
// lives until its input ends, otherwise it exits at once. With "away" behind it the grandchild has a session of its
// own.
func parent(args []string) {
	cmd := exec.Command(os.Args[0], "role:stubborn")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: len(args) > 1}
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		return
	}
	_, _ = bufio.NewReader(out).ReadString('\n')
	fmt.Println(cmd.Process.Pid)
	if len(args) > 0 {
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
}

// escape leaves a process in another session behind that holds all its pipes.
func escape([]string) {
	cmd := exec.Command(os.Args[0], "role:sleep")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	_ = cmd.Start()
	fmt.Fprintln(os.Stderr, cmd.Process.Pid)
	fmt.Println("gone")
}

func flood([]string) {
	os.Stdout.WriteString(strings.Repeat("x", 60_000)) // fits into the pipe, so the child is dead before it is read
}

func noisy([]string) {
	w := bufio.NewWriter(os.Stderr)
	for i := range 100_000 {
		fmt.Fprintf(w, "line %d\n", i)
	}
	w.Flush()
}

type corePIDs struct{ Pids []int }

// core starts three children, each with a grandchild, prints all pids and waits to be killed.
func core(args []string) {
	h := childproc.New(childproc.Options{Guard: []string{os.Args[0], "role:guard"}, TempDir: args[0]})
	var out corePIDs
	for i := range 3 {
		role := []string{"role:parent", "stay"}
		if i == 2 && runtime.GOOS == "linux" {
			role = append(role, "away")
		}
		p, err := h.Start(childproc.Spec{Path: os.Args[0], Args: role})
		if err != nil {
			fmt.Println(err)
			return
		}
		var grand int
		fmt.Fscan(p.Stdout(), &grand)
		out.Pids = append(out.Pids, p.PID(), grand)
	}
	_ = json.NewEncoder(os.Stdout).Encode(out)
	time.Sleep(time.Minute)
}

// victim starts a child that kills it at once.
func victim(args []string) {
	h := childproc.New(childproc.Options{Guard: []string{os.Args[0], "role:guard"}, TempDir: args[0]})
	if _, err := h.Start(childproc.Spec{Path: os.Args[0], Args: []string{"role:regicide", args[1]}}); err != nil {
		fmt.Println(err)
	}
	time.Sleep(time.Minute)
}

// regicide starts a grandchild, writes its pid to a file, kills its parent and thereby itself.
func regicide(args []string) {
	parent := os.Getppid()
	cmd := exec.Command(os.Args[0], "role:stubborn")
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
	}
	_ = os.WriteFile(args[0], fmt.Append(nil, cmd.Process.Pid), 0o600)
	_ = syscall.Kill(parent, syscall.SIGKILL)
	time.Sleep(time.Minute)
}

// alive reports whether a process exists and is more than a zombie waiting for its parent.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !os.IsNotExist(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func waitDead(t *testing.T, pids ...int) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		left := 0
		for _, pid := range pids {
			if alive(pid) {
				left = pid
			}
		}
		if left == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d is still alive", left)
		}
	}
}

func newHost(t *testing.T, o childproc.Options) *childproc.Host {
	t.Helper()
	o.TempDir = t.TempDir()
	if o.Guard == nil {
		o.Guard = []string{os.Args[0], "role:guard"}
	}
	h := childproc.New(o)
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h
}

func start(t *testing.T, h *childproc.Host, args ...string) *childproc.Proc {
	t.Helper()
	p, err := h.Start(childproc.Spec{Path: os.Args[0], Args: args})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func readAll(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// line reads one line without reading ahead.
func line(t *testing.T, r io.Reader) string {
	t.Helper()
	var out []byte
	for b := make([]byte, 1); ; {
		if _, err := r.Read(b); err != nil {
			t.Fatalf("%v after %q", err, out)
		}
		if b[0] == '\n' {
			return string(out)
		}
		out = append(out, b[0])
	}
}
