package agents

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/childproc"
)

// The test binary also plays the Agents and the guard; the first argument names the part.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "agent":
			playAgent(os.Args[2:])
			os.Exit(0)
		case "guard":
			_ = childproc.GuardMain(os.Stdin)
			os.Exit(0)
		}
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // or every child lives a second longer under -race
	goleak.VerifyTestMain(m)
}

const goodAnswer = `{"protocolVersion":1,"agentInfo":{"name":"toy","version":"1.2"},"authMethods":[{"id":"login","name":"Log in"}],` +
	`"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":"yes","_meta":{"x":1}},"mcpCapabilities":{"http":true},` +
	`"sessionCapabilities":{"resume":{},"close":null,"additionalDirectories":{}}}}`

// playAgent speaks a toy protocol: a line with a command, an answer in one line.
func playAgent(args []string) {
	mode := append(args, "")[0]
	switch mode {
	case "exit":
		fmt.Fprintf(os.Stderr, "Error: no key %s\n    at main.js:1\n\nNode.js v20.1.0\n", os.Getenv("TOY_KEY"))
		os.Exit(3)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		verb, arg, _ := strings.Cut(in.Text(), " ")
		switch verb {
		case "init":
			fmt.Println(goodAnswer)
		case "env":
			fmt.Println(os.Getenv(arg))
		case "crash":
			fmt.Fprintln(os.Stderr, "about to fail")
			os.Exit(7)
		case "hangup":
			os.Stdout.Close()
			time.Sleep(time.Minute)
		}
	}
	if mode == "stubborn" {
		time.Sleep(time.Minute)
	}
}

// toyConn is the connection of the toy protocol.
type toyConn struct {
	in     io.WriteCloser
	lines  chan string
	done   chan struct{}
	reason error // why it ended; valid after done
}

func dialToy(in io.WriteCloser, out io.Reader, ended func() error) *toyConn {
	c := &toyConn{in: in, lines: make(chan string, 100), done: make(chan struct{})}
	go func() { // ends with the output
		for s := bufio.NewScanner(out); s.Scan(); {
			c.lines <- s.Text()
		}
		c.reason = ended()
		close(c.lines)
		close(c.done)
	}()
	return c
}

func (c *toyConn) ask(ctx context.Context, line string) (string, error) {
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		<-c.done
		return "", c.reason
	}
	select {
	case s, ok := <-c.lines:
		if !ok {
			return "", c.reason
		}
		return s, nil
	case <-ctx.Done(): // as a connection of the real protocol says it
		return "", &fyllo.Error{Code: fyllo.CodeAgentTimeout, Message: "it was given up", Err: ctx.Err()}
	}
}

func (c *toyConn) Initialize(ctx context.Context) (fyllo.AgentInfo, error) {
	s, err := c.ask(ctx, "init")
	if err != nil {
		return fyllo.AgentInfo{}, err
	}
	var a struct {
		ProtocolVersion int
		AgentInfo       struct{ Name, Version string }
		AuthMethods     []fyllo.AuthMethod
	}
	if err := json.Unmarshal([]byte(s), &a); err != nil {
		return fyllo.AgentInfo{}, errors.New("not the toy protocol")
	}
	if a.ProtocolVersion != 1 {
		return fyllo.AgentInfo{}, fyllo.Errorf(fyllo.CodeAgentProtocol, "the Agent speaks version %d", a.ProtocolVersion)
	}
	return fyllo.AgentInfo{
		ProtocolVersion: 1, Name: a.AgentInfo.Name, Version: a.AgentInfo.Version, AuthMethods: a.AuthMethods,
		Capabilities: fyllo.Capabilities{Image: fyllo.Supported}, Raw: []byte(s),
	}, nil
}

func (c *toyConn) Done() <-chan struct{} { return c.done }
func (c *toyConn) Close() error          { return c.in.Close() }

type toyPool = Pool[*toyConn]

// env is a small environment with which nobody asks a login shell.
func env(extra ...string) []string {
	return append([]string{"PATH=/usr/bin:/bin", "HOME=/", "TERM=xterm", "GORACE=atexit_sleep_ms=0"}, extra...)
}

// realPool returns a running Pool with real processes; stop ends it.
func realPool(t *testing.T, cfg Config) (p *toyPool, stop func()) {
	t.Helper()
	if cfg.Root == "" {
		cfg.Root = t.TempDir()
	}
	if cfg.Env == nil {
		cfg.Env = env()
	}
	cfg.Guard = []string{os.Args[0], "guard"}
	p, err := New(cfg, dialToy)
	if err != nil {
		t.Fatal(err)
	}
	return p, serve(t, p)
}

