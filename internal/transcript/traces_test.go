package transcript_test

import (
	"strconv"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
	"github.com/google/go-cmp/cmp"
)

// call wraps patches of the tool call c into updates, the first one as its announcement unless it says otherwise.
func call(patches ...fyllo.ToolPatch) []*fyllo.Update {
	var out []*fyllo.Update
	for _, p := range patches {
		if p.CallID == "" {
			p.CallID = "c"
		}
		out = append(out, &fyllo.Update{Kind: fyllo.UpdateTool, Tool: &p})
	}
	return out
}

// content is a patch with text content.
func content(texts ...string) fyllo.ToolPatch {
	return fyllo.ToolPatch{HasContent: true, Texts: texts}
}

// with returns p with the status and raw values that are not "".
func with(p fyllo.ToolPatch, status, input, output string) fyllo.ToolPatch {
	if status != "" {
		p.Status = &status
	}
	if input != "" {
		p.RawInput = []byte(input)
	}
	if output != "" {
		p.RawOutput = []byte(output)
	}
	return p
}

// row is a patch with a status and raw values.
func row(status, input, output string) fyllo.ToolPatch {
	return with(fyllo.ToolPatch{}, status, input, output)
}

// begin is the announcement of a call.
func begin(title, kind, status, input string) fyllo.ToolPatch {
	return with(fyllo.ToolPatch{Start: true, Title: &title, Kind: &kind}, status, input, "")
}

func agent(p fyllo.ToolPatch) fyllo.ToolPatch              { p.IsSubagent = true; return p }
func named(name string, p fyllo.ToolPatch) fyllo.ToolPatch { p.Name = &name; return p }
func titled(title string, p fyllo.ToolPatch) fyllo.ToolPatch {
	p.Title = &title
	return p
}

func diff(path string, old *string, now, kind string) fyllo.DiffPatch {
	return fyllo.DiffPatch{Path: path, Old: old, New: now, Kind: kind}
}

func diffs(p fyllo.ToolPatch, d ...fyllo.DiffPatch) fyllo.ToolPatch {
	p.HasContent, p.Diffs = true, d
	return p
}

func at(p fyllo.ToolPatch, path string, line int) fyllo.ToolPatch {
	p.HasLocations, p.Locations = true, []fyllo.Location{{Path: path, Line: line}}
	return p
}

func delta(s string) fyllo.ToolPatch { return fyllo.ToolPatch{OutputDelta: s} }

// view shows a tool as lines, leaving out what is empty.
func view(tool fyllo.Tool) []string {
	out := []string{tool.Title + " | " + string(tool.Kind) + " | " + string(tool.Status)}
	add := func(name, value string) {
		if value != "" {
			out = append(out, name+": "+value)
		}
	}
	body := func(name string, b *fyllo.Body) {
		if b != nil {
			add(name, b.Text+map[bool]string{true: " (json)"}[b.JSON])
		}
	}
	if tool.Interrupted {
		out[0] += " | interrupted"
	}
	add("name", tool.Name)
	add("parent", tool.ParentID)
	if s := tool.Subagent; s != nil {
		add("subagent", summary(s))
		body("prompt", s.Prompt)
	}
	body("in", tool.Input)
	body("out", tool.Output)
	body("error", tool.Error)
	for _, d := range tool.Diffs {
		old := "absent"
		if d.Old != nil {
			old = "[" + d.Old.Text + "]"
		}
		add("diff", strings.TrimSpace(d.Path+" "+old+" > ["+d.New.Text+"] "+d.Kind))
	}
	for _, a := range tool.Media {
		add("media", strings.TrimSpace(a.MIME+" "+a.Name+" "+a.URI+" "+a.Data.Text))
	}
	for _, l := range tool.Locations {
		add("at", l.Path+map[bool]string{true: ":line"}[l.Line > 0])
	}
	return out
}

// summary shows what is told about a subagent in one line.
func summary(s *fyllo.Subagent) string {
	out := []string{"is"}
	add := func(name, v string) {
		if v != "" {
			out = append(out, name+"="+v)
		}
	}
	count := func(name string, n *int64) {
		if n != nil {
			add(name, strconv.FormatInt(*n, 10))
		}
	}
	add("status", s.Status)
	add("type", s.AgentType)
	add("model", s.Model)
	count("tokens", s.Tokens)
	count("ms", s.DurationMS)
	count("uses", s.ToolUses)
	if st := s.Stats; st != nil {
		count("read", st.Reads)
		count("search", st.Searches)
		count("bash", st.Commands)
		count("edit", st.Edits)
		count("added", st.LinesAdded)
		count("removed", st.LinesRemoved)
		count("other", st.Others)
	}
	return strings.Join(out, " ")
}

