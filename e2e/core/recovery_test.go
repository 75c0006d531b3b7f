package core

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/testagent"
)

// block is one content block as an Agent got it.
type block struct{ Type, Text string }

// lastPrompt returns the blocks of the last prompt that an Agent got.
func (l *lab) lastPrompt() []block {
	l.t.Helper()
	all := l.received()
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Method != "session/prompt" {
			continue
		}
		var p struct{ Prompt []block }
		if err := json.Unmarshal(all[i].Params, &p); err != nil {
			l.t.Fatal(err)
		}
		return p.Prompt
	}
	l.t.Fatal("no prompt")
	return nil
}

func (l *lab) sent(method string) []testagent.Received {
	return slices.DeleteFunc(l.received(), func(r testagent.Received) bool { return r.Method != method })
}

// TestRecoveryTriesResumeThenLoadThenFresh_R_CHAT_143_144_146 restarts Core between two turns and looks at what an
// Agent gets, for Agents that know less and less.
func TestRecoveryTriesResumeThenLoadThenFresh_R_CHAT_143_144_146(t *testing.T) {
	for _, tc := range []struct {
		script  string
		methods []string // of the second turn
		fresh   bool
		code    fyllo.Code // the turn fails instead
	}{
		{"default", []string{"session/resume"}, false, ""},
		{"no-resume", []string{"session/load"}, false, ""},
		{"history", []string{"session/load"}, false, ""},
		{"history-trail", []string{"session/load"}, false, ""},
		{"no-resume+no-load", []string{"session/new"}, true, ""},
		{"resume-missing", []string{"session/resume", "session/load"}, false, ""},
		{"resume-lies", []string{"session/resume", "session/load"}, false, ""},
		{"all-missing", []string{"session/resume", "session/load", "session/new"}, true, ""},
		{"resume-vague", []string{"session/resume", "session/load", "session/new"}, true, ""},
		{"load-missing+no-resume", []string{"session/load", "session/new"}, true, ""},
		{"resume-error", []string{"session/resume"}, false, fyllo.CodeAgentError},
		{"load-error+no-resume", []string{"session/load"}, false, fyllo.CodeAgentError},
		{"prompt-missing", []string{
			"session/resume", "session/prompt", "session/load", "session/prompt", "session/new",
		}, true, ""},
	} {
		t.Run(tc.script, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			c := l.serve()
			agent := c.agent(tc.script)
			s := c.start(agent, "echo the first answer")
			if got := c.answer(s); got != "the first answer" {
				t.Fatalf("answer %q", got)
			}
			first := l.lastPrompt()
			if len(first) != 2 || !strings.Contains(first[0].Text, "<workspace") || first[1].Text != "echo the first answer" {
				t.Errorf("blocks of the first prompt: %q", first)
			}
			c.stop()
			before := len(l.methods())
			c = l.serve()
			c.send(s, "echo the second answer")
			if tc.code != "" {
				if f, _ := c.failure(s); f.Code != tc.code {
					t.Errorf("%+v", f)
				}
				if got := l.methods()[before:]; !slices.Equal(got[:min(len(got), len(tc.methods))], tc.methods) {
					t.Errorf("the Agent got %v", got)
				}
				return
			}
			if got := c.answer(s); got != "the second answer" {
				t.Errorf("answer %q", got) // also: nothing of a replayed history
			}
			if got := l.methods()[before:]; !slices.Equal(got, append(tc.methods, "session/prompt")) {
				t.Errorf("the Agent got %v", got)
			}
			l.checkBlocks(tc.fresh, "echo the second answer")
			if all := c.stored(s); len(all) != 4 {
				t.Errorf("%d messages", len(all))
			}
		})
	}
}

