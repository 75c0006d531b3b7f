package acp

import (
	"fmt"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
)

func n64(n int64) *int64 { return &n }

// claudeTool is an update of the call c with Claude's _meta.
func claudeTool(meta string) string {
	return `{"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":{"claudeCode":{` + meta + `}}}`
}

func TestMarkOfASubagent_R_CHAT_106_107(t *testing.T) {
	for meta, marked := range map[string]bool{
		`"toolName":"Agent"`: true, `"toolName":"Task"`: true, `"toolName":"TaskCreate"`: false, `"toolName":"agent"`: false, `"toolName":7`: false,
	} {
		u, ok := DecodeLine(line(claudeTool(meta)))
		if !ok || u.Tool.IsSubagent != marked {
			t.Errorf("%s: %+v", meta, u.Tool)
		}
	}
	// Only Claude's adapter marks: a name alone is none.
	for _, s := range []string{
		`{"sessionUpdate":"tool_call","toolCallId":"c","name":"Agent","title":"Task"}`,
		`{"sessionUpdate":"tool_call","toolCallId":"c","_meta":{"codex":{"toolName":"Agent"},"toolName":"Agent"}}`,
	} {
		if u, ok := DecodeLine(line(s)); !ok || u.Tool.IsSubagent {
			t.Errorf("%s: %+v", s, u.Tool)
		}
	}
	p, ok := DecodePermission([]byte(`{"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","_meta":{"claudeCode":{"toolName":"Bash","parentToolUseId":"r"}}}}}`))
	if !ok || p.Tool.ParentID == nil || *p.Tool.ParentID != "r" || p.Tool.IsSubagent {
		t.Errorf("permission: %+v", p.Tool)
	}
}

func TestOnlyListedStatisticsAreRead_R_CHAT_109(t *testing.T) {
	all := `{"status":"completed","agentId":"x","agentType":"explore","resolvedModel":"m","prompt":"p","content":[{"type":"text","text":"raw"}],` +
		`"totalTokens":12,"totalDurationMs":3.9,"totalToolUseCount":0,"usage":{"input_tokens":9},` +
		`"toolStats":{"readCount":1,"searchCount":2,"bashCount":3,"editFileCount":4,"linesAdded":5,"linesRemoved":6,"otherToolCount":7,"more":8}}`
	want := fyllo.Subagent{
		Status: "completed", AgentType: "explore", Model: "m", Tokens: n64(12), DurationMS: n64(3), ToolUses: n64(0),
		Stats: &fyllo.ToolStats{
			Reads: n64(1), Searches: n64(2), Commands: n64(3), Edits: n64(4), LinesAdded: n64(5), LinesRemoved: n64(6), Others: n64(7),
		},
	}
	for response, want := range map[string]*fyllo.Subagent{
		all: &want, fmt.Sprintf("%q", all): &want, fmt.Sprintf("%q", " \n"+all): &want,
		// Each bad value is dropped alone.
		`{"totalTokens":-1,"totalDurationMs":"5","totalToolUseCount":1e400,"agentType":7,"resolvedModel":null,"status":[],"toolStats":{"readCount":-0.5,"linesAdded":9}}`: {
			Stats: &fyllo.ToolStats{LinesAdded: n64(9)},
		},
		`{"totalTokens":1e300,"totalToolUseCount":3}`: {ToolUses: n64(3)},
		`{"toolStats":[1],"totalTokens":true}`:        nil,
		`{"toolStats":{"readCount":"1"}}`:             nil,
		`{"elapsedTimeSeconds":3,"subagentType":"x"}`: nil,
		`{}`: nil,
		`[{"status":"completed","totalTokens":5}]`: nil, `null`: nil, `7`: nil,
		`"text"`: nil, `""`: nil, `"[1]"`: nil, `"{\"totalTokens\":5"`: nil, `"{\"totalTokens\":5} x"`: nil, `"\"{}\""`: nil,
	} {
		u, ok := DecodeLine(line(claudeTool(`"toolName":"Agent","toolResponse":` + response)))
		if !ok || u.Kind != fyllo.UpdateTool {
			t.Fatalf("%s: %+v", response, u)
		}
		wanted := fyllo.ToolPatch{Name: new("Agent"), IsSubagent: true, Subagent: want}
		check(t, claudeTool(`"toolName":"Agent","toolResponse":`+response), tp(wanted))
	}
}

