package core

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
)

// family is a parent Session in a real Core whose Agent calls the tools of fyllo-spawn.
type family struct {
	t      *testing.T
	l      *lab
	c      *served
	parent fyllo.SessionID
	child  fyllo.AgentID
}

func newFamily(t *testing.T, mode fyllo.Mode) *family {
	l := newLab(t)
	c := l.serve()
	f := &family{t: t, l: l, c: c, child: c.agent("default")}
	f.begin(c.agent("default"), mode)
	return f
}

func (f *family) begin(agent fyllo.AgentID, mode fyllo.Mode) {
	f.t.Helper()
	var out fyllo.StartResult
	f.c.must(http.MethodPost, "/api/sessions", fyllo.StartRequest{RequestID: "start-" + string(agent), AgentID: agent, Mode: mode, Text: "echo hello"}, &out)
	f.parent = out.SessionID
	f.c.idle(f.parent)
}

// turn has the parent's Agent do something and returns what it said.
func (f *family) turn(words string) string {
	f.t.Helper()
	var out fyllo.PromptResult
	request := fyllo.PromptRequest{RequestID: words + time.Now().String(), Text: words}
	eventually(f.t, "the parent is free", func() bool { // it may be told about a child's end meanwhile
		err := f.c.call(http.MethodPost, sessionPath(f.parent, "/prompts"), request, &out)
		if err != nil && fyllo.CodeOf(err) != fyllo.CodeSessionBusy {
			f.t.Fatal(err)
		}
		return err == nil
	})
	var text strings.Builder
	eventually(f.t, "the parent has answered", func() bool {
		all := f.c.messages(f.parent)
		i := slices.IndexFunc(all, func(m fyllo.Message) bool { return m.ID == out.Message.ID })
		if i < 0 || i+1 >= len(all) || all[i+1].End == nil {
			return false
		}
		text.Reset()
		for _, p := range all[i+1].Parts {
			text.WriteString(p.Text)
		}
		return true
	})
	return text.String()
}

// call has the parent's Agent call a tool and returns the object that it got.
func (f *family) call(tool string, args map[string]any) (out map[string]any) {
	f.t.Helper()
	b, _ := json.Marshal(args)
	said := f.turn("call " + tool + " " + strings.ReplaceAll(string(b), ";", `\u003b`)) // ; ends a word of the Agent
	if err := json.Unmarshal([]byte(strings.TrimPrefix(said, tool+": ")), &out); err != nil {
		f.t.Fatalf("%s said %q", tool, said)
	}
	return out
}

func (f *family) status(id any) map[string]any {
	return f.call("check_session_status", map[string]any{"sessionId": id})
}

func (f *family) settled(id any) map[string]any {
	f.t.Helper()
	for range 200 {
		if s := f.status(id); s["status"] != "running" {
			return s
		}
	}
	f.t.Fatal("it runs on and on")
	return nil
}

// A real Agent's process delegates to another one over HTTP: it finds it, hands work over in the background, looks, reads,
// continues, waits for an answer, and cancels.
func TestDelegating_R_SPAWN_001_013_022_027_030_035_R_CLI_009(t *testing.T) {
	f := newFamily(t, fyllo.ModeFyllo)
	agents := f.call("available_agents", nil)
	if list := agents["agents"].([]any); len(list) != 3 || list[2].(map[string]any)["agentId"] != "tour" {
		t.Errorf("%v", agents)
	}
	got := f.call("prompt_to_agent", map[string]any{"agentId": f.child, "prompt": "think; tool; echo the answer"})
	if got["status"] != "accepted" {
		t.Fatalf("%v", got)
	}
	id := got["sessionId"]
	s := f.settled(id)
	if s["status"] != "idle" {
		t.Fatalf("%v", s)
	}
	read := f.call("read_response", map[string]any{"sessionId": id, "responseId": s["latestResponseId"]})
	if read["done"] != true || !strings.Contains(read["content"].(string), "### Tool: ") || !strings.HasSuffix(read["content"].(string), "the answer") {
		t.Errorf("%v", read)
	}
	again := f.call("prompt_to_agent", map[string]any{"agentId": f.child, "sessionId": id, "prompt": "session; mcp; cwd", "background": false})
	if again["status"] != "completed" || !strings.Contains(again["content"].(string), "[]") {
		t.Errorf("a child has servers, or no answer: %v", again)
	}
	long := f.call("prompt_to_agent", map[string]any{"agentId": f.child, "prompt": "hang"})
	if c := f.call("cancel_session", map[string]any{"sessionId": long["sessionId"]}); c["cancelled"] != true {
		t.Errorf("%v", c)
	}
	if s := f.settled(long["sessionId"]); s["status"] != "error" || s["code"] != "TURN_CANCELLED_BY_PARENT" {
		t.Errorf("%v", s)
	}
	for _, p := range f.l.received() {
		if p.Method == "session/prompt" && strings.Contains(string(p.Params), "the answer") && strings.Contains(string(p.Params), "system-reminder") && !strings.Contains(string(p.Params), "call ") {
			t.Errorf("the child got more than the prompt: %s", p.Params)
		}
	}
	var status fyllo.Status
	f.c.must(http.MethodGet, "/api/status", nil, &status)
	if status.Spawned.Running != 0 {
		t.Errorf("%d turns run (R-CLI-004)", status.Spawned.Running)
	}
	f.look(id.(string), long["sessionId"].(string))
}

