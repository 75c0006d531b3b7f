package records

import (
	"path/filepath"

	"fyllocode.dev/fyllo"
)

// Spawned returns a view of the data root in which the Sessions are those that parent spawned, and their directory,
// which need not exist. Only what keeps messages, bodies and turns may be called on it; metadata of spawned Sessions has
// another form (R-SPAWN-128). Code CHAT_SESSION_NOT_FOUND when there is no such parent.
func (s *Store) Spawned(w fyllo.WorkspaceID, parent fyllo.SessionID) (view *Store, dir string, err error) {
	p, err := s.existing(w, parent)
	if err != nil {
		return nil, "", err
	}
	dir = filepath.Join(p.dir, "spawn")
	return &Store{shared: s.shared, spawned: dir}, dir, nil
}

// spawnedPlace is where one spawned Session lies: everything in its own directory.
func spawnedPlace(dir string, id fyllo.SessionID) place {
	base := filepath.Join(dir, string(id))
	return place{
		id: id, sessions: dir, dir: base,
		meta: filepath.Join(base, "meta.json"), messages: filepath.Join(base, "messages.jsonl"),
		bodies: filepath.Join(base, "bodies.jsonl"), turn: filepath.Join(base, "turn.jsonl"),
		files: filepath.Join(base, "attachments"),
	}
}

// SessionsDir returns the directory of a Workspace's Sessions, which need not exist.
func (s *Store) SessionsDir(w fyllo.WorkspaceID) (string, error) {
	dir, err := s.workspaceDir(w)
	return filepath.Join(dir, "sessions"), err
}
