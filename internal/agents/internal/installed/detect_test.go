package installed

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/agents/internal/registry"
)

func TestNPMList_R_AGT_031(t *testing.T) {
	got, err := ParseNPMList([]byte("warning of a wrapper\n" + `{"name":"lib","problems":["x"],"error":{"code":"ELSPROBLEMS"},"dependencies":{
		"@acme/scoped-acp":{"version":"1.9.0","overridden":false},"gone":{"required":"1","missing":true},"bare":{},
		"one":{"path":"/lib/one","bin":{"other":"dist/run.js"}},"@s/named":{"path":"/lib/named","bin":{"x":"x.js","named":"./n.js"}},
		"text":{"path":"/lib/text","bin":"t.js"},"many":{"path":"/lib/many","bin":{"x":"x.js","y":"y.js"}},
		"out":{"path":"/lib/out","bin":{"out":"../../evil"}},"relative":{"path":"lib","bin":{"relative":"x"}}}}`))
	if diff := cmp.Diff(map[string]Package{
		"@acme/scoped-acp": {Version: "1.9.0"}, "bare": {}, "one": {Program: "/lib/one/dist/run.js"}, "@s/named": {Program: "/lib/named/n.js"},
		"text": {Program: "/lib/text/t.js"}, "many": {}, "out": {}, "relative": {},
	}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if got, err := ParseNPMList([]byte(`{}`)); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
	for _, out := range []string{"npm: command failed", "", `{"error":{"code":"EACCES"}}`} {
		if _, err := ParseNPMList([]byte(out)); err == nil {
			t.Errorf("%q was taken for a list", out)
		}
	}
}

func TestUVListKnowsExactNames_R_AGT_031(t *testing.T) {
	got := ParseUVList([]byte("py-agent-extra v2.0.0\n- py-agent\n- py-agent v9\npy-agent v0.3.1 (/home/u/tools)\r\nNo tools installed\n"))
	if diff := cmp.Diff(map[string]Package{"py-agent-extra": {Version: "2.0.0"}, "py-agent": {Version: "0.3.1"}}, got); diff != "" {
		t.Error(diff)
	}
}

// machine is a fake of this machine: what is on PATH, and what programs print.
type machine struct {
	tools  map[string]string // command → path
	prints map[string]string // path → standard output
	fails  map[string]bool
	ran    []string
}

func (m *machine) detector() *Detector {
	return &Detector{
		Platform: "linux-x86_64",
		Find:     func(command string) string { return m.tools[command] },
		Run: func(_ context.Context, path string, args ...string) ([]byte, error) {
			m.ran = append(m.ran, filepath.Base(path)+" "+strings.Join(args, " "))
			if m.fails[path] {
				return nil, errors.New("killed")
			}
			return []byte(m.prints[path]), nil
		},
	}
}

func agents() []registry.Agent {
	pkg := func(name string) *registry.Package { return &registry.Package{Package: name} }
	binary := func(cmd string) map[string]registry.Archive {
		return map[string]registry.Archive{"linux-x86_64": {Archive: "https://example.invalid/a.zip", Cmd: cmd}}
	}
	return []registry.Agent{
		{ID: "scoped", NPX: pkg("@acme/scoped-acp@1.10.0")},
		{ID: "part", NPX: pkg("scoped-acp")}, // a part of a name that is there is not there
		{ID: "py", UVX: pkg("py-agent==0.3.1")},
		{ID: "both", NPX: pkg("not-there"), UVX: pkg("both-py")},
		{ID: "built", Binary: binary("./bin/built")},
		{ID: "placed", Binary: binary("./placed")},
		{ID: "elsewhere", Binary: map[string]registry.Archive{"darwin-aarch64": {Archive: "https://example.invalid/a.zip", Cmd: "built"}}},
	}
}

func TestDetection_R_AGT_031_040(t *testing.T) {
	built := filepath.Join(t.TempDir(), "built")
	if err := os.WriteFile(built, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &machine{
		tools: map[string]string{"npm": "/t/npm", "npx": "/t/npx", "uv": "/t/uv", "uvx": "/t/uvx", "built": built, "/data/placed": "/data/placed", "/lib/scoped/run.js": "/lib/scoped/run.js"},
		prints: map[string]string{
			"/t/npm": `{"dependencies":{"@acme/scoped-acp":{"version":"1.9.0","path":"/lib/scoped","bin":{"x":"run.js"}}}}`,
			"/t/uv":  "py-agent v0.3.0\nboth-py v1.0\n", built: "built version 3.1.4 (linux)\n",
		},
		fails: map[string]bool{},
	}
	d := m.detector()
	records := Records{"placed": {ManagedBy: fyllo.ManagedByFyllo, InstallMethod: fyllo.InstallBinary, InstallPath: "/data/placed"}}
	want := map[fyllo.AgentID]Detection{
		"scoped": {Method: fyllo.InstallNPX, Path: "/lib/scoped/run.js", Version: "1.9.0"}, "py": {Method: fyllo.InstallUVX, Version: "0.3.0"},
		"both": {Method: fyllo.InstallUVX, Version: "1.0"}, "built": {Method: fyllo.InstallBinary, Path: built, Version: "3.1.4"},
		"placed": {Method: fyllo.InstallBinary, Path: "/data/placed"}, // its version is unknown, and it is there
	}
	first := d.Detect(t.Context(), agents(), records, nil)
	if diff := cmp.Diff(want, first.Found); diff != "" || len(first.Failed) != 0 {
		t.Fatal(diff, first.Failed)
	}
	// One list for each tool, and a program that did not change is not asked for its version again.
	d.Detect(t.Context(), agents(), records, first.Found)
	asked := map[string]int{}
	for _, line := range m.ran {
		asked[line]++
	}
	if diff := cmp.Diff(map[string]int{
		"npm list -g --depth=0 --json --long --offline --no-update-notifier": 2, "uv tool list --offline": 2, "built --version": 1,
	}, asked); diff != "" {
		t.Error(diff)
	}
	// A tool that gives no answer changes nothing; one that is not there has nothing.
	m.fails["/t/npm"] = true
	delete(m.tools, "uvx")
	look := d.Detect(t.Context(), agents(), records, first.Found)
	left := maps.Clone(want)
	delete(left, "py")
	delete(left, "both")
	if diff := cmp.Diff(left, look.Found); diff != "" || look.Failed[fyllo.InstallNPX] == nil || len(look.Failed) != 1 {
		t.Error(diff, look.Failed)
	}
}

func TestNoToolIsAskedForNothing_R_AGT_031(t *testing.T) {
	m := &machine{tools: map[string]string{"npm": "/t/npm", "npx": "/t/npx", "uv": "/t/uv", "uvx": "/t/uvx"}}
	if look := m.detector().Detect(t.Context(), agents()[4:], nil, nil); len(look.Found) != 0 || len(m.ran) != 0 {
		t.Error(look, m.ran)
	}
}
