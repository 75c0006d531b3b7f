package session_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
)

func TestRefusedConfigLeavesNoSession_R_CLI_006(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		agent.config = []fyllo.ConfigOption{{ID: "m", Type: "select", Current: fyllo.StringValue("a"),
			Choices: []fyllo.ConfigGroup{{Choices: []fyllo.ConfigChoice{{Value: "a"}}}}}}
		for id, code := range map[string]fyllo.Code{"nope": fyllo.CodeConfigUnsupported, "m": fyllo.CodeConfigInvalid} {
			_, err := w.m.Start(t.Context(), wid, fyllo.StartRequest{
				AgentID: "fake", Text: "hi", Config: []fyllo.ConfigChange{{ID: id, Value: "zz"}},
			})
			wantCode(t, err, code)
		}
		if page, _ := w.m.List(t.Context(), wid, "", 10); page.Total != 0 {
			t.Errorf("%d sessions are left", page.Total)
		}
	})
}

func TestRefusedConfigOfALaterPromptStoresNothing_R_CLI_006(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.agents.now().info.Capabilities.Resume = true
		w.agents.now().config = []fyllo.ConfigOption{{ID: "m", Type: "select", Current: fyllo.StringValue("a"),
			Choices: []fyllo.ConfigGroup{{Choices: []fyllo.ConfigChoice{{Value: "a"}, {Value: "b"}}}}}}
		s := w.first("hi")
		agent := w.agents.now()
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		for _, cold := range []bool{false, true} {
			if cold {
				config := w.agents.now().config
				w.restart()
				agent = w.agents.now()
				agent.config = config
			}
			_, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{Text: "no", Config: []fyllo.ConfigChange{{ID: "m", Value: "zz"}}})
			wantCode(t, err, fyllo.CodeConfigInvalid)
			wantTexts(w, s, "user: hi (end_turn)\n")
		}
		_, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{Text: "yes", Config: []fyllo.ConfigChange{{ID: "m", Value: "b"}}})
		if err != nil {
			t.Fatal(err)
		}
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		wantTexts(w, s, "user: hi (end_turn)\nuser: yes (end_turn)\n")
		if got := agent.seen(); !strings.HasSuffix(got, "set m=b g1s1, prompt g1s1") {
			t.Errorf("calls: %s", got)
		}
	})
}

func TestConfigIsRestoredAfterARestart_R_AGT_095_R_CHAT_148(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.agents.now().info.Capabilities.Resume = true
		option := func(current string) []fyllo.ConfigOption {
			return []fyllo.ConfigOption{{ID: "m", Category: "model", Type: "select", Current: fyllo.StringValue(current),
				Choices: []fyllo.ConfigGroup{{Choices: []fyllo.ConfigChoice{{Value: "a"}, {Value: "b"}}}}}}
		}
		w.agents.now().config = option("a")
		s := w.startWith(fyllo.StartRequest{AgentID: "fake", Text: "hi", Config: []fyllo.ConfigChange{{ID: "m", Value: "b"}}})
		agent := w.agents.now()
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		w.restart()
		agent = w.agents.now()
		agent.config = option("a")
		w.prompt(s, "again")
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		if got := agent.seen(); got != "resume g1s1, set m=b g1s1, prompt g1s1" {
			t.Errorf("calls: %s", got)
		}
		w.restart()
		agent = w.agents.now()
		agent.config = option("a")
		agent.fail["set m=b"] = fyllo.Errorf(fyllo.CodeAgentError, "refused")
		w.prompt(s, "third")
		w.idle(s)
		if got := w.texts(s); !strings.HasSuffix(got, "user: third [AGENT_ERROR]\n") {
			t.Errorf("transcript: %s", got)
		}
		if got := fyllo.CurrentOf(w.detail(s).ConfigOptions, "model"); got != "b" {
			t.Errorf("a failed recovery changed the stored value to %q", got)
		}
	})
}

