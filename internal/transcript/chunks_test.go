package transcript_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/transcript"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func text(s string) *fyllo.Update    { return &fyllo.Update{Kind: fyllo.UpdateText, Text: s} }
func thought(s string) *fyllo.Update { return &fyllo.Update{Kind: fyllo.UpdateReasoning, Text: s} }

func textOf(id, s string) *fyllo.Update {
	return &fyllo.Update{Kind: fyllo.UpdateText, MessageID: id, Text: s}
}

// fold applies updates a second apart, ends the turn and returns the message.
func fold(updates ...*fyllo.Update) fyllo.Message {
	live := transcript.New("m", "/proj", start)
	for i, u := range updates {
		live.Apply(u, start.Add(time.Duration(i+1)*time.Second))
	}
	live.End(fyllo.TurnEnd{StopReason: "end_turn", At: start.Add(time.Hour)})
	return live.Message()
}

// shape shows the parts of a message as "type:text".
func shape(m fyllo.Message) []string {
	out := []string{}
	for _, p := range m.Parts {
		switch p.Type {
		case fyllo.PartTool:
			out = append(out, "tool:"+p.Tool.CallID)
		case fyllo.PartAttachment:
			out = append(out, "attachment:"+p.Attachment.Name)
		default:
			out = append(out, string(p.Type)+":"+p.Text)
		}
	}
	return out
}

