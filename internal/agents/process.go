package agents

import (
	"context"
	"errors"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"fyllocode.dev/fyllo"
)

// Process is one generation of an Agent's process that answered initialize.
type Process[C Conn] struct {
	pool       *Pool[C]
	entry      entry
	run        *run
	child      child
	conn       C
	generation uint64
	info       fyllo.AgentInfo
	took       time.Duration // from the start to the answer of initialize
	lost       chan struct{} // closed when the connection ended and the process did not
	loseOnce   sync.Once
}

// Conn is the connection; it is over when Conn().Done() is closed.
func (x *Process[C]) Conn() C { return x.conn }

// Generation tells this process from all others of this Agent, also from those of earlier runs of Core (R-AGT-055).
func (x *Process[C]) Generation() uint64 { return x.generation }

// Info is what the Agent answered to initialize.
func (x *Process[C]) Info() fyllo.AgentInfo { return x.info }

// Agent is the catalogue entry as it is now, or as it was at the start when it is gone.
func (x *Process[C]) Agent() fyllo.Agent {
	x.pool.mu.Lock()
	defer x.pool.mu.Unlock()
	if e, ok := x.pool.entryLocked(x.entry.id); ok {
		return x.pool.describeLocked(e)
	}
	return x.pool.describeLocked(x.entry)
}

func (x *Process[C]) lose() { x.loseOnce.Do(func() { close(x.lost) }) }

// reason is what the connection is told when its input ended. A process that closed its output and goes on
// running is ended by the supervisor.
func (x *Process[C]) reason() error {
	if !waitFor(x.child.Exited(), lingerLimit) {
		x.lose()
		waitFor(x.child.Exited(), 3*time.Second)
	}
	if cause := x.run.wanted(); cause != nil {
		return cause
	}
	return fyllo.Errorf(fyllo.CodeAgentExited, "%s stopped working: %s", x.entry.name, x.cause())
}

// cause is a clause that says how the process ended, with the last thing it said on standard error.
func (x *Process[C]) cause() string {
	var why string
	select {
	case <-x.lost:
		why = "its process closed its output"
	default:
		select {
		case <-x.child.Exited():
			why = "its process " + x.child.Exit().String()
		default:
			return "its process does not end"
		}
	}
	if line := lastLine(x.child.StderrTail()); line != "" {
		why += ": " + x.pool.redact(x.entry, line)
	}
	return why
}

// stderr is the end of what the process wrote to standard error, for people who look for the reason.
func (x *Process[C]) stderr() string {
	tail := escapes.ReplaceAllString(x.child.StderrTail(), "")
	if over := len(tail) - maxTail; over > 0 {
		tail = tail[over:]
		if _, lines, ok := strings.Cut(tail, "\n"); ok {
			tail = lines
		}
	}
	return x.pool.redact(x.entry, strings.ToValidUTF8(tail, ""))
}

func waitFor(c <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
		return false
	}
}

const (
	maxLine = 300     // runes of standard error in an error
	maxTail = 8 << 10 // bytes of it in the outcome of a check
)

var (
	escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[a-zA-Z]")
	// Node ends the report of an uncaught error with its stack and its own version, which explain nothing.
	noise = regexp.MustCompile(`^(Node\.js v\d.*|at .*|[^\pL]*)$`)
)

// lastLine returns the last line that says something, as plain bounded text.
func lastLine(tail string) string {
	lines := strings.Split(escapes.ReplaceAllString(tail, ""), "\n")
	for _, line := range slices.Backward(lines) {
		line = strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, line))
		if noise.MatchString(line) {
			continue
		}
		if r := []rune(line); len(r) > maxLine {
			line = string(r[:maxLine]) + "…"
		}
		return line
	}
	return ""
}

var secretName = regexp.MustCompile(`(?i)(key|token|secret|passw|credential|auth)`)

// redact replaces the environment values of an entry, and secrets of Core's own environment, in a text that is
// shown or logged (R-AGT-024).
func (p *Pool[C]) redact(e entry, text string) string {
	var secrets []string
	for _, v := range e.env {
		if len(v) >= 4 {
			secrets = append(secrets, v)
		}
	}
	for _, kv := range p.cfg.Env {
		if k, v, _ := strings.Cut(kv, "="); len(v) >= 8 && secretName.MatchString(k) {
			secrets = append(secrets, v)
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // a value may contain another
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, "***")
	}
	return text
}

// environment is what a child gets: the process's, the effective PATH, the entry's (R-AGT-051).
func (p *Pool[C]) environment(e entry, path string) []string {
	env := slices.Clone(p.cfg.Env)
	env = append(env, "PATH="+path)
	for _, k := range slices.Sorted(maps.Keys(e.env)) {
		env = append(env, k+"="+e.env[k])
	}
	return env
}

// workDir is a directory that exists and belongs to no Workspace: an Agent's process serves all of them.
func (p *Pool[C]) workDir() string {
	if home := p.lookup.home(); isDir(home) {
		return home
	}
	return p.cfg.Root
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// errChildExited is why initialize of a process that went away was given up.
var errChildExited = errors.New("the process exited")

// initialize speaks to a fresh process, within the limit, and no longer than the process lives.
func (x *Process[C]) initialize(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, initLimit)
	defer stop()
	ctx, gone := context.WithCancelCause(ctx)
	defer gone(nil)
	over := make(chan struct{})
	defer close(over)
	go func() { // ends with this call
		select {
		case <-x.child.Exited():
			gone(errChildExited)
		case <-over:
		}
	}()
	info, err := x.conn.Initialize(ctx)
	if err != nil {
		// The connection only knows that it was told to give up, not that there was nobody left to answer.
		if errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), errChildExited) {
			return errChildExited
		}
		if ctx.Err() == context.DeadlineExceeded {
			return fyllo.Errorf(fyllo.CodeAgentTimeout, "cannot use %s: it did not answer initialize within %v", x.entry.name, initLimit)
		}
		return err
	}
	x.info = info
	return nil
}
