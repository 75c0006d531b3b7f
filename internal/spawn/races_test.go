package spawn_test

import (
	"context"
	"testing"
	"testing/synctest"

	"fyllocode.dev/fyllo"
)

// Who has the answer of a turn can go on at once: the reservation is given back before (R-SPAWN-057, §6 steps 19 and 20).
func TestAnswerComesAfterTheReservationIsBack_R_SPAWN_057(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		agent.onSend = func(p prompted) { agent.finish(p, "end_turn") }
		id := w.prompt(mum, fyllo.SpawnPrompt{Mode: fyllo.SpawnSync}).SessionID
		for range 50 {
			got := w.prompt(mum, fyllo.SpawnPrompt{Mode: fyllo.SpawnSync, SessionID: string(id)})
			if got.Status != "completed" || w.status(mum, id).Status != fyllo.SpawnIdle {
				t.Fatalf("%+v", got)
			}
		}
	})
}

// A parent that names a Session of another gets in nobody's way while its call is looked at (R-SPAWN-077, 078).
func TestForeignCallReservesNothingOfTheOwner_R_SPAWN_078(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		agent.onSend = func(p prompted) { agent.finish(p, "end_turn") }
		id := w.prompt(mum, fyllo.SpawnPrompt{Mode: fyllo.SpawnSync}).SessionID
		looked := make(chan struct{})
		w.held = func(o fyllo.SpawnOwner) {
			if o == dad {
				<-looked
			}
		}
		foreign := w.ask(t.Context(), dad, fyllo.SpawnPrompt{SessionID: string(id)})
		synctest.Wait()
		if got := w.prompt(mum, fyllo.SpawnPrompt{Mode: fyllo.SpawnSync, SessionID: string(id)}); got.Status != "completed" {
			t.Errorf("the owner gets %+v", got)
		}
		close(looked)
		if got := <-foreign; got.Status != "not_found" {
			t.Errorf("the other gets %+v", got)
		}
		w.free()
	})
}

// A caller that goes away while the ACP session is opened ends its turn with that reason (R-SPAWN §9.1).
func TestCallerGoesWhileTheSessionOpens_R_SPAWN_075(t *testing.T) {
	for _, mode := range []fyllo.SpawnMode{fyllo.SpawnSync, fyllo.SpawnBackground} {
		run(t, func(t *testing.T, w *world) {
			agent := w.agents.now()
			agent.opening = make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			reply := w.ask(ctx, mum, fyllo.SpawnPrompt{Mode: mode})
			synctest.Wait()
			cancel()
			if got := <-reply; fyllo.CodeOf(got.err) != fyllo.CodeSpawnCancelled {
				t.Errorf("%+v", got)
			}
			w.until("the turn is settled", func() bool { return w.e.Counts().Running == 0 })
			all, err := w.e.List(t.Context(), mum)
			if err != nil || len(all) != 1 || all[0].Error == nil || all[0].Error.Code != fyllo.CodeTurnCancelled {
				t.Errorf("%+v %v", all, err)
			}
			if turns := w.turns(mum, all[0].SessionID); len(turns) != 1 || turns[0].Notification != nil {
				t.Errorf("%+v", turns)
			}
		})
	}
}

// A process that ends between the start of an Agent and the first ACP session holds no call (R-SPAWN-060, 096).
func TestProcessEndsBeforeTheFirstSession_R_SPAWN_096(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.agents.now().die()
		got := w.prompt(mum, fyllo.SpawnPrompt{})
		if got.Status != "expired" || got.Code != fyllo.CodeProcessInvalidated {
			t.Errorf("%+v", got)
		}
		w.free()
	})
}
