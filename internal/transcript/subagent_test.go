package transcript_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/transcript"
	"github.com/google/go-cmp/cmp"
)

// of is the announcement of the call id under parent.
func of(id, parent string) *fyllo.Update {
	p := fyllo.ToolPatch{CallID: id, Start: true, Status: new("completed")}
	if parent != "" {
		p.ParentID = &parent
	}
	return call(p)[0]
}

func says(parent, s string) *fyllo.Update {
	return &fyllo.Update{Kind: fyllo.UpdateText, Text: s, ParentID: parent}
}

func thinks(parent, s string) *fyllo.Update {
	return &fyllo.Update{Kind: fyllo.UpdateReasoning, Text: s, ParentID: parent}
}

// tree shows the parts of a message: "*" at roots, and behind ">" the parent.
func tree(m fyllo.Message) []string {
	out := shape(m)
	for i, p := range m.Parts {
		parent := p.ParentID
		if p.Tool != nil {
			parent = p.Tool.ParentID
			if p.Tool.Subagent != nil {
				out[i] += "*"
			}
		}
		if parent != "" {
			out[i] += ">" + parent
		}
	}
	return out
}

func TestLinksAreSafe_R_CHAT_106_108(t *testing.T) {
	marked := call(agent(fyllo.ToolPatch{CallID: "r", Start: true}))[0]
	for _, tt := range []struct {
		name    string
		updates []*fyllo.Update
		want    []string
	}{
		{"a marked call is a root without children R-CHAT-107", []*fyllo.Update{marked}, []string{"tool:r*"}},
		{"a call that is named as parent is a root", []*fyllo.Update{of("r", ""), of("a", "r")}, []string{"tool:r*", "tool:a>r"}},
		{"the child may come first", []*fyllo.Update{of("a", "r"), of("r", "")}, []string{"tool:a>r", "tool:r*"}},
		{"the parent may be told late", []*fyllo.Update{of("r", ""), of("a", ""), of("a", "r")}, []string{"tool:r*", "tool:a>r"}},
		{"the first parent stays", []*fyllo.Update{of("r", ""), of("s", ""), of("a", "r"), of("a", "s"), of("a", "")}, []string{"tool:r*", "tool:s", "tool:a>r"}},
		{"any depth, any order", []*fyllo.Update{of("c", "b"), of("a", "r"), of("b", "a"), of("r", "")}, []string{"tool:c>b", "tool:a*>r", "tool:b*>a", "tool:r*"}},
		{"an orphan is ordinary", []*fyllo.Update{of("a", "nobody"), says("nobody", "x"), thinks("nobody", "y")}, []string{"tool:a", "text:x", "reasoning:y"}},
		{"an orphan may be a root", []*fyllo.Update{of("a", "nobody"), of("b", "a")}, []string{"tool:a*", "tool:b>a"}},
		{"nobody is his own parent", []*fyllo.Update{of("a", "a")}, []string{"tool:a"}},
		{"nor told so late", []*fyllo.Update{of("a", ""), of("a", "a"), of("b", "a")}, []string{"tool:a", "tool:b"}},
		{"a circle of two is ordinary", []*fyllo.Update{of("a", "b"), of("b", "a")}, []string{"tool:a", "tool:b"}},
		{"a circle that closes late opens its links", []*fyllo.Update{of("a", ""), of("b", "a"), of("c", "b"), of("d", "c"), says("d", "x"), of("a", "c")}, []string{"tool:a", "tool:b", "tool:c", "tool:d", "text:x"}},
		{"what hangs on a circle is ordinary", []*fyllo.Update{of("a", "b"), of("b", "a"), of("c", "b"), of("d", "c")}, []string{"tool:a", "tool:b", "tool:c", "tool:d"}},
		{"a marked member of a circle stays a root", []*fyllo.Update{call(agent(fyllo.ToolPatch{CallID: "r", Start: true, ParentID: new("a")}))[0], of("a", "r")}, []string{"tool:r*", "tool:a"}},
		{"words make a root", []*fyllo.Update{of("r", ""), says("r", "x")}, []string{"tool:r*", "text:x>r"}},
		{"words may come first", []*fyllo.Update{says("r", "x"), thinks("r", "y"), of("r", "")}, []string{"text:x>r", "reasoning:y>r", "tool:r*"}},
		{"a duplicate id is the same call", []*fyllo.Update{of("r", ""), of("a", "r"), of("a", "r"), of("r", "")}, []string{"tool:r*", "tool:a>r"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, tree(fold(tt.updates...))); d != "" {
				t.Error(d)
			}
		})
	}
}

