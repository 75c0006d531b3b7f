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

// CreateSession makes a Session exist with its first message and returns that message in light form. If it fails
// nothing of the Session is left, also what was put into its directory before (R-CHAT-053, 054).
func (s *Store) CreateSession(w fyllo.WorkspaceID, meta fyllo.SessionMeta, first fyllo.Message) (fyllo.Message, error) {
	p, err := s.place(w, meta.SessionID)
	if err != nil {
		return fyllo.Message{}, err
	}
	defer s.sessions.Lock(p.meta)()
	if p.mustExist() == nil {
		return fyllo.Message{}, fyllo.Errorf(fyllo.CodeInvalidRequest, "the Session id %s is in use", p.id)
	}
	light, err := s.create(p, meta, first)
	if err != nil {
		if err := p.remove(); err != nil {
			s.log.Warn("remove a Session that could not be created; the next start will", "session", p.id, "err", err)
		}
		return fyllo.Message{}, failed("create", p.id, err)
	}
	return light, nil
}

// create writes the message first and the metadata, which makes the Session exist, last.
func (s *Store) create(p place, meta fyllo.SessionMeta, first fyllo.Message) (fyllo.Message, error) {
	if err := atomicfile.MkdirAll(p.sessions, 0o700); err != nil {
		return fyllo.Message{}, err
	}
	if err := atomicfile.Remove(p.messages); err != nil { // of an attempt that failed and could not tidy up
		return fyllo.Message{}, err
	}
	light, err := s.storeMessage(p, first)
	if err != nil {
		return fyllo.Message{}, err
	}
	b, err := document.Marshal(&meta)
	if err != nil {
		return fyllo.Message{}, err
	}
	return light, atomicfile.Write(p.meta, b, 0o600)
}

// remove deletes what there is of a Session, first what makes it exist.
func (p place) remove() error {
	if err := atomicfile.Remove(p.meta); err != nil {
		return err
	}
	return p.removeRest()
}

// removeRest deletes everything but the metadata.
func (p place) removeRest() error {
	err := errors.Join(atomicfile.Remove(p.dir), atomicfile.Remove(p.messages))
	copies, _ := filepath.Glob(p.messages + ".torn-*") // fails only for a bad pattern
	for _, path := range copies {
		err = errors.Join(err, atomicfile.Remove(path))
	}
	return err
}

// Meta returns the metadata of a Session.
func (s *Store) Meta(w fyllo.WorkspaceID, id fyllo.SessionID) (fyllo.SessionMeta, error) {
	p, err := s.existing(w, id)
	if err != nil {
		return fyllo.SessionMeta{}, err
	}
	return s.readMeta(p)
}

func (s *Store) readMeta(p place) (fyllo.SessionMeta, error) {
	b, err := os.ReadFile(p.meta)
	if errors.Is(err, fs.ErrNotExist) {
		return fyllo.SessionMeta{}, p.mustExist()
	}
	if err != nil {
		return fyllo.SessionMeta{}, failed("read", p.id, err)
	}
	meta, err := parseMeta(p.id, b)
	if err != nil {
		return meta, s.damagedMeta(p, err)
	}
	return meta, nil
}

func (s *Store) damagedMeta(p place, err error) error {
	return fyllo.Errorf(fyllo.CodeStorageDamaged, "the metadata of Session %s cannot be read: %s: %w", p.id, s.relative(p.meta), err)
}

// parseMeta reads metadata, tolerating what stands behind the object (R-WS-132). The file's name is the id.
func parseMeta(id fyllo.SessionID, b []byte) (fyllo.SessionMeta, error) {
	var meta fyllo.SessionMeta
	if document.Unmarshal(b, &meta) != nil {
		meta = fyllo.SessionMeta{}
		if err := document.First(b, &meta); err != nil {
			return fyllo.SessionMeta{}, err
		}
	}
	return normal(id, meta), nil
}

// normal fills in what old or foreign metadata lacks.
func normal(id fyllo.SessionID, meta fyllo.SessionMeta) fyllo.SessionMeta {
	meta.SessionID = id
	if meta.Mode != fyllo.ModeNative {
		meta.Mode = fyllo.ModeFyllo
	}
	return meta
}

// UpdateMeta lets change edit the metadata of a Session and returns the result; no other UpdateMeta of the Session
// runs in between. change must not call the Store.
func (s *Store) UpdateMeta(w fyllo.WorkspaceID, id fyllo.SessionID, change func(*fyllo.SessionMeta)) (fyllo.SessionMeta, error) {
	p, err := s.place(w, id)
	if err != nil {
		return fyllo.SessionMeta{}, err
	}
	defer s.sessions.Lock(p.meta)()
	var meta fyllo.SessionMeta
	err = atomicfile.Update(p.meta, 0o600, func(old []byte) ([]byte, error) {
		if old == nil {
			return nil, fyllo.Errorf(fyllo.CodeSessionNotFound, "the Session %s does not exist", p.id)
		}
		if meta, err = parseMeta(p.id, old); err != nil {
			return nil, s.damagedMeta(p, err)
		}
		change(&meta)
		meta.SessionID = p.id
		return document.Merge(old, &meta)
	})
	if err != nil {
		return fyllo.SessionMeta{}, failed("update", p.id, err)
	}
	return meta, nil
}

// DeleteSession removes a Session and everything in it (R-WS-134). The metadata goes first: once it is gone the
// Session does not exist, and what could not be removed goes at the next start.
func (s *Store) DeleteSession(w fyllo.WorkspaceID, id fyllo.SessionID) error {
	p, err := s.place(w, id)
	if err != nil {
		return err
	}
	defer s.sessions.Lock(p.meta)()
	if err := p.mustExist(); err != nil {
		return err
	}
	if err := atomicfile.Remove(p.meta); err != nil {
		return failed("delete", p.id, err)
	}
	err = errors.Join(p.removeRest(), s.setComposer(w, id, ""))
	if err != nil {
		s.log.Warn("remove the rest of a deleted Session; the next start will", "session", p.id, "err", err)
	}
	s.mu.Lock()
	delete(s.replaced, p.messages)
	s.mu.Unlock()
	return nil
}
