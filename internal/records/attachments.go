package records

import (
	"errors"
	"io"
	"path/filepath"
	"slices"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/atomicfile"
	"fyllocode.dev/fyllo/internal/records/internal/unsent"
)

// unsentOf is where the files of a Session wait. The first look of this Store at a Session tidies up what a killed Core
// left; the caller holds the Session's lock.
func (s *Store) unsentOf(p place) (unsent.Place, error) {
	u := unsent.Place{List: filepath.Join(p.dir, "unsent.json"), Files: p.files, Messages: p.messages}
	s.mu.Lock()
	tidy := s.tidied[p.dir]
	s.tidied[p.dir] = true
	s.mu.Unlock()
	if tidy {
		return u, nil
	}
	s.removeStaleTemps(p.files)
	return u, u.Tidy()
}

// PutAttachment stores a file of a Session that is about to be created (R-CHAT-053): exactly a.Size bytes. What was put
// goes with AbandonSession, with a CreateSession that fails, or at the next start.
func (s *Store) PutAttachment(w fyllo.WorkspaceID, id fyllo.SessionID, a fyllo.Attachment, from io.Reader) (fyllo.Attachment, error) {
	p, err := s.place(w, id)
	if err != nil {
		return a, err
	}
	_, a.File, from = unsent.Name(from, a.Size)
	if err = atomicfile.MkdirAll(p.files, 0o700); err == nil {
		err = unsent.Write(p.files, a.File, from, a.Size)
	}
	if err != nil {
		return a, failed("store an attachment of", p.id, err)
	}
	return a, nil
}

// AbandonSession removes what PutAttachment left of a Session that will not be created (R-WS-135).
func (s *Store) AbandonSession(w fyllo.WorkspaceID, id fyllo.SessionID) {
	p, err := s.place(w, id)
	if err != nil {
		return
	}
	defer s.sessions.Lock(p.meta)()
	if p.mustExist() == nil {
		return
	}
	if err := p.removeRest(); err != nil {
		s.log.Warn("remove a Session that was not created; the next start will", "session", p.id, "err", err)
	}
}

// KeepAttachment stores a file that waits to be sent (R-CHAT-043): exactly a.Size bytes. fits is asked first, with those
// that wait or are on their way. Nothing is left when it fails.
func (s *Store) KeepAttachment(w fyllo.WorkspaceID, id fyllo.SessionID, a fyllo.Attachment, from io.Reader, fits func([]fyllo.KeptAttachment) error) (fyllo.KeptAttachment, error) {
	p, err := s.place(w, id)
	if err != nil {
		return fyllo.KeptAttachment{}, err
	}
	k := fyllo.KeptAttachment{Name: a.Name, MIME: a.MIME, Size: a.Size}
	k.Handle, k.File, from = unsent.Name(from, a.Size)
	u, err := s.announce(p, k, fits)
	if err == nil {
		err = unsent.Write(p.files, k.File, from, k.Size) // without the lock: the bytes come as slowly as they like
		if err == nil {
			err = p.mustExist() // deleted meanwhile
		}
		if err != nil {
			defer s.sessions.Lock(p.meta)()
			err = errors.Join(err, atomicfile.Remove(filepath.Join(p.files, k.File)))
			if p.mustExist() == nil {
				err = errors.Join(err, u.Edit(unsent.Without(k.Handle)))
			}
		}
	}
	if err != nil {
		return fyllo.KeptAttachment{}, failed("store an attachment of", p.id, err)
	}
	return k, nil
}

// announce puts a file into the list before it is there.
func (s *Store) announce(p place, k fyllo.KeptAttachment, fits func([]fyllo.KeptAttachment) error) (unsent.Place, error) {
	defer s.sessions.Lock(p.meta)()
	if err := p.mustExist(); err != nil {
		return unsent.Place{}, err
	}
	u, err := s.unsentOf(p)
	if err != nil {
		return u, err
	}
	all, err := u.All()
	if err == nil {
		err = fits(all)
	}
	if err == nil {
		err = atomicfile.MkdirAll(p.files, 0o700)
	}
	if err == nil {
		err = u.Edit(func(list []fyllo.KeptAttachment) []fyllo.KeptAttachment { return append(list, k) })
	}
	return u, err
}

// KeptAttachments returns the files of a Session that wait to be sent, in the order in which they were added.
func (s *Store) KeptAttachments(w fyllo.WorkspaceID, id fyllo.SessionID) ([]fyllo.KeptAttachment, error) {
	p, err := s.existing(w, id)
	if err != nil {
		return nil, err
	}
	defer s.sessions.Lock(p.meta)()
	u, err := s.unsentOf(p)
	if err != nil {
		return nil, failed("read the attachments of", p.id, err)
	}
	return u.Read()
}

// DropAttachments takes files out of the list of those that wait; with their bytes unless they were sent. Handles that
// do not wait are ignored.
func (s *Store) DropAttachments(w fyllo.WorkspaceID, id fyllo.SessionID, handles []string, sent bool) error {
	p, err := s.existing(w, id)
	if err != nil {
		return err
	}
	defer s.sessions.Lock(p.meta)()
	u, err := s.unsentOf(p)
	if err != nil {
		return failed("read the attachments of", p.id, err)
	}
	all, err := u.All()
	for _, k := range all {
		if err == nil && !sent && slices.Contains(handles, k.Handle) {
			err = atomicfile.Remove(filepath.Join(p.files, k.File)) // first, so that no file is left that nothing names
		}
	}
	if err == nil && len(all) > 0 {
		err = u.Edit(unsent.Without(handles...))
	}
	if err != nil {
		return failed("remove an attachment of", p.id, err)
	}
	return nil
}
