package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"fyllocode.dev/fyllo"
)

// plan is the content of a Session. Message i depends on the plan and on i alone.
//
// Questions are the messages with even numbers. Question i begins "Question i:", the last text of answer i ends with
// "End of answer i.". Every hundredth question holds the word needle-i, which stands nowhere else.
type plan struct {
	messages                      int
	seed                          uint64
	tools, diff, output, markdown int           // what the last answer also has; 0 for none
	begin                         time.Duration // after begin
}

// begin is when every such Session began.
var begin = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// at is when message i was written: an answer takes half a minute, the next question comes ten minutes later.
func (p plan) at(i int) time.Time {
	return begin.Add(p.begin + time.Duration(i/2)*10*time.Minute + time.Duration(i%2)*time.Second)
}

// message returns message i in full form.
func (p plan) message(i int) fyllo.Message {
	rng := rand.New(rand.NewPCG(p.seed, uint64(i))) //nolint:gosec // the same texts each time are the point
	m := fyllo.Message{ID: fmt.Sprintf("msg-%06d", i), Role: fyllo.RoleUser, CreatedAt: p.at(i), UpdatedAt: p.at(i)}
	if i%2 == 0 {
		m.Parts = p.question(i, rng)
	} else {
		m.Role = fyllo.RoleAssistant
		m.UpdatedAt = m.CreatedAt.Add(30 * time.Second)
		m.End = &fyllo.TurnEnd{StopReason: "end_turn", At: m.UpdatedAt}
		m.Parts = p.answer(i, rng)
	}
	for k := range m.Parts {
		m.Parts[k].ID = fmt.Sprintf("%s.%d", m.ID, k)
	}
	return m
}

func (p plan) question(i int, rng *rand.Rand) []fyllo.Part {
	text := fmt.Sprintf("Question %d: %s", i, sentences(rng, 1+rng.IntN(3)))
	if i%200 == 0 {
		text += fmt.Sprintf(" Look for needle-%d.", i)
	}
	if rng.IntN(12) == 0 {
		text += "\n\n```\n" + goCode(rng, 12) + "```"
	}
	return []fyllo.Part{{Type: fyllo.PartText, Text: text}}
}

// answer is what Agents do: think, call tools, speak, change files, and say what they did.
func (p plan) answer(i int, rng *rand.Rand) []fyllo.Part {
	var parts []fyllo.Part
	if rng.IntN(3) > 0 {
		parts = append(parts, fyllo.Part{Type: fyllo.PartReasoning, Text: sentences(rng, 3+rng.IntN(6))})
	}
	for range rng.IntN(5) {
		parts = append(parts, tool(readOrRun(i, len(parts), rng)))
	}
	if rng.IntN(2) == 0 {
		parts = append(parts, fyllo.Part{Type: fyllo.PartText, Text: sentences(rng, 2)})
		for range rng.IntN(3) {
			parts = append(parts, tool(edit(i, len(parts), 10+rng.IntN(60), rng)))
		}
	}
	if i == p.messages-1 {
		parts = append(parts, p.extra(i, len(parts), rng)...)
	}
	text := markdown(rng, 300+rng.IntN(1500)) + fmt.Sprintf("\nEnd of answer %d.", i)
	return append(parts, fyllo.Part{Type: fyllo.PartText, Text: text})
}

// extra is what the last answer holds besides.
func (p plan) extra(i, from int, rng *rand.Rand) []fyllo.Part {
	var parts []fyllo.Part
	for range p.tools {
		parts = append(parts, tool(readOrRun(i, from+len(parts), rng)))
	}
	if p.diff > 0 {
		parts = append(parts, tool(edit(i, from+len(parts), p.diff, rng)))
	}
	if p.output > 0 {
		t := call(i, from+len(parts), fyllo.KindExecute, "make everything")
		t.Output = whole(lines(rng, p.output))
		parts = append(parts, tool(t))
	}
	if p.markdown > 0 {
		parts = append(parts, fyllo.Part{Type: fyllo.PartText, Text: markdown(rng, p.markdown)})
	}
	return parts
}

func tool(t fyllo.Tool) fyllo.Part { return fyllo.Part{Type: fyllo.PartTool, Tool: &t} }

func whole(text string) *fyllo.Body { return &fyllo.Body{Text: text, Size: len(text)} }

func call(i, n int, kind fyllo.ToolKind, title string) fyllo.Tool {
	return fyllo.Tool{CallID: fmt.Sprintf("call-%d-%d", i, n), Kind: kind, Title: title, Status: fyllo.ToolCompleted}
}

func readOrRun(i, n int, rng *rand.Rand) fyllo.Tool {
	name := path(rng)
	switch rng.IntN(4) {
	case 0:
		t := call(i, n, fyllo.KindExecute, "go test ./"+name)
		t.Input = &fyllo.Body{Text: fmt.Sprintf("{\n  \"command\": \"go test ./%s\"\n}", name), JSON: true}
		if rng.IntN(5) == 0 {
			t.Status, t.Error = fyllo.ToolFailed, whole(lines(rng, 5+rng.IntN(40)))
		} else {
			t.Output = whole(lines(rng, 5+rng.IntN(200)))
		}
		return t
	case 1:
		t := call(i, n, fyllo.KindSearch, "Search for "+word(rng))
		t.Output = whole(lines(rng, 1+rng.IntN(20)))
		return t
	default:
		t := call(i, n, fyllo.KindRead, "Read "+name)
		t.Input = &fyllo.Body{Text: fmt.Sprintf("{\n  \"path\": \"/project/%s\"\n}", name), JSON: true}
		t.Output = whole(goCode(rng, 20+rng.IntN(150)))
		t.Locations = []fyllo.Location{{Path: "/project/" + name, Line: 1}}
		return t
	}
}

// edit changes about every tenth of n lines of a file.
func edit(i, n, count int, rng *rand.Rand) fyllo.Tool {
	name := "/project/" + path(rng)
	was := strings.SplitAfter(goCode(rng, count), "\n")
	now := make([]string, 0, len(was))
	for _, line := range was {
		switch rng.IntN(20) {
		case 0: // removed
		case 1:
			now = append(now, "\t// "+sentence(rng)+"\n", line)
		default:
			now = append(now, line)
		}
	}
	t := call(i, n, fyllo.KindEdit, "Edit "+name)
	t.Diffs = []fyllo.Diff{{Path: name, Old: whole(strings.Join(was, "")), New: whole(strings.Join(now, ""))}}
	t.Locations = []fyllo.Location{{Path: name, Line: 1}}
	return t
}
