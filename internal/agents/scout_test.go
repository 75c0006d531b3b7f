package agents

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
)

const registryText = `{"version":"1.0.0","agents":[
	{"id":"claude-acp","name":"Claude","description":"From the registry","version":"1.10.0","distribution":{"npx":{"package":"@acme/claude-acp@1.10.0","args":["--acp"],"env":{"MCP_TOOL_TIMEOUT":"5"}}}},
	{"id":"absent","name":"Absent","version":"2.0.0","distribution":{"npx":{"package":"absent-acp"}}},
	{"id":"py","name":"Py","version":"0.3.0","distribution":{"uvx":{"package":"py-agent==0.3.0"}}},
	{"id":"nowhere","name":"Nowhere","version":"1","distribution":{"binary":{"windows-aarch64":{"archive":"https://example.invalid/x.zip","cmd":"x.exe"}}}},
	{"id":"Bad","name":"Bad","version":"1","distribution":{"npx":{"package":"x"}}}]}`

// tools puts npm, npx, uv and uvx on a PATH of their own. npm has one package, npx plays the toy Agent, and each call is a
// line in the file log.
func tools(t *testing.T) (bin, log string) {
	t.Helper()
	bin = t.TempDir()
	log = filepath.Join(bin, "log")
	script := func(name, body string) {
		writeFile(t, filepath.Join(bin, name), "#!/bin/sh\necho "+name+" \"$@\" >> "+log+"\n"+body+"\n", 0o700)
	}
	script("npm", `echo '{"dependencies":{"@acme/claude-acp":{"version":"1.9.0"}}}'`)
	script("npx", "exec "+os.Args[0]+" agent")
	script("uv", "exit 2") // a tool that is broken
	script("uvx", "exit 2")
	return bin, log
}

// eventually waits until ok holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: " + what)
		}
	}
}

func isInstalled(p *toyPool) bool {
	a, _ := p.Describe("claude-acp")
	return a.Installed
}

func rested(p *toyPool) func() bool {
	return func() bool { return !p.Registry().Looking }
}

func TestRegistryAgents_R_AGT_001_005_030_031_032_046_051(t *testing.T) {
	bin, log := tools(t)
	root := t.TempDir()
	file := filepath.Join(root, "source.json")
	writeFile(t, file, registryText, 0o600)
	cfg := Config{Root: root, Env: env("PATH=" + bin + ":/usr/bin:/bin"), Registry: "file://" + file, Self: []string{os.Args[0], "agent"}}
	p, stop := realPool(t, cfg)
	custom := add(t, p, fyllo.CustomAgent{Args: []string{"agent"}})
	if got := p.List(); len(got) != 2 || p.Registry().FetchedAt != nil {
		t.Fatalf("the registry was read before anybody asked: %+v", got)
	}
	p.Look(false)
	eventually(t, "the registry was read", rested(p))
	var ids []string
	for _, a := range p.List() {
		ids = append(ids, string(a.ID))
	}
	if diff := cmp.Diff([]string{"claude-acp", "absent", "py", "nowhere", string(custom), "tour"}, ids); diff != "" {
		t.Fatal(diff)
	}
	claude, absent := describe(t, p, "claude-acp"), describe(t, p, "absent")
	if !claude.Installed || claude.Version != "1.9.0" || claude.LatestVersion != "1.10.0" || !claude.UpdateAvailable ||
		claude.InstallMethod != fyllo.InstallNPX || claude.ManagedBy != fyllo.ManagedByUser || claude.Kind != "adapter" ||
		claude.Description != "From the registry" || claude.Command != "" || claude.EnvNames != nil {
		t.Errorf("%+v", claude)
	}
	if diff := cmp.Diff([]fyllo.InstallWay{{Method: fyllo.InstallNPX, Text: "npm install -g @acme/claude-acp@1.10.0"}}, claude.InstallWays); diff != "" {
		t.Error(diff)
	}
	if absent.Installed || absent.Problem != nil || absent.ManagedBy != "" || absent.UpdateAvailable ||
		len(absent.InstallWays) != 1 || absent.InstallWays[0].Text != "npm install -g absent-acp" {
		t.Errorf("%+v", absent)
	}
	if a := describe(t, p, "nowhere"); a.Installed || a.InstallWays != nil {
		t.Errorf("%+v", a)
	}

	// npx is there, the package is not: nothing is started, so nothing can be downloaded.
	_, err := p.Connect(t.Context(), "absent")
	wantCode(t, err, fyllo.CodeAgentNotInstalled)
	x := connect(t, p, "claude-acp")
	for name, want := range map[string]string{"MCP_TOOL_TIMEOUT": "5", "MCP_CONNECTION_NONBLOCKING": "0"} {
		if got, err := x.Conn().ask(t.Context(), "env "+name); got != want || err != nil {
			t.Errorf("%s=%q, %v", name, got, err)
		}
	}
	calls := readFile(t, log)
	if !strings.HasSuffix(calls, "npx --no-install @acme/claude-acp --acp\n") || strings.Count(calls, "npx") != 1 {
		t.Errorf("%s", calls)
	}
	if strings.Count(calls, "npm list -g --depth=0 --json") != 1 {
		t.Errorf("npm was asked more than once in a cycle:\n%s", calls)
	}
	stop()

	// Without network and tools: what was known is there at once, and the Agent is still recorded as the user's.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	again, err := New(cfg, dialToy)
	if err != nil {
		t.Fatal(err)
	}
	if a := describe(t, again, "claude-acp"); !a.Installed || a.Version != "1.9.0" || a.ManagedBy != fyllo.ManagedByUser || a.Capabilities.Image != fyllo.Supported {
		t.Errorf("%+v", a) // also what it said it can do, which counts for this version (R-AGT-071)
	}
	var records map[string]map[string]any
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(root, "acp", "installed.json"))), &records); err != nil {
		t.Fatal(err)
	}
	if r := records["claude-acp"]; len(records) != 1 || r["managedBy"] != "user" || r["installMethod"] != "npx" || r["installedVersion"] != "1.9.0" {
		t.Errorf("%v", records)
	}
}

