package records

import (
	"errors"
	"os"

	"fyllocode.dev/fyllo"
)

// OpenMessages opens the transcript of a Session for reading as it lies on disk, and returns its size; the caller closes
// it. What is appended later is behind that size, and a compaction makes another file. The error is fs.ErrNotExist for a
// Session without messages.
func (s *Store) OpenMessages(w fyllo.WorkspaceID, id fyllo.SessionID) (*os.File, int64, error) {
	p, err := s.place(w, id)
	if err != nil {
		return nil, 0, err
	}
	info, err := os.Lstat(p.messages)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() { // also not a pipe, whose opening would wait
		return nil, 0, errors.New("the transcript is not a regular file")
	}
	f, err := os.Open(p.messages)
	return f, info.Size(), err
}
