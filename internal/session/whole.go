package session

import (
	"context"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/session/internal/whole"
)

// Whole calls message for every message of a Session in order, without what is hidden and with whole texts, the answer
// that is being written last; before the first it calls begin. What files attachments hold is left out. The error of a
// call ends it and is returned. Messages that come meanwhile are not part of it.
func (m *Manager) Whole(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, begin func(fyllo.SessionSummary) error, message func(fyllo.Message) error) error {
	d, err := m.Detail(ctx, w, s)
	if err != nil {
		return err
	}
	src := whole.Source{
		Messages: func(before string, limit int) (fyllo.MessagePage, error) {
			return m.Store.Messages(w, s, before, limit)
		},
		Body:    func(ref fyllo.BodyRef) ([]byte, error) { return m.Store.Body(w, s, ref) },
		Part:    func(id string) (fyllo.Part, error) { return m.Part(ctx, w, s, id) },
		Visible: visibleParts,
	}
	return src.Read(ctx, d.Live, func() error { return begin(d.SessionSummary) }, message)
}
