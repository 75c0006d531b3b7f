package cli

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"fyllocode.dev/fyllo"
)

// With --follow the command stays for what was delegated and prints the turn in which the Agent is told; the outcome is
// that of the prompt's turn.
func TestFollowStaysForWhatWasDelegated_R_CLI_006_007(t *testing.T) {
	f := newFakeCore(t)
	child := func(status string) string {
		return `{"sessionId":"child-1","agentId":"a2","status":"` + status + `","updatedAt":"2026-01-01T00:00:00Z"}`
	}
	var mu sync.Mutex
	stage := `{"spawned":[` + child("running") + `],"telling":false}`
	become := func(to string) { mu.Lock(); stage = to; mu.Unlock() }
	asked := make(chan struct{}, 100)
	f.handle("GET /api/sessions/session-1/spawned", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.WriteString(w, stage)
		asked <- struct{}{}
	})
	f.answer("GET /api/sessions/session-1", `{"sessionId":"session-1","seq":112,"turn":{"state":"idle"}}`)
	f.begin()
	f.send(102, fyllo.EventSpawned, fyllo.SpawnedEvent{SessionID: "child-1"})
	f.text(103, "handed over")
	done := f.background(t.Context(), "prompt", "--agent", "a1", "--json", "--follow", "hi")
	<-asked // for the line
	f.end(104, "end_turn")
	<-asked // at rest?
	become(`{"spawned":[` + child("idle") + `],"telling":true}`)
	f.send(105, fyllo.EventSpawned, fyllo.SpawnedEvent{SessionID: "child-1"})
	f.send(106, fyllo.EventTurn, fyllo.Turn{State: fyllo.TurnStreaming, UserMessageID: "notice"})
	f.send(107, fyllo.EventMessage, fyllo.Message{ID: "notice", Role: fyllo.RoleUser})
	f.send(108, fyllo.EventTurn, fyllo.Turn{State: fyllo.TurnStreaming, UserMessageID: "notice", MessageID: "reply"})
	f.send(109, fyllo.EventDelta, fyllo.Delta{MessageID: "reply", PartID: "reply.0", Kind: fyllo.PartText, Text: "it is done"})
	f.send(110, fyllo.EventTurnEnd, fyllo.TurnEndEvent{UserMessageID: "notice", MessageID: "reply", End: fyllo.TurnEnd{StopReason: "end_turn"}})
	f.send(111, fyllo.EventMessage, fyllo.Message{ID: "notice", Role: fyllo.RoleUser, End: &fyllo.TurnEnd{StopReason: "end_turn"}})
	become(`{"spawned":[` + child("idle") + `],"telling":false}`)
	f.send(112, fyllo.EventSpawned, fyllo.SpawnedEvent{SessionID: "child-1"})
	r := wait(t, done)
	want := strings.Join([]string{
		`{"type":"session","sessionId":"session-1","workspaceId":"w1","agentId":"a1","mode":"fyllocode"}`,
		`{"type":"spawned","sessionId":"child-1","agentId":"a2","status":"running"}`,
		`{"type":"text","messageId":"msg-agent","partId":"msg-agent.0","text":"handed over"}`,
		`{"type":"turn_end","turn":"prompt","stopReason":"end_turn"}`,
		`{"type":"spawned","sessionId":"child-1","agentId":"a2","status":"idle"}`,
		`{"type":"text","messageId":"reply","partId":"reply.0","text":"it is done"}`,
		`{"type":"turn_end","turn":"notification","stopReason":"end_turn"}`,
		`{"type":"end","stopReason":"end_turn"}`,
	}, "\n") + "\n"
	if r.code != ExitDone || r.stdout != want {
		t.Errorf("exit %d, stderr %q\n%s\nwant\n%s", r.code, r.stderr, r.stdout, want)
	}
}

// A message meets the Agent being told about delegated work: it waits its turn. A turn of a user is busy at once.
func TestPromptWaitsWhileTheAgentIsTold_R_SPAWN_105_R_CLI_011(t *testing.T) {
	f := newFakeCore(t)
	f.answer("GET /api/sessions/session-1", `{"sessionId":"session-1","workspaceId":"w1","agentId":"a1","mode":"fyllocode"}`)
	busy := `{"error":{"code":"SESSION_BUSY","message":"send: told","details":{"turn":"notification"}}}`
	f.before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/prompts") || len(f.called("POST /api/sessions/session-1/prompts")) > 2 {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, busy)
		return true
	}
	f.begin()
	f.text(102, "hello")
	f.end(103, "end_turn")
	r := f.run(t.Context(), "prompt", "--session", "session-1", "hi")
	sent := f.called("POST /api/sessions/session-1/prompts")
	if r.code != ExitDone || r.stdout != "hello\n" || len(sent) != 3 || sent[0] != sent[2] || strings.Count(r.stderr, "waiting") != 1 {
		t.Errorf("%+v\nsent %q", r, sent)
	}

	f = newFake(t)
	f.answer("GET /api/sessions/session-1", `{"sessionId":"session-1","workspaceId":"w1","agentId":"a1","mode":"fyllocode"}`)
	f.before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/prompts") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"error":{"code":"SESSION_BUSY","message":"send: it works"}}`)
		return true
	}
	r = f.run(t.Context(), "prompt", "--session", "session-1", "hi")
	if sent := f.called("POST /api/sessions/session-1/prompts"); r.code != ExitFailed || len(sent) != 1 || !strings.Contains(r.stderr, "SESSION_BUSY") {
		t.Errorf("%+v\nsent %q", r, sent)
	}
}
