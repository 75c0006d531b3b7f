package spawn

import (
	"context"
	"slices"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/transcript"
)

// Part returns one part of a message of a spawned Session, NOT_FOUND when there is none. In an answer that is not stored
// yet its bodies are whole.
func (e *Engine) Part(_ context.Context, o fyllo.SpawnOwner, session fyllo.SessionID, id string) (fyllo.Part, error) {
	if _, err := e.Store.Meta(o, session); err != nil {
		return fyllo.Part{}, err
	}
	if live := e.livePart(o, session, id); live != nil {
		return *live, nil
	}
	message, err := e.Store.Message(o, session, fyllo.MessageOfPart(id))
	if err != nil {
		return fyllo.Part{}, err
	}
	i := slices.IndexFunc(message.Parts, func(p fyllo.Part) bool { return p.ID == id })
	if i < 0 {
		return fyllo.Part{}, fyllo.Errorf(fyllo.CodeNotFound, "part %s: its message does not have it", id)
	}
	return message.Parts[i], nil
}

// Body returns the whole of a long text of which a detail holds a preview. Code NOT_FOUND.
func (e *Engine) Body(ctx context.Context, o fyllo.SpawnOwner, session fyllo.SessionID, q fyllo.BodyQuery) (string, error) {
	part, err := e.Part(ctx, o, session, q.PartID)
	if err != nil {
		return "", err
	}
	body := transcript.BodyOf(&part, q)
	switch {
	case body == nil:
		return "", fyllo.Errorf(fyllo.CodeNotFound, "read the text: there is no %s in part %s", q.Field, q.PartID)
	case body.Ref == nil:
		return body.Text, nil
	}
	whole, err := e.Store.Body(o, session, *body.Ref)
	return string(whole), err
}

// livePart finds a part of the answer that is being written.
func (e *Engine) livePart(o fyllo.SpawnOwner, session fyllo.SessionID, id string) (part *fyllo.Part) {
	e.mu.Lock()
	c := e.children[session]
	e.mu.Unlock()
	if c == nil || c.owner != o {
		return nil
	}
	c.do(func() {
		t := c.turn
		if t == nil || t.live.ID() != fyllo.MessageOfPart(id) {
			return
		}
		for i := range t.live.Len() {
			if t.live.PartID(i) == id {
				p := t.live.Part(i)
				part = &p
			}
		}
	})
	return part
}
