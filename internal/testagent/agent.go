package testagent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// object is a JSON object under construction.
type object = map[string]any

// Main runs the Agent and exits when EnvScript is set; otherwise it returns. Call it first in TestMain.
func Main() {
	if script, ok := os.LookupEnv(EnvScript); ok {
		os.Exit(RunProcess(script))
	}
}

// RunProcess is the Agent on this process's stdin and stdout. It returns the exit code.
func RunProcess(script string) int {
	s, err := ParseScript(script)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testagent:", err)
		return 2
	}
	logPath := os.Getenv(EnvLog)
	rec, err := openRecorder(logPath)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testagent:", err)
		return 2
	}
	rec.write(Received{Event: "start"})
	if s.Stderr != "" {
		fmt.Fprintln(os.Stderr, s.Stderr)
	}
	if s.ExitStarts < 0 || s.ExitStarts > 0 && starts(logPath) <= s.ExitStarts {
		return 7
	}
	if s.Stubborn {
		signal.Ignore(syscall.SIGTERM, os.Interrupt)
	}
	a := newAgent(s, os.Stdout, rec)
	a.exit = func(code int) { os.Exit(code) }
	return a.serve(os.Stdin)
}

// Running is an Agent inside the test's own process.
type Running struct {
	Stdin  *os.File // the client writes here
	Stdout *os.File // the client reads here
	kill   func(code int)
	code   chan int
}

// Wait returns the exit code once the Agent is gone. Closing Stdin ends it, unless the script is stubborn.
func (r *Running) Wait() int {
	c := <-r.code
	r.code <- c
	return c
}

// Kill ends the Agent as an exit with that code would.
func (r *Running) Kill(code int) { r.kill(code) }

// Pipe runs the Agent in this process behind two operating system pipes. The words exit and bye end only the
// Agent. logPath "" means no log.
func Pipe(script, logPath string) (*Running, error) {
	s, err := ParseScript(script)
	if err != nil {
		return nil, err
	}
	rec, err := openRecorder(logPath)
	if err != nil {
		return nil, err
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	r := &Running{Stdin: inW, Stdout: outR, code: make(chan int, 1)}
	a := newAgent(s, outW, rec)
	var once sync.Once
	quit := make(chan int, 1)
	a.exit = func(code int) {
		once.Do(func() {
			quit <- code
			a.die()
			_ = inR.Close() // ends serve
			_ = outW.Close()
		})
	}
	r.kill = a.exit
	go func() { // ends with stdin, or when a word exits
		code := a.serve(inR)
		a.exit(code)
		r.code <- <-quit
	}()
	return r, nil
}

// agent is the whole state. The reader goroutine handles every message; prompts and delayed answers run in
// goroutines of their own, which end with their session's turn.
type agent struct {
	script Script
	log    *recorder
	exit   func(code int)

	outMu sync.Mutex
	out   io.Writer

	mu       sync.Mutex
	booleans bool // the client accepts boolean options
	sessions map[string]*session
	calls    map[string]chan answer // our requests, by raw id
	nextCall int
	nextSess int

	life     context.Context //nolint:containedctx // the Agent's own; parent of all turns
	die      context.CancelFunc
	stopped  chan struct{} // closed when stdin is to be read no more
	stopOnce sync.Once
}

func newAgent(s Script, out io.Writer, rec *recorder) *agent {
	a := &agent{
		script: s, log: rec, out: out,
		sessions: map[string]*session{}, calls: map[string]chan answer{}, stopped: make(chan struct{}),
	}
	a.life, a.die = context.WithCancel(context.Background())
	return a
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

type answer struct {
	result json.RawMessage
	err    *rpcError
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Message) }

// serve reads until stdin ends and returns the exit code.
func (a *agent) serve(in io.Reader) int {
	defer a.die()
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		select {
		case <-a.stopped:
			<-a.life.Done() // the client must kill us
			return 0
		default:
		}
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			a.handle(line)
		}
		if err != nil {
			a.log.write(Received{Event: "eof"})
			if a.script.Stubborn && errors.Is(err, io.EOF) {
				<-a.life.Done()
			}
			return 0
		}
	}
}

func (a *agent) handle(line []byte) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		a.write(object{"jsonrpc": "2.0", "id": nil, "error": &rpcError{Code: -32700, Message: "Parse error"}})
		return
	}
	rec := Received{Method: m.Method, ID: m.ID, Params: m.Params, Result: m.Result}
	if m.Error != nil {
		rec.Error, _ = json.Marshal(m.Error)
	}
	a.log.write(rec)
	if m.Method == "" {
		a.answered(m)
		return
	}
	h, ok := a.methods()[m.Method]
	if !ok {
		if m.ID != nil {
			a.fail(m.ID, &rpcError{Code: -32601, Message: "Method not found", Data: object{"method": m.Method}})
		}
		return
	}
	h(m)
}

