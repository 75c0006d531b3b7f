package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
)

// A tag is told as soon as it is certain: behind a blank line, when another part begins, or at the end. What is literal,
// and what is not the Agent's own text, has no line.
func TestPromptTellsTags_R_CLI_007_R_TAG_010_021(t *testing.T) {
	const (
		clock = "<fyllo-signal type=\"show.time\">\n{\"label\":\"\\u003c9:00\"}\n</fyllo-signal>"
		bad   = "<fyllo-action type=\"task.create\">\n{\"title\":\"\"}\n</fyllo-action>"
		tag   = `{"type":"tag","tag":"fyllo-signal","kind":"show.time","verdict":"accepted","payload":{"label":"\u003c9:00"}}`
		wrong = `{"type":"tag","tag":"fyllo-action","kind":"task.create","verdict":"invalid","reason":"invalid_payload"}`
	)
	f := newFakeCore(t)
	f.begin()
	seq := uint64(101)
	send := func(index string, kind fyllo.PartType, text string) {
		seq++
		f.send(seq, fyllo.EventDelta, fyllo.Delta{MessageID: fakeAnswer, PartID: fakeAnswer + "." + index, Kind: kind, Text: text})
	}
	whole := func(p fyllo.Part) {
		seq++
		f.send(seq, fyllo.EventPart, fyllo.PartEvent{MessageID: fakeAnswer, Part: p})
	}
	said := func(index, kind, text string) string {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\\u003c`, `\\u003c`).Replace(string(quoted))
		return `{"type":"` + kind + `","messageId":"msg-agent","partId":"msg-agent.` + index + `","text":` + words
	}
	send("0", fyllo.PartReasoning, clock)
	send("1", fyllo.PartText, clock+"\n")
	whole(fyllo.Part{ID: fakeAnswer + ".2", Type: fyllo.PartText, Text: clock, ParentID: "call"}) // does not end the own text
	whole(fyllo.Part{ID: fakeAnswer + ".1", Type: fyllo.PartText, Text: clock + "\n\n" + bad})
	whole(fyllo.Part{ID: fakeAnswer + ".3", Type: fyllo.PartTool, Tool: &fyllo.Tool{CallID: "c", Title: "T", Kind: "read", Status: "completed"}})
	send("4", fyllo.PartText, clock+"\ntail\n\n"+clock)
	f.end(seq+1, "end_turn")
	r := f.run(t.Context(), "prompt", "--agent", "a1", "--json", "hi")
	want := strings.Join([]string{
		`{"type":"session","sessionId":"session-1","workspaceId":"w1","agentId":"a1","mode":"fyllocode"}`,
		said("0", "reasoning", clock) + "}",
		said("1", "text", clock+"\n") + "}",
		said("2", "text", clock) + `,"parentToolCallId":"call"}`,
		said("1", "text", "\n"+bad) + "}",
		tag,
		wrong,
		`{"type":"tool","toolCallId":"c","title":"T","kind":"read","status":"completed"}`,
		said("4", "text", clock+"\ntail\n\n"+clock) + "}",
		tag,
		`{"type":"turn_end","turn":"prompt","stopReason":"end_turn"}`,
		`{"type":"end","stopReason":"end_turn"}`,
	}, "\n") + "\n"
	if diff := cmp.Diff(want, r.stdout); diff != "" || r.code != ExitDone {
		t.Errorf("exit %d, stderr %q\n%s", r.code, r.stderr, diff)
	}
}