// look sees on the command line what was delegated (R-CLI-009).
func (f *family) look(done, cancelled string) {
	f.t.Helper()
	var list []fyllo.SpawnSummary
	out := f.l.fyllo("spawned", "list", string(f.parent), "--json")
	if err := json.Unmarshal([]byte(out.stdout), &list); err != nil || len(list) != 2 || string(list[0].SessionID) != cancelled || list[0].Status != fyllo.SpawnFailed {
		f.t.Errorf("%+v: %v", out, err)
	}
	var d fyllo.SpawnDetail
	out = f.l.fyllo("spawned", "show", string(f.parent), done, "--json")
	if err := json.Unmarshal([]byte(out.stdout), &d); err != nil || len(d.Turns) != 2 || d.Turns[0].Prompt != "think; tool; echo the answer" || d.Summary.Status != fyllo.SpawnIdle {
		f.t.Errorf("%+v: %v", out, err)
	}
	out = f.l.fyllo("spawned", "show", string(f.parent), done, "--turn", "1")
	if out.code != 0 || !strings.Contains(out.stdout, "the answer") || strings.Contains(out.stdout, "Turn 2") {
		f.t.Errorf("%+v", out)
	}
	for _, args := range [][]string{{"list", "session-none"}, {"show", string(f.parent), "none"}, {"show", string(f.parent), done, "--turn", "9"}} {
		if out := f.l.fyllo(append([]string{"spawned"}, args...)...); out.code != 1 || !strings.Contains(out.stderr, "NOT_FOUND") {
			f.t.Errorf("%v: %+v", args, out)
		}
	}
}

// The parent's Agent hears of each background turn that ended, once, in a turn that shows its answer only; whoever looks at
// the Session meanwhile can stop it and cannot send.
func TestParentIsTold_R_SPAWN_101_to_109(t *testing.T) {
	f := newFamily(t, fyllo.ModeFyllo)
	got := f.call("prompt_to_agent", map[string]any{"agentId": f.child, "prompt": "echo done"})
	told := func() (all []string) {
		for _, r := range f.l.received() {
			if r.Method == "session/prompt" && strings.Contains(string(r.Params), "notificationId") {
				all = append(all, string(r.Params))
			}
		}
		return all
	}
	eventually(t, "the parent is told", func() bool { return len(told()) == 1 })
	f.c.idle(f.parent)
	if text := told()[0]; !strings.Contains(text, got["sessionId"].(string)) || !strings.Contains(text, "status: idle") || strings.Contains(text, "done") {
		t.Errorf("told %s", text)
	}
	all := f.c.stored(f.parent) // the scripted Agent says nothing to a reminder
	if hidden := all[len(all)-1]; hidden.Role != fyllo.RoleUser || len(hidden.Parts) != 0 || hidden.End == nil || hidden.End.StopReason != "end_turn" {
		t.Errorf("%+v", hidden)
	}
	out := f.l.fyllo("sessions", "show", string(f.parent))
	if found := f.l.fyllo("sessions", "search", "notificationId"); strings.Contains(out.stdout+found.stdout, "notificationId:") {
		t.Errorf("it shows: %s %s", out.stdout, found.stdout)
	}
	f.c.stop()
	f.c = f.l.serve()
	f.turn("echo after")
	if n := len(told()); n != 1 {
		t.Errorf("told %d times", n)
	}
}

