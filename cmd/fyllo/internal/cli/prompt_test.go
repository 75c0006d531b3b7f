package cli

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
)

func TestPromptPrintsLinesInOrder_R_CLI_007(t *testing.T) {
	f := newFakeCore(t)
	f.handle("GET /api/sessions/session-1/body", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "whole "+r.URL.Query().Get("field")+" of "+r.URL.Query().Get("part"))
	})
	f.handle("POST /api/sessions/session-1/permissions/p1", func(w http.ResponseWriter, _ *http.Request) {
		f.send(108, fyllo.EventPermissionClosed, fyllo.PermissionClosed{
			MessageID: fakeAnswer, Note: fyllo.PermissionNote{ID: "p1", Outcome: "cancelled", By: "user"},
		})
		f.end(109, "end_turn")
		_, _ = io.WriteString(w, "{}")
	})
	f.send(100, fyllo.EventDelta, fyllo.Delta{MessageID: "msg-before", PartID: "msg-before.0", Kind: fyllo.PartText, Text: "not ours"})
	f.begin()
	f.send(102, fyllo.EventDelta, fyllo.Delta{MessageID: fakeAnswer, PartID: fakeAnswer + ".0", Kind: fyllo.PartReasoning, Text: "hm"})
	f.send(103, fyllo.EventDelta, fyllo.Delta{MessageID: fakeAnswer, PartID: fakeAnswer + ".1", Index: 1, Kind: fyllo.PartText, Text: "Hello"})
	tool := fyllo.Tool{
		CallID: "c1", Title: "Read", Kind: fyllo.KindRead, Status: fyllo.ToolInProgress,
		Input: &fyllo.Body{Text: "{}", Size: 2}, Locations: []fyllo.Location{{Path: "/a", Line: 3}},
	}
	part := fyllo.Part{ID: fakeAnswer + ".2", Type: fyllo.PartTool, Tool: &tool}
	f.send(104, fyllo.EventPart, fyllo.PartEvent{MessageID: fakeAnswer, Index: 2, Part: part})
	f.send(105, fyllo.EventPart, fyllo.PartEvent{MessageID: fakeAnswer, Index: 2, Part: part}) // no change, no line
	done := tool
	done.Status = fyllo.ToolCompleted
	done.Output = &fyllo.Body{Text: "wh", Size: 5000, Ref: &fyllo.BodyRef{}}
	done.Diffs = []fyllo.Diff{{Path: "/new", New: &fyllo.Body{Text: "x"}}, {Path: "/old", Old: &fyllo.Body{}, New: &fyllo.Body{}}}
	part.Tool = &done
	f.send(106, fyllo.EventPart, fyllo.PartEvent{MessageID: fakeAnswer, Index: 2, Part: part})
	f.send(106, fyllo.EventPlan, fyllo.PlanEvent{Entries: []fyllo.PlanEntry{{Content: "a", Priority: "low", Status: "pending"}}})
	f.send(106, fyllo.EventConfig, fyllo.ConfigEvent{Options: []fyllo.ConfigOption{}})
	f.send(106, fyllo.EventCommands, fyllo.CommandsEvent{Commands: []fyllo.Command{{Name: "init"}}})
	f.send(106, fyllo.EventUsage, fyllo.Usage{Used: 1, Size: 2})
	f.send(107, fyllo.EventPermission, fyllo.Permission{
		ID: "p1", SessionID: fakeSession, MessageID: fakeAnswer, Title: "Write",
		Options: []fyllo.PermissionOption{{OptionID: "o1", Name: "Yes", Kind: "allow_once"}},
	})

	r := f.run(t.Context(), "prompt", "--agent", "a1", "--json", "hi")
	if r.code != ExitDone || r.stderr != "" {
		t.Fatalf("exit %d, stderr %q", r.code, r.stderr)
	}
	want := strings.Join([]string{
		`{"type":"session","sessionId":"session-1","workspaceId":"w1","agentId":"a1","mode":"fyllocode"}`,
		`{"type":"reasoning","messageId":"msg-agent","partId":"msg-agent.0","text":"hm"}`,
		`{"type":"text","messageId":"msg-agent","partId":"msg-agent.1","text":"Hello"}`,
		`{"type":"tool","toolCallId":"c1","title":"Read","kind":"read","status":"in_progress","input":"{}","locations":[{"path":"/a","line":3}]}`,
		`{"type":"tool","toolCallId":"c1","title":"Read","kind":"read","status":"completed","input":"{}","output":"whole output of msg-agent.2",` +
			`"locations":[{"path":"/a","line":3}],"changes":[{"path":"/new","change":"added"},{"path":"/old","change":"modified"}]}`,
		`{"type":"plan","entries":[{"content":"a","priority":"low","status":"pending"}]}`,
		`{"type":"config","options":[]}`,
		`{"type":"commands","commands":[{"name":"init"}]}`,
		`{"type":"usage","used":1,"size":2}`,
		`{"type":"permission","title":"Write","options":[{"optionId":"o1","name":"Yes","kind":"allow_once"}],"outcome":{"outcome":"cancelled"}}`,
		`{"type":"turn_end","turn":"prompt","stopReason":"end_turn"}`,
		`{"type":"end","stopReason":"end_turn"}`,
	}, "\n") + "\n"
	if diff := cmp.Diff(want, r.stdout); diff != "" {
		t.Error(diff)
	}
	answered := f.called("POST /api/sessions/session-1/permissions/")
	if len(answered) != 1 || strings.Contains(answered[0], "optionId") {
		t.Errorf("--allow never answered %q", answered)
	}
}

