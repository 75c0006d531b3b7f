package export

import (
	"fmt"
	"html"
	"io"
	"strings"

	"fyllocode.dev/fyllo"
)

// markdownFormat is Markdown as common viewers read it: calls are folded, their texts are fenced.
type markdownFormat struct{}

func (markdownFormat) begin(w io.Writer, s fyllo.SessionSummary) error {
	_, err := fmt.Fprintf(w, "# %s\n\n%s · %s · %s\n", inline(s.Title), inline(string(s.AgentID)),
		inline(string(s.SessionID)), moment(s.CreatedAt))
	return err
}

func (markdownFormat) message(w io.Writer, m fyllo.Message) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s, %s\n", speaker(m), moment(m.CreatedAt))
	for _, p := range m.Parts {
		switch {
		case p.Type == fyllo.PartTool:
			markdownTool(&b, p.Tool)
		case p.Type == fyllo.PartAttachment:
			fmt.Fprintf(&b, "\nAttachment: %s\n", inline(attachment(p.Attachment)))
		case p.Type == fyllo.PartReasoning:
			fold(&b, "Reasoning", closeFence(p.Text))
		case p.ParentID != "":
			fold(&b, "Subagent", closeFence(p.Text))
		default:
			fmt.Fprintf(&b, "\n%s\n", closeFence(p.Text))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (markdownFormat) end(io.Writer) error { return nil }

func markdownTool(b *strings.Builder, t *fyllo.Tool) {
	var inner strings.Builder
	for _, x := range append(blocks(t), mediaBlocks(t)...) {
		mark := fence(x.text)
		fmt.Fprintf(&inner, "%s:\n\n%s\n%s\n%s\n\n", inline(x.name), mark, strings.TrimSuffix(x.text, "\n"), mark)
	}
	fold(b, summary(t), strings.TrimSuffix(inner.String(), "\n\n"))
}

func fold(b *strings.Builder, title, text string) {
	fmt.Fprintf(b, "\n<details><summary>%s</summary>\n\n%s\n\n</details>\n", html.EscapeString(title), text)
}

// summary is the line that stands for a call.
func summary(t *fyllo.Tool) string {
	text := oneLine(t.Title)
	if text == "" {
		text = string(t.Kind)
	}
	if s := state(t); s != "" {
		text += " (" + s + ")"
	}
	if t.ParentID != "" {
		text = "Subagent: " + text
	}
	return text
}

// inline makes plain text of what is Markdown elsewhere.
func inline(s string) string {
	var b strings.Builder
	for _, r := range oneLine(s) {
		if strings.ContainsRune("\\`*_{}[]<>#|~&!", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// fence returns a fence that text cannot close.
func fence(text string) string {
	longest, run := 2, 0
	for _, r := range text {
		run++
		if r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

// closeFence closes a fence that text leaves open, so that it does not take in what follows.
func closeFence(text string) string {
	text = clean(text)
	open := ""
	for l := range strings.Lines(text) {
		if mark := fenceOf(l); open == "" {
			open = mark
		} else if closes(l, mark, open) {
			open = ""
		}
	}
	if open == "" {
		return text
	}
	return strings.TrimSuffix(text, "\n") + "\n" + open
}

// fenceOf returns the run of marks that begins a fence on line l, "" when it begins none.
func fenceOf(l string) string {
	l = strings.TrimLeft(l, " ")
	for _, c := range []string{"`", "~"} {
		if n := len(l) - len(strings.TrimLeft(l, c)); n >= 3 && (c == "~" || !strings.Contains(l[n:], "`")) {
			return l[:n]
		}
	}
	return ""
}
