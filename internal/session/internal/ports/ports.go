// Package ports declares what Sessions need of the disk.
package ports

import (
	"context"
	"io"
	"io/fs"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/turns"
)

// Store keeps Sessions on disk. A call returns after what it promises is durable. Implemented by the data root.
type Store interface {
	SessionStore
	TurnStore
	AttachmentStore
}

// AttachmentStore keeps the files that users send.
type AttachmentStore interface {
	// PutAttachment stores a file of a Session that CreateSession will make; exactly a.Size bytes must come.
	PutAttachment(w fyllo.WorkspaceID, s fyllo.SessionID, a fyllo.Attachment, from io.Reader) (fyllo.Attachment, error)
	// AbandonSession removes what was put for a Session that will not be made; at the next start, if it cannot now.
	AbandonSession(w fyllo.WorkspaceID, s fyllo.SessionID)
	KeptAttachments(w fyllo.WorkspaceID, s fyllo.SessionID) ([]fyllo.KeptAttachment, error) // those that wait to be sent
	// DropAttachments ends the waiting of files; unless they were sent their bytes go too.
	DropAttachments(w fyllo.WorkspaceID, s fyllo.SessionID, handles []string, sent bool) error
	Attachment(w fyllo.WorkspaceID, s fyllo.SessionID, name string) (fs.File, error)
}

// SessionStore keeps metadata and messages. Calls for one Session come from one goroutine at a time, except the
// reads Meta, Messages, Message and Body.
type SessionStore interface {
	// ScanSessions calls fn for every Session of a Workspace, one call at a time, in no order, and removes the
	// remnants of first submissions that never committed.
	ScanSessions(ctx context.Context, w fyllo.WorkspaceID, fn func(meta fyllo.SessionMeta, turnInFlight bool)) error
	// CreateSession makes a Session exist with its first message, or leaves nothing (R-CHAT-054).
	CreateSession(w fyllo.WorkspaceID, meta fyllo.SessionMeta, first fyllo.Message) (fyllo.Message, error)
	Meta(w fyllo.WorkspaceID, s fyllo.SessionID) (fyllo.SessionMeta, error)
	UpdateMeta(w fyllo.WorkspaceID, s fyllo.SessionID, change func(*fyllo.SessionMeta)) (fyllo.SessionMeta, error)
	// AppendMessage stores a message, or with Rev > 0 replaces the stored one of the same id. It returns the
	// light form, whose bodies lie on disk.
	AppendMessage(w fyllo.WorkspaceID, s fyllo.SessionID, m fyllo.Message) (fyllo.Message, error)
	// Messages returns the page that ends before the cursor, "" meaning the newest; limit 0 means all.
	Messages(w fyllo.WorkspaceID, s fyllo.SessionID, before string, limit int) (fyllo.MessagePage, error)
	// Message returns one stored message in its newest version, or NOT_FOUND.
	Message(w fyllo.WorkspaceID, s fyllo.SessionID, id string) (fyllo.Message, error)
	// Requests returns the ids of all stored messages that answered a request, by the ids of those.
	Requests(w fyllo.WorkspaceID, s fyllo.SessionID) (map[string]string, error)
	Body(w fyllo.WorkspaceID, s fyllo.SessionID, ref fyllo.BodyRef) ([]byte, error)
	// Queue returns the messages that wait; one that cannot be read was kept aside and is empty.
	Queue(w fyllo.WorkspaceID, s fyllo.SessionID) (fyllo.Queue, error)
	PutQueue(w fyllo.WorkspaceID, s fyllo.SessionID, q fyllo.Queue) error
	DeleteSession(w fyllo.WorkspaceID, s fyllo.SessionID) error
}

// TurnStore keeps the turn in flight.
type TurnStore interface {
	BeginTurn(w fyllo.WorkspaceID, s fyllo.SessionID, h fyllo.TurnHeader) (turns.TurnLog, error)
	// ReadTurn returns what a crash left of a turn; a torn tail is not an error.
	ReadTurn(w fyllo.WorkspaceID, s fyllo.SessionID) (fyllo.TurnHeader, []fyllo.TurnRecord, error)
	// DropTurn removes the log of a turn whose message is stored.
	DropTurn(w fyllo.WorkspaceID, s fyllo.SessionID) error
}
