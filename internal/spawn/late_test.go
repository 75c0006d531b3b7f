package spawn_test

import (
	"context"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
)

// What an Agent says up to half a second behind its answer is part of the response; meanwhile the turn is decided and can
// neither be cancelled nor lost with the process or with Core.
func TestWordsBehindTheAnswer_R_ACP_022_R_SPAWN_028_062(t *testing.T) {
	for name, then := range map[string]func(w *world, id fyllo.SessionID) fyllo.SpawnStatus{
		"time": func(w *world, id fyllo.SessionID) fyllo.SpawnStatus {
			if got := w.prompt(mum, fyllo.SpawnPrompt{SessionID: string(id)}); got.Status != "busy" {
				w.t.Errorf("a continuation before it is settled: %+v", got)
			}
			time.Sleep(time.Second)
			return fyllo.SpawnIdle
		},
		"cancel": func(w *world, id fyllo.SessionID) fyllo.SpawnStatus {
			if got, err := w.e.Cancel(context.Background(), mum, string(id)); got.Cancelled || err != nil {
				w.t.Errorf("%+v %v", got, err)
			}
			time.Sleep(time.Second)
			return fyllo.SpawnIdle
		},
		"process": func(w *world, _ fyllo.SessionID) fyllo.SpawnStatus { w.agents.replace(); return fyllo.SpawnIsExpired },
		"exit":    func(w *world, _ fyllo.SessionID) fyllo.SpawnStatus { w.end(); w.start(); return fyllo.SpawnIsExpired },
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				agent := w.agents.now()
				id := w.accepted(mum, fyllo.SpawnPrompt{})
				p := agent.prompted(w, 1)
				agent.send(p, says("the answer"))
				agent.finish(p, "end_turn")
				time.Sleep(400 * time.Millisecond)
				if s := w.status(mum, id); s.Status != fyllo.SpawnIsRunning {
					t.Fatalf("settled before its last words: %+v", s)
				}
				agent.send(p, says(" and a word more"))
				asked := "-"
				agent.send(p, fyllo.AgentEvent{Permission: &fyllo.PermissionAsk{
					Options: []fyllo.PermissionOption{{OptionID: "yes", Kind: "allow_once"}}, Answer: func(option string) { asked = option },
				}})
				w.until("the request is answered", func() bool { return asked == "" }) // cancelled
				want := then(w, id)
				w.until("it is settled", func() bool { return w.status(mum, id).Status == want })
				turn := w.turns(mum, id)[0]
				got, err := w.e.Read(t.Context(), mum, fyllo.SpawnRead{SessionID: string(id), ResponseID: turn.ResponseID})
				if err != nil || got.Content != "the answer and a word more" || turn.Phase != fyllo.SpawnCompleted {
					t.Errorf("%+v %v, %+v", got, err, turn)
				}
				agent.send(p, says(" too late"))
				time.Sleep(time.Second)
				d, _ := w.e.Detail(t.Context(), mum, id)
				if m := d.Turns[0].Messages; len(m) != 2 || m[1].Parts[0].Text != got.Content {
					t.Errorf("%+v", m)
				}
				w.free()
			})
		})
	}
}

// The inactivity clock is the monotonic one: time that the machine slept does not count, and a machine that slept gets one
// full fresh period (R-SPAWN-068).
func TestSleepingMachine_R_SPAWN_068(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		id := w.accepted(mum, fyllo.SpawnPrompt{})
		agent.prompted(w, 1)
		time.Sleep(fyllo.SpawnInactivity - time.Minute)
		w.e.Slept(mum, id, time.Hour)
		time.Sleep(2 * time.Minute) // the timer fires
		if s := w.status(mum, id); s.Status != fyllo.SpawnIsRunning {
			t.Fatalf("cancelled right after the sleep: %+v", s)
		}
		time.Sleep(fyllo.SpawnInactivity - 2*time.Minute)
		if s := w.status(mum, id); s.Status != fyllo.SpawnIsRunning {
			t.Fatalf("no full fresh period: %+v", s)
		}
		time.Sleep(2 * time.Minute)
		if s := w.settled(mum, id); s.Code != fyllo.CodeTurnUnconfirmed {
			t.Errorf("%+v", s)
		}
	})
}
