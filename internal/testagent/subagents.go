package testagent

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// claude is the _meta of Claude's adapter; an empty parent is left out.
func claude(tool, parent string) object {
	m := object{}
	if tool != "" {
		m["toolName"] = tool
	}
	if parent != "" {
		m["parentToolUseId"] = parent
	}
	return object{"claudeCode": m}
}

// response is the _meta of the update that carries a tool's raw response, which is no output.
func response(tool, parent string, raw any) object {
	m := claude(tool, parent)
	m["claudeCode"].(object)["toolResponse"] = raw //nolint:forcetypeassert // claude made it
	return m
}

// subagent sends Agent calls in one of the forms of the package documentation.
func (t *turn) subagent(form string) {
	form, rest, _ := strings.Cut(form, " ")
	switch form {
	case "full":
		t.subagentFull()
	case "orphan":
		t.subagentOrphan()
	case "empty":
		t.change(t.launch("", ""), object{"status": "completed", "content": []object{}})
	case "open":
		root := t.launch("Search for ever", "")
		t.start(t.callID(), object{"title": "grep", "kind": "search", "status": "in_progress", "_meta": claude("Grep", root)})
	case "fail":
		root := t.launch("Find callers", "")
		t.child(root, "Grep", "grep", "search", "no match")
		t.change(root, object{"status": "failed", "content": output("The subagent stopped: out of tokens.")})
	case "slow":
		root := t.launch("Read all files", "")
		t.every(rest, func(i int) { t.child(root, "Read", "Read file "+strconv.Itoa(i), "read", "text") })
		t.change(root, object{"status": "completed", "content": output("All read.")})
	default:
		t.subagentPlain()
	}
}

// subagentPlain has two children, one of them known as such only from its update on.
func (t *turn) subagentPlain() {
	root, one, two := t.callID(), t.callID(), t.callID()
	t.start(root, object{
		"title": "Find callers", "name": "Agent", "kind": "think", "_meta": claude("Agent", ""),
		"rawInput": object{"description": "Find callers", "prompt": "Find all callers.", "subagent_type": "explore"},
	})
	t.start(one, object{"title": "grep", "kind": "search", "_meta": claude("Grep", root)})
	t.update(object{"sessionUpdate": "agent_message_chunk", "content": text("child speaking"), "_meta": claude("", root)})
	t.start(two, object{"title": "Read a.go", "kind": "read", "_meta": claude("Read", "")})
	t.change(two, object{"status": "completed", "content": output("a"), "_meta": claude("Read", root)})
	t.change(one, object{"status": "completed", "content": output("3 matches")})
	t.change(root, object{"status": "completed", "content": append(output("Two callers."), output("Both in a.go.")...)})
}

// launch starts an Agent call as Claude does: with a general title first, then with the real one.
func (t *turn) launch(description, parent string) string {
	id := t.callID()
	t.start(id, object{
		"title": "Task", "kind": "think", "rawInput": object{}, "content": []object{}, "_meta": claude("Agent", parent),
	})
	if description != "" {
		t.change(id, object{
			"title": description, "kind": "think", "_meta": claude("Agent", parent),
			"rawInput": object{
				"description": description, "subagent_type": "explore",
				"prompt": description + ".\n\nAnswer with a list of places.",
			},
		})
	}
	return id
}

// child is one completed call of a subagent. Claude starts the calls of a subagent filled.
func (t *turn) child(parent, tool, title, kind, out string) {
	id := t.callID()
	t.start(id, object{"title": title, "kind": kind, "rawInput": object{"path": "/project/a.go"}, "_meta": claude(tool, parent)})
	t.change(id, object{"_meta": response(tool, "", []object{{"type": "text", "text": "raw " + out}})})
	t.change(id, object{"status": "completed", "content": output(out), "_meta": claude(tool, parent)})
}

// speak writes chunks of a subagent.
func (t *turn) speak(kind, parent string, chunks ...string) {
	for _, c := range chunks {
		t.update(object{"sessionUpdate": kind, "content": text(c), "_meta": claude("", parent)})
	}
}

func (t *turn) subagentFull() {
	first, second := t.launch("Find callers", ""), t.launch("Check the tests", "")
	t.speak("agent_thought_chunk", first, "**Searching** ", "for callers")
	t.child(first, "Grep", "grep", "search", "3 matches")
	t.speak("agent_message_chunk", second, "I look at ")
	t.speak("agent_message_chunk", first, "There are three ", "matches.")
	t.speak("agent_message_chunk", second, "the tests.")
	inner := t.launch("Read the matches", first)
	t.child(second, "Read", "Read a_test.go", "read", "package a")
	t.child(inner, "Read", "Read a.go", "read", "package a")
	t.change(inner, object{"_meta": response("Agent", first, statistics("explore", 900, 4_000, 1))})
	t.change(inner, object{"status": "completed", "content": output("a.go calls it twice."), "_meta": claude("Agent", first)})

	late := t.callID() // its parent comes with its last update
	t.start(late, object{"title": "Edit a.go", "kind": "edit", "rawInput": object{"path": "/project/a.go"}, "_meta": claude("Edit", "")})
	t.change(late, object{"status": "completed", "_meta": claude("Edit", first), "content": []object{
		{"type": "diff", "path": "/project/a.go", "oldText": "var a = 1\n", "newText": "var a = 2\n"},
	}})

	run := t.callID()
	call := object{"title": "go test ./...", "kind": "execute", "rawInput": object{"command": "go test ./..."}, "_meta": claude("Bash", second)}
	t.start(run, call)
	call["toolCallId"] = run
	if option := t.decide(t.session.id, call, permissionOptions("")); strings.HasPrefix(option, "allow") {
		t.change(run, object{"status": "completed", "content": output("ok")})
	} else {
		t.change(run, object{"status": "failed", "content": output("not allowed")})
	}

	stats, _ := json.Marshal(statistics("general-purpose", 12_345, 65_000, 2))
	t.change(second, object{"_meta": response("Agent", "", string(stats))})
	t.change(first, object{"_meta": response("Agent", "", statistics("explore", 54_321, 125_000, 4))})
	t.change(second, object{"status": "completed", "content": output("The tests pass."), "_meta": claude("Agent", "")})
	done := append(output("There are **three** callers."), output("Two of them stand in a.go.")...)
	t.change(first, object{
		"status": "completed", "content": done, "_meta": claude("Agent", ""),
		"rawOutput": []object{{"type": "text", "text": "There are **three** callers."}, {"type": "text", "text": "Two of them stand in a.go."}},
	})
	t.say("Both subagents are done.")
}

