package childproc

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	sigTerm = syscall.SIGTERM
	sigKill = syscall.SIGKILL

	killWait = 2 * time.Second // for the kernel to end a killed process
)

// Proc is one child. All its methods may be called from any goroutine.
type Proc struct {
	host   *Host
	cmd    *exec.Cmd
	pid    int
	temp   string // "" = none
	stdin  *os.File
	stdout *pipeReader
	stderr *pipeReader
	tail   tail

	exited chan struct{}
	done   chan struct{}
	exit   Exit // written before exited is closed

	mu       sync.Mutex
	reaped   bool // the pid and the group id may belong to somebody else
	stopping bool // somebody is on the stop ladder
}

// Stdin is the child's standard input. Closing it twice is harmless; a blocked Write returns when it is closed.
func (p *Proc) Stdin() io.WriteCloser { return p.stdin }

// Stdout is the child's standard output, for one reader. It ends with io.EOF after the child's last byte.
func (p *Proc) Stdout() io.ReadCloser { return p.stdout }

// StderrTail returns the last part of what the child wrote to standard error, in whole lines.
func (p *Proc) StderrTail() string { return p.tail.String() }

// PID is the process id and at the same time the process group id.
func (p *Proc) PID() int { return p.pid }

// Exited is closed when the child is reaped, its group dead and its standard error complete.
func (p *Proc) Exited() <-chan struct{} { return p.exited }

// Exit says how the child ended. Only valid after Exited is closed.
func (p *Proc) Exit() Exit {
	<-p.exited
	return p.exit
}

// Stop ends the child: end of standard input, grace, SIGTERM to the group, grace, SIGKILL to the group. When ctx
// ends, SIGKILL comes at once. It returns when the child is reaped and its temporary directory removed, or with
// an error when it is still there 2 s after SIGKILL. Several callers share one ladder.
func (p *Proc) Stop(ctx context.Context) error {
	p.mu.Lock()
	first := !p.stopping
	p.stopping = true
	p.mu.Unlock()
	if first {
		p.stdin.Close()
		if p.ended(ctx, p.host.opts.Grace) {
			return nil
		}
		p.signal(sigTerm)
		if p.ended(ctx, p.host.opts.Grace) {
			return nil
		}
	} else if p.ended(ctx, 3*p.host.opts.Grace) {
		return nil
	}
	p.signal(sigKill)
	if !p.ended(context.Background(), killWait) {
		return fmt.Errorf("process %d did not end %v after SIGKILL", p.pid, killWait)
	}
	return nil
}

// ended waits until all is over, and reports false when d is over first or ctx ends.
func (p *Proc) ended(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// signal sends to the whole group, unless its id is free again.
func (p *Proc) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = syscall.Kill(-p.pid, sig) // all gone is fine
	}
}

// run starts the two goroutines of a child; both end with it.
func (p *Proc) run() {
	var stderr sync.WaitGroup
	stderr.Go(func() { _, _ = io.Copy(&p.tail, p.stderr) }) // the tail never fails, a broken pipe is an end
	go func() {
		defer close(p.done)
		defer p.host.forget(p)
		p.exit = p.reap()
		killStrays(p.temp)
		p.stdin.Close()
		p.stdout.finish()
		p.stderr.finish()
		stderr.Wait()
		close(p.exited)
		p.removeTemp()
	}()
}

// reap waits for the leader, kills what is left of the group while the leader still holds the group id, and only
// then reaps it.
func (p *Proc) reap() Exit {
	err := waitExit(p.pid)
	if err != nil {
		_ = p.cmd.Wait() // without a way to look first, the group is killed a moment after the reaping
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = syscall.Kill(-p.pid, sigKill)
	p.host.guard.remove(p.pid)
	if err == nil {
		_ = p.cmd.Wait() // its error only repeats the state
	}
	p.reaped = true
	return exitOf(p.cmd.ProcessState)
}

func (p *Proc) removeTemp() {
	if p.temp != "" {
		_ = os.RemoveAll(p.temp) // what cannot be removed is left to the system's cleaning
	}
}

// discard releases what prepare made for a child that never came to life.
func (p *Proc) discard() {
	if p.stdin != nil {
		p.stdin.Close()
	}
	for _, r := range []*pipeReader{p.stdout, p.stderr} {
		if r != nil {
			_ = r.Close()
		}
	}
	p.removeTemp()
}