// checkBlocks wants the reminders of a fresh ACP session in front of the text, or the text alone.
func (l *lab) checkBlocks(fresh bool, text string) {
	l.t.Helper()
	got := l.lastPrompt()
	if !fresh {
		if len(got) != 1 || got[0].Text != text {
			l.t.Errorf("blocks %q", got)
		}
		return
	}
	if len(got) != 3 || !strings.Contains(got[0].Text, "<workspace") || got[2].Text != text {
		l.t.Errorf("blocks %q", got)
		return
	}
	history := got[1].Text
	ask, answer := strings.Index(history, "echo the first answer"), strings.LastIndex(history, "the first answer")
	if ask < 0 || answer <= ask+len("echo ") || strings.Contains(history, text) || strings.Contains(history, "<workspace") {
		l.t.Errorf("history %q", history)
	}
	if !strings.HasPrefix(history, "<system-reminder>") || !strings.HasSuffix(strings.TrimSpace(history), "</system-reminder>") {
		l.t.Errorf("the history is not framed: %q", history)
	}
}

func TestNativeSessionsGetNoReminders_R_GOV_163(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	s := c.startAs(fyllo.StartRequest{AgentID: c.agent("all-missing"), Mode: fyllo.ModeNative, Text: "echo one"})
	c.answer(s)
	if got := l.lastPrompt(); len(got) != 1 || got[0].Text != "echo one" {
		t.Errorf("blocks %q", got)
	}
	c.stop()
	c = l.serve()
	c.send(s, "echo two")
	c.answer(s)
	if got := l.lastPrompt(); len(got) != 1 || got[0].Text != "echo two" {
		t.Errorf("blocks after a fresh start %q", got)
	}
	for _, r := range l.sent("session/new") {
		if !strings.Contains(string(r.Params), `"mcpServers":[]`) {
			t.Errorf("session/new %s", r.Params)
		}
	}
}

func TestRemindersAreNeverShown_R_CHAT_157(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	w := c.window()
	s := c.start(c.agent("default"), "echo <system-reminder>typed</system-reminder>;echo seen")
	c.answer(s)
	all := c.stored(s)
	if got := textOf(all[0]); got != "echo <system-reminder>typed</system-reminder>;echo seen" || len(all[0].Parts) != 1 {
		t.Errorf("user message %s", brief(all[0]))
	}
	if d := c.detail(s); strings.Contains(d.Title, "workspace") {
		t.Errorf("title %q", d.Title)
	}
	for id, text := range w.texts() {
		if strings.Contains(text, "<workspace") {
			t.Errorf("the window shows a reminder in %s", id)
		}
	}
	if r := l.fyllo("sessions", "show", string(s), "--json"); r.code != 0 || strings.Contains(r.stdout, "<workspace") {
		t.Errorf("fyllo sessions show: %+v", r)
	}
}

// TestPromptToAForgottenSessionIsRecoveredOnce_R_CHAT_147: the Agent forgets a session while its process runs on.
func TestPromptToAForgottenSessionIsRecoveredOnce_R_CHAT_147(t *testing.T) {
	for script, method := range map[string]string{
		"default": "session/resume", "no-resume": "session/load", "no-resume+no-load": "session/new",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			c := l.serve()
			s := c.start(c.agent(script), "echo the first answer;forget")
			c.answer(s)
			c.send(s, "echo two")
			if got := c.answer(s); got != "two" {
				t.Errorf("answer %q", got)
			}
			want := []string{"session/new", "session/prompt", "session/prompt", method, "session/prompt"}
			if got := l.methods(); !slices.Equal(got, want) {
				t.Errorf("the Agent got %v", got)
			}
			l.checkBlocks(method == "session/new", "echo two")
			l.noOverlap()
		})
	}
}

// choose sets an option of a Session through the API.
func (c *served) choose(s fyllo.SessionID, id string, value fyllo.ConfigValue) error {
	return c.call(http.MethodPost, sessionPath(s, "/config"), map[string]any{"id": id, "value": value}, nil)
}

func (c *served) configOf(s fyllo.SessionID) string {
	var out []string
	for _, o := range c.detail(s).ConfigOptions {
		out = append(out, o.ID+"="+o.Current.String())
	}
	return strings.Join(out, " ")
}

