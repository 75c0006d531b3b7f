package session_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
)

func TestWholeSession_R_CLI_008(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("message 0")
		agent := w.agents.now()
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		for i := 1; i < 450; i++ { // more than two pages
			m := fyllo.Message{ID: "more-" + strconv.Itoa(i), Role: fyllo.RoleUser, Parts: []fyllo.Part{
				{Type: fyllo.PartReminder, Text: "hidden"}, {Type: fyllo.PartText, Text: "message " + strconv.Itoa(i)},
			}}
			if _, err := w.store.AppendMessage(wid, s, m); err != nil {
				t.Fatal(err)
			}
		}
		long := strings.Repeat("long ", 2000)
		if _, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{Text: "message 450"}); err != nil {
			t.Fatal(err)
		}
		p := agent.prompted(w, 2)
		agent.send(p, line(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"run","kind":"execute","status":"completed","content":[{"type":"content","content":{"type":"text","text":"`+long+`"}}]}`))
		w.until("the call is there", func() bool { d := w.detail(s); return d.Live != nil && len(d.Live.Parts) == 1 })
		read := func() (texts []string, output string) {
			begun := 0
			err := w.m.Whole(t.Context(), wid, s, func(sum fyllo.SessionSummary) error {
				begun++
				if sum.SessionID != s {
					t.Errorf("begins with %+v", sum)
				}
				return nil
			}, func(m fyllo.Message) error {
				for _, p := range m.Parts {
					switch {
					case p.Tool != nil:
						output = p.Tool.Output.Text
					case p.Type == fyllo.PartReminder:
						t.Error("a reminder is shown")
					case m.Role == fyllo.RoleUser:
						texts = append(texts, p.Text)
					}
				}
				return nil
			})
			if err != nil || begun != 1 {
				t.Errorf("%v, begun %d times", err, begun)
			}
			return texts, output
		}
		check := func(when string) {
			t.Helper()
			texts, output := read()
			for i, text := range texts {
				if text != "message "+strconv.Itoa(i) {
					t.Fatalf("%s: message %d is %q", when, i, text)
				}
			}
			if len(texts) != 451 || output != long {
				t.Errorf("%s: %d messages, output of %d bytes", when, len(texts), len(output))
			}
		}
		check("while the turn runs")
		agent.finish(p, "end_turn")
		w.idle(s)
		check("afterwards")
		stop := errors.New("stop")
		calls := 0
		err := w.m.Whole(t.Context(), wid, s, func(fyllo.SessionSummary) error { return nil }, func(fyllo.Message) error { calls++; return stop })
		if !errors.Is(err, stop) || calls != 1 {
			t.Errorf("%v after %d calls", err, calls)
		}
	})
}
