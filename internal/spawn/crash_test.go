package spawn_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
)

// crash is the data root as a kill after one operation would leave it, and what the caller knew then.
type crash struct {
	after    string
	root     string
	accepted bool // the caller has the word that Core owns the turn
}

// crashes notes a copy of the data root after each operation on it, from now on.
func (w *world) crashes(accepted func() bool) *[]crash {
	var all []crash
	w.store.watch(func(what string) {
		copied := w.t.TempDir()
		if err := os.CopyFS(copied, os.DirFS(w.root)); err != nil {
			w.t.Error(err)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		all = append(all, crash{what, copied, accepted()})
	})
	return &all
}

// A kill between any two operations of a turn leaves, after the next start: nothing, if nobody knows of the Session; a
// completed turn with a readable response; or an interrupted one with what it had said. Never one that runs, never two
// answers, and the parent is told once of what was accepted. The same holds when that start is killed as well.
func TestKillBetweenAnyTwoOperations_R_SPAWN_028_040_093_094_101(t *testing.T) {
	for name, end := range map[string]func(w *world, a *fakeAgent, p prompted, id fyllo.SessionID){
		"completed": func(_ *world, a *fakeAgent, p prompted, _ fyllo.SessionID) { a.finish(p, "end_turn") },
		"failed": func(_ *world, a *fakeAgent, p prompted, _ fyllo.SessionID) {
			a.send(p, fyllo.AgentEvent{PromptDone: &fyllo.PromptDone{Token: p.token, Err: fyllo.Errorf(fyllo.CodeInternal, "it broke")}})
		},
		"cancelled": func(w *world, a *fakeAgent, p prompted, id fyllo.SessionID) {
			_, _ = w.e.Cancel(context.Background(), mum, string(id))
			a.finish(p, "cancelled")
		},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				told := false // guarded by w.mu
				w.notified = func(ctx context.Context, _ fyllo.SpawnOwner, _ string, _ func() error) (bool, error) {
					<-ctx.Done() // this life of Core tells nobody
					return false, ctx.Err()
				}
				all := w.crashes(func() bool { return told })
				a := w.agents.now()
				id := w.accepted(mum, fyllo.SpawnPrompt{})
				w.mu.Lock()
				told = true
				w.mu.Unlock()
				p := a.prompted(w, 1)
				a.send(p, says("all of the answer"))
				w.until("it is in the log", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return (*all)[len(*all)-1].after == "log lines" })
				end(w, a, p, id)
				w.settled(mum, id)
				w.store.watch(nil)
				w.end()
				if n := len(*all); n < 9 {
					t.Errorf("only %d operations", n)
				}
				for _, c := range slices.Clone(*all) {
					w.recovered(c, id, true)
				}
			})
		})
	}
}

// recovered starts Core on a copy and judges what it makes of it; with again it also kills that start after each operation.
func (w *world) recovered(c crash, id fyllo.SessionID, again bool) {
	t := w.t
	t.Helper()
	w.agents.replace()
	w.mu.Lock()
	w.root, w.told, w.notified = c.root, nil, nil
	w.mu.Unlock()
	var second *[]crash
	w.before = func(*faultyStore) {
		if again {
			second = w.crashes(func() bool { return c.accepted })
		}
	}
	w.start()
	w.before = nil
	turns, _ := w.store.Turns(mum, id)
	w.until("the parent is told", func() bool { return !w.e.Telling(mum) })
	w.store.watch(nil)
	s := w.status(mum, id)
	d, _ := w.e.Detail(context.Background(), mum, id)
	switch {
	case s.Status == fyllo.SpawnNotFound && !c.accepted:
		if list, _ := w.e.List(context.Background(), mum); len(list) != 0 || len(w.told) != 0 {
			t.Errorf("after %s: listed %+v, told %q", c.after, list, w.told)
		}
	case len(turns) != 1 || !turns[0].Phase.Final() || len(d.Turns) != 1:
		t.Errorf("after %s: %+v with the turns %+v", c.after, s, turns)
	default:
		w.judge(c, id, s, d.Turns[0])
	}
	w.end()
	if again {
		for _, next := range slices.Clone(*second) {
			next.after = c.after + ", then " + next.after
			w.recovered(next, id, false)
		}
	}
}

func (w *world) judge(c crash, id fyllo.SessionID, s fyllo.SpawnStatusResult, turn fyllo.SpawnTurnDetail) {
	t := w.t
	t.Helper()
	said := 0
	for _, m := range turn.Messages {
		if m.Role == fyllo.RoleAssistant {
			said++
			if m.Parts[0].Text != "all of the answer" {
				t.Errorf("after %s: it said %+v", c.after, m.Parts)
			}
		}
	}
	want := map[fyllo.SpawnPhase]fyllo.SpawnStatus{
		fyllo.SpawnCompleted: fyllo.SpawnIsExpired, fyllo.SpawnInterrupted: fyllo.SpawnIsInterrupted, fyllo.SpawnError: fyllo.SpawnFailed,
	}[turn.Phase]
	if s.Status != want || s.Code == "" || said > 1 || turn.Prompt != "do it" {
		t.Errorf("after %s: %+v, %d answers, a turn that is %s", c.after, s, said, turn.Phase)
	}
	if turn.Phase == fyllo.SpawnInterrupted && (s.Code != fyllo.CodeAppRestarted || turn.ResponseID != "") {
		t.Errorf("after %s: %+v %+v", c.after, s, turn)
	}
	read, err := w.e.Read(context.Background(), mum, fyllo.SpawnRead{SessionID: string(id), ResponseID: turn.ResponseID})
	if readable := err == nil && read.Content == "all of the answer"; readable != (turn.Phase == fyllo.SpawnCompleted) {
		t.Errorf("after %s: a turn that is %s reads %+v, %v", c.after, turn.Phase, read, err)
	}
	// Told once, if the turn was recorded as running: then it may have been accepted.
	if n := len(w.told); n > 1 || c.accepted && n == 0 && !strings.Contains(c.after, ", then ") {
		t.Errorf("after %s: the parent was told %d times", c.after, n)
	}
	if n := turn.Notification; c.accepted && (n == nil || n.State != fyllo.NotificationDelivered && n.State != fyllo.NotificationUnknown) {
		t.Errorf("after %s: the notification is %+v", c.after, n)
	}
}
