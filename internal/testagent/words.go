package testagent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"fyllocode.dev/fyllo/internal/mcpcall"
	"fyllocode.dev/fyllo/internal/testagent/internal/received"
)

// words maps the first word of a prompt line to what it does; the package documentation describes each.
var words map[string]func(*turn, string)

func init() { // a variable initialiser would be a cycle through turn.perform
	words = map[string]func(*turn, string){
		"echo":     func(t *turn, s string) { t.say(unescape(s)) },
		"flood":    func(t *turn, s string) { n := numbers(s, 2); t.flood(n[0], n[1]) },
		"slow":     func(t *turn, s string) { t.every(s, func(i int) { t.say(strconv.Itoa(i) + " ") }) },
		"clock":    func(t *turn, s string) { t.every(s, func(int) { t.say(fmt.Sprint(time.Now().UnixNano())) }) },
		"big":      func(t *turn, s string) { t.big(numbers(s, 1)[0]) },
		"split":    (*turn).split,
		"messages": (*turn).messages,
		"markdown": func(t *turn, _ string) { t.say(markdown) },
		"image":    func(t *turn, _ string) { t.chunk("agent_message_chunk", pixel()) },
		"user":     func(t *turn, s string) { t.chunk("user_message_chunk", text(s)) },
		"think":    (*turn).think,

		"tool": (*turn).tool, "tools": (*turn).tools, "bigtool": (*turn).bigTool, "failtool": (*turn).failTool,
		"diff": (*turn).diff, "open-tool": (*turn).openTool, "orphan-tool": (*turn).orphanTool,
		"subagent": (*turn).subagent, "childsession": (*turn).childSession, "terminal": (*turn).terminal, "permission": (*turn).permission,

		"picture": (*turn).picture, "sound": (*turn).sound, "file": (*turn).file, "svg": (*turn).svg,
		"badimage": (*turn).badImage, "hugeimage": (*turn).hugeImage,

		"say64": (*turn).say64, "tool64": (*turn).tool64, "update64": (*turn).update64, "lines": (*turn).lines,
		"stream": (*turn).stream,

		"edits": (*turn).edits, "change": (*turn).changeWord, "bigdiff": (*turn).bigDiff,

		"plan": (*turn).plan, "usage": (*turn).usageWord, "config": (*turn).config, "unknown": (*turn).unknown,
		"commands": func(t *turn, _ string) { t.agent.commands(t.session) },
		"title":    func(t *turn, s string) { t.update(object{"sessionUpdate": "session_info_update", "title": s}) },
		"noise":    (*turn).noise, "late": (*turn).late, "after": (*turn).afterWord, "ask": (*turn).ask,

		"call": func(t *turn, s string) {
			tool, arguments, _ := strings.Cut(s, " ")
			t.say(tool + ": " + t.callTool(tool, arguments) + "\n")
		},
		"blocks":      func(t *turn, _ string) { t.say(received.Blocks(t.params)) },
		"env":         func(t *turn, s string) { t.say(s + "=" + os.Getenv(s)) },
		"sleep":       func(t *turn, s string) { t.sleep(pause(s)) },
		"hang":        func(t *turn, _ string) { <-t.ctx.Done() },
		"deaf":        func(t *turn, _ string) { <-t.ctx.Done(); t.deaf = true },
		"stopreading": func(t *turn, _ string) { t.agent.stopOnce.Do(func() { close(t.agent.stopped) }) },
		"stop":        func(t *turn, s string) { t.stop = s },
		"error":       (*turn).fail,
		"bye":         func(t *turn, s string) { t.say("bye"); t.bye, t.stop = numbers(s, 1)[0], "end_turn" },
		"exit":        func(t *turn, s string) { t.agent.exit(numbers(s, 1)[0]); <-t.ctx.Done() },
		"torn":        (*turn).torn,
		"forget":      (*turn).forget,
		"stderr":      func(_ *turn, s string) { fmt.Fprintln(os.Stderr, s) },
	}
	for _, key := range []string{"cwd", "session", "mcp", "prompt", "meta"} {
		words[key] = func(t *turn, _ string) { t.info(key) }
	}
}

const markdown = "# Heading\n\nSome **bold** and `code`.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n" +
	"```go\nfmt.Println(\"hello\")\n```\n\n[a link](https://example.com/)\n"

func unescape(s string) string {
	var out string
	if json.Unmarshal([]byte(`"`+strings.ReplaceAll(s, `"`, `\"`)+`"`), &out) != nil {
		return s
	}
	return out
}

func pixel() object {
	const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
	return object{"type": "image", "mimeType": "image/png", "data": png}
}

func (t *turn) chunk(kind string, content object) {
	t.update(object{"sessionUpdate": kind, "content": content})
}

// split sends each half of a surrogate pair in a chunk of its own, as real Agents do.
func (t *turn) split(string) {
	for _, half := range []string{`face: \ud83d`, `\ude00 done`} {
		t.agent.raw([]byte(t.prefix() + half + suffix))
	}
}

func (t *turn) messages(string) {
	for i := range 2 {
		t.update(object{
			"sessionUpdate": "agent_message_chunk", "messageId": fmt.Sprintf("msg-%d", i),
			"content": text(fmt.Sprintf("Message %d.", i)),
		})
	}
}

