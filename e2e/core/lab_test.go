package core

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fyllocode.dev/fyllo/internal/testagent"
)

const (
	// patience is how long anything may take that a loaded machine could make slow.
	patience = 60 * time.Second
	// pollEvery is the pause between two looks at something that cannot be waited for.
	pollEvery = 5 * time.Millisecond
	// markName is the variable by which a test finds the processes it began.
	markName = "FYLLO_E2E_MARK"
	// secret is an environment value of every Agent of these tests; it may stand in custom-agents.json and nowhere else.
	secret = "value-that-nobody-may-read"
)

// lab is one private machine: a data root, a Project, and a log of all that Agents received.
type lab struct {
	t       *testing.T
	base    string
	root    string // the data root
	project string
	log     string   // of the Agents
	agents  int      // added so far; makes their commands differ
	env     []string // of the next Core
}

func newLab(t *testing.T) *lab {
	t.Helper()
	base, err := os.MkdirTemp("", "fyllo-core-")
	if err != nil {
		t.Fatal(err)
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	l := &lab{
		t: t, base: base, root: filepath.Join(base, "home"), project: filepath.Join(base, "project"),
		log: filepath.Join(base, "agent.log"),
	}
	if err := os.Mkdir(l.project, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, pid := range l.processes() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if os.Getenv("FYLLO_E2E_KEEP") != "" {
			t.Log("kept", base)
			return
		}
		_ = os.RemoveAll(base)
	})
	return l
}

// environ is the environment of everything that the lab starts.
func (l *lab) environ() []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + l.base, "TMPDIR=" + l.base, "FYLLO_HOME=" + l.root, "FYLLO_REGISTRY_URL=", "BROWSER=true",
		"SHELL=/bin/sh", "LANG=C.UTF-8", testagent.EnvLog + "=" + l.log, markName + "=" + l.base,
	}, l.env...)
}

// command prepares a run of the binary.
func (l *lab) command(args ...string) *exec.Cmd {
	cmd := exec.Command(fylloBin, args...)
	cmd.Dir, cmd.Env = l.project, l.environ()
	return cmd
}

// cliResult is what a run of the command line left.
type cliResult struct {
	code           int
	stdout, stderr string
}

// fyllo runs the command line to its end.
func (l *lab) fyllo(args ...string) cliResult {
	l.t.Helper()
	var out, errs bytes.Buffer
	cmd := l.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		l.t.Fatal(err)
	}
	return cliResult{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// processes returns the living processes that the lab began, in any generation.
func (l *lab) processes() []int {
	var found []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(env, []byte(markName+"="+l.base+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			found = append(found, pid)
		}
	}
	return found
}

// noProcess wants every process of the lab gone within the limit.
func (l *lab) noProcess(limit time.Duration) {
	l.t.Helper()
	l.noneOf(limit, func(int, []byte) bool { return true })
}

// noAgentProcess wants all Agents and their children gone within the limit. The guard, which ended them, may still be
// there: where nobody collects the dead at once, it takes them for alive a little longer.
func (l *lab) noAgentProcess(limit time.Duration) {
	l.t.Helper()
	l.noneOf(limit, func(_ int, command []byte) bool { return !bytes.Contains(command, []byte("__guard")) })
}

// noneOf wants no process of the lab left that counts.
func (l *lab) noneOf(limit time.Duration, counts func(pid int, command []byte) bool) {
	l.t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	left := map[int]string{}
	ok := within(limit, func() bool {
		clear(left)
		for _, pid := range l.processes() {
			if line := commandOf(pid); counts(pid, line) {
				left[pid] = string(line)
			}
		}
		return len(left) == 0
	})
	if !ok {
		l.t.Fatalf("processes are left after %s: %v", limit, left)
	}
}

func commandOf(pid int) []byte {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // gone meanwhile: nothing
	return line
}

// received returns what the Agents got, in order.
func (l *lab) received() []testagent.Received {
	l.t.Helper()
	all, err := testagent.ReadLog(l.log)
	if err != nil {
		l.t.Fatal(err)
	}
	return all
}

// methods returns the methods that the Agents got, without those of the handshake.
func (l *lab) methods() []string {
	var out []string
	for _, r := range l.received() {
		if r.Method != "" && r.Method != "initialize" && r.Method != "session/close" {
			out = append(out, r.Method)
		}
	}
	return out
}

// prompts counts the prompts that contain text, over all Agents.
func (l *lab) prompts(text string) int {
	n := 0
	for _, r := range l.received() {
		if r.Method == "session/prompt" && bytes.Contains(r.Params, []byte(text)) {
			n++
		}
	}
	return n
}

// noOverlap wants that no ACP session ever got a prompt while another one ran in it (decision 14).
func (l *lab) noOverlap() {
	l.t.Helper()
	for _, r := range l.received() {
		if r.Event == "overlap" {
			l.t.Errorf("an Agent got a prompt while another one ran: %s", r.Params)
		}
	}
}

// files returns the paths of regular files below dir that match the pattern, relative to the data root.
func (l *lab) files(pattern string) []string {
	l.t.Helper()
	var found []string
	err := filepath.WalkDir(l.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if ok, _ := filepath.Match(pattern, d.Name()); ok {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return found
}

// within looks again and again until ok holds, for at most the limit.
func within(limit time.Duration, ok func() bool) bool {
	for end := time.Now().Add(limit); ; time.Sleep(pollEvery) {
		if ok() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// eventually fails the test when ok does not come true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if !within(patience, ok) {
		t.Fatalf("after %s still not: %s", patience, what)
	}
}

// tail collects output of a process.
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (b *tail) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String returns all of it.
func (b *tail) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// firstLine returns the first whole line, false when there is none yet.
func (b *tail) firstLine() (string, bool) {
	line, _, ok := strings.Cut(b.String(), "\n")
	return line, ok
}

// guardOf returns the process that watches over the children of a Core.
func (l *lab) guardOf(c *served) []int {
	return slices.DeleteFunc(l.processes(), func(pid int) bool {
		return pid == c.cmd.Process.Pid || !bytes.Contains(commandOf(pid), []byte("__guard"))
	})
}

// read returns a file.
func (l *lab) read(path string) string {
	l.t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		l.t.Fatal(err)
	}
	return string(content)
}

// edit changes a file by hand, as nobody should while Core runs.
func (l *lab) edit(path string, change func(string) string) {
	l.t.Helper()
	old := l.read(path)
	text := change(old)
	if text == old {
		l.t.Fatalf("%s: nothing to change in %.300q", path, old)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
}
