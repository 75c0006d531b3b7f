//go:build agents

package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyllocode.dev/fyllo/internal/fakemodel"
)

// spawnLimit bounds the wait for a child; every look takes a whole turn of the parent.
const spawnLimit = 90 * time.Second

// delegation is a real Agent, the parent, whose model hands work to another real Agent.
type delegation struct {
	rig           *rig
	model         *fakemodel.Server
	parent, child string // ids
	session       string // of the parent; "" before its first turn
}

// TestRealAgentsDelegate_R_SPAWN_001_013_014_022_025_070 has two real Agents give work to each other. The parent's own MCP client speaks
// to Core, and the child asks for a permission that nobody is there to give.
func TestRealAgentsDelegate_R_SPAWN_001_013_014_022_025_070(t *testing.T) {
	needPOSIX(t)
	for _, pair := range [][2]string{{"opencode", "claude"}, {"claude", "opencode"}} {
		if !chosen(pair[0]) || !chosen(pair[1]) {
			continue
		}
		t.Run(pair[0]+" to "+pair[1], func(t *testing.T) {
			d := newDelegation(t, pair[0], pair[1])
			t.Run("agents", d.agents)
			t.Run("wait", d.wait)
			t.Run("background", d.background)
			t.Run("cancel", d.cancel)
			d.rig.stop(t)
		})
	}
}

func newDelegation(t *testing.T, parent, child string) *delegation {
	model, err := fakemodel.Start(fakemodel.Config{})
	if err != nil {
		t.Fatal(err)
	}
	d := &delegation{model: model, rig: newRig(t)}
	t.Cleanup(func() {
		if t.Failed() {
			logModel(t, model)
		}
		_ = model.Close()
	})
	d.parent, d.child = join(t, d.rig, model, named(parent)), join(t, d.rig, model, named(child))
	d.rig.serve(t)
	return d
}

func named(name string) agent {
	for _, a := range all {
		if a.name == name {
			return a
		}
	}
	panic("no Agent " + name) // a mistake in this file
}

// use has the parent's model call one tool and returns what the tool answered. The model is told at most the beginning of
// an answer, which is where the fields that are looked at here stand.
func (d *delegation) use(t *testing.T, tool string, args map[string]any) string {
	t.Helper()
	input, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"--allow", "once", "use " + tool + " " + string(input)}
	if d.session == "" {
		words = append([]string{"--agent", d.parent}, words...)
	} else {
		words = append([]string{"--session", d.session}, words...)
	}
	got := d.rig.prompt(t, nil, words...)
	for deadline := time.Now().Add(spawnLimit); toldNow(got) && time.Now().Before(deadline); { // the next turn waits for the notice's (R-SPAWN-105)
		got = d.rig.prompt(t, nil, words...)
	}
	got.wantEnd(t, "end_turn")
	d.session = got.lines[0].SessionID
	_, answer, found := strings.Cut(got.text(), "Result: ")
	if !found {
		t.Fatalf("%s was not called: %s", tool, got)
	}
	return answer
}

// toldNow reports whether a prompt was refused because the parent is just being told that a child is done.
func toldNow(g turn) bool {
	e := g.end().Error
	return e != nil && e.Code == "SESSION_BUSY"
}