func TestConfigurationSurvivesARestart_R_AGT_095(t *testing.T) {
	for _, script := range []string{"default", "no-resume", "no-resume+no-load", "legacy", "set-note", "set-slow", "early"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			c := l.serve()
			s := c.start(c.agent(script), "echo one")
			c.answer(s)
			for id, v := range map[string]string{"model": "m2", "mode": "code"} {
				if err := c.choose(s, id, fyllo.StringValue(v)); err != nil {
					t.Fatal(err)
				}
			}
			want := c.configOf(s)
			if !strings.Contains(want, "model=m2") || !strings.Contains(want, "mode=code") {
				t.Fatalf("configuration %s", want)
			}
			c.kill()
			c = l.serve()
			if got := c.configOf(s); got != want {
				t.Errorf("after the restart %s, want %s", got, want)
			}
			sets := len(l.sent("session/set_config_option")) + len(l.sent("session/set_model")) + len(l.sent("session/set_mode"))
			c.send(s, "echo two")
			c.answer(s)
			if got := c.configOf(s); got != want {
				t.Errorf("after the second turn %s, want %s", got, want)
			}
			again := len(l.sent("session/set_config_option")) + len(l.sent("session/set_model")) + len(l.sent("session/set_mode"))
			if again-sets != 2 {
				t.Errorf("%d options were set, want the 2 that differ", again-sets)
			}
			all := c.stored(s)
			if m := all[len(all)-1].Model; m != "m2" {
				t.Errorf("the answer was made with %q", m)
			}
		})
	}
}

// TestOscillatingConfigurationStopsThePrompt_R_AGT_095: each option that is set changes another one back.
func TestOscillatingConfigurationStopsThePrompt_R_AGT_095(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	s := c.start(c.agent("oscillate"), "echo one")
	c.answer(s)
	// The Agent itself can be in a state that cannot be reached by setting one option after the other.
	path := l.files(string(s) + ".json")[0]
	c.stop()
	l.edit(path, func(text string) string {
		text = strings.Replace(text, `"currentValue":"m1"`, `"currentValue":"m2"`, 1)
		return strings.Replace(text, `"currentValue":"low"`, `"currentValue":"high"`, 1)
	})
	c = l.serve()
	before := c.configOf(s)
	if !strings.Contains(before, "model=m2 effort=high") {
		t.Fatalf("configuration %s", before)
	}
	c.send(s, "echo two")
	if f, text := c.failure(s); f.Code != fyllo.CodeConfigDiverged || text != "" {
		t.Errorf("%+v, text %q", f, text)
	}
	if n := l.prompts("echo two"); n != 0 {
		t.Errorf("the prompt was sent %d times", n)
	}
	if got := c.configOf(s); got != before {
		t.Errorf("the stored configuration became %s, was %s", got, before)
	}
	if n := len(l.sent("session/set_config_option")); n == 0 || n > 12 {
		t.Errorf("%d sets", n)
	}
}

// TestUpdatesBeforeTheAnswerOfNewAreKept_R_AGT_059: Copilot sends commands and usage before session/new answers.
func TestUpdatesBeforeTheAnswerOfNewAreKept_R_AGT_059(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	s := c.start(c.agent("early"), "echo one")
	if got := c.answer(s); got != "one" {
		t.Errorf("answer %q", got)
	}
	d := c.detail(s)
	if len(d.Commands) != 2 || d.Usage == nil || d.Usage.Size != 200_000 {
		t.Errorf("commands %v, usage %v", d.Commands, d.Usage)
	}
	eventually(t, "they are stored", func() bool {
		return strings.Contains(l.read(l.files(string(s) + ".json")[0]), `"size":200000`)
	})
	c.kill()
	c = l.serve()
	if d := c.detail(s); len(d.Commands) != 2 || d.Usage == nil {
		t.Errorf("after a crash: commands %v, usage %v", d.Commands, d.Usage)
	}
}

// TestLateContentBelongsToItsTurn_R_ACP_022: what an Agent says after its answer joins the turn, also across a crash.
func TestLateContentBelongsToItsTurn_R_ACP_022(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	s := c.start(c.agent("default"), "late 5")
	all := c.stored(s)
	want := "before the answer"
	for i := range 5 {
		want += fmt.Sprintf(" late %d", i)
	}
	if got := textOf(all[len(all)-1]); got != want {
		t.Errorf("answer %q", got)
	}
	c.kill()
	if got := l.serve().answer(s); got != want {
		t.Errorf("after a crash %q", got)
	}
}
