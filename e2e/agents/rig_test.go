package agents

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	commandLimit = 2 * time.Minute // of one command; Agents retry for long when something is wrong
	stopLimit    = 20 * time.Second
	noteText     = "the lamp is in the cellar"
)

// rig is one private machine for the binary: its own HOME, TMPDIR, data root and Project.
type rig struct {
	bin                      string
	home, tmp, root, project string
	core                     *exec.Cmd // the running `fyllo serve`; nil: none
	coreErr                  *tail
}

func newRig(t *testing.T) *rig {
	t.Helper()
	base := runFolder(t)
	r := &rig{
		bin: binary(t), home: filepath.Join(base, "home"), tmp: filepath.Join(base, "tmp"),
		root: filepath.Join(base, "data"), project: filepath.Join(base, "project"),
	}
	for _, dir := range []string{r.home, r.tmp, r.project} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.write(t, filepath.Join(r.project, "notes.txt"), noteText+"\n")
	t.Cleanup(func() {
		if r.core != nil {
			_ = r.core.Process.Kill() // a step failed before the stop; its own message is the one that counts
			_ = r.core.Wait()
		}
		for _, p := range r.processes(t) {
			_ = p.kill()
		}
	})
	return r
}

// runFolder is t.TempDir without a failure of the test when a dying process still writes there. Symbolic links are
// resolved, since Agents compare paths.
func runFolder(t *testing.T) string {
	t.Helper()
	base, err := os.MkdirTemp("", "fyllo-agents-")
	if err != nil {
		t.Fatal(err)
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if os.Getenv("FYLLO_E2E_KEEP") == "" {
			_ = os.RemoveAll(base)
		} else {
			t.Log("kept ", base)
		}
	})
	return base
}

func (r *rig) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

var built struct {
	once sync.Once
	path string
	err  error
}

func repository() string {
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		panic(err) // the working directory is gone
	}
	return dir
}

// binary builds fyllo once for all tests of the run.
func binary(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.path = os.Getenv("FYLLO_E2E_BIN"); built.path != "" {
			return
		}
		dir, err := os.MkdirTemp("", "fyllo-bin-")
		if err != nil {
			built.err = err
			return
		}
		built.path = filepath.Join(dir, "fyllo")
		cmd := exec.Command("go", "build", "-o", built.path, "./cmd/fyllo")
		cmd.Dir = repository()
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("FYLLO_E2E_BIN") == "" && built.path != "" {
		_ = os.RemoveAll(filepath.Dir(built.path))
	}
	os.Exit(code)
}

func (r *rig) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.home, "TMPDIR=" + r.tmp, "FYLLO_HOME=" + r.root, "FYLLO_REGISTRY_URL=", "LANG=C.UTF-8",
		"NO_COLOR=1", "NO_BROWSER=1",
	}
}

// command is one run of the binary in the Project. It is killed after commandLimit.
func (r *rig) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, r.bin, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.project, r.env(), 5*time.Second
	return cmd
}

// run runs the binary and returns what it wrote on stdout. It must exit 0.
func (r *rig) run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := r.command(t, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("fyllo %s: %v\n%s%s%s", strings.Join(args, " "), err, out, &stderr, r.coreTail())
	}
	return string(out)
}

// serve starts Core in the background and waits until it accepts requests (R-CLI-003).
func (r *rig) serve(t *testing.T) {
	t.Helper()
	cmd := exec.Command(r.bin, "serve", "--no-open")
	cmd.Dir, cmd.Env = r.project, r.env()
	r.coreErr = &tail{}
	cmd.Stderr = r.coreErr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.core = cmd
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "FylloCode ready at ") {
		t.Fatalf("serve said %q (%v)%s", line, err, r.coreTail())
	}
}

