//go:build agents

package agents

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fyllocode.dev/fyllo/internal/fakemodel"
)

// steps are the columns of the summary, in the order in which they run.
var steps = []struct {
	name string
	run  func(d *drive, t *testing.T)
}{
	{"check", (*drive).check},
	{"text", (*drive).text},
	{"tool", (*drive).tool},
	{"allow", (*drive).allow},
	{"refuse", (*drive).refuse},
	{"cancel", (*drive).cancel},
	{"after", (*drive).afterCancel},
	{"shell", (*drive).shell},
	{"parallel", (*drive).parallel},
	{"browser", (*drive).browser},
	{"restart", (*drive).restart},
	{"stop", (*drive).stop},
}

// drive is one Agent on its way through the steps.
type drive struct {
	agent   agent
	rig     *rig
	model   *fakemodel.Server
	id      string
	session string
	said    []string          // the user's messages so far
	notes   map[string]string // what the summary says of a step instead of "ok"
}

// TestAgentsThroughTheBinary_R_CLI_003_004_005_006_007 drives real Agents. One session goes through all steps.
func TestAgentsThroughTheBinary_R_CLI_003_004_005_006_007(t *testing.T) {
	needPOSIX(t)
	table := &summary{}
	defer table.print()
	for _, a := range all {
		if !chosen(a.name) {
			continue
		}
		row := table.add(a.name)
		t.Run(a.name, func(t *testing.T) {
			d := newDrive(t, a)
			for _, s := range steps {
				began := time.Now()
				ok := t.Run(s.name, func(t *testing.T) { s.run(d, t) })
				row.note(s.name, d.notes[s.name], time.Since(began), ok)
				if !ok && (s.name == "check" || s.name == "text") {
					t.Fatalf("%s does not work; the rest is left out", s.name)
				}
			}
		})
	}
}

// chosen reports whether a run shall drive the Agent of that name.
func chosen(name string) bool {
	names := os.Getenv("FYLLO_E2E_AGENTS")
	return names == "" || slices.Contains(strings.Split(names, ","), name)
}

func newDrive(t *testing.T, a agent) *drive {
	model, err := fakemodel.Start(fakemodel.Config{})
	if err != nil {
		t.Fatal(err)
	}
	d := &drive{agent: a, rig: newRig(t), model: model, notes: map[string]string{}}
	t.Cleanup(func() {
		if t.Failed() {
			logModel(t, model)
		}
		_ = model.Close()
	})
	d.id = join(t, d.rig, model, a)
	return d
}

// join installs an Agent on a rig, behind a model, and returns its id.
func join(t *testing.T, r *rig, model *fakemodel.Server, a agent) string {
	t.Helper()
	dir := install(t, a.name)
	s := setting{model: model.URL(), home: r.home, project: r.project}
	env := map[string]string{}
	if a.env != nil {
		env = a.env(s)
	}
	if a.files != nil {
		for path, text := range a.files(s) {
			r.write(t, filepath.Join(r.home, path), text)
		}
	}
	command := append([]string{filepath.Join(dir, "node_modules", a.command[0])}, a.command[1:]...)
	return r.add(t, a.name, env, command...)
}

// logModel tells what Agents asked of the model, which mostly explains what they did not do.
func logModel(t *testing.T, model *fakemodel.Server) {
	for _, s := range model.Seen() {
		t.Logf("model: %s %s %d cut=%t %q called %v of %v", s.Method, s.Path, s.Status, s.Cut, s.UserText, s.Calls, s.Tools)
	}
}

// say runs one turn in the session.
func (d *drive) say(t *testing.T, when func(line, *exec.Cmd), text string, args ...string) turn {
	t.Helper()
	d.said = append(d.said, text)
	args = append(args, "--session", d.session, text)
	return d.rig.prompt(t, when, args...)
}

func (d *drive) check(t *testing.T) {
	d.notes["check"] = fmt.Sprintf("%d ms", d.rig.check(t, d.id))
}