func TestPromptStreamsPlainText_R_CLI_006(t *testing.T) {
	f := newFakeCore(t)
	f.begin()
	f.text(102, "Hello ")
	f.text(103, "world")
	f.send(104, fyllo.EventPart, fyllo.PartEvent{MessageID: fakeAnswer, Index: 1, Part: fyllo.Part{
		ID: fakeAnswer + ".1", Type: fyllo.PartTool,
		Tool: &fyllo.Tool{CallID: "c", Title: "ls \x1b]0;title\a", Kind: fyllo.KindExecute, Status: fyllo.ToolCompleted},
	}})
	f.end(105, "end_turn")
	f.send(106, fyllo.EventDelta, fyllo.Delta{MessageID: fakeAnswer, PartID: fakeAnswer + ".2", Index: 2, Kind: fyllo.PartText, Text: "late"})
	r := f.run(t.Context(), "prompt", "--agent", "a1", "hi")
	if r.code != ExitDone || r.stdout != "Hello world\n\nlate\n" {
		t.Errorf("exit %d, stdout %q", r.code, r.stdout)
	}
	if r.stderr != "execute: ls ]0;title : completed\n" {
		t.Errorf("stderr %q", r.stderr)
	}
}

func TestPromptReadsStandardInput_R_CLI_006(t *testing.T) {
	f := newFakeCore(t)
	f.begin()
	f.end(102, "max_tokens")
	a, _, _ := testApp("from a pipe\n")
	if code := a.run(t.Context(), []string{"prompt", "--home", f.root, "--agent", "a1", "-"}); code != ExitDone {
		t.Errorf("exit %d", code)
	}
	var sent fyllo.StartRequest
	_, body, _ := strings.Cut(f.called("POST /api/sessions ")[0], "sessions ")
	if err := json.Unmarshal([]byte(body), &sent); err != nil || sent.Text != "from a pipe\n" || sent.RequestID == "" {
		t.Errorf("sent %s: %v", body, err)
	}
}

func TestPromptResumesABrokenStream(t *testing.T) {
	f := newFakeCore(t)
	done := f.background(t.Context(), "prompt", "--agent", "a1", "hi")
	<-f.dials
	f.begin()
	f.text(102, "one ")
	f.cut <- struct{}{}
	if q := <-f.dials; q != "after=102&run=run-1" && q != "after=101&run=run-1" && q != "after=100&run=run-1" {
		t.Errorf("resumed with %q", q)
	}
	f.end(104, "end_turn")
	if r := wait(t, done); r.code != ExitDone {
		t.Errorf("exit %d, stderr %q", r.code, r.stderr)
	}
}

