package agents

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"fyllocode.dev/fyllo/internal/childproc"
)

const shellLimit = 5 * time.Second // R-AGT-034

// lookup finds executables on the effective PATH: that of this process, or, when this process was not started
// from a terminal, that of a login shell, which is asked once (R-AGT-021, R-AGT-034).
type lookup struct {
	env   []string // of this process
	start starter
	ask   bool // the login shell has to be asked

	once sync.Once
	mu   sync.Mutex
	path string
}

func newLookup(env []string, terminal bool, start starter) *lookup {
	own := getenv(env, "PATH")
	return &lookup{env: env, start: start, path: own, ask: !terminal && systemOnly(own)}
}

// systemOnly reports whether a PATH has nothing but what every program gets: it was not set up by a shell.
func systemOnly(path string) bool {
	system := []string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/games", "/usr/local/games", "/snap/bin"}
	for _, dir := range filepath.SplitList(path) {
		if dir != "" && !slices.Contains(system, filepath.Clean(dir)) {
			return false
		}
	}
	return true
}

func getenv(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// known returns what is known of the effective PATH without waiting.
func (l *lookup) known() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.path
}

// effective returns the effective PATH. The first call may take up to 5 s, and others wait for it.
func (l *lookup) effective() string {
	l.once.Do(func() {
		if !l.ask {
			return
		}
		if path := l.fromShell(); path != "" {
			l.mu.Lock()
			l.path = merge(path, l.path)
			l.mu.Unlock()
		}
	})
	return l.known()
}

// merge appends the directories of b that a lacks.
func merge(a, b string) string {
	dirs := filepath.SplitList(a)
	for _, dir := range filepath.SplitList(b) {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// fromShell returns "" when the shell fails or does not answer in time: then the own PATH has to do.
func (l *lookup) fromShell() string {
	shell := getenv(l.env, "SHELL")
	if !filepath.IsAbs(shell) {
		shell = "/bin/sh"
		if runtime.GOOS == "darwin" {
			shell = "/bin/zsh"
		}
	}
	// env prints the variable in the same form whatever language the shell speaks.
	ctx, cancel := context.WithTimeout(context.Background(), shellLimit)
	defer cancel()
	out, _ := capturedRun(ctx, l.start, childproc.Spec{Path: shell, Args: []string{"-l", "-c", "/usr/bin/env"}, Env: l.env, Dir: "/"})
	path := ""
	for line := range strings.Lines(string(out)) {
		if v, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "PATH="); ok {
			path = v
		}
	}
	return path
}

// find resolves a command on path to an absolute executable, "" when there is none: "~" is the home directory, a
// bare name is searched for, and a relative path belongs to no directory, so it is never found.
func (l *lookup) find(command, path string) string {
	if rest, ok := strings.CutPrefix(command, "~"); ok && (rest == "" || rest[0] == '/') {
		command = filepath.Join(l.home(), rest)
	}
	if strings.ContainsRune(command, '/') {
		if filepath.IsAbs(command) && executable(command) {
			return filepath.Clean(command)
		}
		return ""
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if file := filepath.Join(dir, command); command != "" && executable(file) {
			return file
		}
	}
	return ""
}

func (l *lookup) home() string {
	if home := getenv(l.env, "HOME"); home != "" {
		return home
	}
	return "/"
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && unix.Access(path, unix.X_OK) == nil
}
