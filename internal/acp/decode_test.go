package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
)

// line wraps an update object for session s.
func line(update string) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + update + `}}`)
}

func chunkLine(text string) []byte {
	return line(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + text + `}}`)
}

// check decodes a line and compares everything but Raw and the session.
func check(t *testing.T, update string, want fyllo.Update) {
	t.Helper()
	l := line(update)
	got, ok := DecodeLine(l)
	if !ok || got.SessionID != "s" || string(got.Raw) != string(l) {
		t.Errorf("%s\nok %v session %q raw %d bytes", update, ok, got.SessionID, len(got.Raw))
	}
	got.Raw, got.SessionID = nil, ""
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s\n(-want +got)\n%s", update, d)
	}
}

func tp(p fyllo.ToolPatch) fyllo.Update {
	p.CallID = "c"
	return fyllo.Update{Kind: fyllo.UpdateTool, Tool: &p}
}

func TestUnknownUpdateIsKept_R_ACP_001(t *testing.T) {
	for _, kind := range []string{
		"hologram", "compaction_update", "compaction_summary_chunk", "subagent_update",
		"_subagent_update", "TOOL_CALL", "",
	} {
		check(t, `{"sessionUpdate":"`+kind+`","title":"t","content":{"type":"text","text":"x"},"toolCallId":"c","entries":[]}`, fyllo.Update{})
	}
	check(t, `{"content":{"type":"text","text":"x"}}`, fyllo.Update{})
	check(t, `{"sessionUpdate":7}`, fyllo.Update{})
	check(t, `{"sessionUpdate":"notice","title":"t","description":"d"}`, fyllo.Update{Kind: fyllo.UpdateNotice, Notice: "t: d"})
	check(t, `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"},"zzz":{"a":[1]},"_meta":{"b":null}}`,
		fyllo.Update{Kind: fyllo.UpdateText, Text: "x"})
}

func TestChunks(t *testing.T) {
	check(t, `{"content":{"text":"x","type":"text"},"messageId":"m","sessionUpdate":"agent_message_chunk"}`,
		fyllo.Update{Kind: fyllo.UpdateText, Text: "x", MessageID: "m"})
	check(t, `{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":""}}`, fyllo.Update{Kind: fyllo.UpdateReasoning})
	check(t, `{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"a\nb"},"messageId":null}`,
		fyllo.Update{Kind: fyllo.UpdateUserText, Text: "a\nb"})
	check(t, `{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"AA==","mimeType":"image/png"}}`,
		fyllo.Update{Kind: fyllo.UpdateText, Block: &fyllo.Block{Type: "image", Data: "AA==", MIME: "image/png"}})
	check(t, `{"sessionUpdate":"agent_message_chunk","content":{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/x","text":"body"}}}`,
		fyllo.Update{Kind: fyllo.UpdateText, Block: &fyllo.Block{Type: "resource", URI: "file:///a", MIME: "text/x", Data: "body", IsText: true}})
	check(t, `{"sessionUpdate":"agent_message_chunk","content":{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/x","blob":"Ym9keQ=="}}}`,
		fyllo.Update{Kind: fyllo.UpdateText, Block: &fyllo.Block{Type: "resource", URI: "file:///a", MIME: "text/x", Data: "Ym9keQ=="}})
	check(t, `{"sessionUpdate":"agent_message_chunk","content":{"type":"resource_link","uri":"file:///a","name":"a","size":3}}`,
		fyllo.Update{Kind: fyllo.UpdateText, Block: &fyllo.Block{Type: "resource_link", URI: "file:///a", Name: "a"}})
	check(t, `{"sessionUpdate":"agent_message_chunk","content":{"type":"video","url":"x"}}`,
		fyllo.Update{Kind: fyllo.UpdateText, Block: &fyllo.Block{Type: "video"}})
	for _, bad := range []string{`"text"`, `null`, `{"type":"text"}`, `{"type":"text","text":7}`, `{"text":"x"}`, `[]`} {
		check(t, `{"sessionUpdate":"agent_message_chunk","content":`+bad+`}`, fyllo.Update{})
	}
}

