package transcript

import "fyllocode.dev/fyllo"

// BodyOf returns the body that a query names, nil if the part has none.
func BodyOf(p *fyllo.Part, q fyllo.BodyQuery) *fyllo.Body {
	switch {
	case q.Field == "attachment" && p.Attachment != nil:
		return p.Attachment.Data
	case q.Field == "text" && p.Tool == nil && p.Attachment == nil:
		return textBody(p.Text)
	case p.Tool == nil:
		return nil
	}
	t := p.Tool
	switch q.Field {
	case "input":
		return t.Input
	case "output":
		return t.Output
	case "error":
		return t.Error
	case "prompt":
		if t.Subagent != nil {
			return t.Subagent.Prompt
		}
	case "media":
		if q.Index >= 0 && q.Index < len(t.Media) {
			return t.Media[q.Index].Data
		}
	case "old":
		if q.Index >= 0 && q.Index < len(t.Diffs) {
			return t.Diffs[q.Index].Old
		}
	case "new":
		if q.Index >= 0 && q.Index < len(t.Diffs) {
			return t.Diffs[q.Index].New
		}
	}
	return nil
}