// A call of another message is no parent, even with the same id (R-CHAT-108, R-ACP-012).
func TestIdsAreOfOneTurn_R_ACP_012(t *testing.T) {
	first, second := fold(of("call_function_x_1", "")), fold(of("a", "call_function_x_1"), of("toolu_é/__ \x00", ""))
	if d := cmp.Diff([]string{"tool:call_function_x_1"}, tree(first)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"tool:a", "tool:toolu_é/__ \x00"}, tree(second)); d != "" {
		t.Error(d)
	}
}

func TestSubagentsSpeakWithoutInterruptingEachOther_R_ACP_013(t *testing.T) {
	m := fold(
		of("r", ""), of("s", ""), text("I "), says("r", "one "), says("s", "uno "), thinks("r", "hm"), text("wait"),
		says("s", "dos"), says("r", "two"), of("a", "s"), says("s", "tres"), text("."), of("b", ""), text("End."),
	)
	want := []string{
		"tool:r*", "tool:s*", "text:I wait.", "text:one >r", "text:uno dos>s", "reasoning:hm>r", "text:two>r", "tool:a>s", "text:tres>s",
		"tool:b", "text:End.",
	}
	if d := cmp.Diff(want, tree(m)); d != "" {
		t.Error(d)
	}
	if got := transcript.VisibleText(m); got != "I wait.\n\nEnd." {
		t.Errorf("visible text %q", got) // R-CHAT-110: text after the tool stays, a subagent's words do not count
	}
}

// page is a copy of the message that is kept by what changes tell, as a window keeps it.
type page struct {
	t     interface{ Errorf(string, ...any) }
	live  *transcript.Live
	parts []fyllo.Part
}

func (p *page) take(i int) {
	for len(p.parts) <= i {
		p.parts = append(p.parts, fyllo.Part{})
	}
	p.parts[i] = p.live.Part(i)
}

func (p *page) follow(c transcript.Change) {
	switch c.Kind {
	case transcript.None:
		if len(c.More) > 0 {
			p.t.Errorf("nothing changed, but %v", c.More)
		}
		return
	case transcript.Part:
		p.take(c.Index)
	case transcript.Delta:
		for len(p.parts) <= c.Index {
			p.parts = append(p.parts, fyllo.Part{})
		}
		part := &p.parts[c.Index]
		if part.ID == "" {
			part.ID, part.Type = p.live.PartID(c.Index), p.live.PartType(c.Index)
		}
		if n := fyllo.UTF16Len(part.Text); n != c.At {
			p.t.Errorf("delta at %d of part %d, which has %d units", c.At, c.Index, n)
		}
		if part.Text += c.Text; !utf8.ValidString(c.Text) {
			p.t.Errorf("delta %q is no UTF-8", c.Text)
		}
	}
	if !slices.IsSorted(c.More) || slices.Contains(c.More, c.Index) || len(slices.Compact(slices.Clone(c.More))) != len(c.More) {
		p.t.Errorf("more is %v beside %d", c.More, c.Index)
	}
	for _, i := range c.More {
		p.take(i)
	}
}

