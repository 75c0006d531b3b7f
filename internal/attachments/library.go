package attachments

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"

	"fyllocode.dev/fyllo"
)

// Store keeps the files of Sessions. Implemented by the data root.
type Store interface {
	Meta(w fyllo.WorkspaceID, s fyllo.SessionID) (fyllo.SessionMeta, error)
	// KeepAttachment stores a file that waits to be sent; exactly a.Size bytes must come. fits is asked first with those
	// that wait already, and nothing changes when it fails.
	KeepAttachment(w fyllo.WorkspaceID, s fyllo.SessionID, a fyllo.Attachment, from io.Reader, fits func([]fyllo.KeptAttachment) error) (fyllo.KeptAttachment, error)
	// KeptAttachments are those that wait, in the order in which they were added.
	KeptAttachments(w fyllo.WorkspaceID, s fyllo.SessionID) ([]fyllo.KeptAttachment, error)
	// Queue returns the messages that wait; their files are kept and are theirs.
	Queue(w fyllo.WorkspaceID, s fyllo.SessionID) (fyllo.Queue, error)
}

// Files opens stored files. Implemented by the library of media.
type Files interface {
	File(w fyllo.WorkspaceID, s fyllo.SessionID, name string) (*fyllo.Media, error)
}

// Agents knows what Agents can do.
type Agents interface {
	Describe(id fyllo.AgentID) (fyllo.Agent, bool)
}

// Sessions keeps removing apart from sending.
type Sessions interface {
	// DropAttachment removes a file that was not sent, also from disk; SESSION_ATTACHMENT_NOT_FOUND when there is none.
	DropAttachment(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, handle string) error
}

// Library is the door to the files that wait to be sent. All fields are needed.
type Library struct {
	Store    Store
	Files    Files
	Agents   Agents
	Sessions Sessions
}

// Add stores a file under a Session, where it waits to be sent (R-CHAT-043). The error is ATTACHMENT_REJECTED when its
// Agent cannot take it; an upload that ends early leaves nothing.
func (l *Library) Add(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, n fyllo.NewAttachment, body io.Reader) (fyllo.KeptAttachment, error) {
	meta, err := l.Store.Meta(w, s)
	if err != nil {
		return fyllo.KeptAttachment{}, err
	}
	agent, _ := l.Agents.Describe(meta.AgentID) // one that is gone takes nothing
	queue, err := l.Store.Queue(w, s)
	if err != nil {
		return fyllo.KeptAttachment{}, err
	}
	fits := func(kept []fyllo.KeptAttachment) error {
		var has []Item
		for _, k := range free(kept, queue) {
			has = append(has, Item{Name: k.Name, MIME: k.MIME, Size: k.Size})
		}
		_, refused := Judge(agent.Capabilities, has, []Item{{Name: n.Name, MIME: n.MIME, Size: n.Size}})
		return refused.Err()
	}
	if err := fits(nil); err != nil { // before anything of the body is read
		return fyllo.KeptAttachment{}, err
	}
	a, from, err := Describe(n, body)
	if err != nil {
		return fyllo.KeptAttachment{}, err
	}
	return l.Store.KeepAttachment(w, s, a, from, fits)
}

// Kept lists the files that wait for the next message of a Session, in their order: not those of queued messages
// (R-CHAT-052).
func (l *Library) Kept(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) ([]fyllo.KeptAttachment, error) {
	kept, err := l.Store.KeptAttachments(w, s)
	if err != nil {
		return nil, err
	}
	queue, err := l.Store.Queue(w, s)
	return free(kept, queue), err
}

// free are the files that wait with no message of the queue.
func free(kept []fyllo.KeptAttachment, queue fyllo.Queue) []fyllo.KeptAttachment {
	return slices.DeleteFunc(slices.Clone(kept), func(k fyllo.KeptAttachment) bool { return queue.Holds(k.Handle) })
}

// Open opens a file that waits to be sent.
func (l *Library) Open(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, handle string) (*fyllo.Media, error) {
	kept, err := l.Store.KeptAttachments(w, s)
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		if k.Handle == handle {
			return l.Files.File(w, s, k.File)
		}
	}
	return nil, errUnknown()
}

// Drop removes a file that was not sent.
func (l *Library) Drop(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, handle string) error {
	if !IsHandle(handle) {
		return errUnknown()
	}
	return l.Sessions.DropAttachment(ctx, w, s, handle)
}

