package session_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fyllocode.dev/fyllo"
)

// run runs a scenario in its own bubble of time.
func run(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newWorld(t)) })
}

func wantTexts(w *world, s fyllo.SessionID, want string) {
	w.t.Helper()
	if got := w.texts(s); got != want {
		w.t.Errorf("transcript:\n%swant:\n%s", got, want)
	}
}

func wantCode(t *testing.T, err error, code fyllo.Code) {
	t.Helper()
	if fyllo.CodeOf(err) != code {
		t.Errorf("error %v, want code %s", err, code)
	}
}

func TestFirstMessageStreamsAndIsKept_R_CHAT_053_096(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hello there")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		agent.send(p, text("one "), text("two"))
		w.until("text shows", func() bool { d := w.detail(s); return d.Live != nil && d.Live.Parts[0].Text == "one two" })
		live := *w.detail(s).Live
		if st := w.detail(s).Turn.State; st != fyllo.TurnStreaming {
			t.Errorf("state %s, want streaming", st)
		}
		agent.finish(p, "end_turn")
		w.idle(s)
		wantTexts(w, s, "user: hello there\nassistant: one two (end_turn)\n")
		time.Sleep(time.Second) // the answer moves to the messages file
		if w.detail(s).Live != nil {
			t.Error("the answer is still live after the time for late content")
		}
		wantTexts(w, s, "user: hello there\nassistant: one two (end_turn)\n")
		stored := w.messages(s)[1]
		if stored.ID != live.ID || stored.Parts[0].ID != live.Parts[0].ID {
			t.Errorf("ids differ: live %s %s, stored %s %s", live.ID, live.Parts[0].ID, stored.ID, stored.Parts[0].ID)
		}
		w.restart()
		wantTexts(w, s, "user: hello there\nassistant: one two (end_turn)\n")
	})
}

func TestEventsRebuildTheAnswer(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		var want strings.Builder
		for i := range 5000 {
			chunk := strconv.Itoa(i) + " "
			want.WriteString(chunk)
			agent.send(p, text(chunk))
		}
		agent.finish(p, "end_turn")
		w.idle(s)
		var got strings.Builder
		for _, d := range w.events.of(fyllo.EventDelta) {
			got.WriteString(d.(fyllo.Delta).Text)
		}
		if got.String() != want.String() {
			t.Error("the deltas do not add up to the answer")
		}
	})
}

func TestRepeatedRequestIsAnsweredOnce(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		r := fyllo.StartRequest{AgentID: "fake", Text: "hi", RequestID: "r1"}
		s := w.startWith(r)
		if again := w.startWith(r); again != s {
			t.Errorf("a repeat made %s beside %s", again, s)
		}
		agent := w.agents.now()
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		ask := fyllo.PromptRequest{Text: "more", RequestID: "r2"}
		one, err := w.m.Prompt(t.Context(), wid, s, ask)
		if err != nil {
			t.Fatal(err)
		}
		two, err := w.m.Prompt(t.Context(), wid, s, ask)
		if err != nil || one.Message.ID != two.Message.ID {
			t.Errorf("repeat: %v, message %s, want %s", err, two.Message.ID, one.Message.ID)
		}
		agent.finish(agent.prompted(w, 2), "end_turn")
		w.idle(s)
		w.restart()
		if again := w.startWith(r); again != s {
			t.Errorf("after a restart a repeat made %s beside %s", again, s)
		}
		three, err := w.m.Prompt(t.Context(), wid, s, ask)
		if err != nil || three.Message.ID != one.Message.ID {
			t.Errorf("repeat after restart: %v, message %s, want %s", err, three.Message.ID, one.Message.ID)
		}
	})
}

// A page that was away for long may send again what was taken long ago.
func TestRepeatOfAnOldRequestIsAnsweredToo(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		var old fyllo.Message
		for i := range 30 {
			got, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{Text: "more", RequestID: "<r\"" + strconv.Itoa(i)})
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				old = got.Message
			}
			agent.finish(agent.prompted(w, i+2), "end_turn")
			w.idle(s)
		}
		w.restart()
		for range 2 {
			got, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{Text: "more", RequestID: "<r\"0"})
			if err != nil || got.Message.ID != old.ID {
				t.Errorf("repeat: %v, message %s, want %s", err, got.Message.ID, old.ID)
			}
		}
		if got := w.agents.now().seen(); got != "" {
			t.Errorf("the Agent was asked: %s", got)
		}
	})
}