func TestLateLinkTellsAllItMoves_R_CHAT_092_108(t *testing.T) {
	live := transcript.New("m", "/proj", start)
	for _, u := range []*fyllo.Update{of("a", "r"), says("r", "x"), of("b", "a")} {
		live.Apply(u, start)
	}
	c := live.Apply(of("r", ""), start)
	if c.Kind != transcript.Part || c.Index != 3 || !slices.Equal(c.More, []int{0, 1}) {
		t.Errorf("a late root: %+v", c)
	}
	// The words of a subagent are told as a part first, which names the parent, then as deltas.
	c = live.Apply(says("b", "y😀"), start)
	if c.Kind != transcript.Part || c.Index != 4 || !slices.Equal(c.More, []int{2}) {
		t.Errorf("first words: %+v", c)
	}
	if c = live.Apply(says("b", "z"), start); c.Kind != transcript.Delta || c.Index != 4 || c.At != 3 || c.Text != "z" || c.More != nil {
		t.Errorf("next words: %+v", c)
	}
	if c = live.Apply(of("r", "b"), start); c.Kind != transcript.Part || !slices.Equal(append([]int{c.Index}, c.More...), []int{0, 1, 2, 3, 4}) && !slices.Equal(append([]int{c.Index}, c.More...), []int{3, 0, 1, 2, 4}) {
		t.Errorf("a circle: %+v", c)
	}
}

