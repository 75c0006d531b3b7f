package records

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/atomicfile"
	"fyllocode.dev/fyllo/internal/records/internal/document"
)

// Queue returns the messages that wait in a Session (R-CHAT-052). A list that cannot be read is kept beside and is empty
// from then on.
func (s *Store) Queue(w fyllo.WorkspaceID, id fyllo.SessionID) (q fyllo.Queue, err error) {
	p, err := s.existing(w, id)
	if err != nil {
		return q, err
	}
	defer s.sessions.Lock(p.meta)()
	path := filepath.Join(p.dir, "queue.json")
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return q, nil
	}
	if err == nil && document.First(b, &q) != nil {
		q = fyllo.Queue{}
		s.log.Warn("the queue cannot be read; a copy is kept", "file", s.relative(path))
		if err = document.KeepDamaged(path, b); err == nil {
			err = atomicfile.Remove(path)
		}
	}
	if err != nil {
		err = failed("read the queue of", id, err)
	}
	return q, err
}

// PutQueue replaces the messages that wait; none leaves no file.
func (s *Store) PutQueue(w fyllo.WorkspaceID, id fyllo.SessionID, q fyllo.Queue) error {
	p, err := s.place(w, id)
	if err != nil {
		return err
	}
	defer s.sessions.Lock(p.meta)()
	if err := p.mustExist(); err != nil {
		return err
	}
	path := filepath.Join(p.dir, "queue.json")
	if len(q.Entries) == 0 {
		err = atomicfile.Remove(path)
	} else {
		err = document.Save(path, &q)
	}
	if err != nil {
		return failed("store the queue of", id, err)
	}
	return nil
}