func TestSecondPromptIsRefusedWhileATurnRuns_R_CHAT_052(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		_, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{Text: "again"})
		wantCode(t, err, fyllo.CodeSessionBusy)
		_, err = w.m.Start(t.Context(), wid, fyllo.StartRequest{AgentID: "fake", Text: " \u3000\n"})
		wantCode(t, err, fyllo.CodeEmptyMessage)
	})
}

func TestCancelIsConfirmedByTheAgent_R_CHAT_052(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		ask, answers := askEvent("call-1")
		agent.send(p, text("part"), ask)
		w.until("the request is open", func() bool { return len(w.detail(s).Permissions) == 1 })
		if err := w.m.Cancel(t.Context(), wid, s); err != nil {
			t.Fatal(err)
		}
		if got := <-answers; got != "" {
			t.Errorf("the open request was answered %q, want cancelled", got)
		}
		if st := w.detail(s).Turn.State; st != fyllo.TurnCancelling {
			t.Errorf("state %s, want cancelling", st)
		}
		agent.send(p, text(" and more"))
		agent.finish(p, "cancelled")
		w.idle(s)
		if !strings.Contains(agent.seen(), "cancel g1s1") {
			t.Errorf("the Agent saw %s", agent.seen())
		}
		wantTexts(w, s, "user: hi\nassistant: part <Write a file pending>  and more (cancelled)\n")
		tool := w.messages(s)[1].Parts[1].Tool
		if !tool.Interrupted || len(tool.Permissions) != 1 || tool.Permissions[0].By != "turn" {
			t.Errorf("tool after cancel: %+v", tool)
		}
	})
}

func TestUnconfirmedCancelGivesTheACPSessionUp_R_CHAT_052(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		agent.send(p, text("part"))
		w.until("text shows", func() bool { return w.detail(s).Live != nil })
		sink := agent.sinks[p.id]
		before := time.Now()
		_ = w.m.Cancel(t.Context(), wid, s)
		w.idle(s)
		if d := time.Since(before); d < 5*time.Second || d > 6*time.Second {
			t.Errorf("given up after %s, want 5 s", d)
		}
		sink(text("too late"))
		w.prompt(s, "next")
		q := agent.prompted(w, 2)
		if q.id == p.id {
			t.Error("the next prompt went to the ACP session that was given up")
		}
		if n := len(q.blocks); n != 3 || !strings.Contains(q.blocks[1].Text, "part") {
			t.Errorf("the fresh ACP session got %d blocks: %+v", n, q.blocks)
		}
		agent.finish(q, "end_turn")
		w.idle(s)
		wantTexts(w, s, "user: hi\nassistant: part (cancelled)\nuser: next (end_turn)\n")
	})
}

func TestPermissionWaitsForAPerson_decision_1(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		ask, answers := askEvent("call-1")
		agent.send(p, ask)
		w.until("the request is open", func() bool { return len(w.detail(s).Permissions) == 1 })
		d := w.detail(s)
		k := d.Permissions[0]
		if k.Title != "Write a file" || len(k.Options) != 3 || k.Options[0].OptionID != "always" || d.Attention != 1 {
			t.Errorf("request %+v, attention %d", k, d.Attention)
		}
		time.Sleep(time.Hour) // it waits without limit
		_, err := w.m.Answer(t.Context(), wid, s, fyllo.AnswerRequest{PermissionID: k.ID, OptionID: "never"})
		wantCode(t, err, fyllo.CodeInvalidRequest)
		answer := fyllo.AnswerRequest{RequestID: "a", PermissionID: k.ID, OptionID: "once"}
		for range 2 { // the repeat gets the same answer
			note, err := w.m.Answer(t.Context(), wid, s, answer)
			if err != nil || note.OptionID != "once" || note.By != "user" {
				t.Errorf("answer: %+v, %v", note, err)
			}
		}
		if got := <-answers; got != "once" {
			t.Errorf("the Agent got %q", got)
		}
		_, err = w.m.Answer(t.Context(), wid, s, fyllo.AnswerRequest{RequestID: "b", PermissionID: k.ID, OptionID: "no"})
		wantCode(t, err, fyllo.CodePermissionGone)
		agent.finish(p, "end_turn")
		w.idle(s)
		w.restart()
		notes := w.messages(s)[1].Parts[0].Tool.Permissions
		if len(notes) != 1 || notes[0].OptionID != "once" {
			t.Errorf("after a restart the tool has %+v", notes)
		}
	})
}

