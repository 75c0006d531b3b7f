package session

import (
	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/turns"
)

// recover replays the turn that a crash left and stores its answer (R-CHAT-149). Recovery is replay: the lines of
// the Agent go through the same decoder and the same fold as when they came.
func (m *Manager) recover(w fyllo.WorkspaceID, meta fyllo.SessionMeta) (fyllo.SessionMeta, error) {
	header, records, err := m.Store.ReadTurn(w, meta.SessionID)
	if err != nil {
		return meta, err
	}
	page, err := m.Store.Messages(w, meta.SessionID, "", 4)
	if err != nil {
		return meta, err
	}
	live, end := turns.Replay(m.Decoder, header, records)
	for i := range page.Messages {
		stored := &page.Messages[i]
		switch {
		case stored.ID == header.MessageID:
			return meta, m.Store.DropTurn(w, meta.SessionID) // only the removal was missing
		case stored.ID == header.UserMessageID && live.Empty() && stored.End == nil:
			stored.End = &end
			stored.Rev++
			if _, err := m.Store.AppendMessage(w, meta.SessionID, *stored); err != nil {
				return meta, err
			}
		}
	}
	if !live.Empty() {
		answer := live.Message()
		answer.Model, answer.Effort = header.Model, header.Effort
		if _, err := m.Store.AppendMessage(w, meta.SessionID, answer); err != nil {
			return meta, err
		}
	}
	changed, err := m.Store.UpdateMeta(w, meta.SessionID, func(s *fyllo.SessionMeta) {
		if end.At.After(s.UpdatedAt) {
			s.UpdatedAt = end.At
		}
	})
	if err != nil {
		return meta, err
	}
	return changed, m.Store.DropTurn(w, meta.SessionID)
}