func (d *drive) text(t *testing.T) {
	d.rig.serve(t)
	const message = "say: good morning from the model"
	got := d.rig.prompt(t, nil, "--agent", d.id, message)
	d.said = append(d.said, message)
	got.wantEnd(t, "end_turn")
	d.session = got.lines[0].SessionID
	if !strings.Contains(got.text(), "good morning from the model") {
		t.Errorf("said %q: %s", got.text(), got)
	}
}

func (d *drive) path(name string) string { return filepath.Join(d.rig.project, name) }

func (d *drive) tool(t *testing.T) {
	got := d.say(t, nil, "read the file "+d.path("notes.txt"), "--allow", "once")
	got.wantEnd(t, "end_turn")
	got.wantTool(t, "completed")
	if !strings.Contains(got.text(), noteText) {
		t.Errorf("the content of the file did not reach the model, which said %q", got.text())
	}
}

func (d *drive) allow(t *testing.T) {
	got := d.say(t, nil, "write "+d.path("granted.txt")+": granted", "--allow", "once")
	got.wantEnd(t, "end_turn")
	got.wantPermission(t, "selected")
	got.wantTool(t, "completed")
	if data, err := os.ReadFile(d.path("granted.txt")); err != nil || string(data) != "granted\n" {
		t.Errorf("the file holds %q (%v)", data, err)
	}
}

// refuse accepts any stop reason: some Agents tell the model and go on, some end the turn, some call it cancelled.
func (d *drive) refuse(t *testing.T) {
	got := d.say(t, nil, "write "+d.path("refused.txt")+": refused", "--allow", "never")
	got.wantPermission(t, "cancelled")
	if got.exit != 0 || got.end().StopReason == "" {
		t.Errorf("a refused turn ended with %s", got)
	}
	if _, err := os.Stat(d.path("refused.txt")); err == nil {
		t.Error("the file was written without permission")
	}
	d.notes["refuse"] = got.end().StopReason
}

func (d *drive) cancel(t *testing.T) {
	began := time.Now()
	got := d.say(t, interruptAfter(3), "slow 600")
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("a turn of 30 s that was cut at its start took %s", took)
	}
	got.wantInterrupted(t)
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if slices.ContainsFunc(d.model.Seen(), func(s fakemodel.Seen) bool { return s.Cut }) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the Agent still listens to the model")
		}
	}
}

func (d *drive) afterCancel(t *testing.T) {
	got := d.say(t, nil, "say: still here after the cancel")
	got.wantEnd(t, "end_turn")
	if !strings.Contains(got.text(), "still here after the cancel") {
		t.Errorf("said %q: %s", got.text(), got)
	}
}

// blocking is a command that runs until it is killed. Some Agents refuse a long sleep.
const blocking = "tail -f /dev/null"

// whileCommandRuns calls act once, when the Agent has started the blocking command, unless ctx ends before. The tool
// call itself says little: many Agents leave it pending while the command runs.
func (d *drive) whileCommandRuns(ctx context.Context, t *testing.T, act func()) {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if ctx.Err() != nil {
			return
		}
		if d.blocked(t) {
			act()
			return
		}
	}
	t.Errorf("the Agent did not run %q", blocking)
	act()
}

func (d *drive) blocked(t *testing.T) bool {
	return slices.ContainsFunc(d.rig.processes(t), func(p process) bool { return strings.HasPrefix(p.args, blocking) })
}

// shell cancels while a command of the Agent runs. Not every Agent ends the command, so that the stop of Core must.
func (d *drive) shell(t *testing.T) {
	turn, over := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	began := false
	got := d.say(t, func(_ line, cmd *exec.Cmd) {
		if !began {
			began = true
			watch.Go(func() { // ends with the command, or with the turn that ran none
				d.whileCommandRuns(turn, t, func() { _ = cmd.Process.Signal(os.Interrupt) })
			})
		}
	}, "run: "+blocking, "--allow", "once")
	over()
	watch.Wait()
	got.wantInterrupted(t)
	d.wantToolsClosed(t)
	if d.blocked(t) {
		d.notes["shell"] = "ok, runs on"
	}
}