func TestSummaryMergesByField_R_CHAT_092_109(t *testing.T) {
	told := func(s fyllo.Subagent) fyllo.ToolPatch { return fyllo.ToolPatch{Subagent: &s} }
	n := func(v int64) *int64 { return &v }
	live := transcript.New("m", "", start)
	apply := func(p fyllo.ToolPatch, want string) {
		t.Helper()
		live.Apply(call(p)[0], start)
		if got := summary(live.Part(0).Tool.Subagent); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	apply(agent(begin("Task", "think", "", `{"subagent_type":"explore","prompt":"p"}`)), "is type=explore")
	apply(told(fyllo.Subagent{Tokens: n(5), Stats: &fyllo.ToolStats{Reads: n(1)}}), "is type=explore tokens=5 read=1")
	apply(told(fyllo.Subagent{AgentType: "x", Model: "m", DurationMS: n(0), Stats: &fyllo.ToolStats{Edits: n(2)}}), "is type=x model=m tokens=5 ms=0 read=1 edit=2")
	handed := live.Part(0)
	apply(told(fyllo.Subagent{Status: "completed", ToolUses: n(3), Stats: &fyllo.ToolStats{Reads: n(4)}}),
		"is status=completed type=x model=m tokens=5 ms=0 uses=3 read=4 edit=2")
	// The completed update says nothing of it (C10).
	apply(with(content("done"), "completed", "", ""), "is status=completed type=x model=m tokens=5 ms=0 uses=3 read=4 edit=2")
	if got := summary(handed.Tool.Subagent); got != "is type=x model=m tokens=5 ms=0 read=1 edit=2" {
		t.Errorf("a part that was handed out changed: %s", got)
	}
	if p := live.Part(0).Tool.Subagent.Prompt; p == nil || p.Text != "p" {
		t.Errorf("prompt %v", p)
	}
	if c := live.Apply(call(told(fyllo.Subagent{Tokens: n(5), Stats: &fyllo.ToolStats{Reads: n(4)}}))[0], start); c.Kind != transcript.None {
		t.Errorf("the same again: %+v", c)
	}
}

// C3: for a call that is no subagent's the response changes nothing; it is kept for the case that it turns out to be
// one (R-CHAT-106).
func TestTrace_C3_ResponseOfAnOrdinaryTool(t *testing.T) {
	live := transcript.New("m", "", start)
	live.Apply(call(begin("ls", "execute", "", `{"prompt":"p"}`))[0], start)
	five := int64(5)
	if c := live.Apply(call(fyllo.ToolPatch{Subagent: &fyllo.Subagent{Status: "ok", Tokens: &five}})[0], start); c.Kind != transcript.None {
		t.Errorf("%+v", c)
	}
	if tool := live.Part(0).Tool; tool.Subagent != nil || tool.Output != nil {
		t.Errorf("%v", view(*tool))
	}
	live.Apply(of("a", "c"), start)
	if got := live.Part(0).Tool.Subagent; summary(got) != "is status=ok tokens=5" || got.Prompt.Text != "p" {
		t.Errorf("%+v", got)
	}
}

func TestFencesOfLastWordsStay_R_CHAT_110(t *testing.T) {
	m := fold(call(agent(named("Agent", with(content("```\ncode\n```"), "completed", "", ""))))...)
	if got := m.Parts[0].Tool.Output.Text; got != "```\ncode\n```" {
		t.Errorf("%q", got)
	}
}

// R-CHAT-111, 095: an open subagent is interrupted with its turn, as are its calls.
func TestOpenSubagentIsInterrupted_R_CHAT_095_111(t *testing.T) {
	m := fold(call(agent(fyllo.ToolPatch{CallID: "r", Start: true}), fyllo.ToolPatch{CallID: "a", Start: true, ParentID: new("r")})...)
	for _, p := range m.Parts {
		if !p.Tool.Interrupted {
			t.Errorf("%v", view(*p.Tool))
		}
	}
}

func TestMediaOfAResult(t *testing.T) {
	picture := func(data string) fyllo.Block {
		return fyllo.Block{Type: "image", MIME: "image/png", Data: data}
	}
	blocks := func(texts []string, b ...fyllo.Block) fyllo.ToolPatch {
		return fyllo.ToolPatch{CallID: "c", Status: new("completed"), HasContent: true, Texts: texts, Blocks: b}
	}
	file := fyllo.Block{Type: "resource", MIME: "text/plain", URI: "file:///a.txt", Name: "a.txt", Data: "QQ=="}
	for _, tt := range []struct {
		name    string
		updates []*fyllo.Update
		want    []string
	}{
		{"a picture is no output", call(blocks(nil, picture("AA=="))), []string{"media: image/png   AA=="}},
		{"text stands beside it", call(blocks([]string{"t"}, picture("AA=="), file)), []string{"out: t", "media: image/png   AA==", "media: text/plain a.txt file:///a.txt QQ=="}},
		{"text alone keeps it", call(blocks(nil, picture("AA==")), blocks([]string{"t"})), []string{"out: t", "media: image/png   AA=="}},
		{"others replace it", call(blocks(nil, picture("AA=="), picture("BB==")), blocks(nil, picture("CC=="))), []string{"media: image/png   CC=="}},
		{"an empty list clears it", call(blocks(nil, picture("AA==")), blocks(nil)), nil},
		{"absent content keeps it", call(blocks(nil, picture("AA==")), row("", "", `"t"`)), []string{"out: t", "media: image/png   AA=="}},
		{"a link stays text", call(blocks(nil, fyllo.Block{Type: "resource_link", Name: "a", URI: "file:///a"}, picture("AA=="))), []string{"out: a file:///a", "media: image/png   AA=="}},
		{"a picture without bytes is named", call(blocks(nil, fyllo.Block{Type: "image", MIME: "image/png"})), []string{"out: [image/png]"}},
		{"an embedded text is output", call(blocks(nil, fyllo.Block{Type: "resource", MIME: "application/json", Data: "{}", IsText: true})), []string{"out: {}"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := view(*fold(tt.updates...).Parts[0].Tool)
			if d := cmp.Diff(tt.want, slices.Clip(got[1:]), cmpEmpty); d != "" {
				t.Error(d)
			}
		})
	}
	live := transcript.New("m", "", start)
	live.Apply(call(blocks(nil, picture("AA==")))[0], start)
	if c := live.Apply(call(blocks(nil, picture("AA==")))[0], start); c.Kind != transcript.None {
		t.Errorf("the same picture again: %+v", c)
	}
}

var cmpEmpty = cmp.Transformer("empty", func(s []string) string { return strings.Join(s, "\n") })

// Media and prompts are cut and found like the other bodies.
func TestBodiesOfMediaAndPrompt(t *testing.T) {
	long := strings.Repeat("QUJD", 1000)
	m := fold(call(agent(fyllo.ToolPatch{
		CallID: "c", RawInput: fmt.Appendf(nil, `{"prompt":%q}`, long), HasContent: true,
		Blocks: []fyllo.Block{{Type: "image", Data: "QUJD"}, {Type: "audio", Data: long}},
	}))...)
	light := transcript.LightMessage(m)
	for _, tt := range []struct {
		q    fyllo.BodyQuery
		want string
	}{
		{fyllo.BodyQuery{PartID: "m.0", Field: "prompt"}, long},
		{fyllo.BodyQuery{PartID: "m.0", Field: "media"}, "QUJD"},
		{fyllo.BodyQuery{PartID: "m.0", Field: "media", Index: 1}, long},
	} {
		full := transcript.BodyOf(&m.Parts[0], tt.q)
		cut := transcript.BodyOf(&light.Parts[0], tt.q)
		if full == nil || full.Text != tt.want || full.Ref != nil {
			t.Errorf("%+v: %+v", tt.q, full)
		}
		if cut == nil || cut.Size != len(tt.want) || (cut.Ref == nil) != (len(tt.want) <= fyllo.BodyPreview) {
			t.Errorf("%+v, light: %+v", tt.q, cut)
		}
	}
	for _, q := range []fyllo.BodyQuery{
		{PartID: "m.0", Field: "media", Index: 2}, {PartID: "m.0", Field: "media", Index: -1}, {PartID: "m.0", Field: "old"},
		{PartID: "m.0", Field: "odd"},
	} {
		if b := transcript.BodyOf(&m.Parts[0], q); b != nil {
			t.Errorf("%+v: %+v", q, b)
		}
	}
	m = fold(text("words"), of("a", ""))
	if b := transcript.BodyOf(&m.Parts[0], fyllo.BodyQuery{Field: "text"}); b == nil || b.Text != "words" {
		t.Errorf("text: %+v", b)
	}
	if b := transcript.BodyOf(&m.Parts[1], fyllo.BodyQuery{Field: "prompt"}); b != nil {
		t.Errorf("prompt of an ordinary tool: %+v", b)
	}
}

// under returns u as it comes under the ACP session id.
func under(id fyllo.ACPSessionID, u *fyllo.Update) *fyllo.Update {
	u.SessionID = id
	return u
}

func announced(parent, child fyllo.ACPSessionID, p fyllo.ChildPatch) *fyllo.Update {
	p.SessionID = child
	return &fyllo.Update{Kind: fyllo.UpdateSubagent, SessionID: parent, Child: &p}
}

func told(session, from, to fyllo.ACPSessionID, id string, whole bool, texts ...string) *fyllo.Update {
	return &fyllo.Update{Kind: fyllo.UpdateMessage, SessionID: session, Message: &fyllo.SessionMessage{
		From: from, To: to, ID: id, Whole: whole, Texts: texts,
	}}
}

// foldOf is fold for a turn of the ACP session "root".
func foldOf(updates ...*fyllo.Update) fyllo.Message {
	live := transcript.New("m", "/proj", start)
	live.Of("root")
	for i, u := range updates {
		live.Apply(u, start.Add(time.Duration(i+1)*time.Second))
	}
	live.End(fyllo.TurnEnd{StopReason: "end_turn", At: start.Add(time.Hour)})
	return live.Message()
}

func TestChildSessionsAreSubagents_R_CHAT_108(t *testing.T) {
	title, what := "Explorer", "Looks"
	kid := announced("root", "kid", fyllo.ChildPatch{Title: &title, Description: &what, State: "running", Cwd: "/kid"})
	toolOf := func(session fyllo.ACPSessionID, id, parent string) *fyllo.Update {
		return under(session, of(id, parent))
	}
	for _, tt := range []struct {
		name    string
		updates []*fyllo.Update
		want    []string
	}{
		{
			"what a child does is its own", []*fyllo.Update{
				toolOf("root", "1", ""), kid, toolOf("kid", "1", ""), under("kid", text("a")), under("root", text("b")),
				under("kid", text("c")), toolOf("kid", "2", "1"),
			},
			[]string{"tool:1", "tool:subagent:kid*", "tool:kid/1*>subagent:kid", "text:ac>subagent:kid", "text:b", "tool:kid/2>kid/1"},
		},
		{
			"a child has children", []*fyllo.Update{kid, announced("kid", "inner", fyllo.ChildPatch{}), under("inner", text("a")), toolOf("inner", "1", "")},
			[]string{"tool:subagent:kid*", "tool:subagent:inner*>subagent:kid", "text:a>subagent:inner", "tool:inner/1>subagent:inner"},
		},
		{
			"a child of an earlier turn is met late", []*fyllo.Update{under("kid", text(" ")), under("kid", text("a")), announced("root", "kid", fyllo.ChildPatch{Title: &title})},
			[]string{"tool:subagent:kid*", "text: a>subagent:kid"},
		},
		{
			"a grandchild of an earlier turn finds its parent", []*fyllo.Update{under("inner", text("a")), announced("kid", "inner", fyllo.ChildPatch{})},
			[]string{"tool:subagent:inner*>subagent:kid", "text:a>subagent:inner", "tool:subagent:kid*"},
		},
		{
			"the turn's session is nobody's child", []*fyllo.Update{kid, announced("kid", "root", fyllo.ChildPatch{}), announced("root", "root", fyllo.ChildPatch{}), announced("kid", "kid", fyllo.ChildPatch{}), under("root", text("a"))},
			[]string{"tool:subagent:kid*", "text:a"},
		},
		{
			"the first parent stays", []*fyllo.Update{kid, announced("root", "other", fyllo.ChildPatch{}), announced("other", "kid", fyllo.ChildPatch{Title: new("Stolen")}), under("kid", text("a"))},
			[]string{"tool:subagent:kid*", "tool:subagent:other*", "text:a>subagent:kid"},
		},
		{
			"a message of a child is its words, once", []*fyllo.Update{
				kid, under("kid", text("a")), told("kid", "kid", "root", "m1", true, "b", "c"), under("kid", text("d")), told("root", "kid", "root", "m1", true, "b", "c"),
			},
			[]string{"tool:subagent:kid*", "text:a>subagent:kid", "text:b\n\nc>subagent:kid", "text:d>subagent:kid"},
		},
		{
			"pieces of a message, then the whole", []*fyllo.Update{
				kid, told("root", "kid", "root", "m1", false, "b\xED\xA0\xBD"), told("root", "kid", "root", "m1", false, "\xED\xB8\x80c"), told("root", "kid", "root", "m1", true, "bc"),
			},
			[]string{"tool:subagent:kid*", "text:bc>subagent:kid"},
		},
		{
			"messages between strangers are nothing", []*fyllo.Update{told("root", "x", "y", "m", true, "a"), told("root", "", "", "m", true, "a"), told("root", "root", "x", "m", true, "a")},
			[]string{},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, tree(foldOf(tt.updates...))); d != "" {
				t.Error(d)
			}
		})
	}
	m := foldOf(kid, under("kid", call(diffs(row("completed", "", ""), diff("a", nil, "x", "")))[0]))
	if tool := m.Parts[0].Tool; tool.Title != "Explorer: Looks" || tool.Subagent.Status != "running" || tool.Status != fyllo.ToolInProgress {
		t.Errorf("%v", view(*tool))
	}
	if got := m.Parts[1].Tool.Diffs[0].Path; got != "/kid/a" { // R-ACP-023
		t.Errorf("path %s", got)
	}
}

