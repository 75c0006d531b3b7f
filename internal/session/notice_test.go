package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/session"
)

const reminded = "<system-reminder>\nwork has ended\n</system-reminder>"

// notify sends a notice and notes its claim.
func (w *world) notify(s fyllo.SessionID, claim func() error) <-chan error {
	done := make(chan error, 1)
	m := w.m
	go func() { done <- m.Notify(context.Background(), wid, s, reminded, claim) }()
	return done
}

func claimed() error { return nil }

func TestNoticeIsAHiddenTurn_R_SPAWN_104_to_109(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("one")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		first := w.notify(s, claimed)
		time.Sleep(time.Second)
		second := w.notify(s, claimed)
		time.Sleep(time.Second)
		agent.send(p, text("answer"))
		agent.finish(p, "end_turn")
		p = agent.prompted(w, 2)
		if len(p.blocks) != 1 || p.blocks[0].Text != reminded {
			t.Errorf("sent %+v", p.blocks)
		}
		if d := w.detail(s); !d.Turn.Notice || !d.Running {
			t.Errorf("%+v", d.Turn)
		}
		_, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{Text: "me"})
		wantCode(t, err, fyllo.CodeSessionBusy)
		_, err = w.m.Enqueue(t.Context(), wid, s, fyllo.QueueRequest{ID: "q", Text: "me"})
		wantCode(t, err, fyllo.CodeSessionBusy)
		agent.send(p, text("I see."))
		agent.finish(p, "end_turn")
		if err := <-first; err != nil {
			t.Error(err)
		}
		p = agent.prompted(w, 3) // one after the other
		select {
		case err := <-second:
			t.Errorf("told before its turn ended: %v", err)
		default:
		}
		agent.finish(p, "end_turn")
		if err := <-second; err != nil {
			t.Error(err)
		}
		w.idle(s)
		for range 2 {
			for _, m := range w.messages(s) {
				for _, part := range m.Parts {
					if strings.Contains(part.Text, "reminder") {
						t.Errorf("the notice shows: %+v", m)
					}
				}
			}
			var told []string
			err := w.m.Whole(t.Context(), wid, s, func(fyllo.SessionSummary) error { return nil }, func(m fyllo.Message) error {
				told = append(told, string(m.Role))
				return nil
			})
			if err != nil || strings.Join(told, " ") != "user assistant assistant" {
				t.Errorf("exported %v %v", told, err)
			}
			w.restart()
		}
	})
}

// What the user has queued goes before a notice (R-SPAWN-105).
func TestUserGoesBeforeANotice_R_SPAWN_105(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("one")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		done := w.notify(s, claimed)
		time.Sleep(time.Second)
		w.queue(s, "a")
		agent.finish(p, "end_turn")
		p = agent.prompted(w, 2)
		if p.blocks[0].Text != "text of a" {
			t.Errorf("sent %+v", p.blocks)
		}
		agent.finish(p, "end_turn")
		agent.finish(agent.prompted(w, 3), "end_turn")
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestNoticeThatIsNotDelivered_R_SPAWN_106_112(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("one")
		agent := w.agents.now()
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		refused := w.notify(s, func() error { return errors.New("no") })
		if err := <-refused; !errors.Is(err, session.ErrNotClaimed) {
			t.Errorf("a refused claim: %v", err)
		}
		before := len(w.messages(s))
		stopped := w.notify(s, claimed)
		p := agent.prompted(w, 2)
		if err := w.m.Cancel(t.Context(), wid, s); err != nil {
			t.Fatal(err)
		}
		agent.finish(p, "cancelled")
		if err := <-stopped; err == nil || errors.Is(err, session.ErrNotClaimed) {
			t.Errorf("a stopped one: %v", err)
		}
		w.idle(s)
		if n := len(w.messages(s)); n != before+1 {
			t.Errorf("%d messages, before %d", n, before)
		}
		w.agents.replace()
		w.agents.err = fyllo.Errorf(fyllo.CodeAgentStartFailed, "no start")
		if err := <-w.notify(s, claimed); !errors.Is(err, session.ErrNotClaimed) {
			t.Errorf("a parent that cannot be made ready: %v", err)
		}
		w.idle(s)
		w.agents.err = nil
		waiting := w.notify(s, claimed)
		agent = w.agents.now()
		agent.prompted(w, 1)
		other := w.notify(s, claimed)
		time.Sleep(time.Second)
		if err := w.m.Delete(t.Context(), wid, s); err != nil {
			t.Fatal(err)
		}
		if err := <-waiting; err == nil || errors.Is(err, session.ErrNotClaimed) {
			t.Errorf("sent, then deleted: %v", err)
		}
		if err := <-other; !errors.Is(err, session.ErrNotClaimed) {
			t.Errorf("waited, then deleted: %v", err)
		}
	})
}
