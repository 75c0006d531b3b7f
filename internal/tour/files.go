package tour

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"
)

const (
	maxFile    = 64 << 10 // bytes of the largest file the tour reads
	maxEntries = 1000     // directory entries it looks at to find one
)

var (
	errNotText = errors.New("it is not a small text file")
	errChanged = errors.New("the file was changed meanwhile")
)

// project is the directory that the tour may touch. No path and no link leads out of it.
type project struct{ root *os.Root }

// openProject opens a directory. The caller closes it.
func openProject(dir string) (project, error) {
	root, err := os.OpenRoot(dir)
	return project{root}, err
}

func (p project) close() { _ = p.root.Close() } // nothing was written through it

// abs returns the path of a file for the client.
func (p project) abs(name string) string { return filepath.Join(p.root.Name(), name) }

// read returns the text of a regular file. A link is not followed, also not inside the Project.
func (p project) read(name string) (string, error) {
	if info, err := p.root.Lstat(name); err != nil {
		return "", err
	} else if !info.Mode().IsRegular() {
		return "", errNotText
	}
	// Should the file have become a pipe since, opening it must not wait for a writer.
	f, err := p.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errNotText
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxFile || !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		return "", errNotText
	}
	return string(b), nil
}

// readable returns a text file at the top of the Project, a README if there is one, and its text.
func (p project) readable() (name, text string, ok bool) {
	entries, err := fs.ReadDir(p.root.FS(), ".")
	if err != nil {
		return "", "", false
	}
	for _, wantReadme := range []bool{true, false} {
		for _, e := range entries[:min(len(entries), maxEntries)] {
			name := e.Name()
			readme := strings.HasPrefix(strings.ToLower(name), "readme")
			if !e.Type().IsRegular() || readme != wantReadme || strings.HasPrefix(name, ".") {
				continue
			}
			if text, err := p.read(name); err == nil && text != "" {
				return name, text, true
			}
		}
	}
	return "", "", false
}

// change is a change of one file that was shown and may be made.
type change struct {
	name string
	old  *string // nil: the file is new
	now  string
}

// write makes a change, provided that the file is still what the change was shown against. Neither way of writing
// goes through a link that may stand in the file's place by now.
func (p project) write(c change) error {
	if c.old == nil {
		return p.create(c.name, c.now, 0o644)
	}
	info, err := p.root.Lstat(c.name)
	if err != nil {
		return errChanged
	}
	if text, err := p.read(c.name); err != nil || text != *c.old {
		return errChanged
	}
	temp := c.name + ".tour-" + rand.Text()
	if err := p.create(temp, c.now, info.Mode().Perm()); err != nil {
		return err
	}
	if err := p.root.Rename(temp, c.name); err != nil {
		return errors.Join(err, p.root.Remove(temp))
	}
	return nil
}

// create writes a file that must not exist yet, whole or not at all.
func (p project) create(name, text string, mode fs.FileMode) error {
	f, err := p.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return errChanged
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, p.root.Remove(name))
	}
	return nil
}
