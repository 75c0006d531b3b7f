package records

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/atomicfile"
	"fyllocode.dev/fyllo/internal/records/internal/document"
	"fyllocode.dev/fyllo/internal/records/internal/files"
)

// readers is how many metadata files are read at a time.
const readers = 4

// listing is what lies in the sessions directory of a Workspace.
type listing struct {
	dir   string
	metas []fyllo.SessionID
	has   map[fyllo.SessionID]bool // Sessions with metadata
	dirs  map[fyllo.SessionID]bool // Sessions with a directory
	rest  []fyllo.SessionID        // owners of other files; with repetitions
	temps []string                 // left by a killed Core
}

// ScanSessions calls fn for every Session of a Workspace, one call at a time, in no order; turnInFlight says that a
// turn was left to be recovered. Metadata that cannot be read is skipped with a warning and hides no other Session.
// No transcript is read, and AvailableCommands and ConfigOptions stay nil: Meta has them. fn may call the Store. The first scan of a Workspace by a Store also removes the remnants of
// Sessions that were never committed or not wholly deleted (R-CHAT-054).
func (s *Store) ScanSessions(ctx context.Context, w fyllo.WorkspaceID, fn func(meta fyllo.SessionMeta, turnInFlight bool)) error {
	dir, err := s.workspaceDir(w)
	if err != nil {
		return err
	}
	l, err := list(filepath.Join(dir, "sessions"))
	if err != nil {
		return fyllo.Errorf(fyllo.CodeStorageFailed, "the Sessions cannot be listed: %w", err)
	}
	s.mu.Lock()
	first := !s.scanned[w]
	s.scanned[w] = true
	s.mu.Unlock()
	if first {
		s.removeRemnants(l)
		s.removeStaleTemps(dir)
	}
	s.readMetas(ctx, l, fn)
	return ctx.Err()
}

func list(dir string) (*listing, error) {
	l := &listing{dir: dir, has: map[fyllo.SessionID]bool{}, dirs: map[fyllo.SessionID]bool{}}
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		l.add(e)
	}
	return l, nil
}

// add sorts a name in; names that are not ours are left alone.
func (l *listing) add(e fs.DirEntry) {
	name := e.Name()
	if atomicfile.IsStaleTemp(name) {
		l.temps = append(l.temps, filepath.Join(l.dir, name))
		return
	}
	base, kind, _ := strings.Cut(name, ".")
	id := fyllo.SessionID(base)
	if !id.Valid() {
		return
	}
	switch {
	case kind == "json":
		l.metas = append(l.metas, id)
		l.has[id] = true
	case kind == "" && e.IsDir():
		l.dirs[id] = true
	case strings.HasPrefix(kind, "messages.jsonl"):
		l.rest = append(l.rest, id)
	}
}

// scanned is metadata without what makes up most of its bytes and what no list shows.
type scanned struct {
	fyllo.SessionMeta
	AvailableCommands skipped `json:"available_commands"`
	ConfigOptions     skipped `json:"configOptions"`
}

// skipped is a value that is not decoded.
type skipped struct{}

// UnmarshalJSONFrom skips the value.
func (*skipped) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return dec.SkipValue() }

// readMetas reads the metadata in parallel and calls fn serially.
func (s *Store) readMetas(ctx context.Context, l *listing, fn func(fyllo.SessionMeta, bool)) {
	var (
		next   atomic.Int64
		serial sync.Mutex
		wg     sync.WaitGroup
	)
	for range min(readers, len(l.metas)) {
		wg.Go(func() { // ends when no name is left
			var buf []byte
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(l.metas) {
					return
				}
				p := placeIn(l.dir, l.metas[i])
				meta, err := s.scanMeta(p, &buf)
				if err != nil {
					s.log.Warn("skip a Session", "file", s.relative(p.meta), "err", err)
					continue
				}
				inFlight := false
				if l.dirs[p.id] {
					_, err := os.Lstat(p.turn)
					inFlight = err == nil
				}
				serial.Lock()
				fn(meta, inFlight)
				serial.Unlock()
			}
		})
	}
	wg.Wait()
}

// scanMeta reads one metadata file through buf, which it may replace by a larger one.
func (s *Store) scanMeta(p place, buf *[]byte) (fyllo.SessionMeta, error) {
	b, err := files.ReadSmall(p.meta, *buf)
	if err != nil {
		return fyllo.SessionMeta{}, err
	}
	*buf = b[:0]
	var m scanned
	if document.Unmarshal(b, &m) != nil {
		return parseMeta(p.id, b) // tolerant of what stands behind the object
	}
	return normal(p.id, m.SessionMeta), nil
}

// removeRemnants deletes what belongs to no Session. Metadata that cannot be read still makes its Session exist.
func (s *Store) removeRemnants(l *listing) {
	for _, path := range l.temps {
		if err := os.Remove(path); err != nil {
			s.log.Warn("remove temporary file", "file", s.relative(path), "err", err)
		}
	}
	orphans := map[fyllo.SessionID]bool{}
	for _, id := range l.rest {
		orphans[id] = !l.has[id]
	}
	for id := range l.dirs {
		orphans[id] = !l.has[id]
	}
	for id, orphan := range orphans {
		if orphan {
			s.removeRemnant(placeIn(l.dir, id))
		}
	}
}

// removeRemnant deletes what is left of one Session, unless it was created meanwhile or is not of our making.
func (s *Store) removeRemnant(p place) {
	defer s.sessions.Lock(p.meta)()
	if fyllo.CodeOf(p.mustExist()) != fyllo.CodeSessionNotFound || !ours(p.dir) {
		return
	}
	if err := p.removeRest(); err != nil {
		s.log.Warn("remove the remnant of a Session", "session", p.id, "err", err)
		return
	}
	s.log.Info("removed the remnant of a Session", "session", p.id)
}

// ours reports whether a directory holds only what Session directories hold, so that nothing is deleted that someone
// else put here. A directory that does not exist is ours.
func ours(dir string) bool {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	for _, e := range entries {
		kind, _, _ := strings.Cut(e.Name(), ".")
		switch kind {
		case "turn", "bodies", "attachments", "unsent", "queue", "plans", "spawn", "": // "" are temporary files
		default:
			return false
		}
	}
	return err == nil
}
