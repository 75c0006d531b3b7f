package agents

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fyllocode.dev/fyllo"
)

// idlePool returns a Pool that is not served, as a command that only edits the file uses it.
func idlePool(t *testing.T, cfg Config) *toyPool {
	t.Helper()
	if cfg.Root == "" {
		cfg.Root = t.TempDir()
	}
	if cfg.Env == nil {
		cfg.Env = env()
	}
	p, err := newPool(cfg, dialToy, &fakeHost{play: func(_ int, c *fakeChild) { c.live(time.Hour) }}, true)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func customPath(root string) string { return filepath.Join(root, "acp", "custom-agents.json") }

func TestBrokenFileIsRefusedAndKept_R_AGT_020(t *testing.T) {
	for _, c := range []struct{ text, reason string }{
		{"", "the file is empty"},
		{"{", "line 1: not valid JSON"},
		{"{\n \"agent_servers\": {\n  'A': {}\n }\n}", "line 3: not valid JSON"},
		{"{} {}", "line 1: something follows"},
		{`{"agent_servers":{},"agent_servers":{}}`, "a name stands twice"},
		{`[]`, "the file is not an object"},
		{`{"agent_servers":[]}`, "agent_servers is not an object"},
		{`{"agent_servers":{"A":"x"}}`, `agent_servers."A": the entry is not an object`},
		{`{"agent_servers":{"A":{}}}`, `agent_servers."A": command must be a string`},
		{`{"agent_servers":{"A":{"command":" "}}}`, `the command is empty`},
		{`{"agent_servers":{"A":{"command":"x","args":"y"}}}`, `args must be an array of strings`},
		{`{"agent_servers":{"A":{"command":"x","args":["y",null]}}}`, `args must be an array of strings`},
		{`{"agent_servers":{"A":{"command":"x","env":{"K":1}}}}`, `env must be an object of strings`},
		{`{"agent_servers":{"A":{"command":"x","env":{"K=L":"secret"}}}}`, `the environment variable "K=L" cannot be set`},
	} {
		root := t.TempDir()
		writeFile(t, customPath(root), c.text, 0o600)
		p := idlePool(t, Config{Root: root, Self: []string{os.Args[0], "tour"}})
		e := p.CustomProblem()
		if e == nil || e.Code != fyllo.CodeCustomAgents || !strings.Contains(e.Message, c.reason) || !strings.Contains(e.Message, customPath(root)) {
			t.Errorf("%q: %v", c.text, e)
			continue
		}
		if strings.Contains(e.Message, "secret") {
			t.Errorf("a value is shown: %v", e)
		}
		_, err := p.AddCustom(fyllo.CustomAgent{Name: "B", Command: "b"})
		wantCode(t, err, fyllo.CodeCustomAgents)
		wantCode(t, p.RemoveCustom("A"), fyllo.CodeCustomAgents)
		if got := readFile(t, customPath(root)); got != c.text {
			t.Errorf("%q became %q", c.text, got)
		}
		if list := p.List(); len(list) != 1 || list[0].ID != fyllo.TourAgent || !list[0].Installed {
			t.Errorf("the rest does not work: %+v", list)
		}
	}
}

func TestUnknownPartsSurviveChanges_R_AGT_020(t *testing.T) {
	root := t.TempDir()
	writeFile(t, customPath(root), `{"$schema":"x","agent_servers":{
		"Z":{"icon":"<z>","command":"zed","args":["a"],"env":{"K":"v"},"more":[1,2.50]},
		"A":{"command":"aaa"}},"later":{"deep":null}}`, 0o644)
	p := idlePool(t, Config{Root: root})
	if _, err := p.AddCustom(fyllo.CustomAgent{Name: "Z", Command: "zed2", Env: map[string]string{"B": "2", "A": "<&>"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.AddCustom(fyllo.CustomAgent{Name: "New", Command: "n", Args: []string{"--x"}}); err != nil {
		t.Fatal(err)
	}
	if err := p.RemoveCustom("A"); err != nil {
		t.Fatal(err)
	}
	want := `{
  "$schema": "x",
  "agent_servers": {
    "Z": {
      "icon": "<z>",
      "command": "zed2",
      "args": [],
      "env": {
        "A": "<&>",
        "B": "2"
      },
      "more": [
        1,
        2.50
      ]
    },
    "New": {
      "command": "n",
      "args": [
        "--x"
      ],
      "env": {}
    }
  },
  "later": {
    "deep": null
  }
}
`
	if got := readFile(t, customPath(root)); got != want {
		t.Errorf("got:\n%s", got)
	}
	if info, _ := os.Stat(customPath(root)); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestIDs_R_AGT_022(t *testing.T) {
	for _, c := range []struct {
		command string
		args    []string
		slug    string
		json    string // what is hashed, as JSON.stringify writes it
	}{
		{"opencode", []string{"acp"}, "opencode", `["opencode",["acp"]]`},
		{"/usr/bin/Claude Agent.sh", nil, "claude-agent-sh", `["/usr/bin/Claude Agent.sh",[]]`},
		{"~/bin/x", []string{"<&>", "\u2028", "ü", "a\nb"}, "x", "[\"~/bin/x\",[\"<&>\",\"\u2028\",\"ü\",\"a\\nb\"]]"},
		{"猫", nil, "agent", `["猫",[]]`},
	} {
		sum := sha256.Sum256([]byte(c.json))
		want := fyllo.AgentID(fmt.Sprintf("custom-%s-%x", c.slug, sum[:4]))
		a, err := customID(fyllo.CustomAgent{Name: "One", Command: c.command, Args: c.args})
		b, _ := customID(fyllo.CustomAgent{Name: "Two", Command: c.command, Args: c.args, Env: map[string]string{"K": "V"}})
		if err != nil || a != want || b != want {
			t.Errorf("%s: %s, %s, want %s (%v)", c.command, a, b, want, err)
		}
	}
}

func TestSameIDTwiceKeepsTheFirst_R_AGT_022(t *testing.T) {
	root := t.TempDir()
	var log strings.Builder
	text := `{"agent_servers":{"B":{"command":"x","env":{"K":"top-secret"}},"A":{"command":"x","args":[]}}}`
	writeFile(t, customPath(root), text, 0o600)
	p := idlePool(t, Config{Root: root, Log: slog.New(slog.NewTextHandler(&log, nil))})
	list := p.List()
	if len(list) != 1 || list[0].Name != "B" || !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("%+v\n%s", list, &log)
	}
	// Env values are in no list and no log (R-AGT-024).
	if all := fmt.Sprintf("%+v %s", list, &log); strings.Contains(all, "top-secret") || !slices.Equal(list[0].EnvNames, []string{"K"}) {
		t.Error(all)
	}
	_, err := p.AddCustom(fyllo.CustomAgent{Name: "C", Command: "x"})
	wantCode(t, err, fyllo.CodeInvalidRequest)
}

func TestCommandLookup_R_AGT_021_023(t *testing.T) {
	home, bin, other := t.TempDir(), t.TempDir(), t.TempDir()
	writeFile(t, home+"/bin/mine", "", 0o700)
	writeFile(t, bin+"/plain", "", 0o600) // not executable
	writeFile(t, other+"/plain", "", 0o700)
	writeFile(t, other+"/with space", "", 0o700)
	if err := os.Mkdir(bin+"/dir", 0o700); err != nil {
		t.Fatal(err)
	}
	l := newLookup([]string{"HOME=" + home, "PATH=" + bin}, true, nil)
	path := "relative:" + bin + ":" + other
	for command, want := range map[string]string{
		"~/bin/mine":       home + "/bin/mine",
		"~/bin/none":       "",
		"plain":            other + "/plain",
		"with space":       other + "/with space",
		"with":             "",
		"dir":              "",
		bin + "/plain":     "",
		other + "/plain":   other + "/plain",
		"./plain":          "",
		"":                 "",
		"~":                "",
		other + "/../none": "",
	} {
		if got := l.find(command, path); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
	p := idlePool(t, Config{})
	for _, bad := range []string{"./agent", "bin/agent", "~me/agent", " ", "a\x00b"} {
		_, err := p.AddCustom(fyllo.CustomAgent{Name: "X", Command: bad})
		wantCode(t, err, fyllo.CodeInvalidRequest)
	}
}

func TestLoginShellGivesThePath_R_AGT_034(t *testing.T) {
	bin := t.TempDir()
	shell := filepath.Join(bin, "shell")
	writeFile(t, shell, "#!/bin/sh\n[ \"$1 $2\" = '-l -c' ] || exit 1\necho noise from the profile\nPATH=/opt/tools:/bin; export PATH\nexec /bin/sh -c \"$3\"\n", 0o700)
	own := []string{"PATH=/usr/bin:/bin", "SHELL=" + shell, "HOME=/"}
	p, _ := realPool(t, Config{Env: own})
	p.Suggestions() // asks, if Serve did not yet
	<-p.ready
	if got := p.lookup.effective(); got != "/opt/tools:/bin:/usr/bin" && !p.lookup.ask {
		t.Skip("the tests run on a terminal")
	} else if got != "/opt/tools:/bin:/usr/bin" {
		t.Errorf("effective PATH %q", got)
	}
	for _, c := range []struct {
		env      string
		terminal bool
		ask      bool
	}{
		{"PATH=/usr/bin:/bin", false, true},
		{"PATH=/usr/bin:/bin", true, false},
		{"PATH=/home/me/.local/bin:/usr/bin", false, false},
	} {
		if l := newLookup([]string{c.env}, c.terminal, nil); l.ask != c.ask {
			t.Errorf("%+v: %v", c, l.ask)
		}
	}
}

func TestSilentLoginShellIsGivenUp_R_AGT_034(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHost{play: func(_ int, c *fakeChild) { <-c.kill }}
		p, err := newPool(Config{Root: t.TempDir(), Env: []string{"PATH=/bin", "HOME=/"}}, dialToy, h, false)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_ = p.List()
		if time.Since(began) != 0 || h.started() != 0 {
			t.Error("List waited for a shell")
		}
		if got := p.lookup.effective(); got != "/bin" || time.Since(began) != shellLimit {
			t.Errorf("%q after %v", got, time.Since(began))
		}
	})
}

func TestSaveStopsWhatChanged_R_AGT_024(t *testing.T) {
	p, _ := realPool(t, Config{})
	changed := add(t, p, toy("Changed", "1"))
	removed := add(t, p, toy("Removed", "2"))
	kept := add(t, p, toy("Kept", "3"))
	x, y, z := connect(t, p, changed), connect(t, p, removed), connect(t, p, kept)
	c := toy("Changed", "1")
	c.Env = map[string]string{"K": "V"}
	if id := add(t, p, c); id != changed {
		t.Fatalf("the id changed: %s", id)
	}
	if err := p.RemoveCustom(string(removed)); err != nil {
		t.Fatal(err)
	}
	<-x.Conn().Done()
	<-y.Conn().Done()
	wantCode(t, x.Conn().reason, fyllo.CodeAgentStopped)
	n := connect(t, p, changed) // the new one, warmed or not
	if got, _ := n.Conn().ask(t.Context(), "env K"); got != "V" {
		t.Errorf("K = %q", got)
	}
	_, err := p.Connect(t.Context(), removed)
	wantCode(t, err, fyllo.CodeAgentNotFound)
	if connect(t, p, kept) != z {
		t.Error("an entry that did not change was stopped")
	}
	wantCode(t, p.RemoveCustom("Removed"), fyllo.CodeAgentNotFound)
	wantCode(t, p.RemoveCustom("tour"), fyllo.CodeInvalidRequest)
}

// A change by hand is seen at the next Connect; a broken one leaves what was.
func TestFileChangedByHand_R_AGT_020(t *testing.T) {
	root := t.TempDir()
	p, _ := realPool(t, Config{Root: root})
	x := connect(t, p, add(t, p, toy("Toy")))
	id := x.Agent().ID
	good := readFile(t, customPath(root))
	writeFile(t, customPath(root), good+"}", 0o600)
	if connect(t, p, id) != x || p.CustomProblem() == nil {
		t.Error("a typing error stopped an Agent, or was not seen")
	}
	writeFile(t, customPath(root), strings.Replace(good, `"Toy"`, `"Toy Two"`, 1), 0o600)
	if connect(t, p, id) != x || p.CustomProblem() != nil || x.Agent().Name != "Toy Two" {
		t.Errorf("a new name: %+v, %v", x.Agent(), p.CustomProblem())
	}
}

func TestTourIsLastAndCanBeHidden(t *testing.T) {
	p, _ := realPool(t, Config{Self: []string{os.Args[0], "agent"}})
	add(t, p, toy("Toy"))
	list := p.List()
	last := list[len(list)-1]
	if last.ID != fyllo.TourAgent || last.Source != fyllo.SourceBuiltin || last.Command != "" || last.Args != nil {
		t.Errorf("%+v", last)
	}
	x := connect(t, p, fyllo.TourAgent)
	p.SetHideTour(true)
	<-x.Conn().Done()
	if len(p.List()) != 1 {
		t.Error("not hidden")
	}
	_, err := p.Connect(t.Context(), fyllo.TourAgent)
	wantCode(t, err, fyllo.CodeAgentNotFound)
	p.SetHideTour(false)
	connect(t, p, fyllo.TourAgent)
}

func TestSuggestions_R_AGT_051(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"opencode", "claude-agent-acp", "claude-code-acp", "gemini", "pi-acp", "goose", "cat"} {
		writeFile(t, filepath.Join(bin, name), "", 0o700)
	}
	p := idlePool(t, Config{Env: env("PATH=" + bin)})
	got := p.Suggestions()
	var names []string
	for _, s := range got {
		names = append(names, strings.TrimSpace(s.Name+": "+strings.TrimPrefix(s.Command, bin+"/")+" "+strings.Join(s.Args, " ")))
	}
	want := []string{
		"Claude Code: claude-agent-acp", "Claude Code (claude-code-acp): claude-code-acp",
		"Gemini CLI: gemini --acp", "OpenCode: opencode acp", "Goose: goose acp", // pi-acp needs pi
	}
	if !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	if !maps.Equal(got[0].Env, claudeEnv) || got[2].Env["GEMINI_CLI_NO_RELAUNCH"] != "true" {
		t.Errorf("%v, %v", got[0].Env, got[2].Env)
	}
	add(t, p, fyllo.CustomAgent{Name: got[0].Name, Command: got[0].Command, Args: got[0].Args, Env: got[0].Env})
	add(t, p, fyllo.CustomAgent{Name: "Mine", Command: filepath.Join(bin, "opencode"), Args: []string{"acp", "--pure"}})
	for _, s := range p.Suggestions() {
		if s.Name == "Claude Code" || s.Name == "OpenCode" {
			t.Errorf("offered again: %+v", s)
		}
	}
	if a := p.List()[0]; a.Kind != "adapter" || !slices.Contains(a.EnvNames, "MCP_TOOL_TIMEOUT") {
		t.Errorf("%+v", a)
	}
}

func TestKinds_R_AGT_007(t *testing.T) {
	for id, want := range map[fyllo.AgentID]string{
		"claude-acp": "adapter", "codex-acp": "adapter", "amp-acp": "adapter", "pi-acp": "bridge", "tour": "native",
		"custom-codex-acp-0123abcd": "adapter", "custom-pi-acp-0123abcd": "bridge", "custom-opencode-0123abcd": "native",
	} {
		if got := kindOf(id); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

func TestInstalledLaterIsSeen_R_AGT_023_034(t *testing.T) {
	bin := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := idlePool(t, Config{Env: env("PATH=" + bin)})
		id := add(t, p, fyllo.CustomAgent{Name: "Late", Command: "late"})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- p.Serve(ctx) }()
		synctest.Wait()
		if describe(t, p, id).Installed {
			t.Error("installed too early")
		}
		writeFile(t, filepath.Join(bin, "late"), "", 0o700)
		time.Sleep(statusMaxAge + time.Second)
		_ = p.List()
		synctest.Wait()
		if !describe(t, p, id).Installed {
			t.Error("not seen")
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
