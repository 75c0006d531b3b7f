package main

import (
	"fmt"
	"io"
	"strings"

	"fyllocode.dev/fyllo"
)

// printer writes the lines of a turn; the error is that of the stream it writes to.
type printer interface {
	print(line any) error
}

// jsonPrinter writes one JSON object per line (R-CLI-007).
type jsonPrinter struct{ app *app }

func (p jsonPrinter) print(line any) error { return p.app.printJSON(line) }

// noPrinter is for a turn that nobody listens to any more.
type noPrinter struct{}

func (noPrinter) print(any) error { return nil }

// plainPrinter writes the assistant's text as it streams, and one line per activity on stderr (R-CLI-006).
type plainPrinter struct {
	app      *app
	safe     bool // stdout is a terminal: the Agent's control characters stay away from it
	shared   bool // stdout and stderr are one terminal, so that lines must not run into each other
	dim      bool
	part     string // the text Part being written, "" before the first
	open     bool   // the last text written did not end its line
	said     map[string]string
	thinking string // the reasoning Part that was announced
}

func newPlainPrinter(a *app) *plainPrinter {
	term := isTerminal(a.stdout)
	return &plainPrinter{
		app: a, safe: term, shared: term && isTerminal(a.stderr), dim: a.colour(a.stderr), said: map[string]string{},
	}
}

func (p *plainPrinter) print(line any) error {
	switch l := line.(type) {
	case textLine:
		return p.text(l)
	case toolLine:
		p.once(l.CallID, toolActivity(l.toolFields))
	case planLine:
		p.activity(planActivity(l.Entries))
	case permissionLine:
		p.activity("permission: " + l.Title + ": " + outcomeText(l))
	case turnEndLine:
		return p.turnEnd(l)
	}
	return nil
}

func (p *plainPrinter) text(l textLine) error {
	if l.Type == string(fyllo.PartReasoning) {
		if p.thinking != l.PartID {
			p.thinking = l.PartID
			p.activity("thinking")
		}
		return nil
	}
	text := l.Text
	if p.safe {
		text = printable(text)
	}
	if p.part != "" && p.part != l.PartID {
		// Parts are Markdown of their own: a tool call stood between them.
		gap := "\n"
		if p.open {
			gap = "\n\n"
		}
		text = gap + text
	}
	p.part = l.PartID
	p.open = !strings.HasSuffix(text, "\n")
	_, err := io.WriteString(p.app.stdout, text)
	return err
}

func (p *plainPrinter) turnEnd(l turnEndLine) error {
	var err error
	if p.open {
		p.open = false
		_, err = io.WriteString(p.app.stdout, "\n")
	}
	if l.StopReason != "" && l.StopReason != "end_turn" {
		p.activity("ended: " + l.StopReason)
	}
	return err
}

// once writes an activity when it says something new about the thing it is about.
func (p *plainPrinter) once(about, text string) {
	if p.said[about] != text {
		p.said[about] = text
		p.activity(text)
	}
}

func (p *plainPrinter) activity(text string) {
	if p.shared && p.open {
		fmt.Fprintln(p.app.stderr)
		p.open = false
	}
	text = oneLine(text)
	if p.dim {
		text = "\x1b[2m" + text + "\x1b[0m"
	}
	fmt.Fprintln(p.app.stderr, text)
}

func toolActivity(t toolFields) string {
	status := strings.ReplaceAll(string(t.Status), "_", " ")
	if t.Interrupted {
		status = "interrupted"
	}
	text := fmt.Sprintf("%s: %s: %s", t.Kind, t.Title, status)
	if first, _, _ := strings.Cut(t.Error, "\n"); first != "" {
		text += ": " + first
	}
	return text
}

func planActivity(entries []fyllo.PlanEntry) string {
	done, now := 0, ""
	for _, e := range entries {
		switch {
		case e.Status == "completed":
			done++
		case e.Status == "in_progress" && now == "":
			now = ": " + e.Content
		}
	}
	return fmt.Sprintf("plan: %d of %d done%s", done, len(entries), now)
}

// outcomeText says how a permission request was answered, in the words of the option taken.
func outcomeText(l permissionLine) string {
	for _, o := range l.Options {
		if l.Outcome.OptionID != "" && o.OptionID == l.Outcome.OptionID {
			return o.Name
		}
	}
	return l.Outcome.Outcome
}