func TestPromptCatchesUpAfterAReset(t *testing.T) {
	f := newFakeCore(t)
	f.answer("GET /api/sessions/session-1", `{"sessionId":"session-1","seq":150,
		"turn":{"state":"streaming","userMessageId":"msg-user","messageId":"msg-agent"},
		"live":{"id":"msg-agent","role":"assistant","parts":[{"id":"msg-agent.0","type":"text","text":"one two three "}]}}`)
	f.begin()
	f.text(102, "one ")
	f.frames <- `[{"seq":140,"type":"reset","data":{}}]`
	f.said += len("two ")     // nobody gets this delta
	f.text(150, "three ")     // in the snapshot already
	f.said -= len("three ")   // joined with what follows, as a Core does when events pile up
	f.text(151, "three four") // in the snapshot with its first half
	f.end(152, "end_turn")
	r := f.run(t.Context(), "prompt", "--agent", "a1", "hi")
	if r.code != ExitDone || r.stdout != "one two three four\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
	}
}

func TestPromptFindsAnEndThatItMissed(t *testing.T) {
	f := newFakeCore(t)
	f.answer("GET /api/sessions/session-1", `{"sessionId":"session-1","seq":150,"turn":{"state":"idle"}}`)
	f.answer("GET /api/sessions/session-1/messages", `{"messages":[{"id":"msg-user","role":"user","parts":[]},
		{"id":"msg-agent","role":"assistant","parts":[{"id":"msg-agent.0","type":"text","text":"all of it"}],"end":{"stopReason":"refusal"}}]}`)
	f.begin()
	f.frames <- `[{"seq":140,"type":"reset","data":{}}]`
	r := f.run(t.Context(), "prompt", "--agent", "a1", "hi")
	if r.code != ExitDone || r.stdout != "all of it\n" || r.stderr != "ended: refusal\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
	}
}

func TestFailureBeforeTheSessionPrintsOnlyTheEndLine_R_CLI_007(t *testing.T) {
	f := newFakeCore(t)
	f.handle("POST /api/sessions/session-9/prompts", otherAgent)
	f.answer("GET /api/sessions/session-9", `{"sessionId":"session-9","workspaceId":"w1","agentId":"a2","mode":"native"}`)
	r := f.run(t.Context(), "prompt", "--session", "session-9", "--agent", "a1", "--json", "hi")
	if r.code != ExitFailed || r.stdout != `{"type":"end","error":{"code":"AGENT_MISMATCH","message":"agent: other","hint":"Use it."}}`+"\n" {
		t.Errorf("exit %d, stdout %q", r.code, r.stdout)
	}
	if r.stderr != "fyllo: agent: other (AGENT_MISMATCH)\nUse it.\n" {
		t.Errorf("stderr %q", r.stderr)
	}
}

func otherAgent(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusConflict)
	_, _ = io.WriteString(w, `{"error":{"code":"AGENT_MISMATCH","message":"agent: other","hint":"Use it."}}`)
}

func TestTurnErrorIsTheOutcome_R_CLI_007(t *testing.T) {
	f := newFakeCore(t)
	f.begin()
	f.send(102, fyllo.EventTurnEnd, fyllo.TurnEndEvent{UserMessageID: fakeMessage, End: fyllo.TurnEnd{
		Error: &fyllo.Failure{Code: fyllo.CodeAgentExited, Message: "agent a1: it exited"},
	}})
	r := f.run(t.Context(), "prompt", "--agent", "a1", "--json", "hi")
	if r.code != ExitFailed || r.types(t) != "session turn_end end" {
		t.Errorf("exit %d, stdout %q", r.code, r.stdout)
	}
	if r.stderr != "fyllo: agent a1: it exited (AGENT_EXITED)\n" {
		t.Errorf("stderr %q", r.stderr)
	}
}

// cancelling makes the fake end its turn as cancelled when it is asked to.
func (f *fakeCore) cancelling() {
	f.handle("POST /api/sessions/session-1/cancel", func(w http.ResponseWriter, _ *http.Request) {
		f.end(200, "cancelled")
		w.WriteHeader(http.StatusNoContent)
	})
}