func TestAllowOncePolicyAnswersByItself_R_AGT_054(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.startWith(fyllo.StartRequest{AgentID: "fake", Text: "hi", Policy: fyllo.PolicyAllowOnce})
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		ask, answers := askEvent("call-1")
		agent.send(p, ask)
		if got := <-answers; got != "once" {
			t.Errorf("answered %q, want the first allow_once option", got)
		}
		agent.finish(p, "end_turn")
		w.idle(s)
	})
}

func TestSessionRunsFromTheMomentItExists_R_CHAT_053(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		page, err := w.m.List(t.Context(), wid, "", 10)
		if err != nil || len(page.Sessions) != 1 || !page.Sessions[0].Running {
			t.Errorf("the list right after the start: %+v, %v", page.Sessions, err)
		}
		if _, running, err := w.m.Counts(t.Context()); err != nil || running != 1 {
			t.Errorf("%d run, %v", running, err)
		}
		agent := w.agents.now()
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
	})
}

func TestPermissionOutsideATurnIsCancelled_R_CHAT_141(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		agent.finish(p, "end_turn")
		w.idle(s)
		ask, answers := askEvent("call-1")
		agent.send(p, ask)
		if got := <-answers; got != "" {
			t.Errorf("answered %q, want cancelled", got)
		}
	})
}

func TestCrashOfTheAgentEndsTheTurn_R_CHAT_143_150(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		agent.info.Capabilities.Resume, agent.info.Capabilities.Load = true, true
		s := w.first("hi")
		agent.send(agent.prompted(w, 1), text("half"))
		w.until("text shows", func() bool { return w.detail(s).Live != nil })
		next := w.agents.replace()
		w.idle(s)
		wantTexts(w, s, "user: hi\nassistant: half [AGENT_EXITED]\n")

		missing := fyllo.Errorf(fyllo.CodeACPSessionMissing, "gone")
		next.fail["resume"], next.fail["load"] = missing, missing
		w.prompt(s, "again")
		p := next.prompted(w, 1)
		next.finish(p, "end_turn")
		w.idle(s)
		if got := next.seen(); got != "resume g1s1, load g1s1, new, prompt g2s1" {
			t.Errorf("calls: %s", got)
		}
		if len(p.blocks) != 3 || !strings.Contains(p.blocks[1].Text, "half") || p.blocks[2].Text != "again" {
			t.Errorf("a fresh ACP session gets reminder, history and text; got %+v", p.blocks)
		}
	})
}

func TestPromptRightAfterACrashFindsTheNewProcess_R_CHAT_150(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		old := w.agents.now()
		old.prompted(w, 1)
		next := w.agents.replace()
		w.idle(s)
		w.agents.dead = old
		w.prompt(s, "again")
		next.finish(next.prompted(w, 1), "end_turn")
		w.idle(s)
		wantTexts(w, s, "user: hi [AGENT_EXITED]\nuser: again (end_turn)\n")
	})
}

func TestLoadSuppressesTheReplay_R_CHAT_145(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.agents.now().info.Capabilities.Load = true
		s := w.first("hi")
		agent := w.agents.now()
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		w.restart()
		agent = w.agents.now()
		w.prompt(s, "again")
		p := agent.prompted(w, 1)
		if len(p.blocks) != 1 {
			t.Errorf("a loaded ACP session gets the text alone, got %+v", p.blocks)
		}
		agent.send(p, text("new"))
		agent.finish(p, "end_turn")
		w.idle(s)
		wantTexts(w, s, "user: hi (end_turn)\nuser: again\nassistant: new (end_turn)\n")
	})
}

func TestOtherErrorsOfResumeFailTheTurn_R_CHAT_144(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.agents.now().info.Capabilities.Resume = true
		s := w.first("hi")
		agent := w.agents.now()
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		w.restart()
		agent = w.agents.now()
		agent.fail["resume"] = fyllo.Errorf(fyllo.CodeAuthRequired, "sign in first")
		m := w.prompt(s, "again")
		w.idle(s)
		wantTexts(w, s, "user: hi (end_turn)\nuser: again [AGENT_AUTH_REQUIRED]\n")
		delete(agent.fail, "resume")
		_, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{RetryOf: m.ID})
		if err != nil {
			t.Fatal(err)
		}
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		wantTexts(w, s, "user: hi (end_turn)\nuser: again (end_turn)\n")
		if got := agent.seen(); got != "resume g1s1, resume g1s1, prompt g1s1" {
			t.Errorf("calls: %s: the stored id must be kept", got)
		}
	})
}