func TestPromptsOfAChildSession_R_CHAT_110(t *testing.T) {
	kid := announced("root", "kid", fyllo.ChildPatch{})
	for _, tt := range []struct {
		name    string
		updates []*fyllo.Update
		want    string
	}{
		{"a message to it", []*fyllo.Update{told("kid", "root", "kid", "1", true, "a", "b")}, "a\n\nb"},
		{"told on the parent's session", []*fyllo.Update{told("root", "root", "kid", "1", true, "a")}, "a"},
		{"told on both, once", []*fyllo.Update{told("root", "root", "kid", "1", true, "a"), told("kid", "root", "kid", "1", true, "a")}, "a"},
		{"without names, on its session", []*fyllo.Update{told("kid", "", "", "", true, "a"), told("kid", "", "", "", true, "a")}, "a"},
		{"in pieces", []*fyllo.Update{told("kid", "root", "kid", "1", false, "\xE4\xB8"), told("kid", "root", "kid", "1", false, "\xADb")}, "中b"},
		{"a piece of an earlier one", []*fyllo.Update{told("kid", "root", "kid", "1", false, "a"), told("kid", "root", "kid", "2", false, "c"), told("kid", "root", "kid", "1", false, "b")}, "ab\n\nc"},
		{"replaced by the whole", []*fyllo.Update{told("kid", "root", "kid", "1", false, "a"), told("kid", "root", "kid", "1", true, "b")}, "b"},
		{"a second one follows", []*fyllo.Update{told("kid", "root", "kid", "1", true, "a"), told("kid", "root", "kid", "2", true, "b")}, "a\n\nb"},
		{"a user's chunks", []*fyllo.Update{under("kid", &fyllo.Update{Kind: fyllo.UpdateUserText, Text: "a"}), under("kid", &fyllo.Update{Kind: fyllo.UpdateUserText, Text: "b"})}, "ab"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := foldOf(append([]*fyllo.Update{kid}, tt.updates...)...)
			if len(m.Parts) != 1 || m.Parts[0].Tool.Subagent.Prompt == nil || m.Parts[0].Tool.Subagent.Prompt.Text != tt.want {
				t.Errorf("%v %+v", tree(m), m.Parts[0].Tool.Subagent.Prompt)
			}
		})
	}
}

