package transcript

import "fyllocode.dev/fyllo"

// FindBody finds the body that a query names among messages, nil if there is none.
func FindBody(messages []fyllo.Message, q fyllo.BodyQuery) *fyllo.Body {
	owner := fyllo.MessageOfPart(q.PartID)
	for i := range messages {
		if messages[i].ID != owner {
			continue
		}
		for j := range messages[i].Parts {
			if messages[i].Parts[j].ID == q.PartID {
				return BodyOf(&messages[i].Parts[j], q)
			}
		}
	}
	return nil
}

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