func (t *turn) think(s string) {
	if s == "" {
		s = "**Looking around**\nThe project has files."
	}
	for _, w := range strings.SplitAfter(s, " ") {
		t.chunk("agent_thought_chunk", text(w))
	}
}

func (t *turn) plan(string) {
	for _, status := range [][3]string{{"pending", "pending", "pending"}, {"completed", "in_progress", "pending"}} {
		t.update(object{"sessionUpdate": "plan", "entries": []object{
			{"content": "Read the code", "priority": "high", "status": status[0]},
			{"content": "Change it", "priority": "medium", "status": status[1]},
			{"content": "Test it", "priority": "low", "status": status[2]},
		}})
	}
}

func (t *turn) usageWord(s string) {
	n := numbers(s, 2)
	if n[1] == 0 {
		n = []int{53_000, 200_000}
	}
	t.agent.usage(t.session, n[0], n[1])
}

func (t *turn) config(s string) {
	id, v, _ := strings.Cut(s, " ")
	var value any = v
	if v == "true" || v == "false" {
		value = v == "true"
	}
	if !t.agent.set(t.session, id, value) {
		t.say("no such option or value")
		return
	}
	if t.agent.script.Config == "legacy" {
		t.update(object{"sessionUpdate": "current_mode_update", "currentModeId": v})
		return
	}
	t.update(object{"sessionUpdate": "config_option_update", "configOptions": t.agent.options(t.session)})
}

func (t *turn) unknown(string) {
	t.update(object{"sessionUpdate": "hologram_update", "shape": object{"points": []int{1, 2, 3}}})
	t.update(object{"sessionUpdate": "notice", "severity": "info", "title": "Just so you know"})
	t.update(object{"sessionUpdate": "compaction_update", "compactionId": "c1", "status": "in_progress"})
	t.chunk("agent_message_chunk", object{"type": "video", "url": "x:1"})
	t.update(object{
		"sessionUpdate": "agent_message_chunk", "content": text("known again"), "extra": []int{1},
		"_meta": object{"example.com/future": true},
	})
}

// noise writes what is not ACP, and then one good chunk in a line with BOM and CRLF.
func (t *turn) noise(string) {
	for _, l := range []string{
		"warning: something was written to stdout\n", "\n", "\r\n", "[]\n", "\"x\"\n", "42\n", "{}\n", "{\"jsonrpc\":\"2.0\"}\n",
		"{broken\n", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}` + "\n",
		`{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"}}` + "\n",
		`{"jsonrpc":"2.0","id":987654,"result":{}}` + "\n", `{"jsonrpc":"2.0","method":"unheard/of"}` + "\n",
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"nobody","update":{"sessionUpdate":"plan","entries":[]}}}` + "\n",
		t.prefix() + "bad \xff\xfe utf-8 " + suffix,
		"\ufeff" + strings.TrimSuffix(t.prefix()+"noise done"+suffix, "\n") + "\r\n",
	} {
		t.agent.raw([]byte(l))
	}
}

func (t *turn) late(s string) {
	n := max(numbers(s, 1)[0], 1)
	t.say("before the answer")
	t.after = append(t.after, func() {
		for i := range n {
			t.say(fmt.Sprintf(" late %d", i))
		}
		t.agent.usage(t.session, 60_000, 200_000)
		t.update(object{"sessionUpdate": "session_info_update", "title": "A title made late"})
	})
}

func (t *turn) afterWord(s string) {
	t.after = append(t.after, func() {
		time.Sleep(pause(s))
		t.say(" much later")
		t.agent.usage(t.session, 61_000, 200_000)
	})
}

func (t *turn) ask(method string) {
	_, err := t.agent.call(t.ctx, method, object{"sessionId": t.session.id, "path": "/tmp/x", "content": "x"})
	if err != nil {
		t.say(fmt.Sprintf("%s: %d", method, err.Code))
		return
	}
	t.say(method + ": ok")
}

func (t *turn) fail(s string) {
	code, msg, _ := strings.Cut(s, " ")
	n, err := strconv.Atoi(code)
	if err != nil {
		n, msg = -32603, s
	}
	t.err = &rpcError{Code: n, Message: msg}
}

// torn exits in the middle of the line of a text chunk.
func (t *turn) torn(s string) {
	t.agent.raw([]byte(t.prefix() + "never whole"))
	t.agent.exit(numbers(s, 1)[0])
	<-t.ctx.Done()
}

// forget makes the Agent lose the session behind the answer; a resume or load finds it again.
func (t *turn) forget(string) {
	t.agent.mu.Lock()
	defer t.agent.mu.Unlock()
	delete(t.agent.sessions, t.session.id)
}

// callTool calls a tool of fyllo-spawn and returns the text of its result, or what went wrong in brackets.
func (t *turn) callTool(tool, arguments string) string {
	server, ok := mcpcall.Find(t.session.params, "fyllo-spawn")
	if !ok {
		return "[no server fyllo-spawn]"
	}
	text, err := server.Call(t.ctx, tool, cmp.Or(strings.TrimSpace(arguments), "{}"))
	if err != nil {
		return "[" + err.Error() + "]"
	}
	return text
}
