package testagent

import (
	"encoding/json"
	"fmt"
	"strings"
)

// callID returns a fresh tool call id.
func (t *turn) callID() string {
	return fmt.Sprintf("call_%d", t.agent.next(t.session))
}

func (t *turn) start(id string, fields object) {
	u := object{"sessionUpdate": "tool_call", "toolCallId": id, "status": "pending"}
	for k, v := range fields {
		u[k] = v
	}
	t.update(u)
}

func (t *turn) change(id string, fields object) {
	u := object{"sessionUpdate": "tool_call_update", "toolCallId": id}
	for k, v := range fields {
		u[k] = v
	}
	t.update(u)
}

func output(s string) []object { return []object{{"type": "content", "content": text(s)}} }

func (t *turn) tool(title string) {
	if title == "" {
		title = "Read main.go"
	}
	id := t.callID()
	t.start(id, object{"title": title, "kind": "read", "rawInput": object{"path": "/project/main.go"}})
	t.change(id, object{"status": "in_progress"})
	t.change(id, object{
		"status": "completed", "content": output("package main\n"),
		"locations": []object{{"path": "/project/main.go", "line": 1}},
	})
}

func (t *turn) tools(args string) {
	n := numbers(args, 2)
	body := strings.Repeat("o", n[1])
	for i := range n[0] {
		id := t.callID()
		t.start(id, object{"title": fmt.Sprintf("Tool %d", i), "kind": "execute", "rawInput": object{"command": "make"}})
		t.change(id, object{"status": "completed", "content": output(body)})
		if t.ctx.Err() != nil {
			return
		}
	}
}

func (t *turn) bigTool(args string) {
	id := t.callID()
	t.start(id, object{"title": "Print a lot", "kind": "execute"})
	t.change(id, object{"status": "completed", "content": output(strings.Repeat("b", numbers(args, 1)[0]))})
}

func (t *turn) failTool(string) {
	id := t.callID()
	t.start(id, object{"title": "Run tests", "kind": "execute", "rawInput": object{"command": "make test"}})
	t.change(id, object{"status": "failed", "content": output("exit status 2")})
}

func (t *turn) diff(path string) {
	if path == "" {
		path = "/project/main.go"
	}
	id := t.callID()
	t.start(id, object{"title": "Edit " + path, "kind": "edit", "locations": []object{{"path": path}}})
	t.change(id, object{"status": "completed", "content": []object{
		{"type": "diff", "path": path, "oldText": "package main\n\nvar a = 1\n", "newText": "package main\n\nvar a = 2\nvar b = 3\n"},
		{"type": "diff", "path": path + ".new", "oldText": nil, "newText": "first\nsecond\n"},
	}})
}

func (t *turn) openTool(string) {
	id := t.callID()
	t.start(id, object{"title": "Never finishes", "kind": "execute", "status": "in_progress"})
}

func (t *turn) orphanTool(string) {
	t.change("orphan__"+t.callID(), object{"status": "completed", "title": "Orphan", "kind": "other", "content": output("done")})
}

func (t *turn) terminal(string) {
	id := t.callID()
	t.start(id, object{
		"title": "ls", "kind": "execute", "status": "in_progress",
		"content": []object{{"type": "terminal", "terminalId": id}},
	})
	for _, s := range []string{"a.go\n", "b.go\n"} {
		t.change(id, object{"_meta": object{"terminal_output_delta": object{"data": s, "terminal_id": id}}})
	}
	t.change(id, object{
		"status": "completed", "rawOutput": object{"exit_code": 0},
		"_meta": object{"terminal_exit": object{"exit_code": 0, "signal": nil, "terminal_id": id}},
	})
}

// permission asks in one of the forms of the package documentation.
func (t *turn) permission(form string) {
	switch form {
	case "two":
		done := make(chan string)
		for range 2 {
			go func() { done <- t.askOnce("") }() // ends with the answer or the turn
		}
		a, b := <-done, <-done
		t.say(a + "\n" + b)
	case "many":
		for range 3 {
			t.say(t.askOnce("") + "\n")
		}
	default:
		t.say(t.askOnce(form))
	}
}

// askOnce sends one permission request and tells the answer.
func (t *turn) askOnce(form string) string {
	id := t.callID()
	tool := object{"title": "Run rm -rf build", "kind": "execute", "rawInput": object{"command": "rm -rf build"}}
	if form != "bare" {
		t.start(id, tool)
	}
	call := object{"toolCallId": id, "title": tool["title"], "kind": "execute", "rawInput": tool["rawInput"]}
	option := t.decide(t.session.id, call, permissionOptions(form))
	if option == "" {
		t.change(id, object{"status": "failed", "content": output("not allowed")})
		return "permission: cancelled"
	}
	if strings.HasPrefix(option, "allow") {
		t.change(id, object{"status": "completed", "content": output("removed build")})
	} else {
		t.change(id, object{"status": "failed", "content": output("rejected")})
	}
	return "permission: selected " + option
}

// decide sends a permission request and returns the id of the chosen option, "" for cancelled.
func (t *turn) decide(session string, call object, options []object) string {
	res, err := t.agent.call(t.ctx, "session/request_permission", object{
		"sessionId": session, "toolCall": call, "options": options,
	})
	var p struct {
		Outcome struct{ Outcome, OptionID string }
	}
	if err != nil || json.Unmarshal(res, &p) != nil || p.Outcome.Outcome != "selected" {
		return ""
	}
	return p.Outcome.OptionID
}

func permissionOptions(form string) []object {
	always := object{"optionId": "allow-always", "name": "Always allow", "kind": "allow_always"}
	allow := object{"optionId": "allow", "name": "Allow once", "kind": "allow_once"}
	reject := object{"optionId": "reject", "name": "Reject", "kind": "reject_once"}
	switch form {
	case "empty":
		return []object{}
	case "none":
		return []object{always, reject}
	default:
		return []object{always, allow, reject}
	}
}
