package records

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/atomicfile"
	"fyllocode.dev/fyllo/internal/journal"
)

// Store reads and writes the data root.
type Store struct {
	*shared
	spawned string // directory of the spawned Sessions that this view is about; "" = Sessions of Workspaces
}

// shared is what all views of a data root have in common.
type shared struct {
	root string
	log  *slog.Logger

	sessions atomicfile.Locks // serialises changes of one Session; by path of its metadata

	mu       sync.Mutex // guards what follows
	scanned  map[fyllo.WorkspaceID]bool
	tidied   map[string]bool  // by directory of a Session: its unsent files were looked at
	replaced map[string]int64 // by messages file: bytes of superseding lines since the last look at compaction
	settings fyllo.Settings
}

// Open opens the data root, which the caller has locked. log gets what was repaired or skipped.
func Open(root string, log *slog.Logger) (*Store, error) {
	if _, err := makeRoot(root); err != nil {
		return nil, notWritable(root, err)
	}
	s := &Store{shared: &shared{
		root: root, log: log,
		scanned: map[fyllo.WorkspaceID]bool{}, tidied: map[string]bool{}, replaced: map[string]int64{},
	}}
	s.removeStaleTemps(root)
	s.settings = s.loadSettings()
	return s, nil
}

// removeStaleTemps deletes what replacements of files in dir left when a Core was killed.
func (s *Store) removeStaleTemps(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // nothing there to tidy; who needs the directory reports it
	}
	for _, e := range entries {
		if atomicfile.IsStaleTemp(e.Name()) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				s.log.Warn("remove temporary file", "file", e.Name(), "err", err)
			}
		}
	}
}

// relative names a file in reports.
func (s *Store) relative(path string) string {
	if rel, err := filepath.Rel(s.root, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

func (s *Store) workspaceDir(w fyllo.WorkspaceID) (string, error) {
	if !fyllo.PathSafe(string(w)) {
		return "", fyllo.Errorf(fyllo.CodeInvalidRequest, "the Workspace id is not valid: it cannot name a file")
	}
	return filepath.Join(s.root, "workspaces", string(w)), nil
}

// place is where one Session lies.
type place struct {
	id       fyllo.SessionID
	sessions string // directory of all Sessions of the Workspace
	meta     string
	messages string
	dir      string // <sid>/, which exists only when something lies in it
	bodies   string
	turn     string
	files    string // <sid>/attachments/
}

func (s *Store) place(w fyllo.WorkspaceID, id fyllo.SessionID) (place, error) {
	dir, err := s.workspaceDir(w)
	if err != nil {
		return place{}, err
	}
	if !id.Valid() {
		return place{}, fyllo.Errorf(fyllo.CodeInvalidRequest, "the Session id is not valid: it cannot name a file")
	}
	if s.spawned != "" {
		return spawnedPlace(s.spawned, id), nil
	}
	return placeIn(filepath.Join(dir, "sessions"), id), nil
}

func placeIn(sessions string, id fyllo.SessionID) place {
	base := filepath.Join(sessions, string(id))
	return place{
		id: id, sessions: sessions, dir: base,
		meta: base + ".json", messages: base + ".messages.jsonl",
		bodies: filepath.Join(base, "bodies.jsonl"), turn: filepath.Join(base, "turn.jsonl"),
		files: filepath.Join(base, "attachments"),
	}
}

// existing is place for a Session that must exist.
func (s *Store) existing(w fyllo.WorkspaceID, id fyllo.SessionID) (place, error) {
	p, err := s.place(w, id)
	if err != nil {
		return p, err
	}
	return p, p.mustExist()
}

// mustExist fails with CHAT_SESSION_NOT_FOUND when there is no metadata.
func (p place) mustExist() error {
	switch _, err := os.Lstat(p.meta); {
	case errors.Is(err, fs.ErrNotExist):
		return fyllo.Errorf(fyllo.CodeSessionNotFound, "the Session %s does not exist", p.id)
	case err != nil:
		return failed("look for", p.id, err)
	}
	return nil
}

// failed turns a disk failure into an error for people; an Error stays what it is.
func failed(what string, id fyllo.SessionID, err error) error {
	if e, ok := errors.AsType[*fyllo.Error](err); ok {
		return e
	}
	return fyllo.Errorf(fyllo.CodeStorageFailed, "%s Session %s: %w", what, id, err)
}

// openJournal opens a journal for appending and reports what was repaired.
func (s *Store) openJournal(path string) (*journal.File, error) {
	j, torn, err := journal.Open(path)
	if torn != nil {
		s.log.Warn("cut a torn tail", "file", s.relative(path), "offset", torn.Offset, "length", torn.Length,
			"copy", s.relative(torn.Copy))
	}
	return j, err
}

// appendSynced appends whole lines, durably or not at all, and returns where they begin.
func (s *Store) appendSynced(path string, lines []byte) (at int64, err error) {
	j, err := s.openJournal(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	if at, err = j.Append(lines); err != nil {
		return 0, err
	}
	if err := j.Sync(); err != nil {
		return 0, errors.Join(err, j.Rollback(at))
	}
	return at, nil
}
