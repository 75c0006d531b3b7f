// Package media gives the bytes of pictures, sounds and files that stand in messages, wherever they lie: in the memory
// of a running turn, in a file of the Session, or among its bodies. Nothing is ever fetched from elsewhere, and what the
// sender called a file counts for nothing: its type is told from its bytes.
//
// Nothing here has state; everything may be called at any time.
package media

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"fyllocode.dev/fyllo"
)

// Parts finds parts of messages. Implemented by the use case of Sessions.
type Parts interface {
	// Part returns a part, live or stored; NOT_FOUND when there is none.
	Part(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, id string) (fyllo.Part, error)
}

// Store is where attachments lie. Implemented by the data root.
type Store interface {
	// Attachment opens a stored file by its name; NOT_FOUND when it is no file of the Session.
	Attachment(w fyllo.WorkspaceID, s fyllo.SessionID, name string) (fs.File, error)
	// Body returns a text that was too long to stand in its message.
	Body(w fyllo.WorkspaceID, s fyllo.SessionID, ref fyllo.BodyRef) ([]byte, error)
}

// Library gives the content of attachments.
type Library struct {
	parts Parts
	store Store
}

// New returns a Library of the attachments in parts.
func New(parts Parts, store Store) *Library { return &Library{parts: parts, store: store} }

// Media opens what an attachment holds; NOT_FOUND when there is no such attachment, when it is only a link, or when it
// cannot be decoded.
func (l *Library) Media(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, q fyllo.MediaQuery) (*fyllo.Media, error) {
	part, err := l.parts.Part(ctx, w, s, q.PartID)
	if err != nil {
		return nil, err
	}
	a := find(&part, q.Index)
	switch {
	case a == nil:
		return nil, fyllo.Errorf(fyllo.CodeNotFound, "open the attachment: part %s does not have it", q.PartID)
	case a.File != "":
		return l.File(w, s, a.File)
	case a.Data == nil:
		return nil, fyllo.Errorf(fyllo.CodeNotFound, "open the attachment: it is only a link, which is not followed")
	}
	text := a.Data.Text
	if ref := a.Data.Ref; ref != nil {
		whole, err := l.store.Body(w, s, *ref)
		if err != nil {
			return nil, err
		}
		text = string(whole)
	}
	if a.IsText {
		return &fyllo.Media{Size: int64(len(text)), Content: io.NopCloser(strings.NewReader(text))}, nil
	}
	return decoded(text)
}

func find(p *fyllo.Part, index int) *fyllo.Attachment {
	switch {
	case index < 0:
		return p.Attachment
	case p.Tool == nil || index >= len(p.Tool.Media):
		return nil
	default:
		return &p.Tool.Media[index]
	}
}

// File opens a stored file of a Session by its name.
func (l *Library) File(w fyllo.WorkspaceID, s fyllo.SessionID, name string) (*fyllo.Media, error) {
	f, err := l.store.Attachment(w, s, name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		var m *fyllo.Media
		if m, err = open(f, f, info.Size()); err == nil {
			return m, nil
		}
	}
	return nil, errors.Join(fyllo.Errorf(fyllo.CodeStorageDamaged, "read the attachment: %w", err), f.Close())
}

// decoded checks the whole text before anything of it is given out, since an answer that has begun cannot be taken back.
func decoded(text string) (*fyllo.Media, error) {
	size, err := io.Copy(io.Discard, fyllo.Base64(text))
	if err != nil {
		return nil, fyllo.Errorf(fyllo.CodeNotFound, "open the attachment: what the Agent sent cannot be decoded: %w", err)
	}
	return open(fyllo.Base64(text), io.NopCloser(nil), size)
}

// open looks at the first bytes.
func open(r io.Reader, c io.Closer, size int64) (*fyllo.Media, error) {
	head := make([]byte, fyllo.MediaHead)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	head = head[:n]
	return &fyllo.Media{Type: fyllo.MediaType(head), Size: size, Content: content{io.MultiReader(bytes.NewReader(head), r), c}}, nil
}

// content reads from one and closes the other.
type content struct {
	io.Reader
	io.Closer
}
