package tour

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"fyllocode.dev/fyllo/internal/jsonrpc"
)

const (
	wordPause = 22 * time.Millisecond // between two words at a calm pace
	stepPause = 400 * time.Millisecond
	window    = 32_000 // tokens of context that the usage is reported against
	perToken  = 4      // characters taken for one token
)

// turn is one prompt being answered. Only its goroutine uses it.
type turn struct {
	a      *agent
	s      *session
	ctx    context.Context //nolint:containedctx // the life of the turn, whose goroutine owns it
	files  project
	lang   string // en or zh, as the user wrote
	prompt string
	told   notice // of delegated work that ended
	spoke  bool   // the last thing in the transcript is text
}

// start runs a turn; a.mu is held.
func (a *agent) start(r *jsonrpc.Request, s *session, prompt string, told notice) {
	ctx, stop := context.WithCancel(a.ctx)
	s.stop = stop
	s.used += utf8.RuneCountInString(prompt)
	if strings.TrimSpace(prompt) != "" { // else nobody wrote
		s.lang = language(prompt)
	}
	t := &turn{a: a, s: s, ctx: ctx, lang: s.lang, prompt: prompt, told: told}
	// Ends with the script, or soon after ctx; Run waits for it.
	a.turns.Go(func() {
		defer stop()
		t.run(r)
	})
}

// run plays the script and answers the prompt.
func (t *turn) run(r *jsonrpc.Request) {
	files, err := openProject(t.s.cwd)
	if err == nil {
		defer files.close()
		t.files = files
		t.play()
	}
	t.a.mu.Lock()
	t.s.stop = nil
	t.a.mu.Unlock()
	switch {
	case t.ctx.Err() != nil:
		r.Reply(object{"stopReason": "cancelled"})
	case err != nil:
		r.Fail(jsonrpc.CodeInternal, "the Project's directory cannot be opened")
	default:
		r.Reply(object{"stopReason": "end_turn"})
	}
}

// over reports whether the turn was cancelled; nothing may be sent or done after that.
func (t *turn) over() bool { return t.ctx.Err() != nil }

// update sends a session/update unless the turn is over.
func (t *turn) update(u object) {
	if !t.over() {
		t.a.update(t.s.id, u)
	}
}

// pause waits, shorter at a brisk pace, and no longer than the turn.
func (t *turn) pause(d time.Duration) {
	t.a.mu.Lock()
	quick := t.a.hurry || t.s.brisk
	t.a.mu.Unlock()
	if quick {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.ctx.Done():
	}
}

// say streams a text word by word, as a paragraph of its own.
func (t *turn) say(text string) {
	text = strings.TrimSpace(text)
	if t.spoke {
		text = "\n\n" + text
	}
	t.spoke = true
	t.stream("agent_message_chunk", text)
}

// think streams a thought, unless thoughts are switched off.
func (t *turn) think(text string) {
	t.a.mu.Lock()
	show := t.s.thinking
	t.a.mu.Unlock()
	if show {
		t.spoke = false
		t.stream("agent_thought_chunk", strings.TrimSpace(text))
		t.pause(stepPause)
	}
}

func (t *turn) stream(kind, text string) {
	for _, word := range words(text) {
		if t.over() {
			return
		}
		t.update(object{"sessionUpdate": kind, "content": object{"type": "text", "text": word}})
		t.a.mu.Lock()
		t.s.used += utf8.RuneCountInString(word)
		t.a.mu.Unlock()
		t.pause(wordPause)
	}
}

// usage reports the context as filled by everything said so far.
func (t *turn) usage() {
	t.a.mu.Lock()
	used := min(t.s.used/perToken, window)
	t.a.mu.Unlock()
	t.update(object{"sessionUpdate": "usage_update", "used": used, "size": window})
}

// plan sends the steps; those before current are done, and current is under way.
func (t *turn) plan(current int) {
	entries := []object{}
	steps := planSteps[t.lang]
	if t.s.spawn != nil {
		steps = slices.Insert(slices.Clone(steps), delegateStep, delegatePlan[t.lang])
	}
	for i, content := range steps {
		status := "pending"
		switch {
		case i < current:
			status = "completed"
		case i == current:
			status = "in_progress"
		}
		entries = append(entries, object{"content": content, "priority": "medium", "status": status})
	}
	t.update(object{"sessionUpdate": "plan", "entries": entries})
}

// callID names a new tool call.
func (t *turn) callID() string {
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.s.calls++
	return "tour_" + strconv.Itoa(t.s.calls)
}

// allowed asks the user for permission and waits for the answer, or for the end of the turn. When the client
// withdraws the question, the turn is over.
func (t *turn) allowed(call object) bool {
	type outcome struct {
		Outcome struct {
			Outcome  string `json:"outcome"`
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	}
	answers := make(chan outcome, 1)
	names := permissionNames[t.lang]
	_, err := t.a.conn.Go("session/request_permission", object{
		"sessionId": t.s.id, "toolCall": call,
		"options": []object{
			{"optionId": "allow", "name": names[0], "kind": "allow_once"},
			{"optionId": "reject", "name": names[1], "kind": "reject_once"},
		},
	}, func(result json.RawMessage, err error) {
		var o outcome
		if err != nil || json.Unmarshal(result, &o) != nil {
			o = outcome{} // no answer that can be read: not allowed
		}
		answers <- o
	})
	if err != nil {
		return false
	}
	select {
	case o := <-answers:
		if o.Outcome.Outcome == "cancelled" {
			t.a.mu.Lock()
			if t.s.stop != nil {
				t.s.stop()
			}
			t.a.mu.Unlock()
		}
		return o.Outcome.Outcome == "selected" && o.Outcome.OptionID == "allow" && !t.over()
	case <-t.ctx.Done():
		return false
	}
}

// words cuts a text into chunks of a word and the space behind it; scripts without spaces go two characters at a
// time.
func words(text string) []string {
	var out []string
	from, wide := 0, 0
	for i, r := range text {
		end := i + utf8.RuneLen(r)
		next, _ := utf8.DecodeRuneInString(text[end:])
		if unicode.Is(unicode.Han, r) {
			wide++
		}
		if wide == 2 || unicode.IsSpace(r) && !unicode.IsSpace(next) {
			out, from, wide = append(out, text[from:end]), end, 0
		}
	}
	if from < len(text) {
		out = append(out, text[from:])
	}
	return out
}

// language is zh when the user writes Chinese.
func language(prompt string) string {
	if strings.ContainsFunc(prompt, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return "zh"
	}
	return "en"
}