// stop stops Core and checks that it ends in order and that nothing of it, above all no Agent, is left.
func (r *rig) stop(t *testing.T) {
	t.Helper()
	r.run(t, "stop")
	done := make(chan error, 1)
	core := r.core
	r.core = nil
	go func() { done <- core.Wait() }() // ends with Core
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("serve ended with %v%s", err, r.coreTail())
		}
	case <-time.After(stopLimit):
		_ = core.Process.Kill()
		t.Fatalf("serve runs on %s after `fyllo stop`%s", stopLimit, r.coreTail())
	}
	r.wantNoProcess(t)
}

// wantNoProcess gives killed processes a second to be collected by the system.
func (r *rig) wantNoProcess(t *testing.T) {
	t.Helper()
	var left []process
	for range 20 {
		if left = r.processes(t); len(left) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, p := range left {
		t.Errorf("still running: %d %s", p.pid, p.args)
	}
}

func (r *rig) coreTail() string {
	if r.coreErr == nil {
		return ""
	}
	return "\nserve wrote:\n" + r.coreErr.String()
}

// tail keeps the end of what a long-lived process writes.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (l *tail) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data = append(l.data, p...)
	if over := len(l.data) - 8<<10; over > 0 {
		l.data = l.data[over:]
	}
	return len(p), nil
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.data)
}

// line is one line of `prompt --json` (R-CLI-007), as far as these tests look.
type line struct {
	Type       string   `json:"type"`
	SessionID  string   `json:"sessionId"`
	Text       string   `json:"text"`
	ToolCallID string   `json:"toolCallId"`
	Title      string   `json:"title"`
	Status     string   `json:"status"`
	Output     string   `json:"output"`
	Outcome    *outcome `json:"outcome"`
	StopReason string   `json:"stopReason"`
	Error      *failure `json:"error"`
}

type outcome struct {
	Outcome  string `json:"outcome"`
	OptionID string `json:"optionId"`
}

// failure is the error of an end line, or the plain text that a tool line calls error.
type failure struct{ Code, Message string }

func (f *failure) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &f.Message) == nil {
		return nil
	}
	type plain failure
	return json.Unmarshal(data, (*plain)(f))
}

// turn is what one `fyllo prompt --json` printed.
type turn struct {
	lines  []line
	raw    string
	stderr string
	exit   int
}