func TestStateOfAChildSession_R_CHAT_111(t *testing.T) {
	for _, tt := range []struct {
		states string // state or state/reason, in order
		want   fyllo.ToolStatus
		told   string
	}{
		{"", fyllo.ToolPending, ""}, {"running", fyllo.ToolInProgress, "running"}, {"requires_action", fyllo.ToolInProgress, "requires_action"},
		{"running idle/end_turn", fyllo.ToolCompleted, "end_turn"}, {"idle/max_tokens", fyllo.ToolCompleted, "max_tokens"},
		{"running idle", fyllo.ToolCompleted, "idle"}, {"idle", fyllo.ToolPending, "idle"}, {"running idle/cancelled", fyllo.ToolFailed, "cancelled"},
		{"running idle/refusal", fyllo.ToolFailed, "refusal"}, {"running idle/error", fyllo.ToolFailed, "error"}, {"completed", fyllo.ToolCompleted, "completed"},
		{"failed", fyllo.ToolFailed, "failed"}, {"cancelled", fyllo.ToolFailed, "cancelled"}, {"running pondering", fyllo.ToolInProgress, "pondering"},
		{"running idle/end_turn running", fyllo.ToolCompleted, "running"},
	} {
		var updates []*fyllo.Update
		for _, s := range append([]string{""}, strings.Fields(tt.states)...) {
			state, reason, _ := strings.Cut(s, "/")
			updates = append(updates, announced("root", "kid", fyllo.ChildPatch{State: state, StopReason: reason}))
		}
		tool := foldOf(updates...).Parts[0].Tool
		if tool.Status != tt.want || tool.Subagent.Status != tt.told || tool.Interrupted == tt.want.Final() {
			t.Errorf("%s: %v", tt.states, view(*tool))
		}
	}
}

