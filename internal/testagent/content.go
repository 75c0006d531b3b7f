package testagent

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// say64 sends any text, whole or in chunks of about a number of bytes, with or without a pause after each.
func (t *turn) say64(args string) {
	f := strings.Fields(args)
	all, err := decode64(f)
	if err != nil {
		t.say(err.Error())
		return
	}
	size, pauses := len(all), false
	if len(f) > 1 {
		if n, err := strconv.Atoi(f[1]); err == nil && n > 0 {
			size = n
		}
		pauses = len(f) > 2
	}
	for len(all) > 0 {
		n := min(size, len(all))
		for n < len(all) && !utf8.RuneStart(all[n]) {
			n++
		}
		t.say(string(all[:n]))
		all = all[n:]
		if t.ctx.Err() != nil || pauses && !t.sleep(pause(f[2])) {
			return
		}
	}
}

// tool64 sends one tool call. The fields of the JSON object are those of a tool call, with "output" for a text as its
// only content. The call starts without content and ends completed, unless "status" says otherwise.
func (t *turn) tool64(args string) {
	fields, ok := t.object64(args)
	if !ok {
		return
	}
	id, given := fields["toolCallId"].(string)
	if !given {
		id = t.callID()
	}
	end := object{"status": "completed"}
	if s, ok := fields["output"].(string); ok {
		end["content"] = output(s)
		delete(fields, "output")
	}
	for _, key := range []string{"status", "content", "rawOutput"} {
		if v, ok := fields[key]; ok {
			end[key] = v
			delete(fields, key)
		}
	}
	t.start(id, fields)
	t.change(id, end)
}

// lines sends one tool call whose output has n numbered lines, every tenth of them in colour.
func (t *turn) lines(args string) {
	n := numbers(args, 1)[0]
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if i%10 == 0 {
			fmt.Fprintf(&b, "\x1b[32mline %d\x1b[0m of the output\n", i)
		} else {
			fmt.Fprintf(&b, "line %d of the output\n", i)
		}
	}
	id := t.callID()
	t.start(id, object{"title": "Print lines", "kind": "execute"})
	t.change(id, object{"status": "completed", "content": output(b.String())})
}

// update64 sends any session/update. A "toolCallId" that is missing where one must be is made up.
func (t *turn) update64(args string) {
	if u, ok := t.object64(args); ok {
		if kind, _ := u["sessionUpdate"].(string); strings.HasPrefix(kind, "tool_call") && u["toolCallId"] == nil {
			u["toolCallId"] = t.callID()
		}
		t.update(u)
	}
}

func (t *turn) object64(args string) (object, bool) {
	raw, err := decode64(strings.Fields(args))
	var fields object
	if err == nil {
		err = json.Unmarshal(raw, &fields)
	}
	if err != nil {
		t.say(err.Error())
		return nil, false
	}
	if fields == nil {
		fields = object{}
	}
	return fields, true
}

func decode64(fields []string) ([]byte, error) {
	if len(fields) == 0 {
		return nil, fmt.Errorf("no BASE64")
	}
	b, err := base64.StdEncoding.DecodeString(fields[0])
	if err != nil {
		return nil, fmt.Errorf("no BASE64: %w", err)
	}
	return b, nil
}