func TestChunkKeepsHalfCharacters_R_ACP_007(t *testing.T) {
	for in, want := range map[string]string{
		`"face \ud83d"`: "face \xed\xa0\xbd", `"\ude00!"`: "\xed\xb8\x80!", `"\ud83d\ude00"`: "\U0001F600", "\"\xe4\xb8\"": "\xe4\xb8",
	} {
		if u, ok := DecodeLine(chunkLine(in)); !ok || u.Text != want {
			t.Errorf("%s: %q, want %q", in, u.Text, want)
		}
	}
}

func TestTextsThatDoNotGoOnAreValidUTF8(t *testing.T) {
	check(t, "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"c\",\"title\":\"a\xffb\\ud83d\",\"rawInput\":{\"x\":\"\xff\"},"+
		"\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"\\ud83d\"}}]}",
		tp(fyllo.ToolPatch{Start: true, Title: new("a\ufffdb\ufffd"), RawInput: []byte("{\"x\":\"\ufffd\"}"), HasContent: true, Texts: []string{"\ufffd"}}))
}

func TestAbsentAndNullMeanNoChange_R_ACP_002(t *testing.T) {
	check(t, `{"sessionUpdate":"tool_call_update","toolCallId":"c"}`, tp(fyllo.ToolPatch{}))
	check(t, `{"sessionUpdate":"tool_call_update","toolCallId":"c","title":null,"name":null,"kind":null,"status":null,"rawInput":null,"rawOutput":null}`,
		tp(fyllo.ToolPatch{}))
	check(t, `{"sessionUpdate":"tool_call_update","toolCallId":"c","content":null,"locations":null}`,
		tp(fyllo.ToolPatch{HasContent: true, HasLocations: true}))
	check(t, `{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[],"locations":[]}`,
		tp(fyllo.ToolPatch{HasContent: true, HasLocations: true}))
	check(t, `{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"","rawInput":{},"rawOutput":"x","status":"odd"}`,
		tp(fyllo.ToolPatch{Title: new(""), RawInput: []byte("{}"), RawOutput: []byte(`"x"`), Status: new("odd")}))
}

func TestBadMembersCountAsAbsentAndBadItemsAreLeftOut(t *testing.T) {
	check(t, `{"sessionUpdate":"tool_call","toolCallId":"c","title":7,"kind":[],"status":{},"content":"x","locations":{},"name":false}`,
		tp(fyllo.ToolPatch{Start: true}))
	check(t, `{"sessionUpdate":"tool_call","toolCallId":"c","content":[7,null,{},{"type":"content"},{"type":"content","content":{"type":"text","text":"a"}},
		{"type":"terminal","terminalId":"t"},{"type":"chart","x":1},{"type":"diff"},{"type":"content","content":{"type":"image","data":"AA=="}},
		{"type":"diff","path":"/p","newText":"n"}],"locations":[{"path":"/a","line":1.0},{"line":3},{"path":"/b","line":"x"},3,{"path":"/c","line":1e3},{"path":"/d","line":-1}]}`,
		tp(fyllo.ToolPatch{
			Start: true, HasContent: true, Texts: []string{"a"}, Blocks: []fyllo.Block{{Type: "image", Data: "AA=="}},
			Diffs: []fyllo.DiffPatch{{Path: "/p", New: "n"}}, HasLocations: true,
			Locations: []fyllo.Location{{Path: "/a", Line: 1}, {Path: "/b"}, {Path: "/c", Line: 1000}, {Path: "/d"}},
		}))
	check(t, `{"sessionUpdate":"tool_call","title":"no id"}`, fyllo.Update{})
	check(t, `{"sessionUpdate":"tool_call","toolCallId":7}`, fyllo.Update{})
}

func TestDiffForms(t *testing.T) {
	check(t, `{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"diff","path":"/a","oldText":null,"newText":"n","_meta":{"kind":"add"}},
		{"type":"diff","path":"/b","oldText":"","newText":"n"},{"type":"diff","path":"/c","oldText":"o","newText":""}]}`,
		tp(fyllo.ToolPatch{HasContent: true, Diffs: []fyllo.DiffPatch{
			{Path: "/a", New: "n", Kind: "add"}, {Path: "/b", Old: new(""), New: "n"}, {Path: "/c", Old: new("o")},
		}}))
}