// oneOption is a snapshot with a model that can be a, b or c.
func oneOption(current string) []fyllo.ConfigOption {
	return []fyllo.ConfigOption{{ID: "m", Category: "model", Type: "select", Current: fyllo.StringValue(current),
		Choices: []fyllo.ConfigGroup{{Choices: []fyllo.ConfigChoice{{Value: "a"}, {Value: "b"}, {Value: "c"}}}}}}
}

func TestSetsOfADraftComeOneAfterAnotherAndBeforeItsMessage_R_AGT_094_R_CHAT_037(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		agent.config, agent.setTime = oneOption("a"), time.Second
		if _, err := w.m.OpenDraft(t.Context(), wid, "win", "fake", fyllo.ModeFyllo); err != nil {
			t.Fatal(err)
		}
		w.until("ready", func() bool { d, _ := w.m.Draft(wid, "win"); return d.State == fyllo.DraftReady })
		var sets sync.WaitGroup
		for _, v := range []string{"b", "c"} {
			sets.Go(func() {
				if _, err := w.m.SetDraftConfig(t.Context(), wid, "win", "m", fyllo.StringValue(v)); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(10 * time.Millisecond)
		}
		s := w.startWith(fyllo.StartRequest{AgentID: "fake", Text: "hi", UseDraft: true})
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		sets.Wait()
		if got := agent.seen(); got != "new, set m=b g1s1, set m=c g1s1, prompt g1s1" {
			t.Errorf("calls: %s", got)
		}
		if agent.overlaps.Load() {
			t.Error("two sets of one ACP session were in flight at once")
		}
		if got := fyllo.CurrentOf(w.detail(s).ConfigOptions, "model"); got != "c" {
			t.Errorf("model %q", got)
		}
	})
}

func TestSetsOfASessionComeOneAfterAnother_R_AGT_094_R_CHAT_040(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		agent.config, agent.setTime = oneOption("a"), time.Second
		s := w.first("hi")
		p := agent.prompted(w, 1) // the turn goes on meanwhile
		var sets sync.WaitGroup
		for _, v := range []string{"b", "c"} {
			sets.Go(func() {
				if _, err := w.m.SetConfig(t.Context(), wid, s, "m", fyllo.StringValue(v)); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(10 * time.Millisecond)
		}
		sets.Wait()
		if got := agent.seen(); got != "new, prompt g1s1, set m=b g1s1, set m=c g1s1" {
			t.Errorf("calls: %s", got)
		}
		if agent.overlaps.Load() {
			t.Error("two sets of one ACP session were in flight at once")
		}
		if got := w.detail(s); got.Turn.State == fyllo.TurnIdle || fyllo.CurrentOf(got.ConfigOptions, "model") != "c" {
			t.Errorf("turn %s, options %+v", got.Turn.State, got.ConfigOptions)
		}
		agent.finish(p, "end_turn")
		w.idle(s)
		if got := w.messages(s)[0].Model; got != "a" {
			t.Errorf("the message was dispatched with %q, and the change counts for the next one only", got)
		}
	})
}

func TestAColdSessionIsNeverOpenedAnewForAChange_R_CHAT_039_R_AGT_091(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.agents.now().config = oneOption("a")
		s := w.first("hi")
		agent := w.agents.now()
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		for _, load := range []bool{false, true} {
			w.restart()
			agent = w.agents.now()
			agent.config, agent.info.Capabilities.Load = oneOption("a"), load
			_, err := w.m.SetConfig(t.Context(), wid, s, "m", fyllo.StringValue("b"))
			want := ""
			if load {
				want = "load g1s1, set m=b g1s1"
			} else {
				wantCode(t, err, fyllo.CodeACPSessionMissing)
			}
			if got := agent.seen(); got != want {
				t.Errorf("load %v: calls: %s", load, got)
			}
		}
		if got := fyllo.CurrentOf(w.detail(s).ConfigOptions, "model"); got != "b" {
			t.Errorf("model %q", got)
		}
	})
}

