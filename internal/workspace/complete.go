package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	completions      = 50                     // at most so many are offered
	completeTime     = 300 * time.Millisecond // then what was found so far is the answer
	completeEntries  = 20_000                 // of a directory are looked at, at most
	completeParallel = 4                      // looks at once; a dead network drive may hold one for long
)

// looking bounds the goroutines of Complete.
var looking = make(chan struct{}, completeParallel)

// Complete returns the absolute paths of directories that begin with prefix, ordered, at most 50. "" and "~" stand
// for the home directory; hidden directories appear only when the last segment of prefix begins with a dot. It takes
// a bounded time: a directory that does not answer gives nothing.
func (r *Registry) Complete(prefix string) []string {
	if prefix == "" || prefix == "~" {
		prefix = "~" + string(filepath.Separator)
	}
	dir, segment := filepath.Split(expandHome(prefix))
	if !filepath.IsAbs(dir) {
		return []string{}
	}
	select {
	case looking <- struct{}{}:
	default:
		return []string{} // earlier looks hang
	}
	found := make(chan []string, 1)
	deadline := time.Now().Add(completeTime)
	go func() { // ends when the file system has answered, at the latest soon after the deadline unless it hangs
		defer func() { <-looking }()
		found <- directories(dir, segment, deadline)
	}()
	select {
	case paths := <-found:
		return paths
	case <-time.After(2 * completeTime):
		return []string{}
	}
}

// directories lists the directories in dir whose names begin with segment.
func directories(dir, segment string, deadline time.Time) []string {
	paths := []string{}
	f, err := os.Open(dir)
	if err != nil {
		return paths
	}
	defer f.Close()
	for seen := 0; seen < completeEntries && time.Now().Before(deadline); {
		entries, err := f.ReadDir(256)
		seen += len(entries)
		for _, e := range entries {
			if offered(dir, segment, e) {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
		if err != nil {
			break
		}
	}
	slices.Sort(paths)
	return paths[:min(completions, len(paths))]
}

// offered reports whether e is a directory, or a link to one, that the segment asks for.
func offered(dir, segment string, e fs.DirEntry) bool {
	name := e.Name()
	if !strings.HasPrefix(name, segment) || strings.HasPrefix(name, ".") && segment == "" {
		return false
	}
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.IsDir()
}