func TestClaudeAndCodexMeta(t *testing.T) {
	check(t, `{"_meta":{"claudeCode":{"toolName":"Bash","parentToolUseId":"p","toolResponse":{"big":[1]}}},"sessionUpdate":"tool_call","toolCallId":"c"}`,
		fyllo.Update{Kind: fyllo.UpdateTool, ParentID: "p", Tool: &fyllo.ToolPatch{CallID: "c", Start: true, Name: new("Bash"), ParentID: new("p")}})
	check(t, `{"_meta":{"claudeCode":{"toolName":"Bash"}},"sessionUpdate":"tool_call","toolCallId":"c","name":"Std"}`,
		tp(fyllo.ToolPatch{Start: true, Name: new("Std")}))
	check(t, `{"_meta":{"claudeCode":{"parentToolUseId":"p"}},"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}`,
		fyllo.Update{Kind: fyllo.UpdateText, Text: "x", ParentID: "p"})
	check(t, `{"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":{"terminal_output_delta":{"data":"a\ud83d","terminal_id":"t"},"terminal_exit":{"exit_code":3}}}`,
		tp(fyllo.ToolPatch{OutputDelta: "a\xed\xa0\xbd"}))
	check(t, `{"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":{"terminal_output":{"data":"all"},"terminal_output_delta":null}}`,
		tp(fyllo.ToolPatch{OutputAll: new("all")}))
}

func TestPlans_R_ACP_015(t *testing.T) {
	check(t, `{"sessionUpdate":"plan","entries":[{"content":"a","priority":"high","status":"completed"},{"content":"b"},{"priority":"low"},{"content":"c","status":"weird"}]}`,
		fyllo.Update{Kind: fyllo.UpdatePlan, Plan: []fyllo.PlanEntry{
			{Content: "a", Priority: "high", Status: "completed"}, {Content: "b", Priority: "medium", Status: "pending"},
			{Content: "c", Priority: "medium", Status: "pending"},
		}})
	check(t, `{"sessionUpdate":"plan","entries":[]}`, fyllo.Update{Kind: fyllo.UpdatePlan, Plan: []fyllo.PlanEntry{}})
	check(t, `{"sessionUpdate":"plan","entries":null}`, fyllo.Update{})
	check(t, `{"sessionUpdate":"plan_update","plan":{"type":"items","planId":"p","entries":[{"content":"a"}]}}`,
		fyllo.Update{Kind: fyllo.UpdatePlan, Plan: []fyllo.PlanEntry{{Content: "a", Priority: "medium", Status: "pending"}}})
	check(t, `{"sessionUpdate":"plan_update","plan":{"type":"markdown","content":"x"}}`, fyllo.Update{})
	check(t, `{"sessionUpdate":"plan_removed","planId":"p"}`, fyllo.Update{Kind: fyllo.UpdatePlan, Plan: []fyllo.PlanEntry{}})
}

func TestUsage_R_ACP_016(t *testing.T) {
	check(t, `{"sessionUpdate":"usage_update","used":1e3,"size":200000.0,"cost":{"amount":0.5,"currency":"credits"}}`,
		fyllo.Update{Kind: fyllo.UpdateUsage, Usage: &fyllo.Usage{Used: 1000, Size: 200000, Cost: &fyllo.Cost{Amount: 0.5, Currency: "credits"}}})
	check(t, `{"sessionUpdate":"usage_update","used":1,"size":2,"cost":"free"}`,
		fyllo.Update{Kind: fyllo.UpdateUsage, Usage: &fyllo.Usage{Used: 1, Size: 2}})
	check(t, `{"sessionUpdate":"usage_update","used":-1,"size":2}`, fyllo.Update{})
	check(t, `{"sessionUpdate":"usage_update","used":"1","size":2}`, fyllo.Update{})
}

func TestSessionState(t *testing.T) {
	check(t, `{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"a","description":"d","input":{"hint":"h"}},{"description":"x"},7,{"name":"b","input":null}]}`,
		fyllo.Update{Kind: fyllo.UpdateCommands, Commands: []fyllo.Command{{Name: "a", Description: "d", Hint: "h"}, {Name: "b"}}})
	check(t, `{"sessionUpdate":"available_commands_update","availableCommands":[]}`, fyllo.Update{Kind: fyllo.UpdateCommands, Commands: []fyllo.Command{}})
	check(t, `{"sessionUpdate":"available_commands_update"}`, fyllo.Update{})
	check(t, `{"sessionUpdate":"current_mode_update","currentModeId":"plan"}`, fyllo.Update{Kind: fyllo.UpdateMode, Mode: "plan"})
	check(t, `{"sessionUpdate":"session_info_update","title":"x","_meta":{"codex":{}}}`, fyllo.Update{Kind: fyllo.UpdateSessionInfo}) // R-ACP-019
	check(t, `{"sessionUpdate":"session_info_update"}`, fyllo.Update{Kind: fyllo.UpdateSessionInfo})
}

