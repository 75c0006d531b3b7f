package session_test

import (
	"testing"
	"time"

	"fyllocode.dev/fyllo"
)

// K6: a request may name a call inside a subagent that was never told. The policy answers it like any other, and the
// call appears with the decision.
func TestTrace_K6_RequestOfAnUntoldCallIsAnsweredByPolicy(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.startWith(fyllo.StartRequest{AgentID: "fake", Text: "hi", Policy: fyllo.PolicyAllowOnce})
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		ask, answers := askEvent("inner_1")
		agent.send(p, ask)
		if got := <-answers; got != "once" {
			t.Errorf("answered %q", got)
		}
		agent.finish(p, "end_turn")
		w.idle(s)
		tool := w.detail(s).Live.Parts[0].Tool
		if tool.CallID != "inner_1" || len(tool.Permissions) != 1 || tool.Permissions[0].By != "policy" {
			t.Errorf("%+v", tool)
		}
	})
}

// K9, X9: an Agent may be silent for as long as a subagent of its needs, with a sign of life now and then. There is no
// limit on our side.
func TestTrace_K9_X9_ATurnHasNoLimit(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		agent.send(p, text("one "))
		for range 5 {
			time.Sleep(20 * time.Hour)
			agent.send(p, line(`{"sessionUpdate":"session_info_update","_meta":{"codex":{"error":{"message":"Reconnecting… 1/5","willRetry":true}}}}`))
		}
		if d := w.detail(s); d.Turn.State != fyllo.TurnStreaming {
			t.Fatalf("turn %+v", d.Turn)
		}
		agent.send(p, text("two"))
		agent.finish(p, "end_turn")
		w.idle(s)
		wantTexts(w, s, "user: hi\nassistant: one two (end_turn)\n")
	})
}

// A configuration update is the whole list: what it leaves out is gone (R-ACP-018).
func TestConfigUpdateReplacesTheList_R_ACP_018(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		option := func(id string) string { return `{"id":"` + id + `","name":"N","type":"boolean","currentValue":true}` }
		agent.send(p, line(`{"sessionUpdate":"config_option_update","configOptions":[`+option("a")+`,`+option("b")+`]}`))
		agent.send(p, line(`{"sessionUpdate":"config_option_update","configOptions":[`+option("c")+`]}`))
		w.until("the last list stands", func() bool { d := w.detail(s); return len(d.ConfigOptions) == 1 && d.ConfigOptions[0].ID == "c" })
		agent.send(p, line(`{"sessionUpdate":"config_option_update","configOptions":[]}`))
		w.until("the empty list stands", func() bool { return len(w.detail(s).ConfigOptions) == 0 })
		agent.finish(p, "end_turn")
		w.idle(s)
	})
}
