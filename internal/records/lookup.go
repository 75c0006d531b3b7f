package records

import (
	"errors"
	"io"
	"io/fs"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/records/internal/pages"
)

// Message returns one stored message in its newest version, or NOT_FOUND. It reads backwards and no further than it
// must; a version that cannot be read is passed over, as in Messages.
func (s *Store) Message(w fyllo.WorkspaceID, id fyllo.SessionID, message string) (fyllo.Message, error) {
	p, err := s.existing(w, id)
	if err != nil {
		return fyllo.Message{}, err
	}
	m, err := pages.Latest(p.messages, message)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, fs.ErrNotExist):
		return fyllo.Message{}, fyllo.Errorf(fyllo.CodeNotFound, "message %s: session %s has no such message", message, p.id)
	case err != nil:
		return fyllo.Message{}, failed("read a message of", p.id, err)
	}
	return m, nil
}

// Requests returns the ids of all stored messages that answered a request, by the ids of those. It reads all of the
// transcript once and decodes what people sent only.
func (s *Store) Requests(w fyllo.WorkspaceID, id fyllo.SessionID) (map[string]string, error) {
	p, err := s.existing(w, id)
	if err != nil {
		return nil, err
	}
	found, err := pages.Requests(p.messages)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failed("read the messages of", p.id, err)
	}
	return found, nil
}
