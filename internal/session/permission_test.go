package session_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
)

// turnLogSyncs counts how often any turn log was synced.
var turnLogSyncs atomic.Int64

func (l *faultyLog) Sync() error {
	turnLogSyncs.Add(1)
	return l.TurnLog.Sync()
}

// A request that the Agent gives up must not go on asking a person.
func TestWithdrawnPermissionLeavesTheWindow_R_CHAT_142(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		first, answers := askEvent("call-1")
		first.Permission.Request = "7"
		other, _ := askEvent("call-2")
		other.Permission.Request = `"8"`
		agent.send(p, first)
		agent.send(p, other)
		w.until("both are open", func() bool { return len(w.detail(s).Permissions) == 2 })
		k := w.detail(s).Permissions[0]
		agent.send(p, fyllo.AgentEvent{Withdrawn: &fyllo.PermissionWithdrawn{Request: "7"}})
		w.until("one is open", func() bool { d := w.detail(s); return len(d.Permissions) == 1 && d.Attention == 1 })
		if left := w.detail(s).Permissions[0]; left.ToolCallID != "call-2" {
			t.Errorf("left: %+v", left)
		}
		if got := <-answers; got != "" {
			t.Errorf("answered %q, want cancelled", got)
		}
		_, err := w.m.Answer(t.Context(), wid, s, fyllo.AnswerRequest{PermissionID: k.ID, OptionID: "once"})
		wantCode(t, err, fyllo.CodePermissionGone)
		agent.send(p, fyllo.AgentEvent{Withdrawn: &fyllo.PermissionWithdrawn{Request: "7"}}) // once more: nothing
		agent.finish(p, "end_turn")
		w.idle(s)
		w.restart()
		notes := w.messages(s)[1].Parts[0].Tool.Permissions
		if len(notes) != 1 || notes[0].Outcome != "cancelled" || notes[0].By != "agent" {
			t.Errorf("after a restart the tool has %+v", notes)
		}
	})
}

// However many requests are open, a cancel waits for the disk once, and no Agent opens them without end.
func TestManyPermissionsAreRefusedTogether_R_CHAT_052(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		const asked, most = 1000, 256
		var answers []chan string
		for i := range asked {
			ask, answer := askEvent(fmt.Sprint("call-", i%10))
			agent.send(p, ask)
			answers = append(answers, answer)
		}
		for _, answer := range answers[most:] {
			if got := <-answer; got != "" {
				t.Fatalf("answered %q, want cancelled", got)
			}
		}
		if open := len(w.detail(s).Permissions); open != most {
			t.Errorf("%d are open, want %d", open, most)
		}
		before := turnLogSyncs.Load()
		if err := w.m.Cancel(t.Context(), wid, s); err != nil {
			t.Fatal(err)
		}
		for _, answer := range answers[:most] {
			if got := <-answer; got != "" {
				t.Fatalf("answered %q, want cancelled", got)
			}
		}
		if n := turnLogSyncs.Load() - before; n != 1 {
			t.Errorf("the turn log was synced %d times", n)
		}
		time.Sleep(time.Minute) // the cancel is never confirmed
		w.idle(s)
		notes := 0
		for _, part := range w.messages(s)[1].Parts {
			notes += len(part.Tool.Permissions)
		}
		if notes != most {
			t.Errorf("%d decisions are stored, want %d", notes, most)
		}
	})
}
