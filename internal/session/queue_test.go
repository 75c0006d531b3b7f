package session_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
)

func (w *world) queue(s fyllo.SessionID, ids ...string) {
	w.t.Helper()
	for _, id := range ids {
		if _, err := w.m.Enqueue(w.t.Context(), wid, s, fyllo.QueueRequest{ID: id, Text: "text of " + id}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// waiting is the queue of a Session on one line, with why it is held.
func (w *world) waiting(s fyllo.SessionID) string {
	w.t.Helper()
	q := w.detail(s).Queue
	var ids []string
	for _, e := range q.Entries {
		ids = append(ids, e.ID)
	}
	if q.Held != "" {
		ids = append(ids, "held:"+string(q.Held))
	}
	return strings.Join(ids, " ")
}

func wantQueue(w *world, s fyllo.SessionID, want string) {
	w.t.Helper()
	if got := w.waiting(s); got != want {
		w.t.Errorf("queue %q, want %q", got, want)
	}
}

// user lists what the user said.
func (w *world) user(s fyllo.SessionID) string {
	var said []string
	for _, m := range w.messages(s) {
		if m.Role == fyllo.RoleUser {
			said = append(said, m.Parts[0].Text)
		}
	}
	return strings.Join(said, "|")
}

func TestQueueGoesOnWhenATurnEnds_R_CHAT_052(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("one")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		w.queue(s, "a", "b", "a") // the same id again is the same message
		wantQueue(w, s, "a b")
		agent.send(p, text("answer"))
		agent.finish(p, "end_turn")
		agent.send(p, text(" and late words")) // they still join their own turn (R-ACP-022)
		p = agent.prompted(w, 2)
		wantTexts(w, s, "user: one\nassistant: answer and late words (end_turn)\nuser: text of a\n")
		wantQueue(w, s, "b")
		agent.finish(p, "max_tokens")
		agent.finish(agent.prompted(w, 3), "end_turn")
		w.idle(s)
		wantQueue(w, s, "")
		if got := w.user(s); got != "one|text of a|text of b" {
			t.Errorf("said %q", got)
		}
		w.queue(s, "b", "c") // b was sent; c finds nothing to wait for
		agent.prompted(w, 4)
		if got := w.user(s); got != "one|text of a|text of b|text of c" {
			t.Errorf("said %q", got)
		}
	})
}

func TestStoppedAndFailedTurnsHoldTheQueue_R_CHAT_052(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(w *world, s fyllo.SessionID, a *fakeAgent, p fakePrompt)
		want string
		n    int // prompts that this Agent has got when the next message is sent
	}{
		"stopped": {func(w *world, s fyllo.SessionID, a *fakeAgent, p fakePrompt) {
			if err := w.m.Cancel(w.t.Context(), wid, s); err != nil {
				w.t.Fatal(err)
			}
			a.finish(p, "cancelled")
		}, "a b held:stopped", 2},
		"failed": {func(w *world, _ fyllo.SessionID, a *fakeAgent, _ fakePrompt) { w.agents.replace() }, "a b held:failed", 1},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				s := w.first("one")
				agent := w.agents.now()
				p := agent.prompted(w, 1)
				w.queue(s, "a", "b")
				c.end(w, s, agent, p)
				w.idle(s)
				time.Sleep(time.Minute)
				wantQueue(w, s, c.want)
				w.prompt(s, "meanwhile") // goes in front, and the queue stays held
				agent = w.agents.now()
				n := c.n
				agent.finish(agent.prompted(w, n), "end_turn")
				w.idle(s)
				time.Sleep(time.Minute)
				wantQueue(w, s, c.want)
				if _, err := w.m.ReleaseQueue(t.Context(), wid, s); err != nil {
					t.Fatal(err)
				}
				agent.finish(agent.prompted(w, n+1), "end_turn")
				agent.finish(agent.prompted(w, n+2), "end_turn")
				w.idle(s)
				if got := w.user(s); got != "one|meanwhile|text of a|text of b" {
					t.Errorf("said %q", got)
				}
			})
		})
	}
}

