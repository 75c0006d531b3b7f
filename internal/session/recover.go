package session

import (
	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/transcript"
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
	live, end := m.replay(header, records)
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

// replay folds the records of a turn. A turn without an end was interrupted when its last record was written.
func (m *Manager) replay(h fyllo.TurnHeader, records []fyllo.TurnRecord) (*transcript.Live, fyllo.TurnEnd) {
	live := transcript.New(h.MessageID, h.Cwd, h.StartedAt)
	live.Of(h.ACPSessionID)
	last := h.StartedAt
	var end *fyllo.TurnEnd
	for _, r := range records {
		last = r.At
		switch {
		case r.End != nil:
			end = r.End
			live.End(*end)
		case r.Answer != nil:
			live.Answered(r.Answer.ToolCallID, *r.Answer, r.At)
		default:
			m.replayLine(live, r)
		}
	}
	if end == nil {
		end = interrupted(last)
		live.End(*end)
	}
	return live, *end
}

func (m *Manager) replayLine(live *transcript.Live, r fyllo.TurnRecord) {
	if u, ok := m.Decoder.DecodeLine(r.Line); ok {
		live.Apply(&u, r.At)
		return
	}
	if ask, ok := m.Decoder.DecodePermission(r.Line); ok {
		live.Ask(&ask, r.At)
	}
}