func TestSignalCancelsTheTurn_R_CLI_006(t *testing.T) {
	f := newFakeCore(t)
	f.cancelling()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := f.background(ctx, "prompt", "--agent", "a1", "--json", "hi")
	f.begin()
	f.text(102, "so far")
	f.eventually("POST /api/sessions ")
	cancel()
	r := wait(t, done)
	if r.code != ExitCancelled || !strings.HasSuffix(r.stdout,
		`{"type":"turn_end","turn":"prompt","stopReason":"cancelled"}`+"\n"+`{"type":"end","stopReason":"cancelled"}`+"\n") {
		t.Errorf("exit %d, stdout %q", r.code, r.stdout)
	}
}

// With --config Core answers only when the Agent could be asked; until then there is nothing to cancel.
func TestSignalEndsAStartThatWaitsForTheAgent_R_CLI_006(t *testing.T) {
	f := newFakeCore(t)
	f.answer("GET /api/sessions/session-9", `{"sessionId":"session-9","workspaceId":"w1","agentId":"a1","mode":"native"}`)
	f.handle("POST /api/sessions/session-9/prompts", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, signal := context.WithCancel(t.Context())
	done := f.background(ctx, "prompt", "--session", "session-9", "--json", "--config", "a=b", "hi")
	f.eventually("POST /api/sessions/session-9/prompts ")
	at := time.Now()
	signal()
	r := wait(t, done)
	if r.code != ExitCancelled || r.stdout != `{"type":"end","stopReason":"cancelled"}`+"\n" {
		t.Errorf("exit %d, stdout %q", r.code, r.stdout)
	}
	if d := time.Since(at); d > checkPatience+2*time.Second {
		t.Errorf("it ended after %s", d)
	}
}

func TestTimeoutCancelsTheTurn_R_CLI_006(t *testing.T) {
	f := newFakeCore(t)
	f.cancelling()
	f.begin()
	r := f.run(t.Context(), "prompt", "--agent", "a1", "--timeout", "300ms", "--json", "hi")
	if r.code != ExitFailed || !strings.Contains(r.stdout, `{"type":"turn_end","turn":"prompt","stopReason":"cancelled"}`) {
		t.Errorf("exit %d, stdout %q", r.code, r.stdout)
	}
	last := r.lines(t)[2]
	if e, _ := last["error"].(map[string]any); last["type"] != "end" || e["code"] != "TURN_TIMEOUT" {
		t.Errorf("last line %v", last)
	}
	if len(f.called("POST /api/sessions/session-1/cancel")) != 1 {
		t.Error("the turn was not cancelled")
	}
}

// brokenPipe is a stdout whose reader has gone away after a while.
type brokenPipe struct{ left int }

func (b *brokenPipe) Write(p []byte) (int, error) {
	if b.left--; b.left < 0 {
		return 0, syscall.EPIPE
	}
	return len(p), nil
}

func TestClosedStdoutCancelsQuietly_R_CLI_006(t *testing.T) {
	f := newFakeCore(t)
	f.cancelling()
	f.begin()
	f.text(102, "one")
	f.text(103, "two")
	a, _, stderr := testApp("")
	a.stdout = &brokenPipe{left: 2}
	code := a.run(t.Context(), []string{"prompt", "--home", f.root, "--agent", "a1", "--json", "hi"})
	if code != ExitFailed || stderr.Len() != 0 || len(f.called("POST /api/sessions/session-1/cancel")) != 1 {
		t.Errorf("exit %d, stderr %q, calls %q", code, stderr, f.called("POST"))
	}
}

func TestSlowStdoutLosesNothing_R_CLI_006(t *testing.T) {
	f := newFakeCore(t)
	read, write := io.Pipe()
	a, _, _ := testApp("")
	a.stdout = write
	code := make(chan int, 1)
	go func() {
		code <- a.run(t.Context(), []string{"prompt", "--home", f.root, "--agent", "a1", "hi"})
		write.Close()
	}()
	f.begin()
	long := strings.Repeat("x", 100_000)
	for i := range 300 {
		f.text(uint64(102+i), long)
	}
	f.end(1000, "end_turn")
	for len(f.frames) > 0 { // everything left the Core before anybody read
		continue
	}
	out, err := io.ReadAll(read)
	if err != nil || len(out) != 300*len(long)+1 || <-code != ExitDone {
		t.Errorf("read %d bytes: %v", len(out), err)
	}
}

func TestAllowOnceTakesOnlyAllowOnce_R_CLI_006(t *testing.T) {
	f := newFakeCore(t)
	f.handle("POST /api/sessions/session-1/permissions/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") == "p2" {
			f.end(110, "end_turn")
		}
		_, _ = io.WriteString(w, "{}")
	})
	f.begin()
	ask := func(id string, options ...fyllo.PermissionOption) {
		f.send(102, fyllo.EventPermission, fyllo.Permission{ID: id, SessionID: fakeSession, MessageID: fakeAnswer, Options: options})
	}
	ask("p1", fyllo.PermissionOption{OptionID: "always", Kind: "allow_always"}, fyllo.PermissionOption{OptionID: "yes", Kind: "allow_once"})
	ask("p2", fyllo.PermissionOption{OptionID: "always", Kind: "allow_always"})
	if r := f.run(t.Context(), "prompt", "--agent", "a1", "--allow", "once", "hi"); r.code != ExitDone {
		t.Errorf("exit %d, stderr %q", r.code, r.stderr)
	}
	calls := f.called("POST /api/sessions/session-1/permissions/")
	if len(calls) != 2 || !strings.Contains(calls[0], `"optionId":"yes"`) || strings.Contains(calls[1], "optionId") {
		t.Errorf("answered %q", calls)
	}
}