func TestPromptToAForgottenSessionRecoversOnce_R_CHAT_147(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		gone := &fyllo.PromptDone{Token: p.token, Err: fyllo.Errorf(fyllo.CodeACPSessionMissing, "gone")}
		agent.send(p, fyllo.AgentEvent{PromptDone: gone})
		q := agent.prompted(w, 2)
		agent.send(q, text("ok"))
		gone = &fyllo.PromptDone{Token: q.token, Err: fyllo.Errorf(fyllo.CodeACPSessionMissing, "gone")}
		agent.send(q, fyllo.AgentEvent{PromptDone: gone})
		w.idle(s)
		wantTexts(w, s, "user: hi\nassistant: ok [ACP_SESSION_MISSING]\n")
	})
}

func TestAgentThatResumesWhatItDoesNotKnowLeadsToAFreshSession_R_CHAT_143_147(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		caps := &w.agents.now().info.Capabilities
		caps.Resume, caps.Load = true, true
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		agent.send(p, text("hello"))
		agent.finish(p, "end_turn")
		w.idle(s)
		w.restart()
		agent = w.agents.now()
		w.prompt(s, "again")
		for n := range 2 {
			p := agent.prompted(w, n+1)
			agent.send(p, line(`{"sessionUpdate":"available_commands_update","availableCommands":[]}`))
			agent.send(p, fyllo.AgentEvent{PromptDone: &fyllo.PromptDone{
				Token: p.token, Err: fyllo.Errorf(fyllo.CodeACPSessionMissing, "gone"),
			}})
		}
		p = agent.prompted(w, 3)
		if len(p.blocks) != 3 || !strings.Contains(p.blocks[1].Text, "hello") || p.blocks[2].Text != "again" {
			t.Errorf("a fresh ACP session gets reminder, history and text; got %+v", p.blocks)
		}
		agent.send(p, text("ok"))
		agent.finish(p, "end_turn")
		w.idle(s)
		wantTexts(w, s, "user: hi\nassistant: hello (end_turn)\nuser: again\nassistant: ok (end_turn)\n")
		if got := agent.seen(); got != "resume g1s1, prompt g1s1, load g1s1, prompt g1s1, new, prompt g2s1" {
			t.Errorf("calls: %s", got)
		}
		if meta, err := w.store.Meta(wid, s); err != nil || meta.TurnCount != 2 {
			t.Errorf("%d turns were counted (%v)", meta.TurnCount, err)
		}
	})
}

func TestLateContentJoinsForHalfASecond_R_ACP_022(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		agent.send(p, text("one"))
		agent.finish(p, "end_turn")
		w.idle(s)
		time.Sleep(300 * time.Millisecond)
		agent.send(p, text(" two"))
		time.Sleep(time.Second)
		agent.send(p, text(" three"))
		agent.send(p, line(`{"sessionUpdate":"usage_update","used":5,"size":10}`))
		w.until("usage arrives", func() bool { u := w.detail(s).Usage; return u != nil && u.Used == 5 })
		wantTexts(w, s, "user: hi\nassistant: one two (end_turn)\n")
		w.restart()
		wantTexts(w, s, "user: hi\nassistant: one two (end_turn)\n")
		if u := w.detail(s).Usage; u == nil || u.Size != 10 {
			t.Errorf("usage after restart: %+v", u)
		}
	})
}

func TestModesInject_R_CHAT_028_R_GOV_161(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		fylloMode := w.first("hi")
		p := agent.prompted(w, 1)
		if len(p.blocks) != 2 || !strings.HasPrefix(p.blocks[0].Text, "<system-reminder>") {
			t.Errorf("FylloCode mode sent %+v", p.blocks)
		}
		w.startWith(fyllo.StartRequest{AgentID: "fake", Text: "hi", Mode: fyllo.ModeNative})
		if q := agent.prompted(w, 2); len(q.blocks) != 1 {
			t.Errorf("Native mode sent %+v", q.blocks)
		}
		agent.finish(p, "end_turn")
		w.idle(fylloMode)
		wantTexts(w, fylloMode, "user: hi (end_turn)\n") // the reminder is hidden
		w.prompt(fylloMode, "more")
		if q := agent.prompted(w, 3); len(q.blocks) != 1 {
			t.Errorf("the second prompt of a warm ACP session sent %+v", q.blocks)
		}
	})
}