func errUnknown() error {
	return fyllo.Errorf(fyllo.CodeAttachmentNotFound, "attachment: this Session has none with that handle that waits to be sent")
}

// Describe turns what a client says into what is stored: a clean name, and the type that the first bytes tell. What it
// returns reads the same bytes as body.
func Describe(n fyllo.NewAttachment, body io.Reader) (fyllo.Attachment, io.Reader, error) {
	r := bufio.NewReaderSize(body, 64<<10)
	head, err := r.Peek(int(min(n.Size, fyllo.MediaHead)))
	if err != nil {
		return fyllo.Attachment{}, nil, fyllo.Errorf(fyllo.CodeInvalidRequest, "attach %q: its bytes did not come whole: %w", CleanName(n.Name), err)
	}
	name := CleanName(n.Name)
	return fyllo.Attachment{Name: name, MIME: TypeOf(name, n.MIME, head), Size: n.Size}, r, nil
}

// Kept finds files that wait by their handles, each named once. Codes ATTACHMENT_REJECTED and SESSION_ATTACHMENT_NOT_FOUND.
func Kept(handles []string, kept []fyllo.KeptAttachment) ([]fyllo.KeptAttachment, error) {
	byHandle := make(map[string]fyllo.KeptAttachment, len(kept))
	for _, k := range kept {
		byHandle[k.Handle] = k
	}
	var out []fyllo.KeptAttachment
	seen := map[string]bool{}
	for _, h := range handles {
		if !IsHandle(h) || seen[h] {
			return nil, fyllo.Errorf(fyllo.CodeAttachment, "send: attachments are named by their handles, each once; a path or an address is none")
		}
		k, ok := byHandle[h]
		if !ok {
			return nil, errUnknown()
		}
		seen[h] = true
		out = append(out, k)
	}
	return out, nil
}

// Resolve finds the files that a prompt names, in its order. A handle that is none, such as a path or a URI, is
// ATTACHMENT_REJECTED, and so is one twice; one that does not wait in this Session is SESSION_ATTACHMENT_NOT_FOUND.
func Resolve(handles []string, kept []fyllo.KeptAttachment) ([]fyllo.Attachment, error) {
	named, err := Kept(handles, kept)
	if err != nil {
		return nil, err
	}
	out := make([]fyllo.Attachment, 0, len(named))
	for _, k := range named {
		out = append(out, fyllo.Attachment{Name: k.Name, MIME: k.MIME, Size: k.Size, File: k.File})
	}
	return out, nil
}

// Parts are the parts of a message that carry its files, behind the parts that it has already.
func Parts(messageID string, behind int, files []fyllo.Attachment) []fyllo.Part {
	var parts []fyllo.Part
	for i, f := range files {
		parts = append(parts, fyllo.Part{ID: partID(messageID, behind+i), Type: fyllo.PartAttachment, Attachment: &f})
	}
	return parts
}

// Of returns the files of a user's message.
func Of(m fyllo.Message) []fyllo.Attachment {
	var out []fyllo.Attachment
	for _, p := range m.Parts {
		if p.Type == fyllo.PartAttachment && p.Attachment != nil && p.Attachment.File != "" {
			out = append(out, *p.Attachment)
		}
	}
	return out
}

// Intake writes the files of a first submission, in their order, with put. next gives the bytes of each. It stops at
// the first that fails.
func Intake(files []fyllo.NewAttachment, next func() (io.Reader, error), put func(fyllo.Attachment, io.Reader) (fyllo.Attachment, error)) ([]fyllo.Attachment, error) {
	if len(files) > 0 && next == nil {
		return nil, fyllo.Errorf(fyllo.CodeAttachment, "send: the attachments were named, but their bytes did not come with the request")
	}
	var out []fyllo.Attachment
	for _, n := range files {
		body, err := next()
		if errors.Is(err, io.EOF) {
			err = fyllo.Errorf(fyllo.CodeInvalidRequest, "send: %q was named, but its bytes did not come", CleanName(n.Name))
		}
		if err != nil {
			return nil, err
		}
		a, from, err := Describe(n, body)
		if err == nil {
			a, err = put(a, from)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	if next != nil {
		if _, err := next(); !errors.Is(err, io.EOF) {
			return nil, fyllo.Errorf(fyllo.CodeInvalidRequest, "send: more came than the attachments that were named")
		}
	}
	return out, nil
}

// Opener opens a stored file.
type Opener func(name string) (fs.File, error)
