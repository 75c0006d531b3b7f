// Package spawned keeps the records of spawned Sessions below the directory of their parent (R-SPAWN-128):
//
//	spawn/<id>/meta.json            what exists, exists by this file
//	spawn/<id>/turns/<turn>.json    one record per turn, also the outbox of its notification
//	spawn/<id>/responses/<id>.md    immutable answers
//	spawn/<id>/messages.jsonl, bodies.jsonl, turn.jsonl   as of any Session, by the same code
//
// Every call names an owner; what lies elsewhere, or says in its record that it belongs to somebody else, does not exist
// for it. After Fence no call of that owner writes, so that nothing of a deleted parent comes back (R-SPAWN-098).
package spawned

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/atomicfile"
	"fyllocode.dev/fyllo/internal/records"
)

// version is that of all records here.
const version = 1

// Store is the records of all spawned Sessions of a data root. It may be used by several goroutines; calls for one
// spawned Session that change it come from one goroutine at a time.
type Store struct {
	records *records.Store
	log     *slog.Logger

	mu    sync.Mutex
	gates map[fyllo.SpawnOwner]*gate
	shut  bool // FenceAll
}

// gate keeps writers out once it is closed. Writers hold it for reading.
type gate struct {
	sync.RWMutex
	closed bool
}

// New returns the spawned part of a data root.
func New(r *records.Store, log *slog.Logger) *Store {
	return &Store{records: r, log: log, gates: map[fyllo.SpawnOwner]*gate{}}
}

func (s *Store) gate(o fyllo.SpawnOwner) *gate {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.gates[o]
	if g == nil {
		g = &gate{closed: s.shut}
		s.gates[o] = g
	}
	return g
}

// Fence makes every later write for the owner fail, and waits for those that run.
func (s *Store) Fence(o fyllo.SpawnOwner) {
	g := s.gate(o)
	g.Lock()
	g.closed = true
	g.Unlock()
}

// FenceAll is Fence for everybody; Core ends (R-SPAWN-092).
func (s *Store) FenceAll() {
	s.mu.Lock()
	s.shut = true
	gates := make([]*gate, 0, len(s.gates))
	for _, g := range s.gates {
		gates = append(gates, g)
	}
	s.mu.Unlock()
	for _, g := range gates {
		g.Lock()
		g.closed = true
		g.Unlock()
	}
}

// writing runs f in the directory of a spawned Session while the owner is not fenced.
func (s *Store) writing(o fyllo.SpawnOwner, id fyllo.SessionID, f func(view *records.Store, dir string) error) error {
	g := s.gate(o)
	g.RLock()
	defer g.RUnlock()
	if g.closed {
		return fyllo.Errorf(fyllo.CodeSpawnParentMissing, "the parent Session is being deleted, or FylloCode ends")
	}
	view, dir, err := s.place(o, id)
	if err != nil {
		return err
	}
	if err := f(view, dir); err != nil {
		if e, ok := errors.AsType[*fyllo.Error](err); ok {
			return e
		}
		return fyllo.Errorf(fyllo.CodeStorageFailed, "write the records of spawned Session %s: %w", id, err)
	}
	return nil
}

// place finds the directory of a spawned Session. Neither it nor what leads to it from the parent's may be a link
// (R-SPAWN-082); what does not exist is no error.
func (s *Store) place(o fyllo.SpawnOwner, id fyllo.SessionID) (*records.Store, string, error) {
	if !id.Valid() {
		return nil, "", missing()
	}
	view, dir, err := s.records.Spawned(o.Workspace, o.Parent)
	if err != nil {
		return nil, "", missing()
	}
	own := filepath.Join(dir, string(id))
	for _, d := range []string{filepath.Dir(dir), dir, own} {
		if info, err := os.Lstat(d); err == nil && !info.IsDir() {
			return nil, "", missing()
		}
	}
	return view, own, nil
}

// missing is the one answer about what is absent, foreign or damaged (R-SPAWN-078).
func missing() error { return fyllo.Errorf(fyllo.CodeNotFound, "Session not found") }

// Parents returns the Sessions of a Workspace that have spawned Sessions.
func (s *Store) Parents(w fyllo.WorkspaceID) ([]fyllo.SessionID, error) {
	var parents []fyllo.SessionID
	dir, err := s.records.SessionsDir(w)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		id := fyllo.SessionID(e.Name())
		if !e.IsDir() || !id.Valid() {
			continue
		}
		if info, err := os.Lstat(filepath.Join(dir, e.Name(), "spawn")); err == nil && info.IsDir() {
			parents = append(parents, id)
		}
	}
	return parents, nil
}

// List returns the metadata of an owner's spawned Sessions, in no order. What cannot be read is left out and logged
// (R-SPAWN-094).
func (s *Store) List(o fyllo.SpawnOwner) ([]fyllo.SpawnMeta, error) {
	_, dir, err := s.records.Spawned(o.Workspace, o.Parent)
	if err != nil {
		return nil, missing()
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fyllo.Errorf(fyllo.CodeStorageFailed, "list spawned Sessions: %w", err)
	}
	metas := []fyllo.SpawnMeta{}
	for _, e := range entries {
		if m, err := s.Meta(o, fyllo.SessionID(e.Name())); err == nil {
			metas = append(metas, m)
		}
	}
	return metas, nil
}

