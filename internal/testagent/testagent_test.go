package testagent_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fyllocode.dev/fyllo/internal/testagent"
)

func TestMain(m *testing.M) {
	testagent.Main()
	goleak.VerifyTestMain(m)
}

// client is the least that can talk to the Agent. Permission requests are answered with allow.
type client struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Scanner
	id  int
}

type line struct {
	ID     json.RawMessage
	Method string
	Params struct {
		SessionID string
		Update    struct {
			SessionUpdate string
			Content       json.RawMessage
		}
	}
	Result map[string]any
	Error  *struct{ Code int }
}

func newClient(t *testing.T, in io.Writer, out io.Reader) *client {
	c := &client{t: t, in: in, out: bufio.NewScanner(out)}
	c.out.Buffer(nil, 64<<20)
	return c
}

func (c *client) send(method string, params any) string {
	c.id++
	p, err := json.Marshal(params)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.id, method, p); err != nil {
		c.t.Fatal(err)
	}
	return fmt.Sprint(c.id)
}

// wait returns the answer to id, the text before it and the kinds of all updates before it.
func (c *client) wait(id string) (ans line, text string, kinds []string) {
	c.t.Helper()
	for c.out.Scan() {
		var l line
		if json.Unmarshal(c.out.Bytes(), &l) != nil {
			continue
		}
		var block struct{ Text string }
		_ = json.Unmarshal(l.Params.Update.Content, &block) // lists of tools are not of interest
		text += block.Text
		if l.Params.Update.SessionUpdate != "" {
			kinds = append(kinds, l.Params.Update.SessionUpdate)
		}
		switch {
		case l.Method == "" && string(l.ID) == id:
			return l, text, kinds
		case l.Method == "session/request_permission":
			fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"allow"}}}`+"\n", l.ID)
		case l.Method != "" && l.ID != nil:
			fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`+"\n", l.ID)
		}
	}
	c.t.Fatalf("no answer to %s: %v", id, c.out.Err())
	return line{}, "", nil
}

func (c *client) open() string {
	c.t.Helper()
	c.wait(c.send("initialize", map[string]any{"protocolVersion": 1}))
	ans, _, _ := c.wait(c.send("session/new", map[string]any{"cwd": "/", "mcpServers": []int{}}))
	return ans.Result["sessionId"].(string)
}

func (c *client) prompt(sid, text string) (line, string, []string) {
	c.t.Helper()
	return c.wait(c.send("session/prompt", map[string]any{
		"sessionId": sid, "prompt": []any{map[string]any{"type": "text", "text": text}},
	}))
}

func start(t *testing.T, script, log string) (*client, *testagent.Running) {
	t.Helper()
	r, err := testagent.Pipe(script, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Kill(0)
		r.Wait()
		_ = r.Stdin.Close()
		_ = r.Stdout.Close()
	})
	return newClient(t, r.Stdin, r.Stdout), r
}

