package agents

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestExampleAgentThroughTheBinary_R_CLI_003_005_006_007 drives the ACP SDK's own example: every turn of it is a text,
// a tool call, a permission request and what follows from the answer. It cannot load sessions, so that the turn
// after a restart runs in a fresh ACP session.
func TestExampleAgentThroughTheBinary_R_CLI_003_005_006_007(t *testing.T) {
	needPOSIX(t)
	if testing.Short() {
		t.Skip("takes 15 seconds, since the example waits a second between its steps")
	}
	dir := install(t, "example")
	r := newRig(t)
	id := r.add(t, "example", nil, "node", filepath.Join(dir, "node_modules/@agentclientprotocol/sdk/dist/examples/agent.js"))
	r.check(t, id)
	r.serve(t)

	first := r.prompt(t, nil, "--agent", id, "--allow", "once", "first")
	first.wantEnd(t, "end_turn")
	first.wantTool(t, "completed")
	first.wantPermission(t, "selected")
	if !strings.Contains(first.text(), "I'll help you") || !strings.Contains(first.text(), "changes have been applied") {
		t.Errorf("said %q", first.text())
	}
	session := first.lines[0].SessionID

	cut := r.prompt(t, interruptAfter(1), "--session", session, "second")
	cut.wantInterrupted(t)

	r.stop(t)
	r.serve(t)
	third := r.prompt(t, nil, "--session", session, "--allow", "never", "third")
	third.wantPermission(t, "cancelled")
	third.wantEnd(t, "end_turn")
	if strings.Contains(third.text(), "applied") {
		t.Errorf("went on without permission: %q", third.text())
	}

	var users []string
	for _, text := range r.show(t, session).texts() {
		if said, ok := strings.CutPrefix(text, "user: "); ok {
			users = append(users, said)
		}
	}
	if want := []string{"first", "second", "third"}; !slices.Equal(users, want) {
		t.Errorf("the transcript holds the messages %q, want %q", users, want)
	}
	r.stop(t)
}

// TestExampleAgentDiesWithTheCommand_R_CLI_006 runs a turn without a background Core.
func TestExampleAgentDiesWithTheCommand_R_CLI_006(t *testing.T) {
	needPOSIX(t)
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	dir := install(t, "example")
	r := newRig(t)
	id := r.add(t, "example", nil, "node", filepath.Join(dir, "node_modules/@agentclientprotocol/sdk/dist/examples/agent.js"))
	got := r.prompt(t, interruptAfter(1), "--agent", id, "only")
	got.wantInterrupted(t)
	r.wantNoProcess(t)
}
