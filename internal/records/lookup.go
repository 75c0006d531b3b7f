package records

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/journal"
)

// Message returns one stored message in its newest version, or NOT_FOUND. It reads backwards and no further than it
// must; a version that cannot be read is passed over, as in Messages.
func (s *Store) Message(w fyllo.WorkspaceID, id fyllo.SessionID, message string) (fyllo.Message, error) {
	p, err := s.existing(w, id)
	if err != nil {
		return fyllo.Message{}, err
	}
	m, err := lookUp(p.messages, message)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, fs.ErrNotExist):
		return fyllo.Message{}, fyllo.Errorf(fyllo.CodeNotFound, "message %s: session %s has no such message", message, p.id)
	case err != nil:
		return fyllo.Message{}, failed("read a message of", p.id, err)
	}
	return m, nil
}

// lookUp returns the last line of a transcript that is a version of the message: a superseding line stands behind what
// it replaces. The error is io.EOF when there is none.
func lookUp(path, id string) (fyllo.Message, error) {
	f, err := os.Open(path)
	if err != nil {
		return fyllo.Message{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fyllo.Message{}, err
	}
	lines := journal.NewBackward(f, info.Size())
	for {
		line, err := lines.Next()
		if err != nil {
			return fyllo.Message{}, err
		}
		if !bytes.Contains(line.Data, []byte(id)) { // most lines need no decoding
			continue
		}
		if m, err := parseMessage(line.Data); err == nil && m.ID == id {
			return m, nil
		}
	}
}