func base64Of(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func count(kinds []string, kind string) (n int) {
	for _, k := range kinds {
		if k == kind {
			n++
		}
	}
	return n
}

func TestAnyContentCanBeSent(t *testing.T) {
	c, _ := start(t, "default", "")
	sid := c.open()
	const hostile = "a;\n\x1b[31m\u202e\U0001f600\"<script>"
	for prompt, chunks := range map[string]int{
		"say64 " + base64Of(hostile): 1, "say64 " + base64Of(hostile) + " 3": 7, "say64 " + base64Of(hostile) + " 12 1ms": 2,
	} {
		if _, text, kinds := c.prompt(sid, prompt); text != hostile || count(kinds, "agent_message_chunk") != chunks {
			t.Errorf("%q: %q as %q, want %d chunks", prompt, text, kinds, chunks)
		}
	}
	tool := base64Of(`{"title":"<b>","output":"\u001b[0m","locations":[{"path":"/\u202ex"}],"status":"failed"}`)
	if _, text, kinds := c.prompt(sid, "tool64 "+tool); text != "" || count(kinds, "tool_call") != 1 || count(kinds, "tool_call_update") != 1 {
		t.Errorf("tool64: %q, %q", text, kinds)
	}
	if _, _, kinds := c.prompt(sid, "update64 "+base64Of(`{"sessionUpdate":"tool_call","title":"x"}`)); count(kinds, "tool_call") != 1 {
		t.Errorf("update64: %q", kinds)
	}
	if _, text, _ := c.prompt(sid, "say64 !; tool64 e30x"); !strings.Contains(text, "no BASE64") || !strings.Contains(text, "JSON") && !strings.Contains(text, "character") {
		t.Errorf("bad arguments: %q", text)
	}
}

func TestLongMarkdownIsSentInAsManyChunksAsAsked(t *testing.T) {
	c, _ := start(t, "default", "")
	sid := c.open()
	for _, shape := range []string{"prose", "list", "table", "code", "quote", "line", "mixed"} {
		_, text, kinds := c.prompt(sid, "stream 5000 40 "+shape+" 1us")
		if len(text) < 5000 || !strings.HasSuffix(text, "\n\nEnd of the stream.") || count(kinds, "agent_message_chunk") != 40 {
			t.Errorf("%s: %d bytes in %d chunks, ending %q", shape, len(text), len(kinds), text[max(0, len(text)-30):])
		}
	}
}

func TestEveryWordEndsItsTurn(t *testing.T) {
	c, _ := start(t, "default", "")
	sid := c.open()
	for prompt, want := range map[string]string{
		"hello there": "You said: hello there", "echo a\\nb": "a\nb", "slow 3 1ms": "0 1 2 ", "flood 3 4": "0 xx1 xx2 xx",
		"big 30": "abcdefghijklmnopqrstuvwxyzabcd", "permission": "permission: selected allow",
		"permission two": "permission: selected allow\npermission: selected allow",
		"noise":          "bad \ufffd\ufffd utf-8 ", "ask fs/read_text_file": "fs/read_text_file: -32601", "unknown": "known again",
		"subagent full": "**Searching** for callersI look at There are three matches.the tests.Both subagents are done.",
		"childsession":  "**Searching**Three matches.Read a.go.The child session is done.", "childsession hold": "**Searching**Three matches.Read a.go.",
		"think; tool; echo x": "**Looking around**\nThe project has files.x", "stop refusal": "", "cwd": "/", "mcp": "[]",
		"<system-reminder>x</system-reminder>\necho y": "y", "error -32603 oops": "", "sleep 1ms": "", "open-tool": "",
	} {
		ans, text, _ := c.prompt(sid, prompt)
		if text != want {
			t.Errorf("%q: text %q, want %q", prompt, text, want)
		}
		if (ans.Error != nil) != strings.HasPrefix(prompt, "error") {
			t.Errorf("%q: %+v", prompt, ans)
		}
	}
	for _, prompt := range []string{
		"split", "lines 20", "messages", "markdown", "image", "user x", "tools 3 10", "bigtool 10", "failtool", "diff",
		"orphan-tool", "subagent", "subagent orphan", "subagent empty", "subagent open", "subagent fail",
		"subagent slow 2 1ms", "terminal", "permission bare", "plan", "usage", "commands", "config model m2",
		"title x", "late 2",
	} {
		if _, _, kinds := c.prompt(sid, prompt); len(kinds) == 0 {
			t.Errorf("%q: no update", prompt)
		}
	}
}

func TestCancelEndsAHangingTurn(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	c, _ := start(t, "default", log)
	sid := c.open()
	id := c.send("session/prompt", map[string]any{"sessionId": sid, "prompt": []any{map[string]any{"type": "text", "text": "hang"}}})
	fmt.Fprintf(c.in, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`+"\n", sid)
	if ans, _, _ := c.wait(id); ans.Result["stopReason"] != "cancelled" {
		t.Fatalf("answer %+v", ans)
	}
	recs, err := testagent.ReadLog(log)
	if err != nil || recs[len(recs)-1].Method != "session/cancel" {
		t.Fatalf("log %+v, %v", recs, err)
	}
}

func TestExitCodeOfAProcess(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	run := func(script, words string) int {
		cmd := exec.Command(testagent.Command()[0])
		cmd.Env = os.Environ()
		for k, v := range testagent.Environ(script, log) {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		in, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		c := newClient(t, in, out)
		if words != "" {
			sid := c.open()
			c.send("session/prompt", map[string]any{"sessionId": sid, "prompt": []any{map[string]any{"type": "text", "text": words}}})
		}
		if _, err := io.Copy(io.Discard, out); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the code is what counts
		return cmd.ProcessState.ExitCode()
	}
	if got := run("crash-once", ""); got != 7 {
		t.Errorf("first start of crash-once: exit %d", got)
	}
	if got := run("crash-once", "exit 3"); got != 3 {
		t.Errorf("second start: exit %d", got)
	}
	if got := run("no such script", ""); got != 2 {
		t.Errorf("unknown script: exit %d", got)
	}
}

func TestFloodWritesEveryChunk(t *testing.T) {
	c, r := start(t, "default", "")
	sid := c.open()
	begin := time.Now()
	c.send("session/prompt", map[string]any{"sessionId": sid, "prompt": []any{map[string]any{"type": "text", "text": "flood 200000 24"}}})
	buf := make([]byte, 1<<20)
	n := 0
	for n < 200000 {
		k, err := r.Stdout.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		n += strings.Count(string(buf[:k]), "\n")
	}
	t.Logf("%.0f chunks/s", 200000/time.Since(begin).Seconds())
}
