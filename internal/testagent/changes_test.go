package testagent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// updates returns the updates of calls that a prompt makes the Agent send, one a line: kind, call, status, content.
func (c *client) updates(sid, prompt string) []string {
	c.t.Helper()
	id := c.send("session/prompt", map[string]any{"sessionId": sid, "prompt": []any{map[string]any{"type": "text", "text": prompt}}})
	var lines []string
	for c.out.Scan() {
		var l struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Update struct {
					SessionUpdate, ToolCallID, Status string
					Content                           json.RawMessage
					Meta                              json.RawMessage `json:"_meta"`
				}
			}
		}
		if err := json.Unmarshal(c.out.Bytes(), &l); err != nil {
			c.t.Fatal(err)
		}
		if l.Method == "" && string(l.ID) == id {
			return lines
		}
		u := l.Params.Update
		if !strings.HasPrefix(u.SessionUpdate, "tool_") {
			continue // commands, which come when the Agent likes
		}
		line := strings.TrimSpace(strings.Join([]string{
			strings.TrimPrefix(u.SessionUpdate, "tool_"), u.ToolCallID, u.Status, string(u.Content), string(u.Meta),
		}, " "))
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	c.t.Fatal("no answer")
	return nil
}

func TestEditsAreSentAsWritten(t *testing.T) {
	c, _ := start(t, "default", "")
	c.wait(c.send("initialize", map[string]any{"protocolVersion": 1}))
	opened, _, _ := c.wait(c.send("session/new", map[string]any{"cwd": "/home/p", "mcpServers": []int{}}))
	sid, _ := opened.Result["sessionId"].(string)
	got := c.updates(sid, strings.Join([]string{
		`edits [{"call":"a","diffs":[{"path":"x","oldText":null,"newText":"1","kind":"add"}]}`,
		`{"call":"b","status":"in_progress","parent":"a"}`, `{"call":"a","status":"completed","diffs":[]}`,
		`{"call":"b","diffs":null}`, `{"diffs":[{"path":"/y","oldText":"1","newText":"a\u003bb"}],"pause":"1ms"}`,
		`{"call":"r","agent":true,"status":"failed"}]`,
	}, ","))
	want := []string{
		`call edit-a pending [{"_meta":{"kind":"add"},"newText":"1","oldText":null,"path":"/home/p/x","type":"diff"}]`,
		`call edit-b in_progress {"claudeCode":{"parentToolUseId":"edit-a","toolName":"Edit"}}`,
		`call_update edit-a completed []`, `call_update edit-b null`,
		`call call_1 pending`, `call_update call_1 completed [{"newText":"a;b","oldText":"1","path":"/y","type":"diff"}]`,
		`call edit-r failed {"claudeCode":{"toolName":"Agent"}}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("edits (-want +got):\n%s", d)
	}
	if got := c.updates(sid, "change x - a\\nb; change x a -"); len(got) != 4 ||
		!strings.Contains(got[1], `[{"_meta":{"kind":"add"},"newText":"a\nb","oldText":null,"path":"/home/p/x","type":"diff"}]`) ||
		!strings.Contains(got[3], `[{"_meta":{"kind":"delete"},"newText":"","oldText":"a","path":"/home/p/x","type":"diff"}]`) {
		t.Errorf("change: %q", got)
	}
	if _, text, _ := c.prompt(sid, "edits [{; edits x"); !strings.Contains(text, "edits: ") {
		t.Errorf("bad JSON: %q", text)
	}
}

func TestBigDiffHasSoManyChanges(t *testing.T) {
	c, _ := start(t, "default", "")
	sid := c.open()
	for _, e := range []struct {
		word    string
		changed int
	}{{"bigdiff 1000 7", 7}, {"bigdiff 1000 all", 1000}, {"bigdiff 10 0", 0}, {"bigdiff 3 3", 3}} {
		update := c.updates(sid, e.word)[1]
		var items []struct{ OldText, NewText string }
		if err := json.Unmarshal([]byte(update[strings.Index(update, "["):]), &items); err != nil || len(items) != 1 {
			t.Fatalf("%s: %v in %.200s", e.word, err, update)
		}
		before, after := strings.Split(items[0].OldText, "\n"), strings.Split(items[0].NewText, "\n")
		changed := 0
		for i := range before {
			if before[i] != after[i] {
				changed++
			}
		}
		if want := strings.Fields(e.word)[1]; changed != e.changed || fmt.Sprint(len(before)-1) != want || len(after) != len(before) {
			t.Errorf("%s: %d of %d lines changed", e.word, changed, len(before)-1)
		}
	}
}