// field returns a text field of an answer that may be cut off.
func field(answer, name string) string {
	_, rest, _ := strings.Cut(answer, `"`+name+`":"`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

func (d *delegation) agents(t *testing.T) {
	answer := d.use(t, "available_agents", map[string]any{})
	for _, id := range []string{d.parent, d.child} {
		if !strings.Contains(answer, `"agentId":"`+id+`"`) {
			t.Errorf("%s is not among %s", id, answer)
		}
	}
}

// wait delegates a file that the child may only write with permission, and waits for it (R-SPAWN-014).
func (d *delegation) wait(t *testing.T) {
	file := filepath.Join(d.rig.project, "delegated.txt")
	answer := d.use(t, "prompt_to_agent", map[string]any{"agentId": d.child, "background": false, "prompt": "write " + file + ": by the child"})
	if field(answer, "status") != "completed" || field(answer, "responseId") == "" {
		t.Errorf("answered %s", answer)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "by the child\n" {
		t.Errorf("the file holds %q (%v)", text, err)
	}
}

// background delegates, looks until the child is idle, reads its answer, and continues it (R-SPAWN-027, 034).
func (d *delegation) background(t *testing.T) {
	answer := d.use(t, "prompt_to_agent", map[string]any{"agentId": d.child, "prompt": "say: the answer of the child"})
	id := field(answer, "sessionId")
	if field(answer, "status") != "accepted" || id == "" {
		t.Fatalf("answered %s", answer)
	}
	response := field(d.settled(t, id, "idle"), "latestResponseId")
	if text := d.use(t, "read_response", map[string]any{"sessionId": id, "responseId": response}); !strings.Contains(text, "the answer of the child") {
		t.Errorf("read %s", text)
	}
	more := d.use(t, "prompt_to_agent", map[string]any{"agentId": d.child, "sessionId": id, "background": false, "prompt": "say: and once more"})
	if field(more, "status") != "completed" || field(more, "sessionId") != id || field(more, "responseId") == response {
		t.Errorf("continued: %s", more)
	}
	d.wantNoTools(t, "say: and once more") // in its first turn some Agents put so much behind a message that the model server does not tell the message
}

// wantNoTools checks that the child that was given a prompt cannot delegate in turn (R-SPAWN-013).
func (d *delegation) wantNoTools(t *testing.T, prompt string) {
	t.Helper()
	asked := 0
	for _, s := range d.model.Seen() {
		if len(s.Tools) == 0 || !strings.Contains(s.UserText, prompt) || strings.Contains(s.UserText, "use prompt_to_agent") {
			continue // a title, another turn, or the parent
		}
		asked++
		for _, tool := range s.Tools {
			if strings.HasSuffix(tool, "prompt_to_agent") {
				t.Errorf("the child has %s", tool)
			}
		}
	}
	if asked == 0 {
		t.Error("no model was asked by the child")
	}
}

// cancel stops a child at its work; the Agent's process, which the next child needs, stays (R-SPAWN-015, 070).
func (d *delegation) cancel(t *testing.T) {
	answer := d.use(t, "prompt_to_agent", map[string]any{"agentId": d.child, "prompt": "run: " + blocking})
	id := field(answer, "sessionId")
	if got := d.use(t, "cancel_session", map[string]any{"sessionId": id}); !strings.Contains(got, `"cancelled":true`) {
		t.Errorf("answered %s to %s", got, answer)
	}
	if got := d.settled(t, id, "error"); field(got, "code") != "TURN_CANCELLED_BY_PARENT" {
		t.Errorf("after the cancel: %s", got)
	}
	if got := d.use(t, "prompt_to_agent", map[string]any{"agentId": d.child, "sessionId": id, "prompt": "say: no"}); field(got, "status") != "expired" {
		t.Errorf("a cancelled session was continued: %s", got)
	}
	after := d.use(t, "prompt_to_agent", map[string]any{"agentId": d.child, "background": false, "prompt": "say: still there"})
	if field(after, "status") != "completed" {
		t.Errorf("after the cancel: %s", after)
	}
}

// settled looks until a child no longer runs, and wants that status.
func (d *delegation) settled(t *testing.T, id, want string) string {
	t.Helper()
	for deadline := time.Now().Add(spawnLimit); time.Now().Before(deadline); {
		answer := d.use(t, "check_session_status", map[string]any{"sessionId": id})
		switch status := field(answer, "status"); status {
		case "running":
		case want:
			return answer
		default:
			t.Fatalf("the child is %q, want %q: %s", status, want, answer)
		}
	}
	t.Fatalf("the child runs on after %s", spawnLimit)
	return ""
}