// wantToolsClosed checks that no view can show a tool call as working (decision 15).
func (d *drive) wantToolsClosed(t *testing.T) {
	t.Helper()
	for _, m := range d.rig.show(t, d.session).Messages {
		for _, p := range m.Parts {
			if p.Type == "tool" && !p.Interrupted && p.Status != "completed" && p.Status != "failed" {
				t.Errorf("a tool call of the transcript is still %s", p.Status)
			}
		}
	}
}

// parallel runs a second Session in the same Agent while the first is busy.
func (d *drive) parallel(t *testing.T) {
	busy := make(chan turn, 1)
	streaming := make(chan struct{})
	first := true
	go func() { // ends with the turn
		busy <- d.rig.prompt(t, func(l line, _ *exec.Cmd) {
			if l.Type == "text" && first {
				first = false
				close(streaming)
			}
		}, "--session", d.session, "slow 60")
	}()
	d.said = append(d.said, "slow 60")
	var slow turn
	select {
	case <-streaming:
	case slow = <-busy:
		t.Fatalf("no text came: %s", slow)
	}
	quick := d.rig.prompt(t, nil, "--agent", d.id, "say: meanwhile")
	quick.wantEnd(t, "end_turn")
	slow = <-busy
	slow.wantEnd(t, "end_turn")
	if !strings.Contains(quick.text(), "meanwhile") || strings.Contains(quick.text(), "chunk") {
		t.Errorf("the second Session said %q", quick.text())
	}
	if !strings.Contains(slow.text(), "chunk 60") || strings.Contains(slow.text(), "meanwhile") {
		t.Errorf("the busy Session said %q", slow.text())
	}
}

// browser runs the Playwright spec, where there is one.
func (d *drive) browser(t *testing.T) {
	e2e := filepath.Join(repository(), "e2e")
	runner := filepath.Join(e2e, "node_modules", ".bin", "playwright")
	for _, need := range []string{filepath.Join(e2e, "specs", "agents.spec.ts"), runner} {
		if _, err := os.Stat(need); err != nil {
			d.notes["browser"] = "-"
			t.Skipf("%s is not there", need)
		}
	}
	url := strings.TrimSpace(d.rig.run(t, "--no-open", d.rig.project))
	ctx, cancel := context.WithTimeout(t.Context(), commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, runner, "test", "agents.spec.ts")
	cmd.Dir = e2e
	cmd.Env = append(os.Environ(), "FYLLO_E2E_URL="+url, "FYLLO_E2E_AGENT="+d.agent.name, "FYLLO_E2E_PROJECT="+d.rig.project)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func (d *drive) restart(t *testing.T) {
	d.rig.stop(t)
	d.rig.serve(t)
	got := d.say(t, nil, "say: and again after the restart")
	got.wantEnd(t, "end_turn")
	if !strings.Contains(got.text(), "and again after the restart") {
		t.Errorf("said %q: %s", got.text(), got)
	}
	texts := d.rig.show(t, d.session).texts()
	var users []string
	for _, text := range texts {
		if said, ok := strings.CutPrefix(text, "user: "); ok {
			users = append(users, said)
		}
	}
	if !slices.Equal(users, d.said) {
		t.Errorf("the transcript holds the messages %q, want %q", users, d.said)
	}
	for _, want := range []string{"good morning", noteText, "still here", "and again"} {
		if !slices.ContainsFunc(texts, func(text string) bool {
			return strings.HasPrefix(text, "assistant: ") && strings.Contains(text, want)
		}) {
			t.Errorf("no answer holds %q: %q", want, texts)
		}
	}
}

// stop stops Core in the middle of a turn whose command runs.
func (d *drive) stop(t *testing.T) {
	ended := make(chan turn, 1)
	go func() { // ends with Core
		ended <- d.rig.prompt(t, nil, "--session", d.session, "--allow", "once", "run: "+blocking)
	}()
	d.whileCommandRuns(t.Context(), t, func() { d.rig.stop(t) })
	got := <-ended
	if end := got.end(); end.Type != "end" || end.Error == nil && end.StopReason == "" {
		t.Errorf("the turn had no end: %s", got)
	}
	d.rig.serve(t)
	d.wantToolsClosed(t)
	d.rig.stop(t)
}
