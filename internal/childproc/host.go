package childproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// ErrClosed is returned by Start after Close.
var ErrClosed = errors.New("no more child processes are started: shutting down")

// Options configure a Host. The zero value works, without protection against SIGKILL of this process beyond
// the kernel's own.
type Options struct {
	Guard       []string      // argv that runs GuardMain on its standard input; empty = no guard
	TempDir     string        // where the private directories are made; "" = os.TempDir()
	StderrLimit int           // bytes of standard error to keep; 0 = 64 KiB
	Grace       time.Duration // each wait of the stop ladder; 0 = 500 ms
}

// Spec says what to start.
type Spec struct {
	Path string   // absolute path of the executable; no shell, no search
	Args []string // arguments behind the program name
	Dir  string   // working directory; "" = that of this process
	// Env is the whole environment; nil = that of this process. TMPDIR is replaced by the private directory
	// unless KeepTemp is set.
	Env      []string
	KeepTemp bool // leave TMPDIR as it is and make no private directory
}

// Host starts children and owns them. All its methods may be called from any goroutine.
type Host struct {
	opts  Options
	guard guard

	mu     sync.Mutex
	forks  chan func() // to the forking thread; nil until the first start
	procs  map[*Proc]struct{}
	starts sync.WaitGroup // Start calls in progress
	forker sync.WaitGroup
	closed bool
}

// New returns a Host that runs nothing yet.
func New(o Options) *Host {
	if o.StderrLimit <= 0 {
		o.StderrLimit = 64 << 10
	}
	if o.Grace <= 0 {
		o.Grace = 500 * time.Millisecond
	}
	h := &Host{opts: o, procs: map[*Proc]struct{}{}}
	h.guard.argv = o.Guard
	h.guard.fork = h.fork
	return h
}

// Start starts a child. The error is the operating system's (os.ErrNotExist, os.ErrPermission, …), or ErrClosed.
// The caller must read Stdout to its end, or close it.
func (h *Host) Start(s Spec) (*Proc, error) {
	if err := h.begin(); err != nil {
		return nil, err
	}
	defer h.starts.Done()
	p := &Proc{host: h, exited: make(chan struct{}), done: make(chan struct{})}
	child, err := p.prepare(s)
	if err == nil {
		err = h.guard.announce(p.temp)
	}
	if err == nil {
		if err = h.fork(p.cmd.Start); err != nil {
			h.guard.retract(p.temp)
		}
	}
	for _, f := range child {
		f.Close()
	}
	if err != nil {
		p.discard()
		return nil, err
	}
	p.pid = p.cmd.Process.Pid
	if err := h.guard.add(p.pid, p.temp); err != nil {
		p.signal(sigKill)
		_ = p.cmd.Wait() // it was killed; there is nothing to learn
		p.discard()
		return nil, err
	}
	h.mu.Lock()
	h.procs[p] = struct{}{}
	h.mu.Unlock()
	p.run()
	return p, nil
}

// begin registers a start, and starts the forking thread at the first.
func (h *Host) begin() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	h.starts.Add(1)
	if h.forks == nil {
		forks := make(chan func())
		h.forks = forks
		// Ends at Close. The parent-death signal of a child is sent when the thread that forked it ends, so
		// this goroutine stays on one thread for the whole life of the Host.
		h.forker.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for f := range forks {
				f()
			}
		})
	}
	return nil
}

// fork runs f on the forking thread.
func (h *Host) fork(f func() error) error {
	done := make(chan error)
	h.forks <- func() { done <- f() }
	return <-done
}

// Close stops all children at the same time, then the guard and the forking thread. When ctx ends, what still
// lives is killed at once. It returns the errors of children that even SIGKILL did not end; then the guard is
// left to its own devices. Later calls do nothing.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	h.mu.Unlock()
	h.starts.Wait() // bounded: a start only forks

	h.mu.Lock()
	procs := make([]*Proc, 0, len(h.procs))
	for p := range h.procs {
		procs = append(procs, p)
	}
	h.mu.Unlock()
	errs := make([]error, len(procs))
	var wg sync.WaitGroup
	for i, p := range procs {
		wg.Go(func() { errs[i] = p.Stop(ctx) })
	}
	wg.Wait()
	h.guard.close()
	if h.forks != nil {
		close(h.forks)
		h.forker.Wait()
	}
	return errors.Join(errs...)
}

func (h *Host) forget(p *Proc) {
	h.mu.Lock()
	delete(h.procs, p)
	h.mu.Unlock()
}

// prepare makes the pipes, the private directory and the command. It returns the child's ends of the pipes,
// also with an error.
func (p *Proc) prepare(s Spec) (child []*os.File, err error) {
	o := p.host.opts
	var stdin, stdout, stderr, theirs *os.File
	if stdin, p.stdin, err = os.Pipe(); err != nil {
		return child, err
	}
	child = append(child, stdin)
	if theirs, stdout, err = os.Pipe(); err != nil {
		return child, err
	}
	p.stdout = newPipeReader(theirs)
	child = append(child, stdout)
	if theirs, stderr, err = os.Pipe(); err != nil {
		return child, err
	}
	p.stderr = newPipeReader(theirs)
	child = append(child, stderr)
	p.tail.limit = o.StderrLimit
	env := s.Env
	if env == nil {
		env = os.Environ()
	}
	if !s.KeepTemp {
		if p.temp, err = os.MkdirTemp(o.TempDir, "fyllo-"); err != nil {
			return child, fmt.Errorf("make a temporary directory: %w", err)
		}
		env = append(env[:len(env):len(env)], "TMPDIR="+p.temp) // the last one counts
	}
	p.cmd = &exec.Cmd{
		Path: s.Path, Args: append([]string{s.Path}, s.Args...), Dir: s.Dir, Env: env,
		Stdin: stdin, Stdout: stdout, Stderr: stderr,
		SysProcAttr: childAttr(),
	}
	return child, nil
}