func TestFailedFirstSubmissionLeavesNothing_R_CHAT_054(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.store.set("create", true)
		_, err := w.m.Start(t.Context(), wid, fyllo.StartRequest{AgentID: "fake", Text: "hi", RequestID: "r"})
		wantCode(t, err, fyllo.CodeStorageFailed)
		if page, _ := w.m.List(t.Context(), wid, "", 10); page.Total != 0 {
			t.Errorf("%d sessions after a failed start", page.Total)
		}
		w.store.set("create", false)
		w.startWith(fyllo.StartRequest{AgentID: "fake", Text: "hi", RequestID: "r"})
		if page, _ := w.m.List(t.Context(), wid, "", 10); page.Total != 1 {
			t.Errorf("%d sessions after the retry", page.Total)
		}
	})
}

func TestFailedDispatchKeepsTheMessage_R_CHAT_056(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.agents.now().fail["new"] = fyllo.Errorf(fyllo.CodeAuthRequired, "sign in first")
		s := w.first("hi")
		w.idle(s)
		wantTexts(w, s, "user: hi [AGENT_AUTH_REQUIRED]\n")
		w.store.set("turn", true)
		delete(w.agents.now().fail, "new")
		w.prompt(s, "again")
		w.idle(s)
		wantTexts(w, s, "user: hi [AGENT_AUTH_REQUIRED]\nuser: again [STORAGE_FAILED]\n")
	})
}

func TestFullDiskDuringATurnEndsItVisibly(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		agent.send(p, text("kept "))
		w.until("text shows", func() bool { return w.detail(s).Live != nil })
		w.store.set("append", true)
		agent.send(p, text("lost"))
		w.idle(s)
		if got := w.texts(s); !strings.Contains(got, "STORAGE_FAILED") || !strings.Contains(got, "kept") {
			t.Errorf("transcript: %s", got)
		}
		w.store.set("append", false)
		w.prompt(s, "again")
		agent.finish(agent.prompted(w, 2), "end_turn")
		w.idle(s)
	})
}

func TestAnswerThatCannotBeStoredYetKeepsItsPlace(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		agent.send(p, text("kept"))
		agent.finish(p, "end_turn")
		w.idle(s)
		w.store.set("message", true)
		time.Sleep(time.Second)
		_, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{Text: "too early"})
		wantCode(t, err, fyllo.CodeStorageFailed)
		w.store.set("message", false)
		w.prompt(s, "next")
		agent.finish(agent.prompted(w, 2), "end_turn")
		w.idle(s)
		w.restart()
		wantTexts(w, s, "user: hi\nassistant: kept (end_turn)\nuser: next (end_turn)\n")
	})
}

