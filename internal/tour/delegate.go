package tour

import (
	"encoding/json"
	"strings"
)

const (
	spawnServer  = "fyllo-spawn"
	delegateStep = 3 // its place in the plan
	maxQuote     = 2000
)

// delegatePlan is the step of the plan that only a session has which can delegate.
var delegatePlan = map[string]string{"en": "Hand work to a second Tour", "zh": "把一件事交给另一个导览"}

// notice is what the client tells of delegated work that ended; session is "" when it told nothing.
type notice struct{ session, status, response, code string }

// read takes a notice out of a reminder, if it holds one.
func (n *notice) read(reminder string) {
	var told notice
	known := false
	for line := range strings.Lines(reminder) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "notificationId":
			known = true
		case "sessionId":
			told.session = value
		case "status":
			told.status = value
		case "responseId":
			told.response = value
		case "code":
			told.code = value
		}
	}
	if known {
		*n = told
	}
}

// spawned is what the tools answer, as far as the tour reads it.
type spawned struct {
	Status  string
	Code    string
	Content string
	Error   struct{ Code string }
}

// problem names what went wrong in a word.
func (s *spawned) problem() string {
	for _, word := range []string{s.Error.Code, s.Code, s.Status} {
		if word != "" {
			return word
		}
	}
	return "?"
}

// callSpawn calls a tool of fyllo-spawn as a tool of the turn, and returns its answer.
func (t *turn) callSpawn(tool string, arguments object) (spawned, error) {
	t.pause(stepPause)
	t.spoke = false
	id := t.callID()
	t.update(object{
		"sessionUpdate": "tool_call", "toolCallId": id, "title": spawnServer + ": " + tool, "kind": "other", "status": "in_progress",
		"rawInput": arguments,
	})
	t.pause(stepPause)
	input, err := json.Marshal(arguments)
	text := ""
	if err == nil {
		text, err = t.s.spawn.Call(t.ctx, tool, string(input))
	}
	var s spawned
	if err == nil {
		err = json.Unmarshal([]byte(text), &s)
	}
	status := "completed"
	if err != nil {
		status, text = "failed", err.Error()
	} else if s.Error.Code != "" {
		status = "failed"
	}
	t.update(object{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "content": []object{textContent(text)}})
	return s, err
}

// delegateScene gives a second Tour something to do in the background.
func (t *turn) delegateScene() {
	if t.s.spawn == nil {
		t.say(t.text("alone"))
		return
	}
	t.say(t.text("delegate"))
	s, err := t.callSpawn("prompt_to_agent", object{"agentId": "tour", "prompt": strings.TrimSpace(t.text("task"))})
	switch {
	case err != nil:
		t.say(t.text("notaccepted", "why", err.Error()))
	case s.Status != "accepted":
		t.say(t.text("notaccepted", "why", s.problem()))
	default:
		t.say(t.text("accepted"))
	}
}

// toldScene says what came of the work of the second Tour.
func (t *turn) toldScene() {
	if t.s.spawn == nil || t.told.response == "" {
		why := t.told.code
		if why == "" {
			why = t.told.status
		}
		t.say(t.text("lost", "why", why))
		return
	}
	s, err := t.callSpawn("read_response", object{"sessionId": t.told.session, "responseId": t.told.response, "maxBytes": maxQuote})
	if err != nil || s.Error.Code != "" {
		t.say(t.text("lost", "why", s.problem()))
		return
	}
	t.say(t.text("told", "answer", quote(s.Content)))
}

// quote is a text as a quotation.
func quote(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n> ")
}
