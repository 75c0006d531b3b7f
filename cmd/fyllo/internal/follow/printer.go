package follow

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
	"fyllocode.dev/fyllo/internal/export"
)

// Printer writes the lines of a turn; the error is that of the stream it writes to.
type Printer interface {
	Print(line any) error
}

// JSON returns a Printer of one JSON object per line (R-CLI-007).
func JSON(stdout io.Writer) Printer {
	enc := json.NewEncoder(term.JSONWriter(stdout))
	enc.SetEscapeHTML(false)
	return jsonPrinter{enc}
}

type jsonPrinter struct{ enc *json.Encoder }

// Print implements Printer.
func (p jsonPrinter) Print(line any) error { return p.enc.Encode(line) }

// Nothing is the Printer of a turn that nobody listens to any more.
var Nothing Printer = noPrinter{}

type noPrinter struct{}

// Print implements Printer.
func (noPrinter) Print(any) error { return nil }

// plainPrinter writes the assistant's text as it streams, and one line per activity on stderr (R-CLI-006).
type plainPrinter struct {
	stdout   io.Writer
	stderr   io.Writer
	safe     bool   // stdout is a terminal: the Agent's control characters stay away from it
	shared   bool   // stdout and stderr are one terminal, so that lines must not run into each other
	dim      bool   // activity is shown dimmed
	part     string // the text Part being written, "" before the first
	open     bool   // the last text written did not end its line
	said     map[string]string
	thinking string // the reasoning Part that was announced
}

// Plain returns a Printer for people: the assistant's text on stdout, one line per activity on stderr (R-CLI-006).
func Plain(stdout, stderr io.Writer, getenv func(string) string) Printer {
	return &plainPrinter{
		stdout: stdout, stderr: stderr, said: map[string]string{},
		safe: term.Is(stdout), shared: term.Is(stdout) && term.Is(stderr), dim: term.Colour(stderr, getenv),
	}
}

// Print implements Printer.
func (p *plainPrinter) Print(line any) error {
	switch l := line.(type) {
	case TextLine:
		return p.text(l)
	case ToolLine:
		p.once(l.CallID, ToolActivity(l.Tool))
	case PlanLine:
		p.activity(planActivity(l.Entries))
	case PermissionLine:
		p.activity("permission: " + l.Title + ": " + outcomeText(l))
	case SpawnedLine:
		p.activity("spawned: " + string(l.AgentID) + " (" + string(l.SessionID) + "): " + string(l.Status))
	case TurnEndLine:
		return p.turnEnd(l)
	}
	return nil
}

func (p *plainPrinter) text(l TextLine) error {
	if l.Type == string(fyllo.PartReasoning) {
		if p.thinking != l.PartID {
			p.thinking = l.PartID
			p.activity("thinking")
		}
		return nil
	}
	if l.ParentID != "" {
		return nil // a subagent's words are no answer; its call is told
	}
	text := l.Text
	if p.safe {
		text = term.Printable(text)
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
	_, err := io.WriteString(p.stdout, text)
	return err
}

func (p *plainPrinter) turnEnd(l TurnEndLine) error {
	var err error
	if p.open {
		p.open = false
		_, err = io.WriteString(p.stdout, "\n")
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
		fmt.Fprintln(p.stderr)
		p.open = false
	}
	text = term.OneLine(text)
	if p.dim {
		text = "\x1b[2m" + text + "\x1b[0m"
	}
	fmt.Fprintln(p.stderr, text)
}

// ToolActivity says in one line what a tool call does.
func ToolActivity(t export.Tool) string {
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
func outcomeText(l PermissionLine) string {
	for _, o := range l.Options {
		if l.Outcome.OptionID != "" && o.OptionID == l.Outcome.OptionID {
			return o.Name
		}
	}
	return l.Outcome.Outcome
}
