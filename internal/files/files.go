// Package files finds files of a Session's, or a Workspace's, directories by a part of their path, for people who mention
// one in a message, and those that a message mentions, for Agents.
//
// A query is text and nothing else: it never names a place on disk. Only what lies below the directories is looked at;
// symbolic links are not followed, and what Git keeps, what package managers install and hidden directories are left out.
// What .gitignore files and .git/info/exclude ignore is left out too; those above the directories and the user's own are
// not read, since they lie elsewhere. A search is bounded in entries and time, says when it did not see everything, and ends
// with its context. Nothing here has state; everything may be called at any time.
package files

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"fyllocode.dev/fyllo"
)

// Limits of one search.
const (
	maxFound   = 50
	maxEntries = 50_000 // of directories
	maxTime    = 400 * time.Millisecond
	maxQuery   = 200 // bytes; a longer query finds nothing
	maxDepth   = 32
	readAtOnce = 256
)

// left names directories that are left out wherever they stand, unless a rule of .gitignore takes them back.
var left = map[string]bool{
	"node_modules": true, "bower_components": true, "vendor": true, "target": true, "dist": true, "build": true, "out": true,
	"coverage": true, "__pycache__": true, "venv": true, "DerivedData": true, "Pods": true,
}

// Finder finds files. Make one with New.
type Finder struct {
	limit int           // of entries
	time  time.Duration // of a search
	slots chan struct{} // searches at once; a dead network drive may hold one for long
}

// New returns a Finder.
func New() *Finder {
	return &Finder{limit: maxEntries, time: maxTime, slots: make(chan struct{}, 4)}
}

// Find returns the files whose path holds the query, whatever the case; those whose name begins with it come first, then
// those whose name holds it, shorter paths before longer ones. An empty query finds what lies near the top. The error is
// that of ctx.
func (f *Finder) Find(ctx context.Context, dirs []fyllo.ScopeFolder, query string) (fyllo.FoundFiles, error) {
	if len(query) > maxQuery || !utf8.ValidString(query) || strings.ContainsRune(query, 0) {
		return fyllo.FoundFiles{Paths: []string{}}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*f.time)
	defer cancel()
	select {
	case f.slots <- struct{}{}:
	case <-ctx.Done():
		return fyllo.FoundFiles{Paths: []string{}, Capped: true}, callerErr(ctx)
	}
	found := make(chan fyllo.FoundFiles, 1)
	go func() { // ends when the file system has answered, at the latest soon after the deadline unless it hangs
		defer func() { <-f.slots }()
		s := &search{ctx: ctx, query: strings.ToLower(query), left: f.limit, deadline: time.Now().Add(f.time)}
		found <- s.run(dirs)
	}()
	select {
	case r := <-found:
		return r, callerErr(ctx)
	case <-ctx.Done():
		return fyllo.FoundFiles{Paths: []string{}, Capped: true}, callerErr(ctx)
	}
}

// callerErr tells a search that was called off from one that ran out of its own time.
func callerErr(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return ctx.Err()
	}
	return nil
}

// search is one search over some directories.
type search struct {
	ctx      context.Context //nolint:containedctx // of this one search
	query    string          // lower case
	left     int             // entries that may still be looked at
	deadline time.Time
	capped   bool
	hits     []hit
}

type hit struct {
	path string
	rank int
}

// place is a directory to be read: its path below the root, "." for the root itself.
type place struct {
	path  string
	depth int
	rules []ruled // of the directories above, outermost first
}

func (s *search) run(dirs []fyllo.ScopeFolder) fyllo.FoundFiles {
	for _, d := range dirs {
		prefix := ""
		if len(dirs) > 1 {
			prefix = d.FolderName
		}
		s.walk(d.FolderPath, prefix)
	}
	slices.SortFunc(s.hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(len(a.path), len(b.path)), cmp.Compare(a.path, b.path))
	})
	out := fyllo.FoundFiles{Paths: []string{}, Capped: s.capped}
	for _, h := range s.hits[:min(maxFound, len(s.hits))] {
		out.Paths = append(out.Paths, h.path)
	}
	return out
}

// walk goes through one directory, level by level, so that what lies near the top is seen even when the limits are met.
// All reading goes through an os.Root, which no name and no link can lead out of.
func (s *search) walk(dir, prefix string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return // it is gone; the others may be there
	}
	defer func() { _ = root.Close() }() // it was only read
	for places := []place{{path: ".", rules: ruledBy(nil, root, ".", ".git/info/exclude")}}; len(places) > 0; places = places[1:] {
		if s.over() {
			return
		}
		places = append(places, s.read(root, places[0], prefix)...)
	}
}

// over notes that the limits are met.
func (s *search) over() bool {
	if s.left <= 0 || s.ctx.Err() != nil || time.Now().After(s.deadline) {
		s.capped = true
	}
	return s.capped
}

// read looks at the entries of one directory and returns the directories to be read later.
func (s *search) read(root *os.Root, p place, prefix string) (inside []place) {
	dir, err := root.Open(p.path)
	if err != nil {
		return nil // not ours to read
	}
	defer dir.Close()
	p.rules = ruledBy(p.rules, root, p.path, ".gitignore")
	for !s.over() {
		entries, err := dir.ReadDir(min(readAtOnce, s.left))
		s.left -= len(entries)
		for _, e := range entries {
			below := path.Join(p.path, e.Name())
			switch {
			case !utf8.ValidString(e.Name()) || strings.ContainsAny(e.Name(), "\r\n") || p.leaves(below, e.IsDir()):
			case e.IsDir():
				inside = append(inside, place{below, p.depth + 1, p.rules})
			case e.Type() == 0 || e.Type()&fs.ModeSymlink != 0: // a link is named, and never followed
				s.judge(path.Join(prefix, below))
			}
		}
		if err != nil {
			break
		}
	}
	slices.SortFunc(inside, func(a, b place) int { return cmp.Compare(a.path, b.path) })
	return inside
}

// leaves reports whether an entry is left out.
func (p place) leaves(below string, dir bool) bool {
	name := path.Base(below)
	if dir && (p.depth >= maxDepth || strings.HasPrefix(name, ".")) {
		return true
	}
	if ignored, decided := judged(p.rules, below, dir); decided {
		return ignored
	}
	return dir && left[name]
}

// judge keeps a path that the query asks for.
func (s *search) judge(p string) {
	folded := strings.ToLower(p)
	name := strings.Index(path.Base(folded), s.query)
	switch {
	case s.query == "":
		s.hits = append(s.hits, hit{p, strings.Count(p, "/")})
	case name == 0:
		s.hits = append(s.hits, hit{p, 0})
	case name > 0:
		s.hits = append(s.hits, hit{p, 1})
	case strings.Contains(folded, s.query):
		s.hits = append(s.hits, hit{p, 2})
	}
}
