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
	if p.Attachment != nil && q.Field == "attachment" {
		return p.Attachment.Data
	}
	t := p.Tool
	if t == nil {
		return nil
	}
	switch q.Field {
	case "input":
		return t.Input
	case "output":
		return t.Output
	case "error":
		return t.Error
	}
	if q.Index < 0 || q.Index >= len(t.Diffs) {
		return nil
	}
	if q.Field == "old" {
		return t.Diffs[q.Index].Old
	}
	return t.Diffs[q.Index].New
}
