package tour_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyllocode.dev/fyllo/internal/tour"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type object = map[string]any

// client speaks to a tour over pipes.
type client struct {
	t       *testing.T
	in      io.WriteCloser
	lines   chan object
	id      int
	session string
	log     []object // updates of the turn
	// permit answers permission requests: an option id, or "" for cancelled. When it returns "-", no answer is sent.
	permit func(request object) string
}

// begin starts a tour without pauses unless pace says otherwise, and opens a session in dir.
func begin(t *testing.T, dir, pace string) *client {
	t.Helper()
	t.Setenv(tour.EnvPace, pace)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, in: inW, lines: make(chan object, 10_000), permit: func(object) string { return "allow" }}
	done := make(chan error, 1)
	go func() { done <- tour.Run(context.Background(), inR, outW) }() // ends with its input
	go func() {                                                       // ends with the tour's output
		defer close(c.lines)
		for s := bufio.NewScanner(outR); s.Scan(); {
			var o object
			if err := json.Unmarshal(s.Bytes(), &o); err != nil {
				t.Errorf("no JSON: %s", s.Bytes())
			}
			c.lines <- o
		}
	}()
	t.Cleanup(func() {
		inW.Close()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("tour: %v", err)
			}
		case <-time.After(5 * time.Second):
			t.Error("the tour does not end with its input")
		}
		outR.Close()
		for range c.lines {
		}
	})
	c.call("initialize", object{"protocolVersion": 1, "clientCapabilities": object{"session": object{"configOptions": object{"boolean": object{}}}}})
	c.session = c.call("session/new", object{"cwd": dir, "mcpServers": []any{}})["result"].(object)["sessionId"].(string)
	return c
}

func (c *client) send(o object) {
	o["jsonrpc"] = "2.0"
	b, err := json.Marshal(o)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(b, '\n')); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) post(method string, params object) int {
	c.id++
	c.send(object{"id": c.id, "method": method, "params": params})
	return c.id
}

// call returns the answer; what comes before it is handled.
func (c *client) call(method string, params object) object {
	c.t.Helper()
	return c.await(c.post(method, params))
}

func (c *client) await(id int) object {
	c.t.Helper()
	limit := time.After(10 * time.Second)
	for {
		select {
		case o, ok := <-c.lines:
			if !ok {
				c.t.Fatal("the tour ended")
			}
			if c.handle(o); o["method"] == nil && o["id"] == float64(id) {
				return o
			}
		case <-limit:
			c.t.Fatal("no answer")
		}
	}
}

func (c *client) handle(o object) {
	switch o["method"] {
	case "session/update":
		c.log = append(c.log, o["params"].(object)["update"].(object))
	case "session/request_permission":
		outcome := object{"outcome": "cancelled"}
		option := c.permit(o["params"].(object))
		if option == "-" {
			return
		}
		if option != "" {
			outcome = object{"outcome": "selected", "optionId": option}
		}
		c.send(object{"id": o["id"], "result": object{"outcome": outcome}})
	}
}

// prompt runs a turn and returns its stop reason.
func (c *client) prompt(texts ...string) string {
	c.t.Helper()
	return c.await(c.ask(texts...))["result"].(object)["stopReason"].(string)
}

func (c *client) ask(texts ...string) int {
	c.log = nil
	var blocks []object
	for _, text := range texts {
		blocks = append(blocks, object{"type": "text", "text": text})
	}
	return c.post("session/prompt", object{"sessionId": c.session, "prompt": blocks})
}

// said joins the chunks of a kind.
func (c *client) said(kind string) string {
	var b strings.Builder
	for _, u := range c.log {
		if u["sessionUpdate"] == kind {
			b.WriteString(u["content"].(object)["text"].(string))
		}
	}
	return b.String()
}

