package transcript_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/transcript"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// rules are fold rules that no single Agent shows.
var rules = []struct {
	name    string
	updates []*fyllo.Update
	want    []string
}{
	{
		"start_without_status_is_pending_R_CHAT_089", call(fyllo.ToolPatch{Start: true}),
		[]string{"Tool | other | pending | interrupted"},
	},
	{
		"update_without_start_is_in_progress_R_CHAT_089", call(row("", `{"a":1}`, "")),
		[]string{"Tool | other | in_progress | interrupted", "in: {\n  \"a\": 1\n} (json)"},
	},
	{
		"unknown_status_is_ignored_R_ACP_003", call(titled("T", row("paused", "", "")), titled("U", row("paused", "", ""))),
		[]string{"U | other | in_progress | interrupted"},
	},
	{
		"final_status_stays_R_CHAT_089", call(row("completed", "", ""), row("in_progress", "", ""), row("pending", "", "")),
		[]string{"Tool | other | completed"},
	},
	{
		"completed_may_fail_R_CHAT_089", call(row("completed", "", ""), row("failed", "", "")),
		[]string{"Tool | other | failed"},
	},
	{
		"failed_does_not_complete_R_CHAT_089", call(row("failed", "", ""), row("completed", "", "")),
		[]string{"Tool | other | failed"},
	},
	{
		"start_after_update_merges_R_ACP_004", call(row("in_progress", "", ""), begin("T", "read", "", "")),
		[]string{"T | read | in_progress | interrupted"},
	},
	{
		"updates_after_the_end_fill_R_ACP_006", call(row("completed", "", ""), titled("T", content("out"))),
		[]string{"T | other | completed", "out: out"},
	},
	{
		"completed_with_error_only_is_failed_R_ACP_010_R_CHAT_090", call(row("completed", "", `{"error":"boom"}`)),
		[]string{"Tool | other | failed", "error: boom"},
	},
	{
		"completed_with_error_and_output_is_not_R_ACP_010_R_CHAT_090", call(row("completed", "", `{"error":"boom","output":"x"}`)),
		[]string{"Tool | other | completed", "out: x"},
	},
	{
		"error_object_does_not_fail_R_ACP_010", call(row("completed", "", `{"error":{"message":"m"}}`)),
		[]string{"Tool | other | completed", "out: {\n  \"error\": {\n    \"message\": \"m\"\n  }\n} (json)"},
	},
	{
		"empty_text_erases_nothing_R_ACP_002", call(with(content("a"), "in_progress", `{"x":1}`, ""), with(content(""), "completed", "", "")),
		[]string{"a | other | completed", "in: {\n  \"x\": 1\n} (json)", "out: a"},
	},
	{
		"empty_text_erases_no_final_output_R_ACP_002", call(with(content("a"), "completed", "", ""), content(""), fyllo.ToolPatch{HasContent: true}),
		[]string{"Tool | other | completed", "out: a"},
	},
	{
		"empty_lists_clear_diffs_and_places_R_CHAT_091", call(diffs(at(row("", "", ""), "/p", 1), diff("/p", nil, "x", "")), fyllo.ToolPatch{HasContent: true, HasLocations: true}),
		[]string{"Tool | other | in_progress | interrupted"},
	},
	{
		"no_valid_item_clears_R_CHAT_091", call(diffs(at(row("", "", ""), "/p", 1), diff("/p", nil, "x", "")), diffs(at(row("", "", ""), "", 1), diff("", nil, "x", ""))),
		[]string{"Tool | other | in_progress | interrupted"},
	},
	{
		"invalid_items_drop_singly_R_CHAT_091", call(diffs(row("", "", ""), diff("", nil, "x", ""), diff("/p", nil, "y", ""))),
		[]string{"Tool | other | in_progress | interrupted", "diff: /p absent > [y]"},
	},
	{
		"relative_paths_are_of_the_cwd_R_ACP_023", call(diffs(row("", "", ""), diff("a/../b", nil, "y", ""))),
		[]string{"Tool | other | in_progress | interrupted", "diff: /proj/b absent > [y]"},
	},
	{
		"a_later_input_replaces_and_an_empty_one_does_not_R_CHAT_093", call(row("", `{"a":1}`, ""), row("", `{"b":2}`, ""), row("", `{}`, ""), row("", `[]`, ""), row("", `""`, "")),
		[]string{"Tool | other | in_progress | interrupted", "in: {\n  \"b\": 2\n} (json)"},
	},
	{
		"final_content_wins_over_raw_output_and_deltas_R_CHAT_093", call(delta("d"), with(content("c"), "completed", "", `"r"`)),
		[]string{"Tool | other | completed", "out: c"},
	},
	{
		"raw_output_wins_over_deltas_R_CHAT_093", call(delta("d"), row("completed", "", `"r"`)),
		[]string{"Tool | other | completed", "out: r"},
	},
	{
		"deltas_are_the_output_when_there_is_nothing_else_R_CHAT_093", call(delta("d"), row("completed", "", "")),
		[]string{"Tool | other | completed", "out: d"},
	},
	{
		"content_before_the_input_is_provisional_R_ACP_009", call(titled("Shell", content(`{"a`)), content(`{"a":1`), content("kept at the end"), row("completed", "", "")),
		[]string{"Shell | other | completed", "out: kept at the end"},
	},
	{
		"the_input_ends_what_was_provisional_R_ACP_009", call(titled("Shell", content(`{"a":1`)), row("", `{"a":1}`, ""), row("completed", "", "")),
		[]string{"Shell | other | completed", "in: {\n  \"a\": 1\n} (json)"},
	},
	{
		"content_is_no_title_beside_one_R_ACP_009", call(titled("Shell", content("x")), content("y")),
		[]string{"Shell | other | in_progress | interrupted"},
	},
	{
		"kinds_are_not_classified_again_R_ACP_014", call(begin("Task", "think", "", `{"command":"rm -rf /"}`), fyllo.ToolPatch{Kind: new("execute")}),
		[]string{"Task | think | pending | interrupted", "in: {\n  \"command\": \"rm -rf /\"\n} (json)"},
	},
	{
		"kind_is_trimmed_and_first_wins_R_CHAT_088", call(fyllo.ToolPatch{Kind: new(" ")}, fyllo.ToolPatch{Kind: new(" read ")}, fyllo.ToolPatch{Kind: new("edit")}),
		[]string{"Tool | read | in_progress | interrupted"},
	},
	{
		"kind_is_case_sensitive_R_CHAT_088", call(fyllo.ToolPatch{Kind: new("Read")}),
		[]string{"Tool | other | in_progress | interrupted"},
	},
	{
		"description_is_a_title_R_CHAT_092", call(row("", `{"description":"List files"}`, "")),
		[]string{"List files | other | in_progress | interrupted", "in: {\n  \"description\": \"List files\"\n} (json)"},
	},
	{
		"content_is_a_title_only_without_one_R_CHAT_092", call(content("\n  first\nsecond"), content("third"), titled("", row("", "", ""))),
		[]string{"first | other | in_progress | interrupted"},
	},
	{
		"final_content_is_no_title_R_CHAT_092", call(with(content("x"), "completed", "", "")),
		[]string{"Tool | other | completed", "out: x"},
	},
	{
		"terminal_output_is_no_title_R_CHAT_092", call(delta("x")),
		[]string{"Tool | other | in_progress | interrupted", "out: x"},
	},
	{
		"text_input_is_verbatim_R_CHAT_082", call(row("", `"ls \u4e2d"`, "")),
		[]string{"Tool | other | in_progress | interrupted", "in: ls 中"},
	},
	{
		"result_wins_over_earlier_content_R_ACP_011", call(with(content("description"), "in_progress", `{"x":1}`, ""), row("completed", "", `"result"`)),
		[]string{"description | other | completed", "in: {\n  \"x\": 1\n} (json)", "out: result"},
	},
	{
		"result_of_pictures_is_json_R_ACP_011", call(row("completed", "", `{"content":[{"type":"image"}]}`)),
		[]string{"Tool | other | completed", "out: {\n  \"content\": [\n    {\n      \"type\": \"image\"\n    }\n  ]\n} (json)"},
	},
	{
		"blocks_that_are_not_text_are_named", call(fyllo.ToolPatch{Status: new("completed"), HasContent: true, Blocks: []fyllo.Block{
			{Type: "resource_link", Name: "a", URI: "file:///a"}, {Type: "image", MIME: "image/png"}, {Type: "resource", Data: "text", IsText: true, URI: "file:///b"},
		}}),
		[]string{"Tool | other | completed", "out: a file:///a\n\n[image/png]\n\ntext"},
	},
	{
		"failed_with_an_error_object", call(row("failed", "", `{"error":{"message":"m"}}`)),
		[]string{"Tool | other | failed", "error: m"},
	},
	{
		"an_input_with_a_server_is_no_identity_X6", call(titled("T", row("", `{"server":"s","tool":"t","port":1}`, ""))),
		[]string{"T | other | in_progress | interrupted", "in: {\n  \"server\": \"s\",\n  \"tool\": \"t\",\n  \"port\": 1\n} (json)"},
	},
}

