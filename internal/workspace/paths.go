package workspace

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"fyllocode.dev/fyllo"
)

// directory is an existing directory.
type directory struct {
	path string      // real: absolute, without symbolic links (R-WS-020)
	info os.FileInfo // identifies it
}

// same reports whether both are one directory. On volumes that do not distinguish case the paths may differ.
func (d directory) same(other directory) bool {
	return d.path == other.path || os.SameFile(d.info, other.info)
}

// resolve returns the directory at path, following links. FOLDER_PATH_UNAVAILABLE if there is none (R-WS-024).
func resolve(path string) (directory, error) {
	if !filepath.IsAbs(path) {
		return directory{}, unavailable(path, errors.New("the path is not absolute"))
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return directory{}, unavailable(path, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return directory{}, unavailable(path, err)
	}
	if !info.IsDir() {
		return directory{}, unavailable(path, errors.New("it is not a directory"))
	}
	return directory{path: real, info: info}, nil
}

func unavailable(path string, err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err // the path is named already
	}
	e := fyllo.Errorf(fyllo.CodeFolderPathUnavailable, "the directory %s cannot be opened: %w", path, err)
	e.Details = map[string]string{"path": path}
	return e
}

// resolveAll resolves paths that a person gave and makes sure that the directories can be read.
func resolveAll(paths []string) ([]directory, error) {
	if len(paths) == 0 || len(paths) > maxMembers {
		return nil, fyllo.Errorf(fyllo.CodeWorkspaceShape, "the Workspace cannot be opened: it needs 1 to %d directories, not %d", maxMembers, len(paths))
	}
	dirs := make([]directory, len(paths))
	for i, path := range paths {
		d, err := resolve(expandHome(path))
		if err == nil {
			err = readable(d.path)
		}
		if err != nil {
			return nil, err
		}
		dirs[i] = d
	}
	return dirs, nil
}

func readable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return unavailable(path, err)
	}
	defer f.Close()
	if _, err := f.ReadDir(1); err != nil && !errors.Is(err, io.EOF) {
		return unavailable(path, err)
	}
	return nil
}

// expandHome replaces a leading "~" by the home directory.
func expandHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && !os.IsPathSeparator(rest[0]) {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return home + rest
}

// checkMembers makes sure that no member equals or contains another (R-WS-031, 032). Details names the two paths.
func checkMembers(dirs []directory) error {
	for i, a := range dirs {
		for _, b := range dirs[:i] {
			code, verb := fyllo.CodeWorkspacePathDuplicate, "is the same directory as"
			switch {
			case a.same(b) || comparable(a.path) == comparable(b.path):
			case contains(a, b):
				code, verb = fyllo.CodeWorkspacePathNested, "contains"
			case contains(b, a):
				code, verb = fyllo.CodeWorkspacePathNested, "lies in"
			default:
				continue
			}
			e := fyllo.Errorf(code, "the directories cannot form one Workspace: %s %s %s", a.path, verb, b.path)
			e.Details = map[string]string{"path": a.path, "otherPath": b.path}
			return e
		}
	}
	return nil
}

// comparable is the form in which paths are compared (R-WS-030).
func comparable(path string) string {
	return strings.TrimRight(strings.ReplaceAll(path, `\`, "/"), "/")
}

// contains reports whether inner lies in outer, at any depth: by segments of the paths, or because a parent of inner
// is outer under another spelling.
func contains(outer, inner directory) bool {
	if strings.HasPrefix(comparable(inner.path), comparable(outer.path)+"/") {
		return true
	}
	for dir := inner.path; ; {
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		if info, err := os.Stat(parent); err == nil && os.SameFile(info, outer.info) {
			return true
		}
		dir = parent
	}
}