func (c *client) kinds() []string {
	var out []string
	for _, u := range c.log {
		if k := u["sessionUpdate"].(string); !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

func (c *client) lastStatus() string {
	status := ""
	for _, u := range c.log {
		if s, ok := u["status"].(string); ok {
			status = s
		}
	}
	return status
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// files lists a directory.
func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestWholeTour(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "README.md"), "# Demo\n\nhello\n")
	c := begin(t, dir, "0")
	asked := 0
	c.permit = func(p object) string {
		asked++
		call := p["toolCall"].(object)
		diff := call["content"].([]any)[0].(object)
		if diff["path"] != filepath.Join(dir, "TOUR.md") || diff["oldText"] != nil || diff["newText"] == "" {
			t.Errorf("diff %v", diff)
		}
		if _, err := os.Stat(filepath.Join(dir, "TOUR.md")); err == nil {
			t.Error("written before it was allowed")
		}
		return "allow"
	}
	if got := c.prompt("<system-reminder>edit read long 中文</system-reminder>", "hello"); got != "end_turn" {
		t.Errorf("stop reason %s", got)
	}
	for _, kind := range []string{"plan", "usage_update", "agent_thought_chunk", "agent_message_chunk", "tool_call", "tool_call_update"} {
		if !slices.Contains(c.kinds(), kind) {
			t.Errorf("no %s", kind)
		}
	}
	text := c.said("agent_message_chunk")
	if !strings.Contains(text, "a script inside FylloCode, not a language model") || !strings.Contains(text, "`README.md`, 3 lines") {
		t.Errorf("said %q", text)
	}
	if asked != 1 || c.lastStatus() != "completed" || !strings.HasPrefix(read(t, filepath.Join(dir, "TOUR.md")), "# Tour\n") {
		t.Errorf("asked %d times, last status %s", asked, c.lastStatus())
	}
	if got := files(t, dir); !slices.Equal(got, []string{"README.md", "TOUR.md"}) {
		t.Errorf("files %v", got)
	}
}

func TestChineseIsAnsweredInChinese(t *testing.T) {
	c := begin(t, t.TempDir(), "0")
	c.permit = func(object) string { return "reject" }
	c.prompt("你好")
	if text := c.said("agent_message_chunk"); !strings.Contains(text, "不是语言模型") || strings.Contains(text, "language model") {
		t.Errorf("said %q", text)
	}
}

func TestNothingIsWrittenWithoutAllowOnce(t *testing.T) {
	for _, answer := range []string{"reject", "", "allow_always", "nonsense"} {
		dir := t.TempDir()
		c := begin(t, dir, "0")
		c.permit = func(object) string { return answer }
		want := "end_turn"
		if answer == "" {
			want = "cancelled"
		}
		if got := c.prompt("please edit"); got != want {
			t.Errorf("answer %q: stop reason %s", answer, got)
		}
		if answer != "" && c.lastStatus() != "failed" {
			t.Errorf("answer %q: status %s", answer, c.lastStatus())
		}
		if got := files(t, dir); len(got) != 0 {
			t.Errorf("answer %q: files %v", answer, got)
		}
	}
}

func TestEditAppendsToANamedFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "notes.txt")
	write(t, path, "one")
	c := begin(t, dir, "0")
	for range 2 {
		c.prompt("/edit notes.txt")
	}
	got := read(t, path)
	if !strings.HasPrefix(got, "one\n- ") || strings.Count(got, "a line from the tour") != 2 {
		t.Errorf("file %q", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if got := files(t, dir); !slices.Equal(got, []string{"notes.txt"}) {
		t.Errorf("files %v", got)
	}
}

func TestEditStaysInTheProject(t *testing.T) {
	outer := t.TempDir()
	dir := filepath.Join(outer, "project")
	secret := filepath.Join(outer, "secret.txt")
	for _, d := range []string{dir, filepath.Join(dir, ".git")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, secret, "secret")
	write(t, filepath.Join(dir, "inside.txt"), "inside")
	write(t, filepath.Join(dir, ".git", "config"), "x")
	for name, to := range map[string]string{"link.txt": secret, "up": outer, "near.txt": "inside.txt", "TOUR.md": secret, "README.md": secret} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	c := begin(t, dir, "0")
	for _, path := range []string{"../secret.txt", secret, "link.txt", "up/secret.txt", "near.txt", "./../project/../secret.txt", ".git/config", "/edit"} {
		asked := false
		c.permit = func(object) string { asked = true; return "allow" }
		c.prompt("edit " + path)
		if asked {
			t.Errorf("%s: asked to change it", path)
		}
	}
	if read(t, secret) != "secret" || read(t, filepath.Join(dir, "inside.txt")) != "inside" {
		t.Error("a file was changed")
	}
	c.prompt("read")
	for _, u := range c.log {
		if b, _ := json.Marshal(u); strings.Contains(string(b), "secret") {
			t.Errorf("read through a link: %s", b)
		}
	}
}

// What the request showed is what is written, or nothing is.
func TestFileThatChangesWhileAsking(t *testing.T) {
	outer := t.TempDir()
	secret := filepath.Join(outer, "secret.txt")
	write(t, secret, "one\n")
	for name, change := range map[string]func(path string) error{
		"text": func(path string) error { return os.WriteFile(path, []byte("two\n"), 0o600) },
		"gone": os.Remove,
		"link": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Symlink(secret, path)
		},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "notes.txt")
		write(t, path, "one\n")
		c := begin(t, dir, "0")
		c.permit = func(object) string {
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			return "allow"
		}
		if c.prompt("edit notes.txt"); c.lastStatus() != "failed" {
			t.Errorf("%s: status %s", name, c.lastStatus())
		}
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), "tour") {
			t.Errorf("%s: wrote %q", name, b)
		}
	}
	// A link to elsewhere appears where a new file was to be.
	dir := t.TempDir()
	c := begin(t, dir, "0")
	c.permit = func(object) string {
		if err := os.Symlink(filepath.Join(outer, "new.txt"), filepath.Join(dir, "TOUR.md")); err != nil {
			t.Fatal(err)
		}
		return "allow"
	}
	if c.prompt("edit"); c.lastStatus() != "failed" || len(files(t, outer)) != 1 {
		t.Errorf("status %s, files %v", c.lastStatus(), files(t, outer))
	}
}

