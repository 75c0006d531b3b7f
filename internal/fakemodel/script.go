package fakemodel

import (
	"regexp"
	"strconv"
	"strings"
)

type op string

const (
	opSay   op = "say"
	opThink op = "think"
	opSlow  op = "slow"
	opFail  op = "fail"
	opRead  op = "read"
	opWrite op = "write"
	opEdit  op = "edit"
	opRun   op = "run"
	opUse   op = "use"
	opJSON  op = "json" // one chunk, unsplit
)

const (
	defaultSlow = 200
	resultLimit = 500 // bytes of a tool's result that are repeated
	title       = "Fake title"
)

// step is one command of a script.
type step struct {
	op     op
	text   string // what to say; the content to write; the text to put in; JSON arguments of use
	path   string
	old    string // the text that edit replaces
	target string // the shell command; the tool of use
	count  int    // chunks of slow, status of fail
}

func (s step) callsTool() bool {
	switch s.op {
	case opRead, opWrite, opEdit, opRun, opUse:
		return true
	default:
		return false
	}
}

var commands = []struct {
	form *regexp.Regexp
	make func(m []string) step
}{
	{regexp.MustCompile(`^say: (.*)$`), func(m []string) step { return step{op: opSay, text: m[1]} }},
	{regexp.MustCompile(`^think: (.*)$`), func(m []string) step { return step{op: opThink, text: m[1]} }},
	{regexp.MustCompile(`^slow(?: (\d{1,5}))?$`), func(m []string) step {
		return step{op: opSlow, count: number(m[1], defaultSlow)}
	}},
	{regexp.MustCompile(`^read the file (\S+)$`), func(m []string) step { return step{op: opRead, path: m[1]} }},
	{regexp.MustCompile(`^write (\S+?)(?:: (.*))?$`), func(m []string) step {
		text := m[2]
		if text == "" {
			text = "written by the fake model"
		}
		return step{op: opWrite, path: m[1], text: text + "\n"}
	}},
	{regexp.MustCompile(`^edit (\S+?): (.+) => (.*)$`), func(m []string) step {
		return step{op: opEdit, path: m[1], old: m[2], text: m[3]}
	}},
	{regexp.MustCompile(`^run: (.+)$`), func(m []string) step { return step{op: opRun, target: m[1]} }},
	{regexp.MustCompile(`^use (\S+) (\{.*\})$`), func(m []string) step { return step{op: opUse, target: m[1], text: m[2]} }},
	{regexp.MustCompile(`^fail ([45]\d\d)$`), func(m []string) step { return step{op: opFail, count: number(m[1], 500)} }},
}

func number(text string, absent int) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return absent
	}
	return n
}

// parseScript returns the last unbroken run of commands in text. A failed request is often sent again together with
// the next message; what follows the failure in one run is then the script.
func parseScript(text string) []step {
	var run, last []step
	for line := range strings.SplitSeq(text, "\n") {
		s, ok := parseLine(strings.TrimRight(line, "\r \t"))
		if !ok {
			run = nil
			continue
		}
		if len(run) > 0 && run[len(run)-1].op == opFail {
			run = nil
		}
		run = append(run, s)
		last = run
	}
	return last
}

func parseLine(line string) (step, bool) {
	for _, c := range commands {
		if m := c.form.FindStringSubmatch(line); m != nil {
			return c.make(m), true
		}
	}
	return step{}, false
}

var asksForTitle = regexp.MustCompile(`(?i)\b(titles?|summar(y|ize|ise)|topic)\b`)

// next returns what the model does now: at most one tool call, as its last step.
func (r *request) next() []step {
	script, after := r.newestScript()
	if len(r.tools) == 0 {
		if r.answer != nil {
			return []step{{op: opJSON, text: sampleJSON(r.answer)}}
		}
		if len(script) == 0 || asksForTitle.MatchString(r.system) {
			return []step{{op: opSay, text: title}}
		}
	}
	if len(script) == 0 {
		return []step{{op: opSay, text: "ok"}}
	}
	called := 0
	for _, t := range after {
		if t.call != "" {
			called++
		}
	}
	steps := remaining(script, called)
	if called > 0 {
		steps = append([]step{{op: opSay, text: resultText(after)}}, steps...)
	}
	return steps
}

// newestScript finds the newest user turn with commands, and what came after it.
func (r *request) newestScript() ([]step, []turn) {
	for i := len(r.turns) - 1; i >= 0; i-- {
		if r.turns[i].role != user {
			continue
		}
		if s := parseScript(r.turns[i].text); s != nil {
			return s, r.turns[i+1:]
		}
	}
	return nil, nil
}

// remaining skips the steps up to the called-th tool call and stops behind the next one.
func remaining(script []step, called int) []step {
	var steps []step
	for _, s := range script {
		if called > 0 {
			if s.callsTool() {
				called--
			}
			continue
		}
		steps = append(steps, s)
		if s.callsTool() {
			break
		}
	}
	return steps
}

func resultText(after []turn) string {
	text := "(none)"
	for _, t := range after {
		if t.role == result {
			text = t.text
		}
	}
	if len(text) > resultLimit {
		text = strings.ToValidUTF8(text[:resultLimit], "")
	}
	return "Result: " + text + "\n"
}
