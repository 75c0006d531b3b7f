package childproc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Times of the guard.
const (
	guardGrace   = 500 * time.Millisecond // between SIGTERM and SIGKILL, and after SIGKILL
	guardPoll    = 5 * time.Millisecond
	guardWrite   = time.Second // a guard that does not read for so long is replaced
	guardMinLife = time.Second // a guard that ends sooner died young
	guardYoung   = 3           // so many may die young in a row; more, and only the next start tries again
)

// Lines that the guard is sent: a verb, a blank and what it is about.
const (
	verbComing = "~" // the private directory of a child that is about to start
	verbFailed = "!" // the same directory: the start has failed
	verbAdd    = "+" // the group of a child, and its directory
	verbRemove = "-" // a group that is dead
)

// GuardMain is the body of the guard process: it reads registrations from in, which is its standard input, and at
// the end of in ends every registered group and its strays, and removes its temporary directory. What a child that
// was only announced has begun is ended as strays. It returns when all is done. It makes the whole process ignore the
// signals of a terminal, so it must be the only thing the process does.
func GuardMain(in io.Reader) error {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM)
	known := registrations{groups: map[int]string{}, coming: map[string]bool{}}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		known.take(lines.Text())
	}
	endGroups(known.groups)
	for dir := range known.coming {
		endStrays(dir)
	}
	return lines.Err()
}

// registrations are what a guard watches over.
type registrations struct {
	groups map[int]string  // private directory by group, "" for none
	coming map[string]bool // directories of children whose group is not known yet
}

// take applies one line. A line torn by the death of its writer changes nothing.
func (r *registrations) take(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case verbComing, verbFailed:
		dir, err := strconv.Unquote(rest)
		if err != nil || dir == "" {
			return
		}
		if delete(r.coming, dir); verb == verbComing {
			r.coming[dir] = true
		}
	case verbAdd, verbRemove:
		id, dir, _ := strings.Cut(rest, " ")
		pgid, err := strconv.Atoi(id)
		if err != nil || pgid <= 1 {
			return // -1 and 0 would hit strangers
		}
		if delete(r.groups, pgid); verb == verbAdd {
			dir, _ = strconv.Unquote(dir)
			r.groups[pgid] = dir
			delete(r.coming, dir)
		}
	}
}

// endGroups terminates the groups in parallel, in at most two graces.
func endGroups(groups map[int]string) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for pgid := range groups {
			_ = syscall.Kill(-pgid, sig) // gone already is fine
		}
		for end := time.Now().Add(guardGrace); anyAlive(groups) && time.Now().Before(end); {
			time.Sleep(guardPoll)
		}
	}
	for _, dir := range groups {
		endStrays(dir)
	}
}

// endStrays kills what has the private directory in its environment, and removes it.
func endStrays(dir string) {
	if dir != "" {
		killStrays(dir)
		_ = os.RemoveAll(dir) // nobody is left to tell
	}
}

func anyAlive(groups map[int]string) bool {
	for pgid := range groups {
		if syscall.Kill(-pgid, 0) == nil {
			return true
		}
	}
	return false
}

// guard is the Host's end of the guard process. One is started at the first child, and again when it is found
// dead. All fields below mu belong to it.
type guard struct {
	argv []string                 // empty = no guard
	fork func(func() error) error // runs a function on the forking thread
	wg   sync.WaitGroup           // the goroutines that wait for guard processes

	mu      sync.Mutex
	pipe    *os.File // nil = not running
	cmd     *exec.Cmd
	started time.Time
	young   int // guards in a row that died young
	known   registrations
	closed  bool
}

// announce is called before a child is started; dir is its private directory, "" for none. When it returns nil, the
// guard runs, and what the child begins before it is registered is ended too if this process dies at once.
func (g *guard) announce(dir string) error {
	return g.register(fmt.Sprintf("%s %q\n", verbComing, dir), func() { g.forgetLocked(dir) })
}

// retract takes an announcement back: the child did not start.
func (g *guard) retract(dir string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forgetLocked(dir)
}