// C3: the response of any tool is neither output nor content.
func TestResponseIsNoOutput_C3(t *testing.T) {
	for _, response := range []string{`{"stdout":"x","stderr":""}`, `[{"type":"text","text":"x"}]`, `"x"`} {
		check(t, claudeTool(`"toolName":"Bash","toolResponse":`+response), tp(fyllo.ToolPatch{Name: new("Bash")}))
	}
}

func TestSubagentSessions(t *testing.T) {
	check(t, `{"sessionUpdate":"subagent_update","sessionId":"kid","title":"T","description":"D","capabilities":{"cancel":{}},"state":{"state":"idle","stopReason":"end_turn"},"cwd":"/kid","additionalDirectories":["/x"]}`,
		fyllo.Update{Kind: fyllo.UpdateSubagent, Child: &fyllo.ChildPatch{
			SessionID: "kid", Title: new("T"), Description: new("D"), State: "idle", StopReason: "end_turn", Cwd: "/kid",
		}})
	check(t, `{"sessionUpdate":"_subagent_update","sessionId":"kid","title":null,"state":"running"}`,
		fyllo.Update{Kind: fyllo.UpdateSubagent, Child: &fyllo.ChildPatch{SessionID: "kid", State: "running"}})
	for _, bad := range []string{``, `,"sessionId":""`, `,"sessionId":7`, `,"childSession":"kid"`} {
		check(t, `{"sessionUpdate":"subagent_update","title":"T"`+bad+`}`, fyllo.Update{})
	}
	check(t, `{"sessionUpdate":"session_message","messageId":"1","senderSessionId":"s","recipientSessionId":"kid","content":[{"type":"text","text":"a"},7,{"type":"image","data":"AA=="},{"type":"text","text":"b"}]}`,
		fyllo.Update{Kind: fyllo.UpdateMessage, MessageID: "1", Message: &fyllo.SessionMessage{
			From: "s", To: "kid", ID: "1", Whole: true, Texts: []string{"a", "b"}, Blocks: []fyllo.Block{{Type: "image", Data: "AA=="}},
		}})
	// The list may come before it is known what it is.
	check(t, `{"content":{"type":"text","text":"a\ud83d"},"messageId":"2","senderMessageId":"1","sessionUpdate":"session_message_chunk"}`,
		fyllo.Update{Kind: fyllo.UpdateMessage, MessageID: "2", Message: &fyllo.SessionMessage{ID: "1", Texts: []string{"a\xed\xa0\xbd"}}})
	check(t, `{"content":[{"type":"text","text":"a"}],"sessionUpdate":"session_message"}`,
		fyllo.Update{Kind: fyllo.UpdateMessage, Message: &fyllo.SessionMessage{Whole: true, Texts: []string{"a"}}})
	check(t, `{"sessionUpdate":"session_message","content":null}`, fyllo.Update{Kind: fyllo.UpdateMessage, Message: &fyllo.SessionMessage{Whole: true}})
}

func announce(session, child string) string {
	return update(session, `{"sessionUpdate":"subagent_update","sessionId":"`+child+`"}`)
}

// two opens the sessions s and other.
func two(t *testing.T) (c *Conn, a *agent, s, other *log) {
	t.Helper()
	c, a = dial(t, Options{})
	s, other = newLog(), newLog()
	start(t, c, a, s)
	done := make(chan error, 1)
	go func() {
		_, err := c.NewSession(t.Context(), fyllo.SessionParams{Cwd: "/"}, other.sink)
		done <- err
	}()
	a.answer(`{"sessionId":"other"}`)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return c, a, s, other
}