func TestNativeSessionHasNoServers_R_SPAWN_001_R_AGT_100(t *testing.T) {
	f := newFamily(t, fyllo.ModeNative)
	if said := f.turn("mcp"); said != "[]" {
		t.Errorf("it has %s", said)
	}
}

// The parent's Agent forgets its session, is resumed, or Core ends: the old bearer is dead, the new activation has its own.
func TestBearerEndsWithItsActivation_R_SPAWN_005_009_010(t *testing.T) {
	f := newFamily(t, fyllo.ModeFyllo)
	bearer := func() string {
		said := f.turn("mcp")
		_, rest, _ := strings.Cut(said, "Bearer ")
		token, _, ok := strings.Cut(rest, `"`)
		if !ok || len(token) != 43 {
			t.Fatalf("no bearer in %s", said)
		}
		return token
	}
	works := func(token string) int {
		r, _ := http.NewRequest(http.MethodPost, f.c.base+"/mcp/fyllo-spawn", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.StatusCode
	}
	first := bearer()
	if got := works(first); got != 200 {
		t.Errorf("%d", got)
	}
	if again := bearer(); again != first {
		t.Error("a turn has changed the bearer")
	}
	f.c.must(http.MethodPost, sessionPath(f.parent, "/prompts"), fyllo.PromptRequest{RequestID: "x", Text: "exit 3"}, nil)
	f.c.idle(f.parent)
	eventually(t, "the bearer of the dead process is revoked", func() bool { return works(first) == 401 })
	second := bearer()
	if works(second) != 200 || second == first {
		t.Error("the next activation has no bearer of its own")
	}
	f.c.must(http.MethodDelete, sessionPath(f.parent, ""), nil, nil)
	if got := works(second); got != 401 {
		t.Errorf("%d after the Session was deleted", got)
	}
	f.c.stop()
	err := filepath.WalkDir(f.l.root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if text := f.l.read(path); strings.Contains(text, second) && !strings.Contains(text, "Bearer") {
			t.Errorf("%s holds a bearer", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestKillWhileChildrenRun_R_SPAWN_066_093(t *testing.T) {
	f := newFamily(t, fyllo.ModeFyllo)
	idle := f.call("prompt_to_agent", map[string]any{"agentId": f.child, "prompt": "echo done", "background": false})
	running := f.call("prompt_to_agent", map[string]any{"agentId": f.child, "prompt": "echo half of it; hang"})
	eventually(t, "the child has begun", func() bool { return f.l.prompts("half of it") == 2 }) // the call and the prompt
	time.Sleep(300 * time.Millisecond)                                                          // what it said is written
	f.c.kill()
	f.c = f.l.serve()
	if s := f.status(running["sessionId"]); s["status"] != "interrupted" || s["code"] != "APP_RESTARTED" {
		t.Errorf("%v", s)
	}
	if s := f.status(idle["sessionId"]); s["status"] != "expired" {
		t.Errorf("%v", s)
	}
	if r := f.call("read_response", map[string]any{"sessionId": idle["sessionId"], "responseId": idle["responseId"]}); r["content"] != "done" {
		t.Errorf("%v", r)
	}
	if again := f.call("prompt_to_agent", map[string]any{"agentId": f.child, "sessionId": idle["sessionId"], "prompt": "more"}); again["status"] != "expired" {
		t.Errorf("%v", again)
	}
}

func TestDeletingAParent_R_SPAWN_097_098(t *testing.T) {
	f := newFamily(t, fyllo.ModeFyllo)
	for range 4 {
		if got := f.call("prompt_to_agent", map[string]any{"agentId": f.child, "prompt": "slow 2000 5ms"}); got["status"] != "accepted" {
			t.Fatalf("%v", got)
		}
	}
	f.c.must(http.MethodDelete, sessionPath(f.parent, ""), nil, nil)
	time.Sleep(2 * time.Second)
	if left, _ := filepath.Glob(filepath.Join(f.l.root, "workspaces", "*", "sessions", string(f.parent)+"*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	var status fyllo.Status
	f.c.must(http.MethodGet, "/api/status", nil, &status)
	if status.Spawned.Running != 0 {
		t.Errorf("%d turns run", status.Spawned.Running)
	}
}

func TestInactivityAndDisabledServers_R_CLI_012_R_AGT_106(t *testing.T) {
	f := newFamily(t, fyllo.ModeFyllo)
	f.c.stop()
	f.c = f.l.serveWith("FYLLO_TEST_SPAWN_INACTIVITY=300ms", "FYLLO_TEST_CANCEL_GRACE=100ms")
	got := f.call("prompt_to_agent", map[string]any{"agentId": f.child, "prompt": "deaf", "background": false})
	if got["status"] != "error" || got["code"] != "TURN_CANCEL_UNCONFIRMED" {
		t.Errorf("%v", got)
	}
	f.c.stop()
	f.c = f.l.serveWith("FYLLO_DISABLE_BUNDLED_MCP=1")
	if said := f.turn("mcp"); said != "[]" {
		t.Errorf("it has %s", said)
	}
}

// A newcomer without any Agent sees delegation: the Tour gives a second Tour a file to read, goes on, is told of the end and
// says what came of it.
func TestTourDelegates_R_SPAWN_001_101_R_AGT_100(t *testing.T) {
	l := newLab(t)
	c := l.serveWith("FYLLO_TOUR_PACE=0")
	if err := os.WriteFile(filepath.Join(l.project, "README.md"), []byte("# Demo\n\nhello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out fyllo.StartResult
	c.must(http.MethodPost, "/api/sessions", fyllo.StartRequest{
		RequestID: "tour", AgentID: fyllo.TourAgent, Mode: fyllo.ModeFyllo, Text: "give me the tour", Policy: fyllo.PolicyAllowOnce,
	}, &out)
	said := func() (all []string) {
		for _, m := range c.messages(out.SessionID) {
			if m.Role == fyllo.RoleAssistant && m.End != nil {
				var text strings.Builder
				for _, p := range m.Parts {
					text.WriteString(p.Text)
				}
				all = append(all, text.String())
			}
		}
		return all
	}
	eventually(t, "the Tour says what came of it", func() bool { return len(said()) == 2 })
	if all := said(); !strings.Contains(all[0], "It has the task now") || !strings.Contains(all[1], "> That was `README.md`, 3 lines") {
		t.Errorf("said %q", all)
	}
	var list []fyllo.SpawnSummary
	shown := l.fyllo("spawned", "list", string(out.SessionID), "--json")
	if err := json.Unmarshal([]byte(shown.stdout), &list); err != nil || len(list) != 1 || list[0].AgentID != fyllo.TourAgent || list[0].Status != fyllo.SpawnIdle {
		t.Errorf("%+v: %v", shown, err)
	}
}

// A script that follows sees its children end and the Agent be told; one that does not ends with its own turn, and a Core of
// its own with it.
func TestFollowingAScript_R_CLI_006_007_R_SPAWN_092(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	agent := string(c.agent("default"))
	delegate := func(task string) string {
		return `call prompt_to_agent {"agentId":"` + agent + `","prompt":"` + task + `"}`
	}
	types := func(out cliResult) (all []string) {
		for line := range strings.Lines(out.stdout) {
			var v struct{ Type, Turn, Status string }
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			if v.Type == "spawned" || v.Type == "turn_end" || v.Type == "end" {
				all = append(all, strings.TrimSpace(v.Type+" "+v.Turn+v.Status))
			}
		}
		return all
	}
	want := []string{"spawned running", "turn_end prompt", "spawned idle", "turn_end notification", "end"}
	followed := func(out cliResult) bool { // a child that is begun may be seen starting
		all := slices.DeleteFunc(types(out), func(s string) bool { return s == "spawned starting" })
		return out.code == 0 && slices.Equal(all, want)
	}
	if out := l.fyllo("prompt", "--agent", agent, "--json", "--follow", delegate("sleep 900ms")); !followed(out) {
		t.Errorf("%q: %+v", types(out), out)
	}
	if out := l.fyllo("prompt", "--agent", agent, "--json", delegate("hang")); out.code != 0 || slices.Contains(types(out), "turn_end notification") {
		t.Errorf("%+v", out)
	}
	c.stop()
	if out := l.fyllo("prompt", "--agent", agent, "--json", delegate("sleep 900ms")); !followed(out) {
		t.Errorf("in a Core of its own: %q: %+v", types(out), out)
	}
	if out := l.fyllo("prompt", "--agent", agent, "--json", "--no-follow", delegate("hang")); out.code != 0 || slices.Contains(types(out), "turn_end notification") {
		t.Errorf("in a Core of its own, not following: %+v", out)
	}
}