func TestShutdownEndsARunningTurnAsInterrupted_R_CHAT_149(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		agent.send(agent.prompted(w, 1), text("half"), line(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"Run"}`))
		w.until("the tool shows", func() bool { d := w.detail(s); return d.Live != nil && len(d.Live.Parts) == 2 })
		w.restart()
		wantTexts(w, s, "user: hi\nassistant: half <Run pending> [TURN_INTERRUPTED]\n")
		d := w.detail(s)
		if d.Running || d.Turn.State != fyllo.TurnIdle {
			t.Errorf("running after a restart: %+v", d.Turn)
		}
	})
}

func TestShutdownClosesTheACPSession_R_AGT_058(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		agent.info.Capabilities.Close = true
		s := w.first("hi")
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		w.end()
		if got := agent.seen(); got != "new, prompt g1s1, close g1s1" {
			t.Errorf("calls: %s", got)
		}
	})
}

func TestCrashIsRecoveredByReplay_R_CHAT_149(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		ask, _ := askEvent("c")
		agent.send(p, text("one "), text("two"), ask)
		w.until("the request is open", func() bool { return len(w.detail(s).Permissions) == 1 })
		running := w.copyRoot()
		live := *w.detail(s).Live
		_, err := w.m.Answer(t.Context(), wid, s, fyllo.AnswerRequest{PermissionID: w.detail(s).Permissions[0].ID, OptionID: "no"})
		if err != nil {
			t.Fatal(err)
		}
		answered := w.copyRoot()
		agent.finish(p, "end_turn")
		w.idle(s)
		ended := w.copyRoot()
		for _, c := range []struct{ name, root, want string }{
			{"running", running, "user: hi\nassistant: one two <Write a file pending> [TURN_INTERRUPTED]\n"},
			{"answered", answered, "user: hi\nassistant: one two <Write a file pending> [TURN_INTERRUPTED]\n"},
			{"ended", ended, "user: hi\nassistant: one two <Write a file pending> (end_turn)\n"},
		} {
			w.end()
			w.root = c.root
			w.agents.replace()
			w.start()
			wantTexts(w, s, c.want)
			if got := w.messages(s)[1]; got.ID != live.ID || got.Parts[1].ID != live.Parts[1].ID {
				t.Errorf("%s: ids changed", c.name)
			}
			if c.name == "answered" && len(w.messages(s)[1].Parts[1].Tool.Permissions) != 1 {
				t.Error("the answered permission was lost")
			}
			w.restart() // a second start finds nothing more to do
			wantTexts(w, s, c.want)
		}
	})
}

func TestMessageWithoutTurnIsShownAsInterrupted_R_CHAT_149(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi") // the turn is not sent yet, or only just
		crashed := w.copyRoot()
		w.end()
		w.root = crashed
		w.agents.replace()
		w.start()
		if got := w.texts(s); got != "user: hi [TURN_INTERRUPTED]\n" {
			t.Errorf("transcript: %s", got)
		}
	})
}

func TestDraftIsPromotedByTheFirstMessage_R_CHAT_031_160(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		agent.config = []fyllo.ConfigOption{{ID: "m", Name: "Model", Category: "model", Type: "select", Current: fyllo.StringValue("a"),
			Choices: []fyllo.ConfigGroup{{Choices: []fyllo.ConfigChoice{{Value: "a"}, {Value: "b"}}}}}}
		if _, err := w.m.OpenDraft(t.Context(), wid, "win", "fake", fyllo.ModeFyllo); err != nil {
			t.Fatal(err)
		}
		ready := func() bool {
			d, _ := w.m.Draft(wid, "win")
			return d.State == fyllo.DraftReady && len(d.ConfigOptions) == 1
		}
		w.until("the draft is ready", ready)
		if _, err := w.m.SetDraftConfig(t.Context(), wid, "win", "m", fyllo.StringValue("b")); err != nil {
			t.Fatal(err)
		}
		_, err := w.m.SetDraftConfig(t.Context(), wid, "win", "m", fyllo.StringValue("zz"))
		wantCode(t, err, fyllo.CodeConfigInvalid)
		_, err = w.m.Start(t.Context(), wid, fyllo.StartRequest{AgentID: "fake", Text: "hi", Mode: fyllo.ModeNative, UseDraft: true})
		wantCode(t, err, fyllo.CodeProbeMismatch)
		s := w.startWith(fyllo.StartRequest{AgentID: "fake", Text: "hi", UseDraft: true})
		p := agent.prompted(w, 1)
		if got := agent.seen(); got != "new, set m=b g1s1, prompt g1s1" {
			t.Errorf("calls: %s", got)
		}
		if len(p.blocks) != 2 {
			t.Errorf("a promoted draft gets the reminder, got %+v", p.blocks)
		}
		agent.finish(p, "end_turn")
		w.idle(s)
		d := w.detail(s)
		if fyllo.CurrentOf(d.ConfigOptions, "model") != "b" || w.messages(s)[0].Model != "b" {
			t.Errorf("options %+v, audit %q", d.ConfigOptions, w.messages(s)[0].Model)
		}
		if _, ok := w.m.Draft(wid, "win"); ok {
			t.Error("the draft is still there")
		}
	})
}

func TestOtherModeDiscardsTheDraft_R_CHAT_030(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		agent.info.Capabilities.Close = true
		for _, mode := range []fyllo.Mode{fyllo.ModeFyllo, fyllo.ModeFyllo, fyllo.ModeNative} {
			if _, err := w.m.OpenDraft(t.Context(), wid, "win", "fake", mode); err != nil {
				t.Fatal(err)
			}
			w.until("ready", func() bool { d, _ := w.m.Draft(wid, "win"); return d.State == fyllo.DraftReady })
		}
		w.m.CloseDraft(wid, "win")
		calls := strings.Split(agent.seen(), ", ")
		slices.Sort(calls) // the next one need not wait until the one before is closed
		if got := strings.Join(calls, ", "); got != "close g1s1, close g1s2, new, new" {
			t.Errorf("calls: %s", got)
		}
	})
}

func TestDeleteDuringATurnLeavesNothing_R_WS_134(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		agent.send(p, text("half"))
		w.until("text shows", func() bool { return w.detail(s).Live != nil })
		sink := agent.sinks[p.id]
		if err := w.m.Delete(t.Context(), wid, s); err != nil {
			t.Fatal(err)
		}
		sink(text("late"))
		time.Sleep(time.Second)
		_, err := w.m.Detail(t.Context(), wid, s)
		wantCode(t, err, fyllo.CodeSessionNotFound)
		w.restart()
		if page, _ := w.m.List(t.Context(), wid, "", 10); page.Total != 0 {
			t.Errorf("%d sessions after delete and restart", page.Total)
		}
		if !strings.Contains(agent.seen(), "cancel") {
			t.Errorf("the Agent saw %s", agent.seen())
		}
	})
}

func TestRenameAndPinKeepUpdatedAt_R_CHAT_009_014(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		before := w.detail(s).UpdatedAt
		time.Sleep(time.Minute)
		yes, title, blank := true, "  New\n name ", "  "
		row, err := w.m.Update(t.Context(), wid, s, fyllo.Patch{Title: &title, Pinned: &yes})
		if err != nil || row.Title != "New name" || !row.Pinned || !row.UpdatedAt.Equal(before) {
			t.Errorf("%+v, %v", row, err)
		}
		if row, _ = w.m.Update(t.Context(), wid, s, fyllo.Patch{Title: &blank}); row.Title != "New name" {
			t.Errorf("a blank title made %q", row.Title)
		}
		w.restart()
		if d := w.detail(s); d.Title != "New name" || !d.Pinned {
			t.Errorf("after a restart: %+v", d.SessionSummary)
		}
	})
}

func TestListPagesInOrder_R_CHAT_008(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ids := make([]fyllo.SessionID, 25)
		for i := range ids {
			ids[i] = w.first("message " + strconv.Itoa(i))
			agent := w.agents.now()
			agent.finish(agent.prompted(w, i+1), "end_turn")
			w.idle(ids[i])
			time.Sleep(time.Second)
		}
		pin := func(i int, pinned bool) {
			if _, err := w.m.Update(t.Context(), wid, ids[i], fyllo.Patch{Pinned: &pinned}); err != nil {
				t.Fatal(err)
			}
		}
		want := func(pinned ...string) {
			t.Helper()
			titles := w.titles(10)
			if len(titles) != 25 || !slices.Equal(titles[:len(pinned)], pinned) {
				t.Fatalf("order: %v, want first %v", titles, pinned)
			}
			rest := titles[len(pinned):]
			number := func(title string) int { n, _ := strconv.Atoi(title[len("message "):]); return n }
			if !slices.IsSortedFunc(rest, func(a, b string) int { return number(b) - number(a) }) {
				t.Errorf("order of those that are not pinned: %v", rest)
			}
		}
		want()
		pin(3, true)
		pin(20, true)
		pin(0, true)
		want("message 20", "message 3", "message 0")
		w.restart()
		want("message 20", "message 3", "message 0")
		pin(3, false)
		want("message 20", "message 0")
		var many []string
		for i := 24; i > 9; i-- { // more than a page
			pin(i, true)
			many = append(many, "message "+strconv.Itoa(i))
		}
		want(append(many, "message 0")...)
	})
}

// titles reads the whole list, page by page.
func (w *world) titles(limit int) (titles []string) {
	w.t.Helper()
	for cursor := ""; ; {
		page, err := w.m.List(w.t.Context(), wid, cursor, limit)
		if err != nil {
			w.t.Fatal(err)
		}
		if page.Total != 25 {
			w.t.Errorf("total %d", page.Total)
		}
		for _, r := range page.Sessions {
			titles = append(titles, r.Title)
		}
		if cursor = page.Next; cursor == "" {
			return titles
		}
	}
}

func TestSilenceIsVisible_decision_13(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		agent.send(p, line(`{"sessionUpdate":"something_of_tomorrow","x":1}`))
		w.until("activity is told", func() bool { return len(w.events.of(fyllo.EventActivity)) == 1 })
		if d := w.detail(s); d.Turn.State != fyllo.TurnWaiting || d.Turn.LastActivityAt == nil {
			t.Errorf("turn: %+v", d.Turn)
		}
	})
}
