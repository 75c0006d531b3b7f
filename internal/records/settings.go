package records

import (
	stdjson "encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/atomicfile"
	"fyllocode.dev/fyllo/internal/records/internal/document"
)

func (s *Store) settingsPath() string { return filepath.Join(s.root, "settings.json") }

// defaultSettings are the preferences of a new data root.
func defaultSettings() fyllo.Settings {
	return fyllo.Settings{Theme: "system", DefaultPermissionPolicy: fyllo.PolicyAsk}
}

// loadSettings reads what it can; people edit this file.
func (s *Store) loadSettings() fyllo.Settings {
	b, err := os.ReadFile(s.settingsPath())
	if errors.Is(err, fs.ErrNotExist) {
		return defaultSettings()
	}
	var settings fyllo.Settings
	if err == nil {
		settings, err = parseSettings(b)
	}
	if err != nil {
		s.log.Warn("read settings", "file", "settings.json", "err", err)
	}
	return settings
}

// parseSettings reads settings; a value that is of the wrong type or means nothing leaves the default of that key. After an error the rest of
// the result is usable.
func parseSettings(b []byte) (fyllo.Settings, error) {
	settings := defaultSettings()
	// This decoder, unlike the other one, goes on behind a value of the wrong type.
	err := stdjson.Unmarshal(b, &settings)
	if settings.Theme != "light" && settings.Theme != "dark" {
		settings.Theme = "system"
	}
	if settings.DefaultPermissionPolicy != fyllo.PolicyAllowOnce {
		settings.DefaultPermissionPolicy = fyllo.PolicyAsk
	}
	return settings, err
}

// Settings returns the preferences.
func (s *Store) Settings() fyllo.Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// UpdateSettings lets change edit the preferences and returns the result. Keys in the file that this version does not
// know stay; a file that is no JSON is saved as settings.json.damaged-<n> first. change must not call the Store.
func (s *Store) UpdateSettings(change func(*fyllo.Settings)) (fyllo.Settings, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	settings := s.settings
	change(&settings)
	if err := document.Save(s.settingsPath(), &settings); err != nil {
		return s.settings, fyllo.Errorf(fyllo.CodeStorageFailed, "the settings cannot be stored: %w", err)
	}
	s.settings = settings
	return settings, nil
}

// composer is the document composer.json: what stands in the composers of a Workspace. The key "" is the draft of a
// new Session.
type composer struct {
	Texts map[fyllo.SessionID]string `json:"texts"`
}

func (s *Store) composerPath(w fyllo.WorkspaceID) (string, error) {
	dir, err := s.workspaceDir(w)
	return filepath.Join(dir, "composer.json"), err
}

// ComposerText returns the text not yet sent of a Session, or of the draft when id is "". A file that cannot be read
// counts as empty, with a warning.
func (s *Store) ComposerText(w fyllo.WorkspaceID, id fyllo.SessionID) string {
	path, err := s.composerPath(w)
	if err != nil {
		return ""
	}
	var c composer
	if err := document.Read(path, &c); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("read composer texts", "file", s.relative(path), "err", err)
	}
	return c.Texts[id]
}

// SetComposerText stores the text not yet sent of an existing Session, or of the draft when id is "".
func (s *Store) SetComposerText(w fyllo.WorkspaceID, id fyllo.SessionID, text string) error {
	if id != "" {
		p, err := s.place(w, id)
		if err != nil {
			return err
		}
		defer s.sessions.Lock(p.meta)()
		if err := p.mustExist(); err != nil {
			return err
		}
	}
	return s.setComposer(w, id, text)
}

func (s *Store) setComposer(w fyllo.WorkspaceID, id fyllo.SessionID, text string) error {
	path, err := s.composerPath(w)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && text == "" {
		return nil
	}
	err = atomicfile.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = atomicfile.Update(path, 0o600, func(old []byte) ([]byte, error) { return editComposer(path, old, id, text) })
	}
	if err != nil {
		return fyllo.Errorf(fyllo.CodeStorageFailed, "the text of the composer cannot be stored: %w", err)
	}
	return nil
}

func editComposer(path string, old []byte, id fyllo.SessionID, text string) ([]byte, error) {
	var c composer
	if len(old) > 0 {
		if err := document.First(old, &c); err != nil {
			if err := document.KeepDamaged(path, old); err != nil {
				return nil, err
			}
			c, old = composer{}, nil
		}
	}
	if len(old) > 0 && c.Texts[id] == text {
		return old, nil
	}
	if c.Texts == nil {
		c.Texts = map[fyllo.SessionID]string{}
	}
	c.Texts[id] = text
	if text == "" {
		delete(c.Texts, id)
	}
	return document.Merge(old, &c)
}
