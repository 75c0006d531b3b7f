package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
)

// startPatience is how long a Core in the background may take until it answers.
const startPatience = 20 * time.Second

// logLimit is the size above which the log begins anew with the next Core.
const logLimit = 4 << 20

// logName is where a Core in the background writes what it would say on stderr.
const logName = "core.log"

// background returns a client of the Core of the data root, which it starts in the background if none runs.
// Directories that are missing fail before anything is started.
func (a *app) background(ctx context.Context, dirs []string) (*coreapi.Client, error) {
	for _, dir := range dirs {
		if err := checkDir(dir); err != nil {
			return nil, err
		}
	}
	c, err := a.running(ctx)
	if err == nil && c != nil {
		return c, nil
	}
	if err != nil && fyllo.CodeOf(err) != fyllo.CodeAlreadyRunning {
		return nil, err
	}
	child, err := a.spawnCore()
	if err != nil {
		return nil, err
	}
	return child.ready(ctx, a)
}

// checkDir reports FOLDER_PATH_UNAVAILABLE for what is no directory.
func checkDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		failed := fyllo.Errorf(fyllo.CodeFolderPathUnavailable, "directory %s: %w", dir, errors.Unwrap(err))
		if filepath.Base(dir) == dir && dir != "." && dir != ".." {
			return failed.WithHint("If it was meant as a command: 'fyllo --help' shows all.")
		}
		return failed
	}
	if !info.IsDir() {
		return fyllo.Errorf(fyllo.CodeFolderPathUnavailable, "directory %s: it is not a directory", dir)
	}
	return nil
}

// coreProcess is a Core that was started in the background.
type coreProcess struct {
	pid    int
	log    string        // path of its log
	offset int64         // where its part of the log begins
	exited chan struct{} // closed when the child has ended
}

// spawnCore starts `fyllo serve` in the background, detached from the terminal.
func (a *app) spawnCore() (*coreProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("own program: %w", err)
	}
	path := filepath.Join(a.root, logName)
	if err := os.MkdirAll(a.root, 0o700); err != nil {
		return nil, homeNotWritable(a.root, err)
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, homeNotWritable(a.root, err)
	}
	defer log.Close() // the child has its own
	offset, err := log.Seek(0, io.SeekEnd)
	if err == nil && offset > logLimit {
		offset, err = 0, log.Truncate(0)
	}
	if err != nil {
		return nil, homeNotWritable(a.root, err)
	}
	cmd := exec.Command(self, "serve", "--no-open", "--home", a.root)
	cmd.Dir = a.root // its own directory, so that no other one is kept busy
	cmd.Stderr = log // stdout holds the one-time token, which belongs into no log
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fyllo.Errorf(fyllo.CodeInternal, "Core: it cannot be started: %w", err)
	}
	p := &coreProcess{pid: cmd.Process.Pid, log: path, offset: offset, exited: make(chan struct{})}
	go func() { // ends with the child, or with the process
		defer close(p.exited)
		_ = cmd.Wait() // what it failed of stands in its log
	}()
	return p, nil
}

// ready waits until a Core answers: the child, or another one that was quicker to take the lock.
func (p *coreProcess) ready(ctx context.Context, a *app) (*coreapi.Client, error) {
	deadline := time.Now().Add(startPatience)
	gone := false
	for {
		c, err := a.running(ctx)
		if c != nil {
			return c, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if gone && err == nil {
			return nil, p.failure()
		}
		if time.Now().After(deadline) {
			return nil, fyllo.Errorf(fyllo.CodeInternal, "Core: process %d does not answer after %s", p.pid, startPatience).
				WithHint("See %s.", p.log)
		}
		select {
		case <-p.exited:
			gone = true
		default:
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// errorLine is the line of R-CLI-011.
var errorLine = regexp.MustCompile(`(?m)^fyllo: (.*) \(([A-Z_]+)\)$`)

// failure returns the error that the child ended with, as its log has it.
func (p *coreProcess) failure() error {
	text, err := os.ReadFile(p.log)
	if err == nil && int64(len(text)) >= p.offset {
		text = bytes.TrimSpace(text[p.offset:])
	}
	if m := errorLine.FindAllSubmatch(text, -1); len(m) > 0 {
		last := m[len(m)-1]
		return fyllo.Errorf(fyllo.Code(last[2]), "%s", last[1])
	}
	return fyllo.Errorf(fyllo.CodeInternal, "Core: process %d ended at its start", p.pid).WithHint("See %s.", p.log)
}

func homeNotWritable(root string, err error) error {
	return fyllo.Errorf(fyllo.CodeHomeNotWritable, "data root %s: %w", root, err).
		WithHint("Choose another one with --home DIR or FYLLO_HOME.")
}