func (g *guard) forgetLocked(dir string) {
	line := fmt.Sprintf("%s %q\n", verbFailed, dir)
	if g.known.take(line[:len(line)-1]); g.pipe != nil {
		_ = g.send(line) // as in remove
	}
}

// add registers a group; when it returns nil, the group is ended even if this process dies at once.
func (g *guard) add(pgid int, dir string) error {
	return g.register(addLine(pgid, dir), func() { delete(g.known.groups, pgid) })
}

// register remembers a line for guards to come and tells it to the one that runs, or to a new one. undo forgets it
// when there is no guard.
func (g *guard) register(line string, undo func()) error {
	if len(g.argv) == 0 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known.groups == nil {
		g.known = registrations{groups: map[int]string{}, coming: map[string]bool{}}
	}
	g.known.take(line[:len(line)-1])
	if g.pipe != nil && g.send(line) == nil {
		return nil
	}
	if err := g.start(); err != nil {
		undo()
		return fmt.Errorf("start the guard process: %w", err)
	}
	return nil
}

// remove forgets a group that is dead.
func (g *guard) remove(pgid int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.known.groups[pgid]; !ok {
		return
	}
	delete(g.known.groups, pgid)
	if g.pipe != nil {
		// A guard that cannot be told is dead or hangs; the next add replaces it and its list.
		_ = g.send(fmt.Sprintf("%s %d\n", verbRemove, pgid))
	}
}

// close lets the guard end, which it does at once when no group is registered, and waits for it.
func (g *guard) close() {
	g.mu.Lock()
	g.closed = true
	if g.pipe != nil {
		g.pipe.Close()
		g.pipe = nil
	}
	cmd := g.cmd
	g.mu.Unlock()
	if cmd == nil {
		return
	}
	timer := time.AfterFunc(3*guardGrace, func() { _ = cmd.Process.Kill() })
	g.wg.Wait()
	timer.Stop()
}

func addLine(pgid int, dir string) string {
	return fmt.Sprintf("%s %d %q\n", verbAdd, pgid, dir)
}

// send writes to the guard; it is called with mu held.
func (g *guard) send(line string) error {
	_ = g.pipe.SetWriteDeadline(time.Now().Add(guardWrite))
	_, err := io.WriteString(g.pipe, line)
	return err
}

// start replaces the guard by a new one that knows all groups; it is called with mu held.
func (g *guard) start() error {
	if g.closed {
		return ErrClosed
	}
	if g.pipe != nil { // hangs or is dead: it must not act on an old list
		_ = g.cmd.Process.Kill()
		g.pipe.Close()
		g.pipe = nil
	}
	in, pipe, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	cmd := &exec.Cmd{
		Path:  g.argv[0],
		Args:  g.argv,
		Dir:   "/",
		Stdin: in,
		// A session of its own: signals of the terminal and of the caller's group do not reach it.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := g.fork(cmd.Start); err != nil {
		pipe.Close()
		return err
	}
	g.pipe, g.cmd, g.started = pipe, cmd, time.Now()
	// Ends when the guard does, at the latest when close has closed the pipe.
	g.wg.Go(func() { g.reap(cmd) })
	for pgid, dir := range g.known.groups {
		if err := g.send(addLine(pgid, dir)); err != nil {
			return err
		}
	}
	for dir := range g.known.coming {
		if err := g.send(fmt.Sprintf("%s %q\n", verbComing, dir)); err != nil {
			return err
		}
	}
	return nil
}

// reap waits for the guard and replaces it when it ended although it is needed.
func (g *guard) reap(cmd *exec.Cmd) {
	_ = cmd.Wait() // how it ended does not matter: it is not supposed to, and it is replaced
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cmd != cmd || g.closed {
		return
	}
	g.pipe.Close()
	g.pipe = nil
	if g.young++; time.Since(g.started) >= guardMinLife {
		g.young = 0
	}
	if len(g.known.groups) > 0 && g.young <= guardYoung {
		// The new guard is told all groups. One that was sent to a guard already dying is among them: its pipe may
		// take a line until its last thread is gone. When this fails, the next add tries again and reports it.
		_ = g.start()
	}
}
