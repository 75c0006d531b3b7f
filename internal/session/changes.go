package session

import (
	"context"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/filechanges"
	"fyllocode.dev/fyllo/internal/session/internal/changes"
)

// Changes returns the net file changes of one answer, live or stored (R-CHAT-097); NOT_FOUND when the Session has no
// such message.
func (m *Manager) Changes(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, message string) (fyllo.FileChanges, error) {
	snapshot, err := m.changesOf(ctx, w, s, message)
	if err != nil {
		return fyllo.FileChanges{}, err
	}
	return snapshot.List(), nil
}

// FileText returns the net change of one file in one answer with its texts; NOT_FOUND when there is none.
func (m *Manager) FileText(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, message, path string) (fyllo.FileText, error) {
	snapshot, err := m.changesOf(ctx, w, s, message)
	if err != nil {
		return fyllo.FileText{}, err
	}
	return snapshot.File(path)
}

// changesOf looks at the answer that is not stored yet, else at the stored one. The folding is done by the caller, so
// that it does not hold up the actor.
func (m *Manager) changesOf(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, message string) (*changes.Snapshot, error) {
	live, err := ask(ctx, m, w, s, func(a *actor) (*changes.Snapshot, error) { return a.liveChanges(message), nil })
	if live != nil || err != nil {
		return live, err
	}
	stored, err := m.Store.Message(w, s, message)
	if err != nil {
		return nil, err
	}
	body := func(ref fyllo.BodyRef) ([]byte, error) { return m.Store.Body(w, s, ref) }
	return &changes.Snapshot{MessageID: message, Parts: stored.Parts, Body: body}, nil
}

// liveChanges returns the calls that count of the answer that is not stored yet; its texts are whole and never change.
func (a *actor) liveChanges(message string) *changes.Snapshot {
	for _, t := range []*turn{a.turn, a.late} {
		if t == nil || t.live.ID() != message || t.live.Empty() {
			continue
		}
		out := &changes.Snapshot{MessageID: message, Streaming: t == a.turn}
		for i := range t.live.Len() {
			if t.live.PartType(i) != fyllo.PartTool {
				continue
			}
			if p := t.live.Part(i); filechanges.Counts(&p, out.Streaming) {
				out.Parts = append(out.Parts, p)
			}
		}
		return out
	}
	return nil
}