func TestAStoredValueThatTheAgentRefusesCanBeChangedByHand_R_AGT_095(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.agents.now().config = oneOption("a")
		w.agents.now().info.Capabilities.Resume = true
		s := w.startWith(fyllo.StartRequest{AgentID: "fake", Text: "hi", Config: []fyllo.ConfigChange{{ID: "m", Value: "b"}}})
		agent := w.agents.now()
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		w.restart()
		agent = w.agents.now()
		agent.config = oneOption("a")
		agent.fail["set m=b"] = fyllo.Errorf(fyllo.CodeAgentError, "refused")
		w.prompt(s, "again")
		w.idle(s)
		wantTexts(w, s, "user: hi (end_turn)\nuser: again [AGENT_ERROR]\n")
		if _, err := w.m.SetConfig(t.Context(), wid, s, "m", fyllo.StringValue("c")); err != nil {
			t.Fatal(err)
		}
		w.prompt(s, "third")
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		if got := fyllo.CurrentOf(w.detail(s).ConfigOptions, "model"); got != "c" {
			t.Errorf("model %q", got)
		}
	})
}

func TestNativeAddsNothingAfterAFreshRecovery_R_CHAT_028_146(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.startWith(fyllo.StartRequest{AgentID: "fake", Text: "hi", Mode: fyllo.ModeNative})
		agent := w.agents.now()
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		w.restart()
		agent = w.agents.now()
		w.prompt(s, "again")
		p := agent.prompted(w, 1)
		if got := agent.seen(); !strings.HasPrefix(got, "new, prompt") {
			t.Errorf("calls: %s", got)
		}
		if len(p.blocks) != 1 || p.blocks[0].Text != "again" {
			t.Errorf("sent %+v", p.blocks)
		}
		agent.finish(p, "end_turn")
		w.idle(s)
	})
}

// Some Agents tell their options and commands by updates only, before they answer; absent in the answer is not empty.
func TestWhatIsToldBeforeTheAnswerIsShownAndCanBeSet_R_AGT_092_093_R_CHAT_036_038(t *testing.T) {
	for _, again := range []string{"resume", "new"} {
		run(t, func(t *testing.T, w *world) {
			agent := w.agents.now()
			agent.config, agent.tells, agent.info.Capabilities.Resume = oneOption("a"), true, again == "resume"
			if _, err := w.m.OpenDraft(t.Context(), wid, "win", "fake", fyllo.ModeFyllo); err != nil {
				t.Fatal(err)
			}
			w.until("ready", func() bool { d, _ := w.m.Draft(wid, "win"); return d.State == fyllo.DraftReady })
			d, err := w.m.SetDraftConfig(t.Context(), wid, "win", "m", fyllo.StringValue("b"))
			if err != nil || fyllo.CurrentOf(d.ConfigOptions, "model") != "b" || len(d.Commands) != 1 {
				t.Fatalf("draft %+v, %v", d, err)
			}
			_, err = w.m.SetDraftConfig(t.Context(), wid, "win", "m", fyllo.StringValue("gone"))
			wantCode(t, err, fyllo.CodeConfigInvalid)
			if d, _ := w.m.Draft(wid, "win"); fyllo.CurrentOf(d.ConfigOptions, "model") != "b" {
				t.Errorf("a refused value changed the draft: %+v", d.ConfigOptions)
			}
			s := w.startWith(fyllo.StartRequest{AgentID: "fake", Text: "hi", UseDraft: true})
			agent.finish(agent.prompted(w, 1), "end_turn")
			w.idle(s)

			w.restart()
			agent = w.agents.now()
			agent.config, agent.tells = oneOption("a"), true
			if _, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{Text: "more", Config: []fyllo.ConfigChange{{ID: "m", Value: "c"}}}); err != nil {
				t.Fatal(err)
			}
			agent.finish(agent.prompted(w, 1), "end_turn")
			w.idle(s)
			if got := agent.seen(); !strings.HasPrefix(got, again) || !strings.Contains(got, "set m=c") {
				t.Errorf("calls: %s", got)
			}
			now := w.detail(s)
			if fyllo.CurrentOf(now.ConfigOptions, "model") != "c" || len(now.Commands) != 1 {
				t.Errorf("%+v %+v", now.ConfigOptions, now.Commands)
			}
		})
	}
}
