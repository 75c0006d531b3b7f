package testagent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// turn is one running prompt.
type turn struct {
	agent   *agent
	session *session
	ctx     context.Context //nolint:containedctx // it is the turn's life; ended by session/cancel
	id      json.RawMessage
	params  json.RawMessage

	editing map[string]bool // ids of calls that the word edits began

	stop  string    // stop reason; "" = end_turn
	err   *rpcError // answers with an error
	deaf  bool      // no answer at all
	bye   int       // exit code after the answer; -1 = stay
	after []func()  // to do after the answer
}

// run does what the text says and answers.
func (t *turn) run(cancel context.CancelFunc) {
	defer cancel()
	t.bye = -1
	if t.agent.script.Greeting != "" {
		t.say(t.agent.script.Greeting)
	}
	if text := t.text(); text != "" {
		t.perform(text)
	} else {
		t.perform(t.agent.script.Told)
	}
	t.settle()
	if t.deaf {
		return
	}
	t.agent.mu.Lock()
	t.session.turn = nil
	t.agent.mu.Unlock()
	if t.err != nil {
		t.agent.fail(t.id, t.err)
	} else {
		t.agent.reply(t.id, object{"stopReason": t.stop})
	}
	if t.bye >= 0 {
		t.agent.exit(t.bye)
	}
	for _, f := range t.after {
		f()
	}
}

// settle decides how the turn ends when it was cancelled.
func (t *turn) settle() {
	if t.stop == "" {
		t.stop = "end_turn"
	}
	if t.ctx.Err() == nil {
		return
	}
	switch t.agent.script.OnCancel {
	case "error":
		t.err = &rpcError{Code: -32603, Message: "aborted"}
	case "end_turn":
		t.stop = "end_turn"
	case "deaf":
		t.deaf = true
	default:
		t.stop = "cancelled"
	}
}

// text returns the last text block without a leading reminder.
func (t *turn) text() string {
	var p struct {
		Prompt []struct{ Type, Text string }
	}
	_ = json.Unmarshal(t.params, &p)
	last := ""
	for _, b := range p.Prompt {
		if b.Type == "text" {
			last = b.Text
		}
	}
	const end = "</system-reminder>"
	if i := strings.LastIndex(last, end); i >= 0 {
		last = last[i+len(end):]
	}
	return strings.TrimSpace(last)
}

// perform runs the words of the text in order until one ends the turn.
func (t *turn) perform(s string) {
	for i, piece := range strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == ';' }) {
		word, rest, _ := strings.Cut(strings.TrimSpace(piece), " ")
		do, ok := words[word]
		if !ok {
			if i == 0 {
				t.say("You said: " + s)
				return
			}
			continue
		}
		do(t, strings.TrimSpace(rest))
		if t.ctx.Err() != nil || t.stop != "" || t.err != nil {
			return
		}
	}
}

// sleep waits and reports whether the turn goes on.
func (t *turn) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-t.ctx.Done():
		return false
	}
}

// update writes a session/update of this turn's session.
func (t *turn) update(u object) { t.agent.update(t.session, u) }

// say writes one text chunk.
func (t *turn) say(s string) {
	t.update(object{"sessionUpdate": "agent_message_chunk", "content": text(s)})
}

// prefix is the beginning of a text chunk's line up to the text itself, for lines made without an encoder.
func (t *turn) prefix() string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + t.session.id +
		`","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`
}

const suffix = `"}}}}` + "\n"

// flood writes n chunks of size bytes; lines are put together by hand and written 256 KiB at a time.
func (t *turn) flood(n, size int) {
	prefix := t.prefix()
	fill := strings.Repeat("x", size)
	buf := make([]byte, 0, 320<<10)
	for i := range n {
		buf = append(buf, prefix...)
		start := len(buf)
		buf = strconv.AppendInt(buf, int64(i), 10)
		buf = append(buf, ' ')
		if pad := size - (len(buf) - start); pad > 0 {
			buf = append(buf, fill[:pad]...)
		}
		buf = append(buf, suffix...)
		if len(buf) >= 256<<10 {
			t.agent.raw(buf)
			buf = buf[:0]
			if t.ctx.Err() != nil {
				return
			}
		}
	}
	t.agent.raw(buf)
}

// big writes one text chunk of size bytes.
func (t *turn) big(size int) {
	buf := make([]byte, 0, size+1024)
	buf = append(buf, t.prefix()...)
	const letters = "abcdefghijklmnopqrstuvwxyz"
	for left := size; left > 0; left -= len(letters) {
		buf = append(buf, letters[:min(left, len(letters))]...)
	}
	t.agent.raw(append(buf, suffix...))
}

// numbers reads up to n leading integers of the arguments; missing ones are 0.
func numbers(args string, n int) []int {
	out := make([]int, n)
	for i, f := range strings.Fields(args) {
		if i < n {
			out[i], _ = strconv.Atoi(f)
		}
	}
	return out
}

// every runs f for 0 ≤ i < n with a pause of the interval after each. args is "N INTERVAL".
func (t *turn) every(args string, f func(i int)) {
	count, interval, _ := strings.Cut(args, " ")
	n, _ := strconv.Atoi(count)
	d := pause(strings.TrimSpace(interval))
	for i := range n {
		f(i)
		if !t.sleep(d) {
			return
		}
	}
}

// info answers the words that tell what the Agent was given.
func (t *turn) info(key string) {
	var p struct {
		Cwd                   string   `json:"cwd"`
		AdditionalDirectories []string `json:"additionalDirectories"`
		MCPServers            any      `json:"mcpServers"`
	}
	_ = json.Unmarshal(t.session.params, &p)
	switch key {
	case "cwd":
		t.say(strings.Join(append([]string{p.Cwd}, p.AdditionalDirectories...), "\n"))
	case "mcp":
		b, _ := json.Marshal(p.MCPServers)
		t.say(string(b))
	case "session":
		t.say(t.session.id)
	case "prompt":
		t.say(string(t.params))
	case "meta":
		t.say(fmt.Sprintf("pid %d restored %v", os.Getpid(), t.session.restored))
	}
}