func TestQueueSurvivesARestartAndIsHeld_R_CHAT_052(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("one")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		w.queue(s, "a", "b")
		agent.finish(p, "end_turn")
		agent.prompted(w, 2)
		w.restart()
		time.Sleep(time.Minute)
		wantQueue(w, s, "b held:failed") // the turn of a was interrupted
		if got := w.user(s); got != "one|text of a" {
			t.Errorf("said %q", got)
		}
	})
}

// Core died after messages were stored and before the queue was. They do not come back, however many they are.
func TestMessageLeavesTheQueueOnce_R_CHAT_052(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("one")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		want := "one"
		for i := range 24 {
			id := fmt.Sprint("q", i)
			w.queue(s, id)
			want += "|text of " + id
		}
		w.store.set("queue", true)
		agent.finish(p, "end_turn")
		for i := range 24 {
			agent.finish(agent.prompted(w, i+2), "end_turn")
		}
		w.idle(s)
		w.restart()
		wantQueue(w, s, "")
		if got := w.user(s); got != want {
			t.Errorf("said %q", got)
		}
	})
}

func TestQueuedMessageThatCannotBeSentIsHeld_R_CHAT_052(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("one")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		w.queue(s, "a")
		w.spaces.stale = fyllo.Errorf(fyllo.CodeFolderPathMissing, "the Project is gone")
		agent.finish(p, "end_turn")
		w.until("it is held", func() bool { return w.waiting(s) == "a held:failed" })
		if f := w.detail(s).Queue.Failure; f == nil || f.Code != fyllo.CodeFolderPathMissing {
			t.Errorf("failure %+v", f)
		}
		w.spaces.stale = nil
		if _, err := w.m.ReleaseQueue(t.Context(), wid, s); err != nil {
			t.Fatal(err)
		}
		agent.prompted(w, 2)
		wantQueue(w, s, "")
	})
}

func TestSendNow_R_CHAT_052(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("one")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		w.queue(s, "a", "b")
		if _, err := w.m.ChangeQueued(t.Context(), wid, s, "b", fyllo.QueueChange{Now: true}); err != nil {
			t.Fatal(err)
		}
		w.until("the turn is stopped", func() bool { return strings.Contains(agent.seen(), "cancel") })
		wantQueue(w, s, "b a")
		agent.finish(p, "cancelled")
		agent.finish(agent.prompted(w, 2), "end_turn") // and the queue goes on
		agent.prompted(w, 3)
		if got := w.user(s); got != "one|text of b|text of a" {
			t.Errorf("said %q", got)
		}
	})
}

