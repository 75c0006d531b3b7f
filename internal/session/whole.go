package session

import (
	"context"
	"slices"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/transcript"
)

// wholePage is how many messages Whole has in memory at a time, in light form.
const wholePage = 200

// unreadable stands where the rest of a text could not be read.
const unreadable = "\n[The rest of this text could not be read.]"

// Whole calls message for every message of a Session in order, without what is hidden and with whole texts, the answer
// that is being written last; before the first it calls begin. What files attachments hold is left out. The error of a
// call ends it and is returned. Messages that come meanwhile are not part of it.
func (m *Manager) Whole(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, begin func(fyllo.SessionSummary) error, message func(fyllo.Message) error) error {
	d, err := m.Detail(ctx, w, s)
	if err != nil {
		return err
	}
	newest, older, err := m.pages(ctx, w, s)
	if err != nil {
		return err
	}
	if err := begin(d.SessionSummary); err != nil {
		return err
	}
	each := func(messages []fyllo.Message) error {
		for _, msg := range messages {
			if err := ctx.Err(); err != nil {
				return err
			}
			if d.Live != nil && msg.ID == d.Live.ID {
				d.Live = nil // stored since
			}
			if err := message(m.whole(ctx, w, s, msg)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, before := range slices.Backward(older) {
		page, err := m.Store.Messages(w, s, before, wholePage)
		if err != nil {
			return err
		}
		if err := each(page.Messages); err != nil {
			return err
		}
	}
	if err := each(newest); err != nil {
		return err
	}
	if d.Live != nil {
		return each([]fyllo.Message{*d.Live})
	}
	return nil
}

// pages returns the newest page and the cursors of the others, newest first: they are read in the other direction.
func (m *Manager) pages(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) (newest []fyllo.Message, older []string, err error) {
	for before := ""; ; {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		page, err := m.Store.Messages(w, s, before, wholePage)
		if err != nil {
			return nil, nil, err
		}
		if before == "" {
			newest = page.Messages
		}
		if before = page.Before; before == "" {
			return newest, older, nil
		}
		older = append(older, before)
	}
}

// whole returns a message as people see it, with whole texts.
func (m *Manager) whole(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, msg fyllo.Message) fyllo.Message {
	msg.Parts = slices.Clone(visibleParts(msg))
	msg = transcript.Mended(msg)
	for i, p := range msg.Parts {
		if inMemory(&p) {
			if found, err := m.Part(ctx, w, s, p.ID); err == nil {
				p = found
			}
		}
		p = p.Detached()
		for a := range p.Attachments {
			a.Data = nil
		}
		for place := range p.Bodies {
			*place = m.wholeBody(w, s, *place)
		}
		msg.Parts[i] = p
	}
	return msg
}

// inMemory reports whether a body of the part was not stored yet when the part was taken.
func inMemory(p *fyllo.Part) bool {
	for b := range p.Bodies {
		if *b != nil && (*b).Ref != nil && (*b).Ref.Length == 0 {
			return true
		}
	}
	return false
}

// wholeBody reads a text that is a preview.
func (m *Manager) wholeBody(w fyllo.WorkspaceID, s fyllo.SessionID, b *fyllo.Body) *fyllo.Body {
	if b == nil || b.Ref == nil {
		return b
	}
	text, err := m.Store.Body(w, s, *b.Ref)
	if err != nil || b.Ref.Length == 0 {
		return &fyllo.Body{Text: b.Text + unreadable, JSON: b.JSON, Size: b.Size}
	}
	return &fyllo.Body{Text: string(text), JSON: b.JSON, Size: b.Size}
}