// prompt runs one turn. when is called with every line as it comes, and may signal the command; nil: nobody looks. It
// may run on a goroutine of its own.
func (r *rig) prompt(t *testing.T, when func(l line, cmd *exec.Cmd), args ...string) turn {
	t.Helper()
	cmd := r.command(t, append([]string{"prompt", "--json"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	var got turn
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return got
	}
	in := bufio.NewReader(stdout)
	for {
		text, err := in.ReadString('\n')
		if text != "" {
			var l line
			if err := json.Unmarshal([]byte(text), &l); err != nil {
				t.Errorf("no JSON line: %q: %v", text, err)
			}
			got.lines, got.raw = append(got.lines, l), got.raw+text
			if when != nil {
				when(l, cmd)
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Errorf("reading prompt: %v", err)
			}
			break
		}
	}
	_ = cmd.Wait() // the exit code is looked at by the caller
	got.exit, got.stderr = cmd.ProcessState.ExitCode(), stderr.String()
	return got
}

func (g turn) text() string {
	var b strings.Builder
	for _, l := range g.lines {
		if l.Type == "text" {
			b.WriteString(l.Text)
		}
	}
	return b.String()
}

func (g turn) of(kind string) []line {
	var all []line
	for _, l := range g.lines {
		if l.Type == kind {
			all = append(all, l)
		}
	}
	return all
}

func (g turn) end() line {
	if n := len(g.lines); n > 0 {
		return g.lines[n-1]
	}
	return line{}
}

func (g turn) String() string {
	raw := g.raw
	if len(raw) > 6<<10 {
		raw = raw[:3<<10] + "\n…\n" + raw[len(raw)-3<<10:]
	}
	return fmt.Sprintf("exit %d\n%s%s", g.exit, raw, g.stderr)
}

// wantEnd checks that the turn ended by itself, with stopReason and exit code 0.
func (g turn) wantEnd(t *testing.T, stopReason string) {
	t.Helper()
	if end := g.end(); g.exit != 0 || end.Type != "end" || end.StopReason != stopReason || end.Error != nil {
		t.Fatalf("the turn ended otherwise than with %q: %s", stopReason, g)
	}
}

// wantTool checks that a tool call ended with status.
func (g turn) wantTool(t *testing.T, status string) {
	t.Helper()
	last := map[string]string{}
	for _, l := range g.of("tool") {
		last[l.ToolCallID] = l.Status
	}
	for _, s := range last {
		if s == status {
			return
		}
	}
	t.Errorf("no tool call ended as %s: %s", status, g)
}

// wantPermission checks that the first permission request of the turn had this outcome.
func (g turn) wantPermission(t *testing.T, want string) {
	t.Helper()
	asked := g.of("permission")
	if len(asked) == 0 {
		t.Fatalf("no permission was asked for: %s", g)
	}
	if o := asked[0].Outcome; o == nil || o.Outcome != want || (want == "selected") != (o.OptionID != "") {
		t.Errorf("permission outcome %+v, want %s", o, want)
	}
}

// wantInterrupted checks the outcome of SIGINT (R-CLI-006).
func (g turn) wantInterrupted(t *testing.T) {
	t.Helper()
	if end := g.end(); g.exit != 130 || end.Type != "end" || end.StopReason != "cancelled" {
		t.Fatalf("after SIGINT: %s", g)
	}
}

// interruptAfter sends SIGINT once, after n pieces of text.
func interruptAfter(n int) func(line, *exec.Cmd) {
	return func(l line, cmd *exec.Cmd) {
		if l.Type != "text" {
			return
		}
		if n--; n == 0 {
			_ = cmd.Process.Signal(os.Interrupt)
		}
	}
}

// transcript is what `sessions show --json` prints (R-CLI-008).
type transcript struct {
	Messages []struct {
		Role  string `json:"role"`
		Parts []struct {
			Type, Text, Status string
			Interrupted        bool
		} `json:"parts"`
	} `json:"messages"`
}

func (r *rig) show(t *testing.T, session string) transcript {
	t.Helper()
	var got transcript
	out := r.run(t, "sessions", "show", session, "--json")
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("sessions show: %v in %s", err, out)
	}
	return got
}

// texts joins the text parts of every message, one message an entry, as "role: text".
func (tr transcript) texts() []string {
	var all []string
	for _, m := range tr.Messages {
		text := ""
		for _, p := range m.Parts {
			if p.Type == "text" {
				text += p.Text
			}
		}
		all = append(all, m.Role+": "+strings.TrimSpace(text))
	}
	return all
}

// add registers the Agent and returns its id (R-CLI-005).
func (r *rig) add(t *testing.T, name string, env map[string]string, command ...string) string {
	t.Helper()
	args := []string{"agents", "add", name}
	for k, v := range env {
		args = append(args, "--env", k+"="+v)
	}
	return strings.TrimSpace(r.run(t, append(append(args, "--"), command...)...))
}

// check starts the Agent and returns the milliseconds until it was ready (R-CLI-005).
func (r *rig) check(t *testing.T, id string) int {
	t.Helper()
	var got struct {
		OK          bool `json:"ok"`
		StartMillis int  `json:"startMillis"`
	}
	out := r.run(t, "agents", "check", id, "--json")
	if err := json.Unmarshal([]byte(out), &got); err != nil || !got.OK {
		t.Fatalf("agents check: %v in %s", err, out)
	}
	return got.StartMillis
}

// needPOSIX skips where the tests cannot look at processes or send an interrupt.
func needPOSIX(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("an interrupt cannot be sent to one command on Windows")
	}
}
