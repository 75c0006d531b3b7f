package transcript_test

import (
	"slices"
	"strings"
	"testing"
	"time"

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

// step is one thing that may happen to a message.
type step struct {
	update *fyllo.Update
	ask    *fyllo.PermissionAsk
	answer string // call id
}

func (s step) do(live *transcript.Live, at time.Time) transcript.Change {
	switch {
	case s.update != nil:
		return live.Apply(s.update, at)
	case s.ask != nil:
		return live.Ask(s.ask, at)
	}
	return live.Answered(s.answer, fyllo.PermissionNote{ID: "1", Outcome: "cancelled", At: at}, at)
}

// The changes alone keep a copy of the message, whatever an Agent sends; a window that comes in between begins with
// the light form of the message and keeps up as well; and who replays the steps gets the same, however texts are cut
// (R-CHAT-096, 108, R-ACP-007, 025).
func TestChangesTellEverything_R_CHAT_096(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live := transcript.New("m", "/proj", start)
		root := fyllo.ACPSessionID(rapid.SampledFrom([]string{"", "root"}).Draw(t, "root"))
		live.Of(root)
		var steps []step
		pages := []*page{{t: t, live: live}}
		run := func(s step) {
			steps = append(steps, s)
			c := s.do(live, start)
			for _, p := range pages {
				p.follow(c)
			}
		}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			run(drawStep(t))
			if rapid.IntRange(0, 9).Draw(t, "a window comes") == 0 {
				pages = append(pages, &page{t: t, live: live, parts: slices.Clone(live.Message().Parts)})
			}
		}
		for _, i := range live.End(fyllo.TurnEnd{StopReason: "end_turn", At: start}) {
			for _, p := range pages {
				p.take(i)
			}
		}
		want := live.Message()
		for _, p := range pages {
			if diff := cmp.Diff(want.Parts, append([]fyllo.Part{}, p.parts...)); diff != "" {
				t.Fatal(diff)
			}
		}
		checkLinks(t, want)

		again := transcript.New("m", "/proj", start)
		again.Of(root)
		for _, s := range steps {
			for _, s := range recut(t, s) {
				s.do(again, start)
			}
		}
		again.End(fyllo.TurnEnd{StopReason: "end_turn", At: start})
		if diff := cmp.Diff(want, again.Message()); diff != "" {
			t.Fatal("replay:", diff)
		}
	})
}

// checkLinks checks R-CHAT-108 on a finished message: parents stand in it, going up ends, and exactly those who have
// something below them, or are marked, are roots.
func checkLinks(t *rapid.T, m fyllo.Message) {
	tools := map[string]*fyllo.Tool{}
	for _, p := range m.Parts {
		if p.Tool != nil {
			if tools[p.Tool.CallID] != nil {
				t.Fatalf("call %s stands twice", p.Tool.CallID)
			}
			tools[p.Tool.CallID] = p.Tool
		}
	}
	for _, p := range m.Parts {
		parent := p.ParentID
		if p.Tool != nil {
			parent = p.Tool.ParentID
		}
		for steps := 0; parent != ""; steps++ {
			up := tools[parent]
			if up == nil || up.Subagent == nil || steps > len(tools) {
				t.Fatalf("part %s: link to %q is not safe", p.ID, parent)
			}
			parent = up.ParentID
		}
	}
	if strings.Contains(transcript.VisibleText(m), "kid's") {
		t.Fatal("a subagent's words are visible text")
	}
}

// recut returns what tells the same as s with its text cut elsewhere.
func recut(t *rapid.T, s step) []step {
	u := s.update
	if u == nil || u.Kind != fyllo.UpdateText && u.Kind != fyllo.UpdateReasoning || u.Text == "" {
		return []step{s}
	}
	var out []step
	for _, chunk := range cut(t, u.Text) {
		c := *u
		c.Text = chunk
		out = append(out, step{update: &c})
	}
	return out
}