// traces are the rows of acp-traces.md that concern the fold.
var traces = []struct {
	name    string
	updates []*fyllo.Update
	want    []string
}{
	{
		"C1_start_is_generic", call(named("Bash", with(content(), "pending", "{}", "")), titled("Terminal", row("", "", ""))),
		[]string{"Terminal | other | pending | interrupted", "name: Bash"},
	},
	{
		"C2_second_update_has_no_status", call(
			named("Read", begin("Read File", "read", "pending", "{}")),
			at(titled("Read a.go", row("", `{"p":1}`, "")), "/proj/a.go", 3)),
		[]string{"Read a.go | read | pending | interrupted", "name: Read", "in: {\n  \"p\": 1\n} (json)", "at: /proj/a.go:line"},
	},
	{
		"C3_tool_response_only", call(named("Bash", begin("ls", "execute", "pending", `{"command":"ls"}`)), named("Bash", row("", "", "")), row("completed", "", `"a.go"`)),
		[]string{"ls | execute | completed", "name: Bash", "in: {\n  \"command\": \"ls\"\n} (json)", "out: a.go"},
	},
	{
		"C4_hunks_replace_the_full_diff", call(
			named("Edit", diffs(begin("Edit a", "edit", "pending", `{"x":1}`), diff("/proj/a", new("1\n2\n3"), "1\n2\n4", ""))),
			diffs(row("", "", ""), diff("/proj/a", new("3\n\\ No newline at end of file"), "4\n No newline at end of file", "")),
			row("completed", "", `"done"`)),
		[]string{"Edit a | edit | completed", "name: Edit", "in: {\n  \"x\": 1\n} (json)", "out: done", "diff: /proj/a [3] > [4]"},
	},
	{
		"C5_list_output_without_content", call(
			diffs(begin("Write a", "edit", "pending", ""), diff("/proj/a", nil, "x", "")),
			row("completed", "", `[{"type":"text","text":"one"},{"type":"image","data":"A"},{"type":"text","text":"two"}]`)),
		[]string{"Write a | edit | completed", "out: one\n\ntwo", "diff: /proj/a absent > [x]"},
	},
	{
		"C6_console_fence_goes", call(named("Bash", with(content("```console\nhello\nworld\n```"), "completed", "", `"hello"`))),
		[]string{"Bash | other | completed", "name: Bash", "out: hello\nworld"},
	},
	{
		"C6_error_fence_goes", call(named("Bash", with(content("````\nno ``` such\n````\n"), "failed", "", ""))),
		[]string{"Bash | other | failed", "name: Bash", "error: no ``` such"},
	},
	{
		"C6_two_blocks_stay", call(named("Bash", with(content("```\na\n```\nb\n```\nc\n```"), "completed", "", ""))),
		[]string{"Bash | other | completed", "name: Bash", "out: ```\na\n```\nb\n```\nc\n```"},
	},
	{
		"C6_code_of_a_language_stays", call(named("Read", with(content("```go\na\n```"), "completed", "", ""))),
		[]string{"Read | other | completed", "name: Read", "out: ```go\na\n```"},
	},
	{
		"C6_only_for_agents_that_name_tools", call(titled("sh", with(content("```\na\n```"), "completed", "", ""))),
		[]string{"sh | other | completed", "out: ```\na\n```"},
	},
	{
		"C7_mcp_title_and_name", call(named("mcp__fyllo-spawn__prompt__to_agent", begin("mcp__fyllo-spawn__prompt__to_agent", "other", "pending", "{}")),
			titled("Call something", row("completed", "", `"ok"`))),
		[]string{"MCP fyllo-spawn/prompt__to_agent | other | completed", "name: fyllo-spawn/prompt__to_agent", "out: ok"},
	},
	{
		"C9_children_start_filled", call(with(begin("ls", "execute", "pending", `{"command":"ls"}`), "", "", ""), with(content("a"), "completed", "", "")),
		[]string{"ls | execute | completed", "in: {\n  \"command\": \"ls\"\n} (json)", "out: a"},
	},
	{
		"C10_agent_blocks_join_by_a_blank_line", call(agent(named("Agent", begin("Task", "think", "pending", "{}"))),
			titled("Look around", row("", `{"prompt":"p","subagent_type":"x"}`, "")),
			with(content("one", "two"), "completed", "", `[{"type":"text","text":"one"},{"type":"text","text":"two"}]`)),
		[]string{"Look around | think | completed", "name: Agent", "subagent: is type=x", "prompt: p", "in: {\n  \"prompt\": \"p\",\n  \"subagent_type\": \"x\"\n} (json)", "out: one\n\ntwo"},
	},
	{
		"X1_command_as_list", call(begin("ls", "execute", "in_progress", `{"command":["sh","-c","ls"]}`)),
		[]string{"ls | execute | in_progress | interrupted", "in: {\n  \"command\": [\n    \"sh\",\n    \"-c\",\n    \"ls\"\n  ]\n} (json)"},
	},
	{
		"X2_title_from_an_added_file", call(diffs(begin("Editing files", "edit", "in_progress", ""), diff("/proj/sub/n.txt", nil, "x", "add")), row("completed", "", "")),
		[]string{"Write sub/n.txt | edit | completed", "diff: /proj/sub/n.txt absent > [x] add"},
	},
	{
		"X2_title_from_a_changed_file", call(diffs(begin("Editing files", "edit", "in_progress", ""), diff("/else/n.txt", new("a"), "b", "update"))),
		[]string{"Edit /else/n.txt | edit | in_progress | interrupted", "diff: /else/n.txt [a] > [b] update"},
	},
	{
		"X2_title_from_a_deleted_file", call(diffs(begin("Editing files", "edit", "in_progress", ""), diff("/proj/n", new("a"), "", "delete"))),
		[]string{"Delete n | edit | in_progress | interrupted", "diff: /proj/n [a] > [] delete"},
	},
	{
		"X2_title_from_many_files", call(diffs(begin("Editing files", "edit", "in_progress", ""), diff("/proj/n", new("a"), "", "delete"), diff("/proj/o", nil, "b", "add"))),
		[]string{"Edit 2 files | edit | in_progress | interrupted", "diff: /proj/n [a] > [] delete", "diff: /proj/o absent > [b] add"},
	},
	{
		"X3_formatted_output", call(begin("ls", "execute", "in_progress", ""), row("completed", "", `{"stdout":"s","stderr":"","aggregated_output":"a","formatted_output":"f","exit_code":0,"duration":1}`)),
		[]string{"ls | execute | completed", "out: f"},
	},
	{
		"X3_stdout_and_stderr", call(begin("ls", "execute", "in_progress", ""), row("completed", "", `{"stdout":"s\n","stderr":"e","formatted_output":"","exit_code":0}`)),
		[]string{"ls | execute | completed", "out: s\ne"},
	},
	{
		"X3_nothing_printed_is_no_output", call(begin("true", "execute", "in_progress", ""), row("completed", "", `{"stdout":"","stderr":"","exit_code":0}`)),
		[]string{"true | execute | completed"},
	},
	{
		"X3_changes_are_shown_as_json", call(begin("x", "edit", "in_progress", ""), row("completed", "", `{"success":true,"move_path":"/q"}`)),
		[]string{"x | edit | completed", "out: {\n  \"success\": true,\n  \"move_path\": \"/q\"\n} (json)"},
	},
	{
		"X3_bare_status_keeps_data", call(diffs(begin("x", "edit", "in_progress", ""), diff("/proj/a", new("a"), "b", "")), row("completed", "", "")),
		[]string{"x | edit | completed", "diff: /proj/a [a] > [b]"},
	},
	{
		"X4_exit_code_of_a_completed_call", call(begin("x", "execute", "in_progress", ""), row("completed", "", `{"formatted_output":"boo\n","exit_code":3}`)),
		[]string{"x | execute | completed", "out: boo\nexit code 3"},
	},
	{
		"X4_exit_code_of_a_failed_call", call(begin("x", "execute", "in_progress", ""), row("failed", "", `{"stdout":"","stderr":"","exit_code":127}`)),
		[]string{"x | execute | failed", "error: exit code 127"},
	},
	{
		"X5_deltas_are_live_output", call(begin("x", "execute", "in_progress", ""), delta("a\xE4\xB8"), delta("\xADb")),
		[]string{"x | execute | in_progress | interrupted", "out: a中b"},
	},
	{
		"X5_final_output_replaces_deltas", call(begin("x", "execute", "in_progress", ""), delta("a"), row("completed", "", `{"formatted_output":"f"}`)),
		[]string{"x | execute | completed", "out: f"},
	},
	{
		"X5_empty_final_keeps_deltas", call(begin("x", "execute", "in_progress", ""), delta("a"), delta("b"), row("completed", "", `{"formatted_output":"","exit_code":0}`)),
		[]string{"x | execute | completed", "out: ab"},
	},
	{
		"X5_whole_terminal_output_replaces_deltas", call(begin("x", "execute", "in_progress", ""), delta("a"), fyllo.ToolPatch{OutputAll: new("all")}, delta("!")),
		[]string{"x | execute | in_progress | interrupted", "out: all!"},
	},
	{
		"X6_mcp_identity_from_input", call(begin("mcp.lab.run", "execute", "in_progress", `{"server":"lab","tool":"run","arguments":{}}`),
			row("completed", "", `{"result":{"content":[{"type":"text","text":"done"}]},"error":null}`)),
		[]string{"MCP lab/run | execute | completed", "name: lab/run", "in: {\n  \"server\": \"lab\",\n  \"tool\": \"run\",\n  \"arguments\": {}\n} (json)", "out: done"},
	},
	{
		"X6_old_title_is_not_split", call(begin("Tool: lab/run", "execute", "in_progress", ""), row("completed", "", `{"content":[{"type":"text","text":"done"}]}`)),
		[]string{"Tool: lab/run | execute | completed", "out: done"},
	},
	{
		"X11_collaboration_tools_are_ordinary", call(begin("spawnAgent", "other", "completed", "")),
		[]string{"spawnAgent | other | completed"},
	},
	{
		"X12_start_is_already_final", call(begin("Start subagent x", "other", "completed", ""), row("in_progress", "", "")),
		[]string{"Start subagent x | other | completed"},
	},
	{
		"X13_failed_with_an_object", call(begin("x", "search", "in_progress", ""), row("failed", "", `{"stdout":"","stderr":"no rg","exit_code":0}`)),
		[]string{"x | search | failed", "error: no rg"},
	},
	{
		"X13_failed_without_a_word", call(begin("x", "search", "in_progress", ""), row("failed", "", `{"code":1}`)),
		[]string{"x | search | failed"},
	},
	{
		"X14_no_update_before_the_end", call(begin("x", "search", "in_progress", "")),
		[]string{"x | search | in_progress | interrupted"},
	},
	{
		"O1_empty_object_is_no_input", call(begin("bash", "execute", "pending", "{}"), row("", `{"a":1}`, ""), row("", "{}", "")),
		[]string{"bash | execute | pending | interrupted", "in: {\n  \"a\": 1\n} (json)"},
	},
	{
		"O2_content_is_live_output", call(begin("bash", "execute", "pending", "{}"), with(content("a"), "in_progress", `{"a":1}`, ""), content("ab")),
		[]string{"bash | execute | in_progress | interrupted", "in: {\n  \"a\": 1\n} (json)", "out: ab"},
	},
	{
		"O3_empty_title_keeps", call(begin("bash", "execute", "pending", "{}"), titled("List files", row("", "", "")), titled("", row("completed", "", ""))),
		[]string{"List files | execute | completed"},
	},
	{
		"O4_output_in_two_places_is_shown_once", call(begin("bash", "execute", "pending", "{}"), with(content("a"), "completed", "", `{"output":"a","metadata":{}}`)),
		[]string{"bash | execute | completed", "out: a"},
	},
	{
		"O5_failed_with_error_and_content", call(begin("bash", "execute", "pending", "{}"), with(content("why"), "failed", "", `{"error":"why"}`)),
		[]string{"bash | execute | failed", "error: why"},
	},
	{
		"O6_write_invents_no_diff", call(begin("write", "edit", "pending", "{}"), row("completed", `{"content":"x","filePath":"/proj/a"}`, "")),
		[]string{"write | edit | completed", "in: {\n  \"content\": \"x\",\n  \"filePath\": \"/proj/a\"\n} (json)"},
	},
	{
		"O7_diff_beside_text", call(begin("edit", "edit", "pending", "{}"), diffs(with(content("ok"), "completed", "", ""), diff("/proj/a", new("a"), "b", ""))),
		[]string{"edit | edit | completed", "out: ok", "diff: /proj/a [a] > [b]"},
	},
	{
		"O8_task_is_ordinary", call(begin("task", "think", "pending", "{}"), with(content("<task><task_result>x</task_result></task>"), "completed", "", "")),
		[]string{"task | think | completed", "out: <task><task_result>x</task_result></task>"},
	},
	{
		"O12_ambiguous_mcp_title_stays", call(begin("lab_run", "other", "completed", "{}")),
		[]string{"lab_run | other | completed"},
	},
	{
		"G1_G2_orphan_is_complete", call(titled("README.md", at(with(fyllo.ToolPatch{CallID: "read_file__x", Kind: new("read")}, "completed", "", ""), "/proj/README.md", 0))),
		[]string{"README.md | read | completed", "at: /proj/README.md"},
	},
	{
		"G3_failed_without_a_title", call(with(fyllo.ToolPatch{CallID: "invoke_agent__8f"}, "failed", "", "")),
		[]string{"invoke_agent | other | failed"},
	},
	{
		"G3_no_name_in_the_id", call(row("failed", "", "")),
		[]string{"Tool | other | failed"},
	},
	{
		"G4_empty_content_clears_the_cwd_note", call(with(begin("ls", "execute", "in_progress", ""), "", "", ""), content("[cwd /proj]"), with(fyllo.ToolPatch{HasContent: true}, "completed", "", "")),
		[]string{"ls | execute | completed"},
	},
	{
		"G4_start_content_stays_without_later_content", call(begin("ls", "execute", "in_progress", ""), content("[cwd /proj]"), row("completed", "", "")),
		[]string{"ls | execute | completed", "out: [cwd /proj]"},
	},
	{
		"G6_added_file_keeps_its_mark_and_title", call(diffs(begin("Writing to a", "edit", "completed", ""), diff("a", new(""), "x", "add"))),
		[]string{"Writing to a | edit | completed", "diff: /proj/a [] > [x] add"},
	},
	{
		"Q1_completion_without_title_kind_input", call(begin("Read", "read", "in_progress", `{"p":1}`), with(content("x"), "completed", "", "")),
		[]string{"Read | read | completed", "in: {\n  \"p\": 1\n} (json)", "out: x"},
	},
	{
		"Q3_error_text_of_a_completed_call", call(begin("Grep", "search", "in_progress", ""), with(content("Error: bad"), "completed", "", "")),
		[]string{"Grep | search | completed", "out: Error: bad"},
	},
	{
		"Q3_error_text_once", call(begin("Grep", "search", "in_progress", ""), with(content("Error: bad"), "failed", "", `"Error: bad"`)),
		[]string{"Grep | search | failed", "error: Error: bad"},
	},
	{
		"K1_empty_text_is_no_output", call(with(content(""), "pending", "", ""), titled("Shell", row("completed", "", ""))),
		[]string{"Shell | other | completed"},
	},
	{
		"K2_K3_growing_arguments_are_nothing_R_ACP_009", call(titled("Shell", with(content(""), "pending", "", "")), content(`{"comm`), content(`{"command":"ls"`),
			titled("Running: ls", with(fyllo.ToolPatch{Kind: new("execute")}, "in_progress", `{"command":"ls"}`, ""))),
		[]string{"Running: ls | execute | in_progress | interrupted", "in: {\n  \"command\": \"ls\"\n} (json)"},
	},
	{
		"K2_fragments_show_nothing_meanwhile", call(titled("Shell", with(content(""), "pending", "", "")), content(`{"comm`)),
		[]string{"Shell | other | pending | interrupted"},
	},
	{
		"K4_closing_text_keeps_the_diff", call(diffs(begin("Edit", "edit", "in_progress", `{"p":1}`), diff("/proj/a", new("a"), "b", "")), with(content("done"), "completed", "", `"done"`)),
		[]string{"Edit | edit | completed", "in: {\n  \"p\": 1\n} (json)", "out: done", "diff: /proj/a [a] > [b]"},
	},
	{
		"K7_kind_as_sent_R_ACP_014", call(begin("FetchURL", "other", "pending", ""), fyllo.ToolPatch{Kind: new("fetch")}),
		[]string{"FetchURL | other | pending | interrupted"},
	},
}

func TestTraces(t *testing.T) {
	for _, tt := range traces {
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

// Every script, each update sent twice, gives the same (R-ACP-005, R-ACP-026); terminal output is additive.
func TestTracesTwice_R_ACP_026(t *testing.T) {
	for _, tt := range traces {
		t.Run(tt.name, func(t *testing.T) {
			var twice []*fyllo.Update
			for _, u := range tt.updates {
				twice = append(twice, u)
				if u.Tool.OutputDelta == "" {
					twice = append(twice, u)
				}
			}
			if d := cmp.Diff(fold(tt.updates...).Parts, fold(twice...).Parts); d != "" {
				t.Error(d)
			}
		})
	}
}

// Every script without its first update still shows a tool that has ended or is marked interrupted (R-ACP-026).
func TestTracesWithoutStart_R_ACP_026(t *testing.T) {
	for _, tt := range traces {
		for _, p := range fold(tt.updates[1:]...).Parts {
			if p.Tool.Title == "" || !p.Tool.Status.Final() && !p.Tool.Interrupted {
				t.Errorf("%s: %v", tt.name, view(*p.Tool))
			}
		}
	}
}
