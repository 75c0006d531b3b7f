package session_test

import (
	"strings"
	"testing"

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