var (
	someCalls    = []string{"a", "b__c", "d", "e"}
	someParents  = []string{"", "", "a", "b__c", "d", "e", "nobody", "subagent:kid"}
	someSessions = []fyllo.ACPSessionID{"root", "root", "root", "kid", "inner"}
)

func drawStep(t *rapid.T) step {
	session := rapid.SampledFrom(someSessions).Draw(t, "session")
	switch rapid.IntRange(0, 11).Draw(t, "sort") {
	case 0:
		p := patch(t)
		return step{ask: &fyllo.PermissionAsk{SessionID: session, Tool: p}}
	case 1:
		return step{answer: rapid.SampledFrom(someCalls).Draw(t, "answered")}
	case 2:
		p := fyllo.ChildPatch{
			SessionID: rapid.SampledFrom([]fyllo.ACPSessionID{"kid", "inner", "root"}).Draw(t, "child"),
			State:     rapid.SampledFrom([]string{"", "running", "idle", "odd"}).Draw(t, "state"),
		}
		return step{update: &fyllo.Update{Kind: fyllo.UpdateSubagent, SessionID: session, Child: &p}}
	case 3:
		return step{update: &fyllo.Update{Kind: fyllo.UpdateMessage, SessionID: session, Message: &fyllo.SessionMessage{
			From: rapid.SampledFrom(someSessions).Draw(t, "from"), To: rapid.SampledFrom(someSessions).Draw(t, "to"),
			ID: rapid.SampledFrom([]string{"", "1"}).Draw(t, "id"), Whole: rapid.Bool().Draw(t, "whole"),
			Texts: []string{rapid.SampledFrom([]string{"", "told", "told more"}).Draw(t, "told")},
		}}}
	}
	u := update(t)
	u.SessionID = session
	return step{update: u}
}

// update draws any update that can change a transcript.
func update(t *rapid.T) *fyllo.Update {
	if rapid.Bool().Draw(t, "is tool") {
		return &fyllo.Update{Kind: fyllo.UpdateTool, Tool: patch(t)}
	}
	kind := rapid.SampledFrom([]fyllo.UpdateKind{fyllo.UpdateText, fyllo.UpdateReasoning}).Draw(t, "kind")
	u := &fyllo.Update{
		Kind: kind, MessageID: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "message"),
		ParentID: rapid.SampledFrom(someParents).Draw(t, "speaker"),
		Text:     strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 3).Draw(t, "text"), ""),
	}
	if rapid.IntRange(0, 19).Draw(t, "is block") == 0 {
		u.Text, u.Block = "", &fyllo.Block{Type: "image", Data: "AA=="}
	}
	return u
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
		CallID: rapid.SampledFrom(someCalls).Draw(t, "call"), Start: rapid.Bool().Draw(t, "start"),
		Title: str("title", "", "T", "U"), Name: str("name", "Bash", "mcp__s__t"), Kind: str("kind", "edit", "odd"),
		Status: str("status", "pending", "in_progress", "completed", "failed", "odd"), ParentID: str("parent", someParents...),
		IsSubagent:  rapid.IntRange(0, 5).Draw(t, "is subagent") == 0,
		RawInput:    raw("input", `{}`, `{"a":1}`, `{"description":"d"}`, `{"server":"s","tool":"t"}`),
		RawOutput:   raw("output", `"out"`, `{"error":"e"}`, `{"x":1}`, `{"stdout":"s","exit_code":2}`, `[{"type":"text","text":"l"}]`),
		OutputDelta: rapid.SampledFrom([]string{"", "d"}).Draw(t, "delta"),
	}
	if p.HasContent = rapid.Bool().Draw(t, "content"); p.HasContent {
		p.Blocks = rapid.SliceOfN(rapid.SampledFrom([]fyllo.Block{{Type: "image", Data: "AA=="}, {Type: "audio", Data: "BB=="}, {Type: "image", MIME: "image/png"}}), 0, 2).Draw(t, "blocks")
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