func TestEventsOfAChildGoToItsParent_R_ACP_020(t *testing.T) {
	c, a, s, other := two(t)
	a.send(say("kid", "too early"), announce("s", "kid"), say("kid", "1"), ask1("7", "kid", "c"), announce("kid", "inner"), say("inner", "2"),
		// What a child's session is set to, uses and plans is not its parent's.
		update("kid", `{"sessionUpdate":"usage_update","used":1,"size":2}`), update("kid", `{"sessionUpdate":"plan","entries":[]}`),
		update("kid", `{"sessionUpdate":"config_option_update","configOptions":[]}`), update("inner", `{"sessionUpdate":"current_mode_update","currentModeId":"m"}`),
		update("kid", `{"sessionUpdate":"available_commands_update","availableCommands":[]}`),
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}`, announce("s", "kid"), say("s", "end"))
	s.until(t, "end")
	s.want(t, "kind5", "1", "ask c", "kind5", "2", "kind0", "kind0", "kind0", "kind0", "kind0", "withdrawn 7", "kind5", "end")
	go s.asks[0].Answer("ok")
	if got := a.read(); !strings.Contains(got, `"id":7`) || !strings.Contains(got, `"ok"`) {
		t.Error(got)
	}
	c.Forget("s")
	a.send(say("kid", "3"), say("inner", "4"), announce("kid", "more"), say("other", "end"))
	other.until(t, "end")
	other.want(t, "end")
	if got := s.all(); got[len(got)-1] != "end" {
		t.Errorf("after forgetting: %v", got)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.children) != 0 {
		t.Errorf("routes left: %v", c.children)
	}
}

// An Agent cannot take events away from a Session by announcing its id, or the id of its child (R-ACP-027).
func TestHostileAnnouncementsTakeNothing_R_ACP_027(t *testing.T) {
	c, a, s, other := two(t)
	a.send(announce("other", "theirs"), announce("s", "other"), announce("s", "theirs"), announce("s", "s"), announce("s", "kid"),
		announce("kid", "kid"), announce("kid", "s"), announce("other", "kid"), say("other", "1"), say("theirs", "2"), say("s", "3"), say("kid", "end"),
		say("other", "end"))
	s.until(t, "end")
	other.until(t, "end")
	s.want(t, "kind0", "kind0", "kind0", "kind5", "kind0", "kind0", "3", "end")
	other.want(t, "kind5", "kind0", "1", "2", "end")

	// A session that is opened under the id of a child owns it.
	third := newLog()
	done := make(chan error, 1)
	go func() {
		_, err := c.NewSession(t.Context(), fyllo.SessionParams{Cwd: "/"}, third.sink)
		done <- err
	}()
	a.answer(`{"sessionId":"kid"}`)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	a.send(say("kid", "mine"), announce("s", "kid"), say("kid", "still mine"))
	third.until(t, "still")
	third.want(t, "mine", "still mine")
}

func TestChildrenAreBounded(t *testing.T) {
	c, a, s, _ := two(t)
	c.mu.Lock()
	for i := range maxChildren {
		c.adopt(c.sessions["s"], fyllo.ACPSessionID(fmt.Sprint("child-", i)))
	}
	c.mu.Unlock()
	a.send(announce("s", "one more"), say("one more", "lost"), say("child-9", "end"))
	s.until(t, "end")
	s.want(t, "kind0", "end")
}

func TestChildrenAnnouncedBeforeTheAnswerOfNew_R_ACP_017(t *testing.T) {
	c, a := dial(t, Options{})
	l := newLog()
	go func() {
		a.read()
		a.send(say("kid", "nobody's"), announce("s", "kid"), say("kid", "1"), ask1("9", "kid", "c"), announce("kid", "inner"), say("inner", "2"),
			`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`, say("inner", "3"), say("s", "end"))
	}()
	if _, err := c.NewSession(t.Context(), fyllo.SessionParams{Cwd: "/"}, l.sink); err != nil {
		t.Fatal(err)
	}
	l.until(t, "end")
	l.want(t, "kind5", "1", "ask c", "kind5", "2", "3", "end")
}
