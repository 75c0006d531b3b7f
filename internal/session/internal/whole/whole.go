// Package whole reads a Session from its first message to its last, with whole texts, in bounded memory.
package whole

import (
	"context"
	"slices"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/transcript"
)

// pageSize is how many messages Read has in memory at a time, in light form.
const pageSize = 200

// unreadable stands where the rest of a text could not be read.
const unreadable = "\n[The rest of this text could not be read.]"

// Source is one Session.
type Source struct {
	// Messages returns the page that ends before the cursor, "" meaning the newest.
	Messages func(before string, limit int) (fyllo.MessagePage, error)
	// Body reads a text that is stored apart.
	Body func(ref fyllo.BodyRef) ([]byte, error)
	// Part reads a part whose texts were not stored when it was taken.
	Part func(id string) (fyllo.Part, error)
	// Visible returns the parts of a message that people see.
	Visible func(m fyllo.Message) []fyllo.Part
}

// Read calls message for every stored message in order, without what is hidden and with whole texts, and then for live,
// the answer that is being written, unless that is nil or was stored meanwhile. What files attachments hold is left out.
// begin is called before the first, when reading was possible. The error of a call ends it and is returned.
func (src Source) Read(ctx context.Context, live *fyllo.Message, begin func() error, message func(fyllo.Message) error) error {
	newest, older, err := src.pages(ctx)
	if err != nil {
		return err
	}
	if err := begin(); err != nil {
		return err
	}
	each := func(messages []fyllo.Message) error {
		for _, msg := range messages {
			if err := ctx.Err(); err != nil {
				return err
			}
			if live != nil && msg.ID == live.ID {
				live = nil // stored since
			}
			if msg.Role == fyllo.RoleUser && len(src.Visible(msg)) == 0 {
				continue // Core itself has sent it (R-SPAWN-108)
			}
			if err := message(src.whole(msg)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, before := range slices.Backward(older) {
		page, err := src.Messages(before, pageSize)
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
	if live != nil {
		return each([]fyllo.Message{*live})
	}
	return nil
}

// pages returns the newest page and the cursors of the others, newest first: they are read in the other direction.
func (src Source) pages(ctx context.Context) (newest []fyllo.Message, older []string, err error) {
	for before := ""; ; {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		page, err := src.Messages(before, pageSize)
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
func (src Source) whole(msg fyllo.Message) fyllo.Message {
	msg.Parts = slices.Clone(src.Visible(msg))
	msg = transcript.Mended(msg)
	for i, p := range msg.Parts {
		if inMemory(&p) {
			if found, err := src.Part(p.ID); err == nil {
				p = found
			}
		}
		p = p.Detached()
		for a := range p.Attachments {
			a.Data = nil
		}
		for place := range p.Bodies {
			*place = src.body(*place)
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

// body reads a text that is a preview.
func (src Source) body(b *fyllo.Body) *fyllo.Body {
	if b == nil || b.Ref == nil {
		return b
	}
	text, err := src.Body(*b.Ref)
	if err != nil || b.Ref.Length == 0 {
		return &fyllo.Body{Text: b.Text + unreadable, JSON: b.JSON, Size: b.Size}
	}
	return &fyllo.Body{Text: string(text), JSON: b.JSON, Size: b.Size}
}