// statistics is the raw response of an Agent call, with members that a client has no use for.
func statistics(kind string, tokens, ms, uses int) object {
	return object{
		"status": "completed", "agentId": "a1b2c3", "agentType": kind, "resolvedModel": "test-model-1",
		"content":     []object{{"type": "text", "text": "raw answer"}},
		"totalTokens": tokens, "totalDurationMs": ms, "totalToolUseCount": uses,
		"usage": object{"input_tokens": tokens}, "toolStats": object{
			"readCount": 1, "searchCount": uses - 1, "bashCount": 0, "editFileCount": 1, "linesAdded": 1, "linesRemoved": 1,
			"otherToolCount": 0,
		},
	}
}

func (t *turn) subagentOrphan() {
	lost, self, one, two := t.callID(), t.callID(), t.callID(), t.callID()
	t.start(lost, object{"title": "Child of nobody", "kind": "read", "status": "completed", "_meta": claude("Read", "call_of_nobody")})
	t.start(self, object{"title": "Child of itself", "kind": "read", "status": "completed", "_meta": claude("Read", self)})
	t.start(one, object{"title": "Circle one", "kind": "read", "_meta": claude("Read", two)})
	t.start(two, object{"title": "Circle two", "kind": "read", "_meta": claude("Read", one)})
	for _, id := range []string{one, two} {
		t.change(id, object{"status": "completed", "content": output("done")})
	}
	t.speak("agent_message_chunk", "call_of_nobody", "Words of nobody.")
	plain := t.callID()
	t.start(plain, object{"title": "Run the helper", "kind": "execute", "rawInput": object{"command": "helper"}})
	t.child(plain, "Read", "Read b.go", "read", "package b")
	t.change(plain, object{"status": "completed", "content": output("helper is done")})
}

// childSession speaks the form in which a subagent has an ACP session of its own.
func (t *turn) childSession(form string) {
	parent := t.session.id
	child := fmt.Sprintf("%s/child-%d", parent, t.agent.next(t.session))
	inner := child + "/inner"
	at := func(session string, kind string, fields object) {
		fields["sessionUpdate"] = kind
		t.agent.write(object{"jsonrpc": "2.0", "method": "session/update", "params": object{"sessionId": session, "update": fields}})
	}
	at(parent, "subagent_update", object{
		"sessionId": child, "title": "Explorer", "description": "Looks for callers", "capabilities": object{"cancel": object{}},
		"cwd": "/project", "state": object{"state": "running"},
	})
	at(child, "session_message", object{
		"messageId": "to-" + child, "senderSessionId": parent, "recipientSessionId": child,
		"content": []object{text("Find all callers."), text("Answer with a list.")},
	})
	at(child, "agent_thought_chunk", object{"content": text("**Searching**")})
	// The ids of a child session are its own: this one may well be that of a call of the parent.
	at(child, "tool_call", object{"toolCallId": "call_1", "title": "grep", "kind": "search", "rawInput": object{"pattern": "f("}})
	at(child, "agent_message_chunk", object{"messageId": "m1", "content": text("Three ")})
	at(child, "agent_message_chunk", object{"messageId": "m1", "content": text("matches.")})
	at(child, "tool_call_update", object{"toolCallId": "call_1", "status": "completed", "content": output("3 matches")})
	at(child, "usage_update", object{"used": 1, "size": 2})
	at(child, "subagent_update", object{"sessionId": inner, "title": "Reader", "state": object{"state": "running"}})
	at(inner, "session_message_chunk", object{
		"messageId": "to-" + inner, "senderSessionId": child, "recipientSessionId": inner, "content": text("Read a.go."),
	})
	at(inner, "tool_call", object{"toolCallId": "call_1", "title": "Read a.go", "kind": "read", "status": "completed", "content": output("package a")})
	at(child, "subagent_update", object{"sessionId": inner, "state": object{"state": "idle", "stopReason": "end_turn"}})

	run := object{"toolCallId": "call_2", "title": "go test ./...", "kind": "execute", "rawInput": object{"command": "go test ./..."}}
	option := t.decide(child, run, permissionOptions(""))
	status := "failed"
	if strings.HasPrefix(option, "allow") {
		status = "completed"
	}
	at(child, "tool_call_update", object{"toolCallId": "call_2", "status": status, "content": output("answer: " + option)})
	if form == "hold" {
		return
	}
	at(parent, "session_message", object{
		"messageId": "from-" + child, "senderSessionId": child, "recipientSessionId": parent,
		"content": []object{text("There are three callers.")},
	})
	at(parent, "subagent_update", object{"sessionId": child, "state": object{"state": "idle", "stopReason": "end_turn"}})
	t.say("The child session is done.")
}