func TestConfigOptions_R_AGT_093(t *testing.T) {
	check(t, `{"sessionUpdate":"config_option_update","configOptions":[
		{"id":"mode","name":"Mode","category":"mode","type":"select","currentValue":"a","options":[{"value":"a","name":"A","description":"d"},{"value":"b"},{"name":"no value"}]},
		{"id":"model","type":"select","currentValue":"m","options":[{"group":"g","name":"G","options":[{"value":"m","name":"M"}]},{"value":"x","name":"X"}]},
		{"id":"fast","name":"Fast","type":"boolean","currentValue":false,"options":[]},
		{"id":"later","type":"slider","currentValue":3},{"id":"bad","type":"boolean","currentValue":"x"},{"name":"no id","type":"select"},"junk",
		{"id":"url","name":"U","type":"select","currentValue":"https://x/y#z","options":null}]}`,
		fyllo.Update{Kind: fyllo.UpdateConfig, Config: []fyllo.ConfigOption{
			{ID: "mode", Name: "Mode", Category: "mode", Type: "select", Current: fyllo.StringValue("a"), Choices: []fyllo.ConfigGroup{
				{Choices: []fyllo.ConfigChoice{{Value: "a", Name: "A", Description: "d"}, {Value: "b", Name: "b"}}},
			}},
			{ID: "model", Name: "model", Type: "select", Current: fyllo.StringValue("m"), Choices: []fyllo.ConfigGroup{
				{ID: "g", Name: "G", Choices: []fyllo.ConfigChoice{{Value: "m", Name: "M"}}}, {Choices: []fyllo.ConfigChoice{{Value: "x", Name: "X"}}},
			}},
			{ID: "fast", Name: "Fast", Type: "boolean", Current: fyllo.BoolValue(false)},
			{ID: "url", Name: "U", Type: "select", Current: fyllo.StringValue("https://x/y#z")},
		}})
	check(t, `{"sessionUpdate":"config_option_update","configOptions":[]}`, fyllo.Update{Kind: fyllo.UpdateConfig, Config: []fyllo.ConfigOption{}})
	check(t, `{"sessionUpdate":"config_option_update"}`, fyllo.Update{Kind: fyllo.UpdateConfig})
}

func TestLinesThatAreNoUpdate(t *testing.T) {
	for _, l := range []string{
		``, `{}`, `null`, `[]`, `{"method":"session/update"}`, `{"method":"session/update","params":{}}`,
		`{"method":"session/update","params":{"sessionId":"","update":{}}}`, `{"method":"session/update","params":{"sessionId":7,"update":{}}}`,
		`{"method":"other","params":{"sessionId":"s","update":{}}}`, string(line(`{}`)) + `x`, string(line(`{"a":01}`)),
		`{"method":"session/request_permission","params":{"sessionId":"s"}}`,
	} {
		if u, ok := DecodeLine([]byte(l)); ok {
			t.Errorf("%s: %+v", l, u)
		}
	}
	if _, ok := DecodeLine([]byte(`{"params":{"update":{},"sessionId":"s"},"method":"session/update"}`)); !ok {
		t.Error("an empty update of a session is activity")
	}
}