func TestRules(t *testing.T) {
	for _, tt := range rules {
		t.Run(tt.name, func(t *testing.T) {
			m := fold(tt.updates...)
			if len(m.Parts) != 1 {
				t.Fatalf("%d parts", len(m.Parts))
			}
			if d := cmp.Diff(tt.want, view(*m.Parts[0].Tool)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRepeatedUpdateChangesNothing_R_ACP_005(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live := transcript.New("m", "/proj", start)
		for i := range rapid.IntRange(1, 12).Draw(t, "updates") {
			u := &fyllo.Update{Kind: fyllo.UpdateTool, Tool: patch(t)}
			u.Tool.OutputDelta = ""
			live.Apply(u, start.Add(time.Duration(i)*time.Minute))
			before := live.Message()
			if c := live.Apply(u, start.Add(time.Hour)); c.Kind != transcript.None {
				t.Fatalf("%+v changed %+v", u.Tool, c)
			}
			if d := cmp.Diff(before, live.Message()); d != "" {
				t.Fatal(d)
			}
		}
	})
}

func TestSwappedToolsEndTheSame_R_ACP_026(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, b []*fyllo.Update
		for range rapid.IntRange(1, 6).Draw(t, "updates") {
			x, y := patch(t), patch(t)
			x.CallID, y.CallID = "a", "b"
			a, b = append(a, call(*x)...), append(b, call(*y)...)
		}
		first, second := fold(slices.Concat(a, b)...), fold(slices.Concat(b, a)...)
		if d := cmp.Diff(first.Parts[0].Tool, second.Parts[1].Tool); d != "" {
			t.Fatal(d)
		}
		if d := cmp.Diff(first.Parts[1].Tool, second.Parts[0].Tool); d != "" {
			t.Fatal(d)
		}
	})
}

func TestUpdatedAtMovesOnlyOnChange_R_CHAT_159(t *testing.T) {
	live := transcript.New("m", "", start)
	live.Apply(text("a"), start.Add(time.Second))
	live.Apply(text(""), start.Add(time.Minute))
	live.Apply(thought("\n"), start.Add(time.Minute))
	live.Apply(&fyllo.Update{Kind: fyllo.UpdateUsage}, start.Add(time.Minute))
	if m := live.Message(); !m.CreatedAt.Equal(start) || !m.UpdatedAt.Equal(start.Add(time.Second)) {
		t.Errorf("created %v, updated %v", m.CreatedAt, m.UpdatedAt)
	}
}

func TestEndInterruptsOpenTools_R_ACP_021(t *testing.T) {
	live := transcript.New("m", "", start)
	live.Apply(call(fyllo.ToolPatch{CallID: "done", Status: new("completed")})[0], start)
	live.Apply(call(fyllo.ToolPatch{CallID: "open"})[0], start)
	live.Apply(text(" "), start)
	end := fyllo.TurnEnd{StopReason: "cancelled", At: start.Add(time.Minute)}
	if got := live.End(end); !slices.Equal(got, []int{1}) {
		t.Errorf("changed %v", got)
	}
	if again := live.End(end); len(again) != 0 {
		t.Errorf("a second end changed %v", again)
	}
	m := live.Message()
	if len(m.Parts) != 2 || !m.Parts[1].Tool.Interrupted || m.Parts[1].Tool.Status.Final() {
		t.Errorf("parts %v", shape(m))
	}
	if m.End == nil || *m.End != end || !m.UpdatedAt.Equal(end.At) {
		t.Errorf("end %v, updated %v", m.End, m.UpdatedAt)
	}
	// What was on its way still counts (R-ACP-022).
	late := call(fyllo.ToolPatch{CallID: "open", Status: new("completed")}, fyllo.ToolPatch{CallID: "new"})
	live.Apply(late[0], start)
	live.Apply(late[1], start)
	if m := live.Message(); m.Parts[1].Tool.Interrupted || !m.Parts[2].Tool.Interrupted {
		t.Errorf("late updates: %+v, %+v", m.Parts[1].Tool, m.Parts[2].Tool)
	}
}

func TestPermissionMayNameTheToolFirst_R_ACP_020(t *testing.T) {
	live := transcript.New("m", "/proj", start)
	ask := &fyllo.PermissionAsk{Tool: &fyllo.ToolPatch{CallID: "c", Title: new("Write a")}}
	if c := live.Ask(ask, start); c.Kind != transcript.Part || c.Index != 0 || c.More != nil {
		t.Errorf("ask: %+v", c)
	}
	if c := live.Ask(ask, start); c.Kind != transcript.None {
		t.Errorf("second ask: %+v", c)
	}
	asked := live.Part(0)
	note := fyllo.PermissionNote{ID: "1", Outcome: "selected", OptionID: "yes", By: "user", At: start}
	if c := live.Answered("c", note, start); c.Kind != transcript.Part {
		t.Errorf("answer: %+v", c)
	}
	if c := live.Answered("c", note, start); c.Kind != transcript.None {
		t.Errorf("second answer: %+v", c)
	}
	if c := live.Answered("other", note, start); c.Kind != transcript.None {
		t.Errorf("answer to an unknown call: %+v", c)
	}
	live.Apply(call(begin("Write a", "edit", "in_progress", ""))[0], start)
	tool := live.Part(0).Tool
	if live.Len() != 1 || tool.Kind != fyllo.KindEdit || len(tool.Permissions) != 1 || tool.Permissions[0].OptionID != "yes" {
		t.Errorf("tool %+v", tool)
	}
	if asked.Tool.Status != fyllo.ToolPending || asked.Tool.Permissions != nil {
		t.Errorf("a part that was handed out changed: %+v", asked.Tool)
	}
	if c := live.Ask(&fyllo.PermissionAsk{}, start); c.Kind != transcript.None {
		t.Errorf("ask without a tool: %+v", c)
	}
}

func TestEmptyMessage_R_CHAT_161(t *testing.T) {
	live := transcript.New("m", "", start)
	if live.Apply(text(" \n"), start); !live.Empty() {
		t.Error("white space made a message")
	}
	if live.Apply(text("a"), start); live.Empty() || live.ID() != "m" {
		t.Error("text made none")
	}
}

func TestLightCutsLongBodies(t *testing.T) {
	long := strings.Repeat("中", 1000) // 3,000 bytes; the cut falls inside a character
	full := fold(append(call(diffs(with(content(long), "completed", `{"a":"`+long+`"}`, ""), diff("/p", nil, long, ""), diff("/q", nil, "short", ""))),
		text(long), &fyllo.Update{Kind: fyllo.UpdateText, Block: &fyllo.Block{Type: "image", Data: strings.Repeat("A", 5000)}})...)
	before := cmp.Diff(full, fyllo.Message{})
	light := transcript.LightMessage(full)
	if cmp.Diff(full, fyllo.Message{}) != before {
		t.Error("the full message changed")
	}
	check := func(name string, cut, whole *fyllo.Body) {
		t.Helper()
		if cut.Ref == nil || *cut.Ref != (fyllo.BodyRef{}) || cut.Size != len(whole.Text) || cut.JSON != whole.JSON {
			t.Errorf("%s: %+v", name, cut)
		}
		if n := len(cut.Text); n > fyllo.BodyPreview || n < fyllo.BodyPreview-3 || !utf8.ValidString(cut.Text) || !strings.HasPrefix(whole.Text, cut.Text) {
			t.Errorf("%s: cut to %d bytes", name, n)
		}
	}
	tool, was := light.Parts[0].Tool, full.Parts[0].Tool
	check("input", tool.Input, was.Input)
	check("output", tool.Output, was.Output)
	check("diff", tool.Diffs[0].New, was.Diffs[0].New)
	check("attachment", light.Parts[2].Attachment.Data, full.Parts[2].Attachment.Data)
	if b := tool.Diffs[1].New; b.Ref != nil || b.Text != "short" {
		t.Errorf("a short body was cut: %+v", b)
	}
	if light.Parts[1].Text != long {
		t.Error("text was cut")
	}
	if d := cmp.Diff(light, transcript.LightMessage(light)); d != "" {
		t.Errorf("light form of the light form differs: %s", d)
	}
}

func TestVisibleText_R_CHAT_157(t *testing.T) {
	m := fyllo.Message{Parts: []fyllo.Part{
		{Type: fyllo.PartReminder, Text: "hidden"},
		{Type: fyllo.PartText, Text: "<system-reminder>typed</system-reminder>"},
		{Type: fyllo.PartReasoning, Text: "thought"},
		{Type: fyllo.PartTool, Tool: &fyllo.Tool{Title: "T"}},
		{Type: fyllo.PartText, Text: " "},
		{Type: fyllo.PartText, Text: "b"},
	}}
	if got, want := transcript.VisibleText(m), "<system-reminder>typed</system-reminder>\n\nb"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOldRecordsGetAStatus_R_CHAT_094(t *testing.T) {
	body := &fyllo.Body{Text: "Error: it says", Size: 14}
	old := fyllo.Message{Parts: []fyllo.Part{
		{Type: fyllo.PartText, Text: "t"},
		{Type: fyllo.PartTool, Tool: &fyllo.Tool{CallID: "a", Output: body}},
		{Type: fyllo.PartTool, Tool: &fyllo.Tool{CallID: "b", Input: body, Diffs: []fyllo.Diff{{Path: "/p"}}}},
		{Type: fyllo.PartTool, Tool: &fyllo.Tool{CallID: "c", Status: fyllo.ToolInProgress, Output: body}},
	}}
	mended := transcript.Mended(old)
	for i, want := range map[int]fyllo.Tool{1: {Status: fyllo.ToolCompleted}, 2: {Status: fyllo.ToolPending, Interrupted: true}, 3: {Status: fyllo.ToolInProgress}} {
		if got := mended.Parts[i].Tool; got.Status != want.Status || got.Interrupted != want.Interrupted {
			t.Errorf("%s: %s, interrupted %v", got.CallID, got.Status, got.Interrupted)
		}
	}
	if old.Parts[1].Tool.Status != "" {
		t.Error("the record itself changed")
	}
}

func TestTitle_R_CHAT_057(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"  Fix\n\tthe   build ", "Fix the build"},
		{"背景\n**标题**: 修复 构建\n更多", "修复 构建"},
		{"**标题**：修复", "修复"},
		{"**标题**:  \nrest", "**标题**: rest"},
		{strings.Repeat("中", 31), strings.Repeat("中", 30)},
		{strings.Repeat("a", 29) + " bc", strings.Repeat("a", 29)},
		{"", ""},
	} {
		if got := transcript.Title(tt.in); got != tt.want {
			t.Errorf("Title(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
