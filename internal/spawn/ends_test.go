package spawn_test

import (
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
)

// How the Agent's answer to session/prompt ends a turn (R-SPAWN-041).
func TestEveryStopReason_R_SPAWN_041(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		for i, c := range []struct {
			reason string
			done   bool
		}{
			{"end_turn", true}, {"max_tokens", true}, {"max_turn_requests", true}, {"refusal", true},
			{"", true}, {"tomorrow's reason", true}, {"cancelled", false},
		} {
			id := w.accepted(mum, fyllo.SpawnPrompt{Prompt: c.reason})
			p := agent.prompted(w, i+1)
			agent.send(p, says("so far"))
			agent.finish(p, c.reason)
			s := w.settled(mum, id)
			if !c.done {
				if s.Status != fyllo.SpawnFailed || s.Code != fyllo.CodeTurnFailed {
					t.Errorf("%q: %+v", c.reason, s)
				}
				continue
			}
			if s.Status != fyllo.SpawnIdle {
				t.Errorf("%q: %+v", c.reason, s)
				continue
			}
			got, err := w.e.Read(t.Context(), mum, fyllo.SpawnRead{SessionID: string(id), ResponseID: s.LatestResponseID})
			if err != nil || got.Content != "so far" {
				t.Errorf("%q: %+v %v", c.reason, got, err)
			}
		}
		w.free()
	})
}

// What an Agent says of its failure is told without secrets, paths of this machine and endless text (R-SPAWN-041).
func TestFailureOfTheAgentIsScrubbed_R_SPAWN_041(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		id := w.accepted(mum, fyllo.SpawnPrompt{Prompt: "x"})
		p := agent.prompted(w, 1)
		why := `quota used up for sk-abcdef0123456789, api_key=hunter2000 "token": "t0ps3cret" in /home/somebody/.config/x.json, ` +
			`C:\Users\somebody\x and \\server\share\x; see https://docs.example/limits` + strings.Repeat(" and on", 1000)
		agent.send(p, fyllo.AgentEvent{PromptDone: &fyllo.PromptDone{Token: p.token, Err: fyllo.Errorf(fyllo.CodeAgentError, "%s", why)}})
		s := w.settled(mum, id)
		if s.Status != fyllo.SpawnFailed || s.Code != fyllo.CodeTurnFailed || !strings.Contains(s.Message, "quota used up") {
			t.Errorf("%+v", s)
		}
		for _, private := range []string{"abcdef", "hunter", "t0ps3cret", "somebody", "share"} {
			if strings.Contains(s.Message, private) {
				t.Errorf("%q tells %q", s.Message, private)
			}
		}
		if len(s.Message) > 700 {
			t.Errorf("%d bytes", len(s.Message))
		}
		w.free()
	})
}