func TestQueueIsEdited_R_CHAT_052(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("one")
		w.agents.now().prompted(w, 1)
		w.queue(s, "a", "b", "c")
		ctx := t.Context()
		words, before, end := "other words", "a", ""
		for _, step := range []struct {
			id     string
			change fyllo.QueueChange
			want   string
		}{
			{"b", fyllo.QueueChange{Text: &words}, "a b c"},
			{"c", fyllo.QueueChange{Before: &before}, "c a b"},
			{"c", fyllo.QueueChange{Before: &end}, "a b c"},
		} {
			if _, err := w.m.ChangeQueued(ctx, wid, s, step.id, step.change); err != nil {
				t.Fatal(err)
			}
			wantQueue(w, s, step.want)
		}
		if got := w.detail(s).Queue.Entries[1].Text; got != words {
			t.Errorf("text %q", got)
		}
		if _, err := w.m.DropQueued(ctx, wid, s, "a"); err != nil {
			t.Fatal(err)
		}
		wantQueue(w, s, "b c")
		_, err := w.m.DropQueued(ctx, wid, s, "a")
		wantCode(t, err, fyllo.CodeNotFound)
		_, err = w.m.ChangeQueued(ctx, wid, s, "a", fyllo.QueueChange{Text: &words})
		wantCode(t, err, fyllo.CodeNotFound)
		blank := " \n"
		_, err = w.m.ChangeQueued(ctx, wid, s, "b", fyllo.QueueChange{Text: &blank})
		wantCode(t, err, fyllo.CodeEmptyMessage)
		_, err = w.m.Enqueue(ctx, wid, s, fyllo.QueueRequest{ID: "x", Text: blank})
		wantCode(t, err, fyllo.CodeEmptyMessage)
		for i := range fyllo.QueueMax - 2 {
			w.queue(s, "n"+strconv.Itoa(i))
		}
		_, err = w.m.Enqueue(ctx, wid, s, fyllo.QueueRequest{ID: "x", Text: "one too many"})
		wantCode(t, err, fyllo.CodeQueueFull)
		w.store.set("queue", true)
		_, err = w.m.DropQueued(ctx, wid, s, "b")
		wantCode(t, err, fyllo.CodeStorageFailed)
		if !strings.HasPrefix(w.waiting(s), "b c ") {
			t.Errorf("a change that was not stored shows: %q", w.waiting(s))
		}
	})
}

// The files of a queued message are its own: the composer has them no more, and its limits begin anew.
func TestFilesOfAQueuedMessage_R_CHAT_043_052(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.can(takesAll)
		s := w.first("one")
		w.agents.now().prompted(w, 1)
		var handles []string
		for range 10 { // as many as a message can have
			handles = append(handles, w.add(s, "notes.md", "words").Handle)
		}
		if _, err := w.m.Enqueue(t.Context(), wid, s, fyllo.QueueRequest{ID: "a", Text: "look", Attachments: handles}); err != nil {
			t.Fatal(err)
		}
		next := w.add(s, "next.md", "other words")
		kept, err := w.library().Kept(t.Context(), wid, s)
		if err != nil || len(kept) != 1 || kept[0].Handle != next.Handle {
			t.Errorf("the composer has %v, %v", kept, err)
		}
		wantCode(t, w.library().Drop(t.Context(), wid, s, handles[0]), fyllo.CodeAttachmentNotFound)
		_, err = w.m.Enqueue(t.Context(), wid, s, fyllo.QueueRequest{ID: "b", Text: "look again", Attachments: handles[:1]})
		wantCode(t, err, fyllo.CodeAttachmentNotFound)
		w.restart()
		if kept, err = w.library().Kept(t.Context(), wid, s); err != nil || len(kept) != 1 {
			t.Errorf("after a restart the composer has %v, %v", kept, err)
		}
		w.can(takesAll)
		// The queue is held and nothing runs: a message beside it takes no file out of it.
		_, err = w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{Text: "look", Attachments: []string{next.Handle, handles[9]}})
		wantCode(t, err, fyllo.CodeAttachmentNotFound)
		if err == nil || !strings.Contains(err.Error(), "queued message") {
			t.Errorf("it says %v", err)
		}
		if _, err := w.m.ReleaseQueue(t.Context(), wid, s); err != nil {
			t.Fatal(err)
		}
		p := w.agents.now().prompted(w, 1)
		if got := strings.Count(told(p), "|resource "); got != len(handles) {
			t.Errorf("the Agent got %d files: %s", got, told(p))
		}
		if _, err := w.m.Enqueue(t.Context(), wid, s, fyllo.QueueRequest{ID: "c", Text: "look", Attachments: []string{next.Handle}}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.m.DropQueued(t.Context(), wid, s, "c"); err != nil {
			t.Fatal(err)
		}
		if kept, err = w.library().Kept(t.Context(), wid, s); err != nil || len(kept) > 0 {
			t.Errorf("files of a removed message wait: %v, %v", kept, err)
		}
	})
}
