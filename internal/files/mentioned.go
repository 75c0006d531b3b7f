package files

import (
	"context"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"fyllocode.dev/fyllo"
)

// Limits of what one message mentions.
const (
	maxMentions = 64
	maxTries    = 512     // paths that are looked up
	maxEnds     = 32      // places where one mention may end
	maxPath     = 4 << 10 // bytes
)

// Mentioned returns a resource link for every file that a message mentions as "@path", in the order of the text and each
// once. A path is what Find returns. One that names no file of the directories is no mention: it stays text. Nothing is
// linked when the file system does not answer in time.
func (f *Finder) Mentioned(ctx context.Context, dirs []fyllo.ScopeFolder, text string) []fyllo.PromptBlock {
	if !strings.Contains(text, "@") {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*f.time)
	defer cancel()
	select {
	case f.slots <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	found := make(chan []fyllo.PromptBlock, 1)
	go func() { // ends when the file system has answered, as that of Find
		defer func() { <-f.slots }()
		l := &lookup{dirs: dirs, roots: map[string]*os.Root{}, tries: maxTries, deadline: time.Now().Add(f.time)}
		defer l.close()
		found <- l.links(text)
	}()
	select {
	case links := <-found:
		return links
	case <-ctx.Done():
		return nil
	}
}

// lookup looks paths up for one message.
type lookup struct {
	dirs     []fyllo.ScopeFolder
	roots    map[string]*os.Root // by directory; nil for one that is gone
	tries    int
	deadline time.Time
}

func (l *lookup) close() {
	for _, r := range l.roots {
		if r != nil {
			_ = r.Close() // it was only read
		}
	}
}

func (l *lookup) links(text string) (links []fyllo.PromptBlock) {
	seen := map[string]bool{}
	for at := 0; len(links) < maxMentions; {
		i := strings.IndexByte(text[at:], '@')
		if i < 0 || l.tries <= 0 || time.Now().After(l.deadline) {
			break
		}
		at += i + 1
		if joined(text[:at-1]) {
			continue
		}
		full, n := l.longest(text[at:])
		at += n
		if full == "" || seen[full] {
			continue
		}
		seen[full] = true
		links = append(links, fyllo.PromptBlock{Type: "resource_link", URI: fileURI(full), Name: path.Base(filepath.ToSlash(full))})
	}
	return links
}

// joined reports whether the text before an "@" makes it part of something else, as in an address of mail. The page has
// the same rule.
func joined(before string) bool {
	if before == "" {
		return false
	}
	c := before[len(before)-1]
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.IndexByte(".+-/@:", c) >= 0
}

// longest finds the longest path at the start of a text that names a file, since names may hold blanks. It returns the
// file's place on disk and the bytes of the path, "" and 0 for none.
func (l *lookup) longest(text string) (full string, n int) {
	all := ends(text)
	for i := len(all) - 1; i >= 0 && l.tries > 0; i-- {
		l.tries--
		if full = l.file(text[:all[i]]); full != "" {
			return full, all[i]
		}
	}
	return "", 0
}

// ends lists where a path at the start of a text may end: at the end of its line, at a blank, and at a mark that closes a
// phrase.
func ends(text string) (all []int) {
	for i, r := range text {
		last := i > maxPath || r == '\n' || r == '\r'
		if i > 0 && i <= maxPath && (last || closes(r, text[i:])) {
			all = append(all, i)
		}
		if last || len(all) == maxEnds {
			return all
		}
	}
	return append(all, len(text))
}

// closes reports whether a path may end in front of r, with which the rest begins.
func closes(r rune, rest string) bool {
	if r == '.' {
		next, size := utf8.DecodeRuneInString(rest[1:])
		return size == 0 || unicode.IsSpace(next)
	}
	return unicode.IsSpace(r) || unicode.IsPunct(r) && !strings.ContainsRune(`-_/@#%&*\`, r)
}

// file returns the place of the file that a path names, "" when there is none. An os.Root keeps to its directory,
// whatever the path and links say.
func (l *lookup) file(name string) string {
	for _, d := range l.dirs {
		inside, named := name, true
		if len(l.dirs) > 1 {
			inside, named = strings.CutPrefix(name, d.FolderName+"/")
		}
		if !named || !fs.ValidPath(inside) || strings.ContainsRune(inside, 0) {
			continue
		}
		root, known := l.roots[d.FolderPath]
		if !known {
			root, _ = os.OpenRoot(d.FolderPath) // nil: it is gone
			l.roots[d.FolderPath] = root
		}
		if root == nil {
			continue
		}
		if info, err := root.Stat(filepath.FromSlash(inside)); err == nil && info.Mode().IsRegular() {
			return filepath.Join(d.FolderPath, filepath.FromSlash(inside))
		}
	}
	return ""
}

// fileURI is an absolute path as a file URI.
func fileURI(full string) string {
	slashed := filepath.ToSlash(full)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // of a drive
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}
