package session_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/acp"
	"fyllocode.dev/fyllo/internal/transcript"
	"github.com/google/go-cmp/cmp"
)

// underChild makes an event of an update that comes under the ACP session of a subagent.
func underChild(session, update string) fyllo.AgentEvent {
	u, ok := acp.DecodeLine(fmt.Appendf(nil, `{"method":"session/update","params":{"sessionId":%q,"update":%s}}`, session, update))
	if !ok {
		panic(update)
	}
	return fyllo.AgentEvent{Update: &u}
}

// rebuilt is the message of a window that follows the events, "" as the text of anything missing.
func (r *recorder) rebuilt(t *testing.T, id string) []fyllo.Part {
	t.Helper()
	var parts []fyllo.Part
	at := func(i int) *fyllo.Part {
		for len(parts) <= i {
			parts = append(parts, fyllo.Part{})
		}
		return &parts[i]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		switch d := e.Data.(type) {
		case fyllo.PartEvent:
			*at(d.Index) = d.Part
		case fyllo.Delta:
			p := at(d.Index)
			if n := fyllo.UTF16Len(p.Text); n != d.At || d.MessageID != id {
				t.Errorf("delta %+v on a part of %d units", d, n)
			}
			p.ID, p.Type = d.PartID, d.Kind
			p.Text += d.Text
		}
	}
	return parts
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Windows, the snapshot, the stored message and the replay after a crash show subagents alike, also when a parent is
// told late, subagents speak at once, and one has an ACP session of its own that asks for permission (R-CHAT-096, 108).
func TestSubagentsAreTheSameLiveStoredAndReplayed_R_CHAT_096_108(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		meta := func(tool, parent string) string {
			return fmt.Sprintf(`"_meta":{"claudeCode":{"toolName":%q,"parentToolUseId":%q}}`, tool, parent)
		}
		words := func(parent, s string) fyllo.AgentEvent {
			return line(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + s + `"},` + meta("", parent) + `}`)
		}
		ask, answers := askEvent("call")
		ask.Permission.SessionID = "kid"
		ask.Permission.Raw = []byte(strings.Replace(string(ask.Permission.Raw), `"sessionId":"s"`, `"sessionId":"kid"`, 1))
		agent.send(p,
			line(`{"sessionUpdate":"tool_call","toolCallId":"late","title":"Late"}`),
			words("r", "one "), text("I "),
			line(`{"sessionUpdate":"tool_call","toolCallId":"r","title":"Root",`+meta("Agent", "")+`}`),
			words("q", "uno "), words("r", "two "), text("wait"), words("q", `dos \ud83d`), words("q", `\ude00`),
			line(`{"sessionUpdate":"tool_call_update","toolCallId":"late","status":"completed",`+meta("Read", "q")+`}`),
			line(`{"sessionUpdate":"tool_call","toolCallId":"q","title":"Second"}`),
			words("q", " tres"), words("r", "three"),
			line(`{"sessionUpdate":"subagent_update","sessionId":"kid","title":"Kid","state":{"state":"running"}}`),
			underChild("kid", `{"sessionUpdate":"session_message","recipientSessionId":"kid","content":[{"type":"text","text":"Do it."}]}`),
			underChild("kid", `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"kid speaks"}}`),
			ask, text("."),
		)
		w.until("the request is open", func() bool { return len(w.detail(s).Permissions) == 1 })
		if k := w.detail(s).Permissions[0]; k.ToolCallID != "kid/call" || k.Title != "Write a file" {
			t.Errorf("request %+v", k)
		} else if _, err := w.m.Answer(t.Context(), wid, s, fyllo.AnswerRequest{PermissionID: k.ID, OptionID: "once"}); err != nil {
			t.Fatal(err)
		}
		if got := <-answers; got != "once" {
			t.Errorf("answered %q", got)
		}
		agent.finish(p, "end_turn")
		w.idle(s)
		live := *w.detail(s).Live
		var got []string
		for _, p := range live.Parts {
			if p.Tool != nil {
				got = append(got, fmt.Sprintf("%s>%s %v %d", p.Tool.CallID, p.Tool.ParentID, p.Tool.Subagent != nil, len(p.Tool.Permissions)))
			} else {
				got = append(got, p.Text+">"+p.ParentID)
			}
		}
		want := []string{
			"late>q false 0", "one two three>r", "I >", "r> true 0", "uno dos 😀 tres>q", "wait>", "q> true 0",
			"subagent:kid> true 0", "kid speaks>subagent:kid", "kid/call>subagent:kid false 1", ".>",
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(asJSON(t, live.Parts), asJSON(t, w.events.rebuilt(t, live.ID))); d != "" {
			t.Errorf("a window that follows shows something else\n%s", d)
		}
		ended := w.copyRoot()
		w.restart()
		if d := cmp.Diff(asJSON(t, live.Parts), asJSON(t, w.messages(s)[1].Parts)); d != "" {
			t.Errorf("stored\n%s", d)
		}
		w.end()
		w.root = ended
		w.agents.replace()
		w.start()
		if d := cmp.Diff(asJSON(t, live.Parts), asJSON(t, w.messages(s)[1].Parts)); d != "" {
			t.Errorf("replayed\n%s", d)
		}
		if got := transcript.VisibleText(w.messages(s)[1]); got != "I \n\nwait\n\n." {
			t.Errorf("visible text %q", got)
		}
	})
}
