package records

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/records/internal/document"
)

// Folders returns the metadata of all Folders, ordered by id. One that cannot be read is skipped with a warning
// (R-WS-011).
func (s *Store) Folders() ([]fyllo.FolderMeta, error) {
	return loadAll(s, "workspace-folders", func(m *fyllo.FolderMeta) string { return string(m.ID) })
}

// SaveFolder stores the metadata of a Folder; keys this version does not know stay.
func (s *Store) SaveFolder(m fyllo.FolderMeta) error {
	return s.saveMeta("workspace-folders", string(m.ID), &m)
}

// Workspaces returns the metadata of all Workspaces, ordered by id, without checking their rules. One that cannot be
// read is skipped with a warning (R-WS-011).
func (s *Store) Workspaces() ([]fyllo.WorkspaceMeta, error) {
	return loadAll(s, "workspaces", func(m *fyllo.WorkspaceMeta) string { return string(m.ID) })
}

// SaveWorkspace stores the metadata of a Workspace; keys this version does not know stay.
func (s *Store) SaveWorkspace(m fyllo.WorkspaceMeta) error {
	return s.saveMeta("workspaces", string(m.ID), &m)
}

// loadAll reads every meta.json below kind whose id is the name of its directory.
func loadAll[T any](s *Store, kind string, idOf func(*T) string) ([]T, error) {
	var all []T
	err := s.eachMeta(kind, func(id, path string) error {
		var m T
		if err := document.Read(path, &m); err != nil {
			return err
		}
		if idOf(&m) != id {
			return errors.New("the id differs from the directory's name")
		}
		all = append(all, m)
		return nil
	})
	return all, err
}

// eachMeta calls read for every meta.json below kind. What read refuses is logged and skipped.
func (s *Store) eachMeta(kind string, read func(id, path string) error) error {
	entries, err := os.ReadDir(filepath.Join(s.root, kind))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fyllo.Errorf(fyllo.CodeStorageFailed, "the data root cannot be listed: %w", err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		path := filepath.Join(s.root, kind, e.Name(), "meta.json")
		err := read(e.Name(), path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.log.Warn("skip unreadable metadata", "file", s.relative(path), "err", err)
		}
	}
	return nil
}

func (s *Store) saveMeta(kind, id string, v any) error {
	if !fyllo.PathSafe(id) {
		return fyllo.Errorf(fyllo.CodeInvalidRequest, "the id is not valid: it cannot name a file")
	}
	if err := document.Save(filepath.Join(s.root, kind, id, "meta.json"), v); err != nil {
		return fyllo.Errorf(fyllo.CodeStorageFailed, "the metadata of %s cannot be stored: %w", id, err)
	}
	return nil
}
