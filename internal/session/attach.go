package session

import (
	"context"
	"io"
	"io/fs"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/attachments"
	"fyllocode.dev/fyllo/internal/session/internal/queue"
	"fyllocode.dev/fyllo/internal/session/internal/warm"
)

// create makes a Session of its first message and the files that come with it, or leaves nothing (R-CHAT-053, 054).
func (m *Manager) create(w fyllo.WorkspaceID, meta fyllo.SessionMeta, r *fyllo.StartRequest) (fyllo.Message, error) {
	first := userMessage(r.RequestID, r.Text)
	files, err := attachments.Intake(r.Attachments, r.NextFile, func(a fyllo.Attachment, from io.Reader) (fyllo.Attachment, error) {
		return m.Store.PutAttachment(w, meta.SessionID, a, from)
	})
	if err != nil {
		m.Store.AbandonSession(w, meta.SessionID)
		return fyllo.Message{}, err
	}
	first.Parts = append(first.Parts, attachments.Parts(first.ID, len(first.Parts), files)...)
	return m.Store.CreateSession(w, meta, first)
}

// DropAttachment removes a file that waits to be sent, and not with a queued message. It comes before or behind a prompt, never between finding the
// prompt's files and storing its message.
func (m *Manager) DropAttachment(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, handle string) error {
	_, err := ask(ctx, m, w, s, func(a *actor) (struct{}, error) {
		kept, err := m.Store.KeptAttachments(w, s)
		if err == nil && a.queue.Holds(handle) {
			err = queue.ErrFile()
		}
		if err == nil {
			_, err = attachments.Resolve([]string{handle}, kept)
		}
		if err == nil {
			err = m.Store.DropAttachments(w, s, []string{handle}, false)
		}
		return struct{}{}, err
	})
	return err
}

// attached finds the files of a prompt and refuses what the Agent cannot take, as far as that is known.
func (a *actor) attached(r *fyllo.PromptRequest) (files []fyllo.Attachment, err error) {
	if r.AttachmentsOf != "" {
		earlier, err := a.m.Store.Message(a.w, a.sid, r.AttachmentsOf)
		if err != nil {
			return nil, err
		}
		files = attachments.Of(earlier)
	}
	if len(r.Attachments) > 0 {
		kept, err := a.m.Store.KeptAttachments(a.w, a.sid)
		if err != nil {
			return nil, err
		}
		named, err := attachments.Resolve(r.Attachments, kept)
		if err != nil {
			return nil, err
		}
		files = append(files, named...)
	}
	agent, _ := a.m.Agents.Describe(a.meta.AgentID)
	if agent.Capabilities.Image == fyllo.Unknown {
		return files, nil // the dispatch asks the Agent itself
	}
	return files, attachments.CheckStored(agent.Capabilities, files)
}

// blocks makes what goes behind the text of a message, for the Agent that the activation has found: links to the files that
// the text mentions, if the Agent takes context, and the files of the message. It does not run on the actor's goroutine.
func (a *actor) blocks(ctx context.Context, m fyllo.Message, scope *fyllo.Scope, to *warm.Link) (blocks []fyllo.PromptBlock, err error) {
	can := to.Agent.Info().Capabilities
	if can.EmbeddedContext == fyllo.Supported && scope != nil {
		for _, p := range m.Parts {
			if p.Type == fyllo.PartText {
				blocks = append(blocks, a.m.Mentions.Mentioned(ctx, scope.Folders, p.Text)...)
			}
		}
	}
	files, err := attachments.Blocks(m, can, func(name string) (fs.File, error) {
		return a.m.Store.Attachment(a.w, a.sid, name)
	})
	return append(blocks, files...), err
}
