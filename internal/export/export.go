// Package export writes a Session with its messages as one file for people or programs (R-CLI-008). It is pure: what it
// writes depends on nothing but what it is given. Memory is that of one message, however many there are; pictures pass
// through.
//
// Everything in a Session is untrusted. The HTML page loads and runs nothing: tags are text, and what stands in it as
// markup was made here. In Markdown the words of users and Agents stay as they were written, since that is what they wrote.
package export

import (
	"io"
	"strings"
	"time"

	"fyllocode.dev/fyllo"
)

// Format is a kind of file.
type Format string

// The formats.
const (
	Markdown Format = "md"
	JSON     Format = "json"
	HTML     Format = "html"
)

// MIME returns the media type of a file of the format.
func (f Format) MIME() string {
	switch f {
	case JSON:
		return "application/json"
	case HTML:
		return "text/html; charset=utf-8"
	default:
		return "text/markdown; charset=utf-8"
	}
}

// Writer writes one Session.
type Writer struct {
	out    io.Writer
	format format
}

// format makes the pieces of a file.
type format interface {
	begin(w io.Writer, s fyllo.SessionSummary) error
	// message gets the parts that people see, at least one.
	message(w io.Writer, m fyllo.Message) error
	end(w io.Writer) error
}

// NewWriter writes the beginning of a file; an unknown format is Markdown. HTML holds the pictures that p opens; with nil
// it only names them.
func NewWriter(out io.Writer, f Format, s fyllo.SessionSummary, p Pictures) (*Writer, error) {
	w := &Writer{out: out}
	switch f {
	case JSON:
		w.format = &jsonFormat{}
	case HTML:
		w.format = &htmlFormat{markdown: newProse(), pictures: p}
	default:
		w.format = markdownFormat{}
	}
	return w, w.format.begin(out, s)
}

// Message writes the next message, whose bodies are whole. What is hidden from people is left out; a message without
// anything else is not written (R-CHAT-157).
func (w *Writer) Message(m fyllo.Message) error {
	var parts []fyllo.Part
	for _, p := range m.Parts {
		if shown(p) {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	m.Parts = parts
	return w.format.message(w.out, m)
}

// Close writes the end of the file. It does not close what is written to.
func (w *Writer) Close() error {
	return w.format.end(w.out)
}

// shown reports whether people see a part: reminders are hidden, and so is what a later version may store.
func shown(p fyllo.Part) bool {
	switch p.Type {
	case fyllo.PartText, fyllo.PartReasoning:
		return true
	case fyllo.PartTool:
		return p.Tool != nil
	case fyllo.PartAttachment:
		return p.Attachment != nil
	default:
		return false
	}
}

func speaker(m fyllo.Message) string {
	if m.Role == fyllo.RoleUser {
		return "User"
	}
	return "Agent"
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// oneLine makes one line of a title.
func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

// clean replaces control characters, which no reader shows, and what reverses the direction of text.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return -1
		case r < ' ', r >= 0x7F && r < 0xA0, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
			return '\uFFFD'
		}
		return r
	}, s)
}

// state says how a call went, "" when it was completed.
func state(t *fyllo.Tool) string {
	switch {
	case t.Interrupted:
		return "interrupted"
	case t.Status == fyllo.ToolFailed:
		return "failed"
	case t.Status == fyllo.ToolCompleted:
		return ""
	default:
		return "not finished"
	}
}

// block is a text of a call with what it is.
type block struct{ name, text string }

// blocks returns the texts of a call in reading order; a diff is a unified one.
func blocks(t *fyllo.Tool) []block {
	var out []block
	add := func(name, text string) {
		if text != "" {
			out = append(out, block{name, clean(text)})
		}
	}
	if t.Subagent != nil {
		add("Prompt", bodyText(t.Subagent.Prompt))
	}
	add("Input", bodyText(t.Input))
	for _, d := range t.Diffs {
		add(oneLine(d.Path)+" ("+changeOf(d)+")", unified(d))
	}
	add("Output", bodyText(t.Output))
	add("Error", bodyText(t.Error))
	return out
}

// mediaBlocks names what a call gave besides texts.
func mediaBlocks(t *fyllo.Tool) []block {
	var out []block
	for _, a := range t.Media {
		out = append(out, block{"Attachment", attachment(&a)})
	}
	return out
}

func bodyText(b *fyllo.Body) string {
	if b == nil {
		return ""
	}
	return b.Text
}

// attachment names an attachment; what it holds is not part of the file.
func attachment(a *fyllo.Attachment) string {
	return oneLine(strings.Join([]string{a.Name, a.MIME, a.URI}, " "))
}

// changeOf says what happened to the file of a diff. The Agent's hint wins where it is clear.
func changeOf(d fyllo.Diff) string {
	switch {
	case d.Kind == "delete" || d.New == nil && d.Old != nil:
		return string(fyllo.FileDeleted)
	case d.Kind == "add" || d.Old == nil && d.Kind == "":
		return string(fyllo.FileAdded)
	}
	return string(fyllo.FileModified)
}