func TestReadTakesTheReadme(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.bin"), "\x00\x01")
	write(t, filepath.Join(dir, "b.txt"), "b\n")
	c := begin(t, dir, "0")
	c.prompt("read")
	if text := c.said("agent_message_chunk"); !strings.Contains(text, "`b.txt`, 1 line.") {
		t.Errorf("said %q", text)
	}
	write(t, filepath.Join(dir, "readme"), "x\ny")
	c.prompt("read")
	if text := c.said("agent_message_chunk"); !strings.Contains(text, "`readme`, 2 lines") {
		t.Errorf("said %q", text)
	}
	empty := begin(t, t.TempDir(), "0")
	empty.prompt("read")
	if text := empty.said("agent_message_chunk"); !strings.Contains(text, "no text file") {
		t.Errorf("said %q", text)
	}
}

func TestAnswerSuitsTheRequest(t *testing.T) {
	const whole, edit, read, long = "script inside", "`TOUR.md`", "That was", "## "
	for _, c := range []struct{ prompt, want string }{
		{"Show me around", whole}, {"show me around, please", whole}, {"hello", whole}, {"/tour", whole},
		{"Show me what you can do", whole}, {"what does open-source mean?", whole}, {"help", whole},
		{"edit something", edit}, {"/edit", edit}, {"edit TOUR.md", edit}, {"Please create a file.", edit},
		{"read", read}, {"/read", read}, {"show me a file", read}, {"Show notes.txt", read}, {"open the README", read},
		{"long", long}, {"/long", long},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "notes.txt"), "x\n")
		client := begin(t, dir, "0")
		client.prompt(c.prompt)
		if text := client.said("agent_message_chunk"); !strings.Contains(text, c.want) ||
			c.want != whole && strings.Contains(text, whole) {
			t.Errorf("%q: %q", c.prompt, text)
		}
	}
	for prompt, want := range map[string]string{
		"带我看看": "脚本", "你擅长什么": "脚本", "你好": "脚本", "写个文件": "`TOUR.md`", "帮我edit一下": "`TOUR.md`", "看看文件": "`notes.txt`",
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "notes.txt"), "x\n")
		client := begin(t, dir, "0")
		client.prompt(prompt)
		if text := client.said("agent_message_chunk"); !strings.Contains(text, want) || want != "脚本" && strings.Contains(text, "脚本") {
			t.Errorf("%q: %q", prompt, text)
		}
	}
}

func TestReadTakesTheNamedFile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "README.md"), "x\ny")
	write(t, filepath.Join(dir, "main.go"), "package main\n")
	c := begin(t, dir, "0")
	c.prompt("read main.go, please")
	if text := c.said("agent_message_chunk"); !strings.Contains(text, "`main.go`, 1 line") {
		t.Errorf("said %q", text)
	}
}

func TestLongAnswerHasEveryShape(t *testing.T) {
	c := begin(t, t.TempDir(), "0")
	for _, prompt := range []string{"long", "长"} {
		c.prompt(prompt)
		text := c.said("agent_message_chunk")
		for _, shape := range []string{"```go\n", "\n|---|", "\n1. ", "\n> ", "- [x]"} {
			if !strings.Contains(text, shape) {
				t.Errorf("%s: no %q", prompt, shape)
			}
		}
		if len(c.log) < 100 {
			t.Errorf("%s: only %d chunks", prompt, len(c.log))
		}
	}
}

func TestCancelEndsTheTurn(t *testing.T) {
	c := begin(t, t.TempDir(), "1") // a calm pace
	id := c.ask("long")
	for len(c.log) < 3 {
		c.handle(<-c.lines)
	}
	from := time.Now()
	c.send(object{"method": "session/cancel", "params": object{"sessionId": c.session}})
	if got := c.await(id)["result"].(object)["stopReason"]; got != "cancelled" {
		t.Errorf("stop reason %v", got)
	}
	if took := time.Since(from); took > 20*time.Second { // 50 ms are meant, the whole answer takes a minute; the machine may be busy
		t.Errorf("took %v", took)
	}
	if c.call("session/set_config_option", object{"sessionId": c.session, "configId": "pace", "value": "brisk"}); c.prompt("read") != "end_turn" {
		t.Error("the next turn did not run")
	}
}