func serve(t *testing.T, p *toyPool) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Serve(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func add(t *testing.T, p *toyPool, c fyllo.CustomAgent) fyllo.AgentID {
	t.Helper()
	if c.Name == "" {
		c.Name = "Toy"
	}
	if c.Command == "" {
		c.Command = os.Args[0]
	}
	id, err := p.AddCustom(c)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func connect(t *testing.T, p *toyPool, id fyllo.AgentID) *Process[*toyConn] {
	t.Helper()
	x, err := p.Connect(t.Context(), id)
	if err != nil {
		t.Fatalf("%s: %v", fyllo.CodeOf(err), err)
	}
	return x
}

func wantCode(t *testing.T, err error, code fyllo.Code) *fyllo.Error {
	t.Helper()
	if fyllo.CodeOf(err) != code {
		t.Fatalf("got %s (%v), want %s", fyllo.CodeOf(err), err, code)
	}
	e, _ := errors.AsType[*fyllo.Error](err)
	return e
}

func describe(t *testing.T, p *toyPool, id fyllo.AgentID) fyllo.Agent {
	t.Helper()
	a, ok := p.Describe(id)
	if !ok {
		t.Fatalf("no Agent %s", id)
	}
	return a
}

func writeFile(t *testing.T, path, text string, perm os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), perm); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// fakeHost starts toy Agents that live in this process, for tests with a fake clock.
type fakeHost struct {
	play func(n int, c *fakeChild) // runs as the n-th child; it is over when it returns

	mu    sync.Mutex
	n     int
	specs []childproc.Spec
	live  map[*fakeChild]bool
}

type fakeChild struct {
	inR, outR *io.PipeReader
	inW, outW *io.PipeWriter
	pid       int
	kill      chan struct{}
	killOnce  sync.Once
	exited    chan struct{}
	exit      childproc.Exit
	stderr    string
}

func (h *fakeHost) Start(s childproc.Spec) (child, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.n++
	n := h.n
	h.specs = append(h.specs, s)
	c := &fakeChild{pid: 1000 + n, kill: make(chan struct{}), exited: make(chan struct{})}
	c.inR, c.inW = io.Pipe()
	c.outR, c.outW = io.Pipe()
	if h.live == nil {
		h.live = map[*fakeChild]bool{}
	}
	h.live[c] = true
	go func() {
		h.play(n, c)
		close(c.exited)
		c.outW.Close()
		c.inR.Close()
	}()
	return c, nil
}

func (h *fakeHost) Close(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.live {
		_ = c.Stop(ctx)
	}
	return nil
}

func (h *fakeHost) started() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n
}

// argsOf returns the arguments of the n-th child.
func (h *fakeHost) argsOf(n int) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.specs[n-1].Args, " ")
}

func (c *fakeChild) Stdin() io.WriteCloser   { return c.inW }
func (c *fakeChild) Stdout() io.ReadCloser   { return c.outR }
func (c *fakeChild) StderrTail() string      { return c.stderr }
func (c *fakeChild) PID() int                { return c.pid }
func (c *fakeChild) Exited() <-chan struct{} { return c.exited }
func (c *fakeChild) Exit() childproc.Exit    { return c.exit }
func (c *fakeChild) Stop(context.Context) error {
	c.killOnce.Do(func() { close(c.kill) })
	c.inW.Close()
	<-c.exited
	return nil
}

// serveInit answers initialize, in the child's own goroutine.
func (c *fakeChild) serveInit() {
	if _, err := bufio.NewReader(c.inR).ReadString('\n'); err == nil {
		fmt.Fprintln(c.outW, goodAnswer)
	}
}

// live answers initialize and lives until it is stopped, or for d.
func (c *fakeChild) live(d time.Duration) {
	c.serveInit()
	select {
	case <-c.kill:
	case <-time.After(d):
		c.exit = childproc.Exit{Status: 9}
	}
}

// fakePool returns a running Pool over h with one custom Agent.
func fakePool(t *testing.T, h *fakeHost, cfg Config) (*toyPool, fyllo.AgentID) {
	t.Helper()
	cfg.Root = t.TempDir()
	if cfg.Env == nil {
		cfg.Env = env()
	}
	p, err := newPool(cfg, dialToy, h, true)
	if err != nil {
		t.Fatal(err)
	}
	return p, add(t, p, fyllo.CustomAgent{})
}