func TestPermission_R_ACP_020(t *testing.T) {
	l := []byte(`{"id":0,"method":"session/request_permission","params":{"options":[{"kind":"allow_always","name":"Always","optionId":"a"},
		{"optionId":"b"},{"name":"no id"},3],"sessionId":"s","toolCall":{"toolCallId":"c","title":"Write","kind":"edit","rawInput":{"p":1},
		"content":[{"type":"diff","path":"/n","newText":"x"}],"_meta":{"claudeCode":{"toolName":"Write","parentToolUseId":"p"}}}}}`)
	got, ok := DecodePermission(l)
	want := fyllo.PermissionAsk{
		SessionID: "s", Raw: l,
		Options: []fyllo.PermissionOption{{OptionID: "a", Name: "Always", Kind: "allow_always"}, {OptionID: "b", Name: "b"}},
		Tool: &fyllo.ToolPatch{
			CallID: "c", Title: new("Write"), Kind: new("edit"), Name: new("Write"), ParentID: new("p"), RawInput: []byte(`{"p":1}`),
			HasContent: true, Diffs: []fyllo.DiffPatch{{Path: "/n", New: "x"}},
		},
	}
	if d := cmp.Diff(want, got); !ok || d != "" {
		t.Errorf("ok %v (-want +got)\n%s", ok, d)
	}
	got, ok = DecodePermission([]byte(`{"method":"session/request_permission","params":{"sessionId":"s"}}`))
	if !ok || got.Tool == nil || got.Tool.CallID != "" || got.Options != nil {
		t.Errorf("bare request: %v %+v", ok, got)
	}
	if _, ok := DecodePermission(line(`{}`)); ok {
		t.Error("an update was taken for a request")
	}
}

// flat is what a straightforward decoder with encoding/json looks like; it is the unit jd of the budgets.
type flat struct {
	Method string `json:"method"`
	Params struct {
		SessionID string `json:"sessionId"`
		Update    struct {
			SessionUpdate string          `json:"sessionUpdate"`
			MessageID     string          `json:"messageId"`
			Content       json.RawMessage `json:"content"`
			ToolCallID    string          `json:"toolCallId"`
			Title         *string         `json:"title"`
			Kind          *string         `json:"kind"`
			Status        *string         `json:"status"`
			RawInput      json.RawMessage `json:"rawInput"`
			RawOutput     json.RawMessage `json:"rawOutput"`
		} `json:"update"`
	} `json:"params"`
}

var benchLine = []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"01a22c86-4ca3-7b11-aed0-38246c8beeb5","update":{"sessionUpdate":"agent_message_chunk","messageId":"msg_0123456789abcdefghijklmn","content":{"type":"text","text":"The quick brown fox jumps over the lazy dog, and then it rests.\n"}}}}`)

func BenchmarkDecodeChunk(b *testing.B) {
	b.Run("encoding-json-flat", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var f flat
			var block struct{ Type, Text string }
			if json.Unmarshal(benchLine, &f) != nil || json.Unmarshal(f.Params.Update.Content, &block) != nil {
				b.Fatal("broken")
			}
		}
	})
	b.Run("DecodeLine", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if u, ok := DecodeLine(benchLine); !ok || u.Kind != fyllo.UpdateText {
				b.Fatal("broken")
			}
		}
	})
	b.Run("connection", func(b *testing.B) { // what the reader does besides finding the envelope
		_, params := envelope(benchLine)
		var d decoder
		b.ReportAllocs()
		for b.Loop() {
			if u, ok := d.update(params); !ok || u.Kind != fyllo.UpdateText {
				b.Fatal("broken")
			}
		}
	})
}

func BenchmarkDecodeDiff(b *testing.B) {
	text, _ := json.Marshal(strings.Repeat("a line of text\n", 160))
	l := line(fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"diff","path":"/a","oldText":%s,"newText":%s}]}`, text, text))
	b.ReportAllocs()
	b.SetBytes(int64(len(l)))
	for b.Loop() {
		DecodeLine(l)
	}
}

func FuzzDecodeLine(f *testing.F) {
	f.Add(benchLine)
	f.Add(line(`{"sessionUpdate":"tool_call","toolCallId":"c","content":[{"type":"diff","path":"p"}],"locations":[{"path":"x","line":1e0}],"_meta":{}}`))
	f.Add(line(`{"sessionUpdate":"config_option_update","configOptions":[{"id":"a","type":"select","options":[{"group":"g","options":[]}]}]}`))
	f.Add(line(`{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":1}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		u, ok := DecodeLine(b)
		if ok && !json.Valid(b) {
			t.Fatalf("accepted what is not JSON: %q", b)
		}
		if ok && (u.SessionID == "" || u.Kind == fyllo.UpdateTool && u.Tool.CallID == "") {
			t.Fatalf("incomplete: %+v", u)
		}
		DecodePermission(b)
		opened(b)
		agentInfo(b)
		detail(b)
	})
}