func TestCancelWhileAsking(t *testing.T) {
	dir := t.TempDir()
	c := begin(t, dir, "0")
	var request any
	c.permit = func(object) string {
		c.send(object{"method": "session/cancel", "params": object{"sessionId": c.session}})
		return "-"
	}
	id := c.ask("edit")
	for request == nil {
		o := <-c.lines
		if o["method"] == "session/request_permission" {
			request = o["id"]
		}
		c.handle(o)
	}
	if got := c.await(id)["result"].(object)["stopReason"]; got != "cancelled" {
		t.Errorf("stop reason %v", got)
	}
	// An answer that comes too late allows nothing.
	c.send(object{"id": request, "result": object{"outcome": object{"outcome": "selected", "optionId": "allow"}}})
	c.prompt("read")
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("files %v", got)
	}
}

func TestSettings_R_AGT_093(t *testing.T) {
	c := begin(t, t.TempDir(), "0")
	set := func(id string, value any) object {
		return c.call("session/set_config_option", object{"sessionId": c.session, "configId": id, "value": value})
	}
	options := set("thinking", false)["result"].(object)["configOptions"].([]any)
	if len(options) != 2 || options[0].(object)["currentValue"] != "calm" || options[1].(object)["currentValue"] != false {
		t.Errorf("options %v", options)
	}
	if c.prompt("long"); c.said("agent_thought_chunk") != "" {
		t.Error("a thought although they are off")
	}
	set("thinking", true)
	if c.prompt("long"); c.said("agent_thought_chunk") == "" {
		t.Error("no thought although they are on")
	}
	for _, o := range []object{set("pace", "fast"), set("speed", "x"), set("thinking", 3)} {
		if o["error"].(object)["code"] != float64(-32602) {
			t.Errorf("answer %v", o)
		}
	}
}

func TestSessionLife(t *testing.T) {
	dir := t.TempDir()
	c := begin(t, dir, "0")
	code := func(o object) any {
		e, _ := o["error"].(object)
		return e["code"]
	}
	if got := code(c.call("session/new", object{"cwd": "relative"})); got != float64(-32602) {
		t.Errorf("relative cwd: %v", got)
	}
	if got := code(c.call("session/load", object{"sessionId": c.session, "cwd": dir})); got != float64(-32601) {
		t.Errorf("load: %v", got)
	}
	if got := code(c.call("session/prompt", object{"sessionId": "other"})); got != float64(-32002) {
		t.Errorf("unknown session: %v", got)
	}
	if got := code(c.call("session/resume", object{"sessionId": "other", "cwd": dir})); got != float64(-32002) {
		t.Errorf("resume of another Agent's session: %v", got)
	}
	if o := c.call("session/close", object{"sessionId": c.session}); o["error"] != nil {
		t.Errorf("close: %v", o)
	}
	if o := c.call("session/resume", object{"sessionId": c.session, "cwd": dir, "mcpServers": []any{}}); o["error"] != nil {
		t.Errorf("resume: %v", o)
	}
	if got := c.prompt("read"); got != "end_turn" {
		t.Errorf("after resume: %s", got)
	}
	c.permit = func(object) string { return "-" }
	first := c.ask("edit")
	if got := code(c.call("session/prompt", object{"sessionId": c.session})); got != float64(-32600) {
		t.Errorf("second prompt: %v", got)
	}
	if o := c.call("session/close", object{"sessionId": c.session}); o["error"] != nil {
		t.Errorf("close: %v", o)
	}
	if got := c.await(first)["result"].(object)["stopReason"]; got != "cancelled" {
		t.Errorf("closed while running: %v", got)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	go io.Copy(io.Discard, outR) // ends with the pipe
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- tour.Run(ctx, inR, outW) }()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	inW.Close()
	outR.Close()
}

// Without the server there is nobody to delegate to, and a notice about work of an earlier activation is answered all the same.
func TestDelegatesOnlyWithTheServer_R_SPAWN_001(t *testing.T) {
	c := begin(t, t.TempDir(), "0")
	c.prompt("please delegate something")
	if text := c.said("agent_message_chunk"); !strings.Contains(text, "Nobody to hand work to") {
		t.Errorf("said %q", text)
	}
	c.prompt("请委派")
	c.prompt("<system-reminder>\nnotificationId: n\nsessionId: s\nturnId: t\nstatus: error\ncode: TURN_FAILED\n</system-reminder>")
	if text := c.said("agent_message_chunk"); !strings.Contains(text, "没有做完（TURN_FAILED）") || slices.Contains(c.kinds(), "plan") {
		t.Errorf("said %q, sent %v", text, c.kinds())
	}
	c.prompt("<system-reminder>\nnotificationId: n\nsessionId: s\n</system-reminder>", "long")
	if text := c.said("agent_message_chunk"); strings.Contains(text, "came to nothing") {
		t.Errorf("a notice beside a request was answered: %q", text)
	}
}