func TestAskOfAChildSession_R_ACP_020(t *testing.T) {
	live := transcript.New("m", "/proj", start)
	live.Of("root")
	ask := &fyllo.PermissionAsk{SessionID: "kid", Tool: &fyllo.ToolPatch{CallID: "1", Title: new("Write a")}}
	if c := live.Ask(ask, start); c.Kind != transcript.Part || c.Index != 1 || !slices.Equal(c.More, []int{0}) {
		t.Errorf("ask: %+v", c)
	}
	id := live.CallID(ask)
	if id != "kid/1" || live.ToolTitle(id) != "Write a" {
		t.Errorf("id %q, title %q", id, live.ToolTitle(id))
	}
	if c := live.Answered(id, fyllo.PermissionNote{ID: "1"}, start); c.Kind != transcript.Part || c.Index != 1 {
		t.Errorf("answer: %+v", c)
	}
	if d := cmp.Diff([]string{"tool:subagent:kid*", "tool:kid/1>subagent:kid"}, tree(live.Message())); d != "" {
		t.Error(d)
	}
	if got := live.CallID(&fyllo.PermissionAsk{SessionID: "root", Tool: &fyllo.ToolPatch{CallID: "1"}}); got != "1" {
		t.Errorf("own id %q", got)
	}
	if got := live.CallID(&fyllo.PermissionAsk{}); got != "" {
		t.Errorf("no tool: %q", got)
	}
}
