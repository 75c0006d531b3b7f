package core

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
)

// served is a running `fyllo serve`, and a client of it that carries the owner's token.
type served struct {
	l          *lab
	t          *testing.T
	cmd        *exec.Cmd
	out, errs  *tail
	base       string // http://HOST:PORT
	token      string
	workspace  fyllo.WorkspaceID
	http       *http.Client
	exited     chan struct{} // closed when the process has ended
	exitedWith int           // read after exited
}

// serve starts a Core on the data root and opens the Project in it.
func (l *lab) serve() *served {
	l.t.Helper()
	c, err := l.tryServe()
	if err != nil {
		l.t.Fatal(err)
	}
	c.open(l.project)
	return c
}

// serveWith is serve with more in the environment.
func (l *lab) serveWith(env ...string) *served {
	l.t.Helper()
	l.env = env
	return l.serve()
}

// tryServe starts a Core and waits for its ready line.
func (l *lab) tryServe() (*served, error) {
	c := &served{
		l: l, t: l.t, cmd: l.command("serve", "--no-open"), out: &tail{}, errs: &tail{}, exited: make(chan struct{}),
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}, Timeout: 2 * patience},
	}
	c.cmd.Stdout, c.cmd.Stderr = c.out, c.errs
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { // ends with the process, which the lab kills at the latest
		_ = c.cmd.Wait()
		c.exitedWith = c.cmd.ProcessState.ExitCode()
		close(c.exited)
	}()
	l.t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		<-c.exited
		c.http.CloseIdleConnections()
		if l.t.Failed() {
			l.t.Logf("stderr of Core %d:\n%s", c.cmd.Process.Pid, lastLines(c.errs.String(), 40))
		}
	})
	var ready string
	started := within(patience, func() bool {
		var ok bool
		ready, ok = c.out.firstLine()
		return ok || c.ended()
	})
	address, found := strings.CutPrefix(ready, "FylloCode ready at ")
	if !started || !found {
		return nil, fmt.Errorf("no Core: exit %d, stdout %q, stderr %q", c.exitedWith, c.out, c.errs)
	}
	page, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	c.base = "http://" + page.Host
	token, err := os.ReadFile(filepath.Join(l.root, "core.token"))
	c.token = strings.TrimSpace(string(token))
	return c, err
}

func lastLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

func (c *served) ended() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// kill ends the Core as a crash would, and waits until it is gone.
func (c *served) kill() {
	_ = c.cmd.Process.Kill()
	<-c.exited
	c.http.CloseIdleConnections()
}

// signal sends a signal to Core alone.
func (c *served) signal(s syscall.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// exit waits for the end of Core and returns its exit code.
func (c *served) exit(limit time.Duration) int {
	c.t.Helper()
	select {
	case <-c.exited:
		return c.exitedWith
	case <-time.After(limit):
		c.t.Fatalf("Core did not end within %s", limit)
		return -1
	}
}

// stop ends Core in order.
func (c *served) stop() {
	c.t.Helper()
	c.signal(syscall.SIGTERM)
	if code := c.exit(patience); code != 0 {
		c.t.Fatalf("Core ended with %d", code)
	}
	c.http.CloseIdleConnections()
}

// open makes the Workspace of the directories the client's own.
func (c *served) open(dirs ...string) {
	c.t.Helper()
	var out struct{ Workspace fyllo.Workspace }
	c.must(http.MethodPost, "/api/workspaces/open", map[string]any{"paths": dirs}, &out)
	c.workspace = out.Workspace.ID
}

// call sends in as JSON and reads the answer into out. The error of an error answer is a *fyllo.Error.
func (c *served) call(method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(encoded)
	}
	req, err := http.NewRequest(method, c.base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	c.authorise(req.Header)
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		var failed struct{ Error fyllo.Failure }
		if err := json.Unmarshal(answer, &failed); err != nil || failed.Error.Code == "" {
			return fmt.Errorf("%s %s: %s: %.200s", method, path, resp.Status, answer)
		}
		return &fyllo.Error{Code: failed.Error.Code, Message: failed.Error.Message, Details: failed.Error.Details}
	}
	if text, ok := out.(*string); ok {
		*text = string(answer)
		return nil
	}
	if out == nil || len(answer) == 0 {
		return nil
	}
	return json.Unmarshal(answer, out)
}

func (c *served) authorise(h http.Header) {
	h.Set("Authorization", "Bearer "+c.token)
	if c.workspace != "" {
		h.Set("X-Fyllo-Workspace", string(c.workspace))
	}
}

// must is call for what must succeed.
func (c *served) must(method, path string, in, out any) {
	c.t.Helper()
	if err := c.call(method, path, in, out); err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
}

// agent adds a scripted Agent.
func (c *served) agent(script string) fyllo.AgentID {
	c.t.Helper()
	c.l.agents++
	return c.agentAs(agentBin, script, fmt.Sprint(c.l.agents))
}

// agentAs adds an Agent with a command line of its own.
func (c *served) agentAs(command string, args ...string) fyllo.AgentID {
	c.t.Helper()
	var out fyllo.Agent
	c.must(http.MethodPost, "/api/agents", fyllo.CustomAgent{
		Name: fmt.Sprintf("agent %d", c.l.agents), Command: command, Args: args, Env: map[string]string{"AGENT_SECRET": secret},
	}, &out)
	return out.ID
}

// start begins a Session and returns its id.
func (c *served) start(agent fyllo.AgentID, text string) fyllo.SessionID {
	c.t.Helper()
	return c.startAs(fyllo.StartRequest{AgentID: agent, Text: text})
}