// Meta returns the metadata of a spawned Session. Code NOT_FOUND, always with one text: it is absent, damaged, or
// somebody else's.
func (s *Store) Meta(o fyllo.SpawnOwner, id fyllo.SessionID) (m fyllo.SpawnMeta, err error) {
	_, dir, err := s.place(o, id)
	if err != nil {
		return m, err
	}
	path := filepath.Join(dir, "meta.json")
	if err := s.read(path, &m); err != nil {
		return fyllo.SpawnMeta{}, missing()
	}
	if m.Version != version || m.SessionID != id || m.WorkspaceID != o.Workspace || m.ParentSessionID != o.Parent {
		s.log.Warn("a spawned Session is hidden: its record has another version or owner", "session", id, "version", m.Version)
		return fyllo.SpawnMeta{}, missing()
	}
	return m, nil
}

// read reads a record. What is there and cannot be read is logged.
func (s *Store) read(path string, v any) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	var b []byte
	if err == nil {
		b, err = os.ReadFile(path)
	}
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("a record of a spawned Session cannot be read", "file", filepath.Base(path), "err", err)
	}
	return err
}

// PutMeta makes metadata durable. The first makes the Session exist.
func (s *Store) PutMeta(o fyllo.SpawnOwner, m fyllo.SpawnMeta) error {
	m.Version, m.WorkspaceID, m.ParentSessionID = version, o.Workspace, o.Parent
	return s.writing(o, m.SessionID, func(_ *records.Store, dir string) error {
		path := filepath.Join(dir, "meta.json")
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			for _, d := range []string{dir, filepath.Join(dir, "turns"), filepath.Join(dir, "responses")} {
				if err := atomicfile.MkdirAll(d, 0o700); err != nil {
					return err
				}
			}
		}
		return write(path, m)
	})
}

func write(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(b, '\n'), 0o600)
}

// Remove deletes a spawned Session that nobody was told about (R-SPAWN-040).
func (s *Store) Remove(o fyllo.SpawnOwner, id fyllo.SessionID) error {
	return s.writing(o, id, func(_ *records.Store, dir string) error {
		return errors.Join(atomicfile.Remove(filepath.Join(dir, "meta.json")), os.RemoveAll(dir))
	})
}

// Turns returns the turns of a spawned Session by ordinal. One that cannot be read is left out and logged.
func (s *Store) Turns(o fyllo.SpawnOwner, id fyllo.SessionID) ([]fyllo.SpawnTurn, error) {
	_, dir, err := s.place(o, id)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Join(dir, "turns"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fyllo.Errorf(fyllo.CodeStorageFailed, "read the turns of spawned Session %s: %w", id, err)
	}
	turns := []fyllo.SpawnTurn{}
	for _, e := range entries {
		name, isRecord := strings.CutSuffix(e.Name(), ".json")
		var t fyllo.SpawnTurn
		if !isRecord || strings.HasPrefix(name, ".") || s.read(filepath.Join(dir, "turns", e.Name()), &t) != nil {
			continue
		}
		if t.Version != version || t.TurnID != name {
			s.log.Warn("a spawned turn is hidden: its record has another version or id", "session", id, "turn", name)
			continue
		}
		turns = append(turns, t)
	}
	slices.SortFunc(turns, func(a, b fyllo.SpawnTurn) int { return a.Ordinal - b.Ordinal })
	return turns, nil
}

// PutTurn makes the record of a turn durable.
func (s *Store) PutTurn(o fyllo.SpawnOwner, id fyllo.SessionID, t fyllo.SpawnTurn) error {
	t.Version = version
	if !fyllo.PathSafe(t.TurnID) {
		return fyllo.Errorf(fyllo.CodeInternal, "the turn id cannot name a file")
	}
	return s.writing(o, id, func(_ *records.Store, dir string) error {
		return write(filepath.Join(dir, "turns", t.TurnID+".json"), t)
	})
}

// PutResponse stores an answer, whole and synced, or nothing. It must be valid UTF-8. An id that is in use is an error
// (R-SPAWN-083).
func (s *Store) PutResponse(o fyllo.SpawnOwner, id fyllo.SessionID, response string, from io.Reader) error {
	return s.writing(o, id, func(_ *records.Store, dir string) error {
		path, err := responsePath(dir, response)
		if err != nil {
			return err
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the response id is in use: %w", err)
		}
		if _, err := atomicfile.WriteFrom(path, from, 0o600); err != nil {
			return errors.Join(err, atomicfile.Remove(path))
		}
		return nil
	})
}

func responsePath(dir, response string) (string, error) {
	if !fyllo.PathSafe(response) || !fyllo.SessionID(response).Valid() {
		return "", missing()
	}
	return filepath.Join(dir, "responses", response+".md"), nil
}

// ReadResponse returns at most limit bytes of an answer from a position, and its size. Only those are read (R-SPAWN-089).
// Code NOT_FOUND.
func (s *Store) ReadResponse(o fyllo.SpawnOwner, id fyllo.SessionID, response string, at int64, limit int) ([]byte, int64, error) {
	if _, err := s.Meta(o, id); err != nil {
		return nil, 0, err
	}
	_, dir, err := s.place(o, id)
	if err != nil {
		return nil, 0, err
	}
	path, err := responsePath(dir, response)
	if err != nil {
		return nil, 0, err
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, 0, missing()
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, missing()
	}
	defer f.Close()
	if at < 0 || at > info.Size() {
		return nil, info.Size(), nil
	}
	b := make([]byte, min(int64(limit), info.Size()-at))
	if n, err := f.ReadAt(b, at); err != nil && n < len(b) {
		return nil, 0, fyllo.Errorf(fyllo.CodeStorageFailed, "read the response: %w", err)
	}
	return b, info.Size(), nil
}
