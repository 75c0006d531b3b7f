package transcript

import (
	"slices"
	"strings"

	"fyllocode.dev/fyllo"
)

// Light returns p with every long body cut to a preview of at most fyllo.BodyPreview bytes, whose Ref is the zero
// BodyRef. Bodies that have a Ref stay as they are. p itself is not changed.
func Light(p fyllo.Part) fyllo.Part {
	long := false
	for b := range p.Bodies {
		long = long || isLong(*b)
	}
	if !long {
		return p
	}
	p = p.Detached()
	for b := range p.Bodies {
		*b = preview(*b)
	}
	return p
}

// LightMessage returns m with the light form of every part. m itself is not changed.
func LightMessage(m fyllo.Message) fyllo.Message {
	parts := make([]fyllo.Part, len(m.Parts))
	for i, p := range m.Parts {
		parts[i] = Light(p)
	}
	m.Parts = parts
	return m
}

// VisibleText returns what a reader sees of m as text: its text parts, a blank line between two. Reminders,
// reasoning, tools, attachments and the words of subagents are no part of it (R-CHAT-110, 157).
func VisibleText(m fyllo.Message) string {
	var texts []string
	for _, p := range m.Parts {
		if p.Type == fyllo.PartText && p.ParentID == "" && strings.TrimSpace(p.Text) != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

func isLong(b *fyllo.Body) bool {
	return b != nil && b.Ref == nil && len(b.Text) > fyllo.BodyPreview
}

// preview returns b, or a cut copy of it if it is long.
func preview(b *fyllo.Body) *fyllo.Body {
	if !isLong(b) {
		return b
	}
	// The preview outlives the whole text, so it must not keep it in memory.
	return &fyllo.Body{Text: strings.Clone(fyllo.Preview(b.Text)), JSON: b.JSON, Size: b.Size, Ref: &fyllo.BodyRef{}}
}

// textBody returns a body of text, which is valid UTF-8 and may be empty.
func textBody(text string) *fyllo.Body {
	return &fyllo.Body{Text: text, Size: len(text)}
}

// optional returns a body, nil for an empty text.
func optional(text string, isJSON bool) *fyllo.Body {
	if text == "" {
		return nil
	}
	b := textBody(text)
	b.JSON = isJSON
	return b
}

// setBody replaces *dst unless it already says the same, so that its identity tells whether it changed.
func setBody(dst **fyllo.Body, b *fyllo.Body) {
	if !sameBody(*dst, b) {
		*dst = b
	}
}

func sameBody(a, b *fyllo.Body) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.JSON == b.JSON && a.Text == b.Text
}

// Mended returns m with a status for the calls of old records that have none: with an output they are completed, any
// other is unfinished, and nothing is guessed (R-CHAT-094). m itself is not changed.
func Mended(m fyllo.Message) fyllo.Message {
	old := func(p fyllo.Part) bool { return p.Tool != nil && p.Tool.Status == "" }
	if !slices.ContainsFunc(m.Parts, old) {
		return m
	}
	m.Parts = slices.Clone(m.Parts)
	for i, p := range m.Parts {
		if !old(p) {
			continue
		}
		t := *p.Tool
		t.Status, t.Interrupted = fyllo.ToolPending, true
		if t.Output != nil {
			t.Status, t.Interrupted = fyllo.ToolCompleted, false
		}
		m.Parts[i].Tool = &t
	}
	return m
}