func TestChunksFormParts_R_ACP_007_008(t *testing.T) {
	tool := &fyllo.Update{Kind: fyllo.UpdateTool, Tool: &fyllo.ToolPatch{CallID: "c", Start: true}}
	image := &fyllo.Update{Kind: fyllo.UpdateText, Block: &fyllo.Block{Type: "image", Name: "a.png", Data: "AA=="}}
	high, low := "\xED\xA0\xBD", "\xED\xB8\x80" // U+1F600 in two halves
	for _, tt := range []struct {
		name    string
		updates []*fyllo.Update
		want    []string
	}{
		{"chunks of one kind are one part", []*fyllo.Update{text("a"), text("b")}, []string{"text:ab"}},
		{"kinds alternate in order", []*fyllo.Update{thought("t"), text("a"), thought("u")}, []string{"reasoning:t", "text:a", "reasoning:u"}},
		{"C12 empty chunks are nothing", []*fyllo.Update{text(""), text("a"), text(""), text("b")}, []string{"text:ab"}},
		{"white space inside text stays", []*fyllo.Update{text("a"), text("\n\n"), text("b"), text(" ")}, []string{"text:a\n\nb "}},
		{"white space alone is no part", []*fyllo.Update{text("a"), tool, text("\n"), text(" ")}, []string{"text:a", "tool:c"}},
		{"held white space comes back", []*fyllo.Update{tool, text("\n"), text(" "), text("b")}, []string{"tool:c", "text:\n b"}},
		{"held white space breaks no text", []*fyllo.Update{text("a"), thought("\n\n"), text("b")}, []string{"text:ab"}},
		{"X7 blank chunks before a thought go", []*fyllo.Update{thought("\n\n"), thought("\n**Sum"), thought("mary**")}, []string{"reasoning:**Summary**"}},
		{"X8 another message is another part", []*fyllo.Update{textOf("1", "a"), textOf("2", "b"), textOf("2", "c")}, []string{"text:a", "text:bc"}},
		{"absent ids append", []*fyllo.Update{text("a"), textOf("1", "b"), text("c"), textOf("1", "d"), textOf("2", "e")}, []string{"text:abcd", "text:e"}},
		{"white space of another message is dropped", []*fyllo.Update{textOf("1", "a"), textOf("2", "\n"), textOf("3", "b")}, []string{"text:a", "text:b"}},
		{"a subagent's words are its own", []*fyllo.Update{text("a"), {Kind: fyllo.UpdateText, Text: "b", ParentID: "p"}}, []string{"text:a", "text:b"}},
		{"tool updates do not break text", []*fyllo.Update{tool, text("a"), tool, text("b")}, []string{"tool:c", "text:ab"}},
		{"blocks become attachments", []*fyllo.Update{text("a"), image, text("b")}, []string{"text:a", "attachment:a.png", "text:b"}},
		{"an unknown block shows its type", []*fyllo.Update{{Kind: fyllo.UpdateText, Block: &fyllo.Block{Type: "hologram"}}}, []string{"attachment:hologram"}},
		{"surrogate halves join", []*fyllo.Update{text("a" + high), text(low + "b")}, []string{"text:a\U0001F600b"}},
		{"halves join over an empty chunk", []*fyllo.Update{text(high), text(""), text(low)}, []string{"text:\U0001F600"}},
		{"lone halves are replaced", []*fyllo.Update{text("a" + high), text("b" + low + "c" + high)}, []string{"text:a\uFFFDb\uFFFDc\uFFFD"}},
		{"a half before a tool is replaced", []*fyllo.Update{text("a" + high), tool, text(low + "b")}, []string{"text:a\uFFFD", "tool:c", "text:\uFFFDb"}},
		{"UTF-8 sequences join", []*fyllo.Update{text("\xE4\xB8"), text("\xAD")}, []string{"text:中"}},
		{"user chunks are not ours", []*fyllo.Update{{Kind: fyllo.UpdateUserText, Text: "hi"}}, []string{}},
		{"unknown updates change nothing", []*fyllo.Update{{Kind: fyllo.UpdateUnknown, Text: "x"}, {Kind: fyllo.UpdatePlan}}, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, shape(fold(tt.updates...))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPartIdsNameMessageAndIndex_R_CHAT_096(t *testing.T) {
	m := fold(text("a"), thought("b"))
	if m.Parts[0].ID != "m.0" || m.Parts[1].ID != "m.1" {
		t.Errorf("ids %q, %q", m.Parts[0].ID, m.Parts[1].ID)
	}
}

// cut draws a way to cut s into chunks, at any byte.
func cut(t *rapid.T, s string) []string {
	var chunks []string
	for s != "" {
		n := rapid.IntRange(1, min(len(s), 8)).Draw(t, "chunk")
		chunks, s = append(chunks, s[:n]), s[n:]
	}
	return chunks
}

// pieces are the things whose cutting is delicate.
var pieces = []string{"a", "word ", " ", "\n", "\t", "中", "\U0001F600", "\xED\xA0\xBD\xED\xB8\x80", "\xED\xA0\xBD", "\xED\xB8\x80", "\xFF", "\xC3", "\u00A0", "**"}

func TestChunkBordersLeaveNoTrace_R_ACP_007(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var whole, chunked []*fyllo.Update
		for i, n := 0, rapid.IntRange(1, 4).Draw(t, "runs"); i < n; i++ {
			run := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "run"), "")
			kind := []fyllo.UpdateKind{fyllo.UpdateText, fyllo.UpdateReasoning}[i%2]
			whole = append(whole, &fyllo.Update{Kind: kind, Text: run})
			for _, c := range cut(t, run) {
				chunked = append(chunked, &fyllo.Update{Kind: kind, Text: c})
			}
		}
		a, b := shape(fold(whole...)), shape(fold(chunked...))
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatal(diff)
		}
	})
}