func (a *agent) methods() map[string]func(message) {
	m := map[string]func(message){
		"initialize": a.initialize, "authenticate": a.ok,
		"session/new": a.newSession, "session/prompt": a.prompt, "session/cancel": a.cancel,
		"session/set_config_option": a.setOption, "session/set_mode": a.setMode, "session/set_model": a.setModel,
		"$/cancel_request": func(message) {},
	}
	if !a.script.NoLoad {
		m["session/load"] = a.loadSession
	}
	if !a.script.NoResume {
		m["session/resume"] = a.resumeSession
	}
	if !a.script.NoClose {
		m["session/close"] = a.closeSession
	}
	return m
}

func (a *agent) ok(m message) { a.reply(m.ID, object{}) }

func (a *agent) initialize(m message) {
	if a.script.ExitInit {
		a.exit(7)
		return
	}
	var p struct {
		ClientCapabilities struct {
			Session struct {
				ConfigOptions struct {
					Boolean *object `json:"boolean"`
				} `json:"configOptions"`
			} `json:"session"`
		} `json:"clientCapabilities"`
	}
	_ = json.Unmarshal(m.Params, &p) // a client without capabilities
	a.mu.Lock()
	a.booleans = p.ClientCapabilities.Session.ConfigOptions.Boolean != nil
	a.mu.Unlock()
	a.later(pause(a.script.InitDelay), func() {
		a.reply(m.ID, object{
			"protocolVersion": max(a.script.Protocol, 1), "agentCapabilities": a.caps(),
			"agentInfo":   object{"name": "testagent", "title": "Test Agent", "version": "1.2.3"},
			"authMethods": []object{{"id": "test-login", "name": "Log in", "description": "Pretends to log in"}},
		})
	})
}

func (a *agent) caps() any {
	if a.script.Caps != nil {
		return a.script.Caps
	}
	s := object{"list": object{}}
	if !a.script.NoResume {
		s["resume"] = object{}
	}
	if !a.script.NoClose {
		s["close"] = object{}
	}
	if !a.script.NoMultiRoot {
		s["additionalDirectories"] = object{}
	}
	return object{
		"loadSession":         !a.script.NoLoad,
		"promptCapabilities":  object{"image": !a.script.NoImage, "audio": !a.script.NoImage, "embeddedContext": !a.script.NoImage},
		"mcpCapabilities":     object{"http": !a.script.NoHTTP, "sse": false},
		"sessionCapabilities": s,
	}
}

// later runs f after d, at once when d is 0, never when it is negative.
func (a *agent) later(d time.Duration, f func()) {
	switch {
	case d == 0:
		f()
	case d > 0:
		time.AfterFunc(d, f)
	}
}

// call sends a request to the client and waits for the answer or the end of ctx.
func (a *agent) call(ctx context.Context, method string, params any) (json.RawMessage, *rpcError) {
	a.mu.Lock()
	var id any = a.nextCall
	if a.script.StringIDs {
		id = "call-" + strconv.Itoa(a.nextCall)
	}
	a.nextCall++
	raw, _ := json.Marshal(id)
	ch := make(chan answer, 1)
	a.calls[string(raw)] = ch
	a.mu.Unlock()
	a.write(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	select {
	case ans := <-ch:
		return ans.result, ans.err
	case <-ctx.Done():
		return nil, &rpcError{Code: -32800, Message: "cancelled"}
	}
}

func (a *agent) answered(m message) {
	a.mu.Lock()
	ch := a.calls[string(m.ID)]
	delete(a.calls, string(m.ID))
	a.mu.Unlock()
	if ch != nil {
		ch <- answer{m.Result, m.Error}
	}
}

func (a *agent) reply(id json.RawMessage, result any) {
	a.write(object{"jsonrpc": "2.0", "id": id, "result": result})
}

func (a *agent) fail(id json.RawMessage, e *rpcError) {
	a.write(object{"jsonrpc": "2.0", "id": id, "error": e})
}

func (a *agent) write(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // everything we build can be encoded
	}
	a.raw(append(b, '\n'))
}

// raw writes bytes as they are, in one piece. A client that is gone makes it a no-op.
func (a *agent) raw(b []byte) {
	a.outMu.Lock()
	defer a.outMu.Unlock()
	_, _ = a.out.Write(b)
}