func (c *served) startAs(r fyllo.StartRequest) fyllo.SessionID {
	c.t.Helper()
	if r.Mode == "" {
		r.Mode = fyllo.ModeFyllo
	}
	var out fyllo.StartResult
	c.must(http.MethodPost, "/api/sessions", r, &out)
	return out.SessionID
}

// send begins another turn of a Session.
func (c *served) send(s fyllo.SessionID, text string) {
	c.t.Helper()
	c.must(http.MethodPost, sessionPath(s, "/prompts"), fyllo.PromptRequest{Text: text}, nil)
}

// detail returns what a page shows of a Session besides its messages.
func (c *served) detail(s fyllo.SessionID) fyllo.SessionDetail {
	c.t.Helper()
	var out fyllo.SessionDetail
	c.must(http.MethodGet, sessionPath(s, ""), nil, &out)
	return out
}

// idle waits for the end of the running turn. It looks at the list, since details of a running turn may be long.
func (c *served) idle(s fyllo.SessionID) {
	c.t.Helper()
	eventually(c.t, "the turn has ended", func() bool { return !c.runs(s) })
}

// runs reports whether the list shows a Session as running.
func (c *served) runs(s fyllo.SessionID) bool {
	c.t.Helper()
	var page fyllo.SessionPage
	c.must(http.MethodGet, "/api/sessions?limit=500", nil, &page)
	for _, row := range page.Sessions {
		if row.SessionID == s {
			return row.Running
		}
	}
	c.t.Fatalf("%s is not listed", s)
	return false
}

// messages returns the transcript as a page would show it: what is stored and, in its place, what is not yet.
func (c *served) messages(s fyllo.SessionID) []fyllo.Message {
	c.t.Helper()
	d := c.detail(s)
	var page fyllo.MessagePage
	c.must(http.MethodGet, sessionPath(s, "/messages"), nil, &page)
	if len(page.Damage) > 0 {
		c.t.Fatalf("damage: %+v", page.Damage)
	}
	if page.Before != "" {
		c.t.Fatal("the transcript has more than one page")
	}
	if d.Live == nil {
		return page.Messages
	}
	for i := range page.Messages {
		if page.Messages[i].ID == d.Live.ID {
			return page.Messages // stored between the two calls
		}
	}
	return append(page.Messages, *d.Live)
}

// stored waits until the answer of the last turn lies with the messages, and returns the transcript.
func (c *served) stored(s fyllo.SessionID) []fyllo.Message {
	c.t.Helper()
	c.idle(s)
	eventually(c.t, "the answer is stored", func() bool {
		if c.detail(s).Live == nil {
			return true
		}
		time.Sleep(50 * time.Millisecond) // details that hold a long answer are not read in vain too often
		return false
	})
	return c.messages(s)
}

// last waits for the end of the running turn and returns the last message of the transcript.
func (c *served) last(s fyllo.SessionID) fyllo.Message {
	c.t.Helper()
	c.idle(s)
	if live := c.detail(s).Live; live != nil {
		return *live
	}
	all := c.messages(s)
	return all[len(all)-1]
}

// answer returns the text of the last message, which must be an answer that ended well.
func (c *served) answer(s fyllo.SessionID) string {
	c.t.Helper()
	last := c.last(s)
	if last.Role != fyllo.RoleAssistant || last.End == nil || last.End.Error != nil {
		c.t.Fatalf("the last message is no good answer: %s", brief(last))
	}
	return textOf(last)
}

// failure waits for a turn that ends with an error and returns it, with the text of the partial answer.
func (c *served) failure(s fyllo.SessionID) (*fyllo.Failure, string) {
	c.t.Helper()
	last := c.last(s)
	if last.End == nil || last.End.Error == nil {
		c.t.Fatalf("the turn did not fail: %s", brief(last))
	}
	if last.Role == fyllo.RoleUser {
		return last.End.Error, ""
	}
	return last.End.Error, textOf(last)
}

// pid returns the process of an Agent, 0 when none runs.
func (c *served) pid(agent fyllo.AgentID) int {
	c.t.Helper()
	var out struct{ Agents []fyllo.Agent }
	c.must(http.MethodGet, "/api/agents", nil, &out)
	for _, a := range out.Agents {
		if a.ID == agent {
			return a.PID
		}
	}
	c.t.Fatalf("no Agent %s", agent)
	return 0
}

func sessionPath(s fyllo.SessionID, rest string) string {
	return "/api/sessions/" + url.PathEscape(string(s)) + rest
}

// textOf joins the text parts of a message.
func textOf(m fyllo.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Type == fyllo.PartText {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// brief shows a message in a failure.
func brief(m fyllo.Message) string {
	b, err := json.Marshal(m)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%.600s", b)
}

// codeOf returns the code of an error answer, "" for none.
func codeOf(err error) fyllo.Code {
	var e *fyllo.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// floodText is what the word flood says.
func floodText(n, size int) string {
	var b strings.Builder
	fill := strings.Repeat("x", size)
	for i := range n {
		head := fmt.Sprintf("%d ", i)
		b.WriteString(head)
		if pad := size - len(head); pad > 0 {
			b.WriteString(fill[:pad])
		}
	}
	return b.String()
}

// sameText fails with the place of the first difference instead of megabytes.
func sameText(t *testing.T, where, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	t.Fatalf("%s: %d bytes, want %d; they differ at %d: %q, want %q", where, len(got), len(want), at,
		clip(got, at), clip(want, at))
}

func clip(s string, at int) string { return s[max(0, min(at, len(s))-10):min(at+30, len(s))] }