// The changes alone must be enough to keep a copy of the message.
func TestChangesTellEverything_R_CHAT_096(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live := transcript.New("m", "/proj", start)
		var copied []fyllo.Part
		take := func(i int) {
			if i == len(copied) {
				copied = append(copied, fyllo.Part{})
			}
			copied[i] = live.Part(i)
		}
		for range rapid.IntRange(0, 30).Draw(t, "updates") {
			u := update(t)
			switch c := live.Apply(u, start); c.Kind {
			case transcript.None:
			case transcript.Part:
				take(c.Index)
			case transcript.Delta:
				if !utf8.ValidString(c.Text) {
					t.Fatalf("delta %q is no UTF-8", c.Text)
				}
				p := live.Part(c.Index)
				if c.Index == len(copied) {
					copied = append(copied, fyllo.Part{ID: p.ID, Type: p.Type})
				}
				copied[c.Index].Text += c.Text
			}
		}
		for _, i := range live.End(fyllo.TurnEnd{StopReason: "end_turn", At: start}) {
			take(i)
		}
		if diff := cmp.Diff(live.Message().Parts, append([]fyllo.Part{}, copied...)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// update draws any update that can change a transcript.
func update(t *rapid.T) *fyllo.Update {
	if rapid.Bool().Draw(t, "is tool") {
		return &fyllo.Update{Kind: fyllo.UpdateTool, Tool: patch(t)}
	}
	kind := rapid.SampledFrom([]fyllo.UpdateKind{fyllo.UpdateText, fyllo.UpdateReasoning}).Draw(t, "kind")
	return &fyllo.Update{
		Kind: kind, MessageID: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "message"),
		Text: strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 3).Draw(t, "text"), ""),
	}
}

// patch draws a tool patch, with few values so that they meet.
func patch(t *rapid.T) *fyllo.ToolPatch {
	str := func(name string, values ...string) *string {
		v := rapid.SampledFrom(append(values, "-")).Draw(t, name)
		if v == "-" {
			return nil
		}
		return &v
	}
	raw := func(name string, values ...string) []byte {
		return []byte(rapid.SampledFrom(append(values, "")).Draw(t, name))
	}
	p := &fyllo.ToolPatch{
		CallID: rapid.SampledFrom([]string{"a", "b__c"}).Draw(t, "call"), Start: rapid.Bool().Draw(t, "start"),
		Title: str("title", "", "T", "U"), Name: str("name", "Bash", "mcp__s__t"), Kind: str("kind", "edit", "odd"),
		Status: str("status", "pending", "in_progress", "completed", "failed", "odd"), ParentID: str("parent", "p"),
		RawInput:    raw("input", `{}`, `{"a":1}`, `{"description":"d"}`, `{"server":"s","tool":"t"}`),
		RawOutput:   raw("output", `"out"`, `{"error":"e"}`, `{"x":1}`, `{"stdout":"s","exit_code":2}`, `[{"type":"text","text":"l"}]`),
		OutputDelta: rapid.SampledFrom([]string{"", "d"}).Draw(t, "delta"),
	}
	if p.HasContent = rapid.Bool().Draw(t, "content"); p.HasContent {
		p.Texts = rapid.SliceOfN(rapid.SampledFrom([]string{"", "c", "```\nd\n```"}), 0, 2).Draw(t, "texts")
		p.Diffs = rapid.SliceOfN(rapid.SampledFrom([]fyllo.DiffPatch{{Path: "p", New: "n", Kind: "update"}, {New: "n"}}), 0, 2).Draw(t, "diffs")
	}
	if p.HasLocations = rapid.Bool().Draw(t, "places"); p.HasLocations {
		p.Locations = rapid.SliceOfN(rapid.SampledFrom([]fyllo.Location{{Path: "p"}, {Path: "p", Line: 2}, {}}), 0, 3).Draw(t, "locations")
	}
	return p
}

// A flood of 100,000 chunks into one part (architecture §9). The time per operation is that of one chunk.
func BenchmarkTextChunk(b *testing.B) {
	u := text("twenty-four bytes of it ")
	b.ReportAllocs()
	b.SetBytes(int64(len(u.Text)))
	for i := 0; i < b.N; {
		live := transcript.New("m", "/proj", start)
		for range 100_000 {
			live.Apply(u, start)
			if i++; i == b.N {
				break
			}
		}
	}
}

func BenchmarkTerminalDelta(b *testing.B) {
	u := &fyllo.Update{Kind: fyllo.UpdateTool, Tool: &fyllo.ToolPatch{CallID: "c", OutputDelta: "twenty-four bytes of it\n"}}
	b.ReportAllocs()
	for i := 0; i < b.N; {
		live := transcript.New("m", "/proj", start)
		for range 100_000 {
			live.Apply(u, start)
			if i++; i == b.N {
				break
			}
		}
	}
}