func TestNeverHoldsForASessionThatAllowsByItself_R_CLI_006(t *testing.T) {
	f := newFakeCore(t)
	f.answer("GET /api/sessions/session-1", `{"sessionId":"session-1","workspaceId":"w1","agentId":"a1","mode":"native","permissionPolicy":"allow_once"}`)
	f.answer("PATCH /api/sessions/session-1", `{}`)
	f.begin()
	f.end(102, "end_turn")
	if r := f.run(t.Context(), "prompt", "--session", "session-1", "hi"); r.code != ExitDone {
		t.Errorf("exit %d, stderr %q", r.code, r.stderr)
	}
	want := []string{`PATCH /api/sessions/session-1 {"policy":"ask"}`, `PATCH /api/sessions/session-1 {"policy":"allow_once"}`}
	if diff := cmp.Diff(want, f.called("PATCH")); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyMessageStartsNothing_R_CLI_011(t *testing.T) {
	f := newFakeCore(t)
	r := f.run(t.Context(), "prompt", "--agent", "a1", " \u3000\n")
	if r.code != ExitFailed || !strings.Contains(r.stderr, "(EMPTY_MESSAGE)\n") || len(f.called("")) != 0 {
		t.Errorf("exit %d, stderr %q, calls %q", r.code, r.stderr, f.called(""))
	}
}

// A Core that ends cuts the connections that it has not read from: the command goes on with the next one, and the
// message is the same request.
func TestPromptIsSentAgainWhenTheConnectionIsCut_R_CLI_006(t *testing.T) {
	f := newFakeCore(t)
	cut := map[string]bool{}
	f.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost || cut[r.URL.Path] {
			if r.URL.Path == "/api/sessions" {
				f.begin()
				f.end(102, "end_turn")
			}
			return false
		}
		cut[r.URL.Path] = true
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			err = conn.(*net.TCPConn).SetLinger(0) // reset, as the system does for what nobody reads
		}
		if err == nil {
			err = conn.Close()
		}
		if err != nil {
			t.Error(err)
		}
		return true
	}
	if r := f.run(t.Context(), "prompt", "--agent", "a1", "--json", "hi"); r.code != ExitDone || r.stderr != "" {
		t.Fatalf("exit %d, stderr %q", r.code, r.stderr)
	}
	sent := f.called("POST /api/sessions ")
	if len(sent) != 2 || sent[0] != sent[1] {
		t.Errorf("sent %q", sent)
	}
}