// An Agent that goes is seen, at the warm-up of the next Core, without anybody going out.
func TestWhatIsInstalledIsLookedAtWithTheWarmUp_R_AGT_031_032(t *testing.T) {
	bin, _ := tools(t)
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprint(w, registryText)
	}))
	defer srv.Close()
	cfg := Config{Root: t.TempDir(), Env: env("PATH=" + bin + ":/usr/bin:/bin"), Registry: srv.URL}
	p, stop := realPool(t, cfg)
	if asked.Load() != 0 {
		t.Fatal("a start went out")
	}
	for range 8 {
		p.Look(false)
	}
	eventually(t, "it is installed", func() bool { return rested(p)() && isInstalled(p) })
	p.Look(false)
	eventually(t, "it rests", rested(p))
	stop()
	if asked.Load() != 1 {
		t.Errorf("%d requests", asked.Load())
	}
	writeFile(t, filepath.Join(bin, "npm"), "#!/bin/sh\necho '{}'\n", 0o700)
	p, _ = realPool(t, cfg)
	p.Warm()
	eventually(t, "it is gone", func() bool { return !isInstalled(p) })
	if asked.Load() != 1 {
		t.Error("a start went out")
	}
}

func TestARegistryThatFails_R_AGT_005(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if broken.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		fmt.Fprint(w, registryText)
	}))
	defer srv.Close()
	bin, _ := tools(t)
	p, _ := realPool(t, Config{Env: env("PATH=" + bin + ":/usr/bin:/bin"), Registry: srv.URL})
	custom := add(t, p, fyllo.CustomAgent{Args: []string{"agent"}})
	p.Look(false)
	eventually(t, "it failed", func() bool { return p.Registry().Problem != nil })
	if e := p.Registry().Problem; e.Code != fyllo.CodeRegistry || !strings.Contains(e.Message, "502") {
		t.Error(e)
	}
	connect(t, p, custom) // custom Agents need no registry
	broken.Store(false)
	eventually(t, "it rests", rested(p))
	p.Look(true) // a person asks again
	eventually(t, "it was read", func() bool { return rested(p)() && p.Registry().Problem == nil })
	if _, ok := p.Describe("absent"); !ok {
		t.Error("it is not in the catalogue")
	}
	broken.Store(true)
	p.Look(true)
	eventually(t, "it failed again", func() bool { return rested(p)() && p.Registry().Problem != nil })
	if _, ok := p.Describe("absent"); !ok || p.Registry().FetchedAt == nil {
		t.Error("a failure took what was there")
	}
}

// A tool that hangs ends with Core, and nothing that it half said is believed.
func TestALookEndsWithThePool_R_AGT_031_058(t *testing.T) {
	bin, log := tools(t)
	root := t.TempDir()
	file := filepath.Join(root, "source.json")
	writeFile(t, file, registryText, 0o600)
	writeFile(t, filepath.Join(bin, "npm"), "#!/bin/sh\necho $$ >> "+log+"\nsleep 600\n", 0o700)
	p, stop := realPool(t, Config{Root: root, Env: env("PATH=" + bin + ":/usr/bin:/bin"), Registry: "file://" + file})
	p.Look(false)
	eventually(t, "npm runs", func() bool { _, err := os.Stat(log); return err == nil })
	if got := p.List(); len(got) != 4 {
		t.Errorf("the list waits for npm: %v", got)
	}
	stop() // fails when a child is left
	if _, err := os.Stat(filepath.Join(root, "acp", "installed.json")); !os.IsNotExist(err) {
		t.Error("half a look was kept", err)
	}
}

// The Agents that are installed from the registry are not offered again as found on PATH.
func TestSuggestionsLeaveOutRegistryAgents_R_AGT_051(t *testing.T) {
	bin, _ := tools(t)
	for _, name := range []string{"claude-agent-acp", "goose"} {
		writeFile(t, filepath.Join(bin, name), "", 0o700)
	}
	root := t.TempDir()
	file := filepath.Join(root, "source.json")
	writeFile(t, file, registryText, 0o600)
	p, _ := realPool(t, Config{Root: root, Env: env("PATH=" + bin), Registry: "file://" + file})
	p.Look(false)
	eventually(t, "it was read", func() bool { return rested(p)() && isInstalled(p) })
	if got := p.Suggestions(); len(got) != 1 || got[0].Name != "Goose" {
		t.Errorf("%+v", got)
	}
}
