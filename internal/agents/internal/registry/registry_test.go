package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"fyllocode.dev/fyllo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func fixture(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/registry.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func ids(d Document) []string {
	var out []string
	for _, a := range d.Agents {
		out = append(out, string(a.ID))
	}
	return out
}

func TestOneBadAgentCostsNoOther_R_AGT_002_131(t *testing.T) {
	doc, warnings, err := Parse(fixture(t))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"scoped", "with-cmd", "py", "built"}, ids(doc)); diff != "" {
		t.Fatal(diff)
	}
	if len(warnings) != 11 {
		t.Errorf("%d warnings: %v", len(warnings), warnings)
	}
	scoped, withCmd, py, built := doc.Agents[0], doc.Agents[1], doc.Agents[2], doc.Agents[3]
	want := &Package{Package: "@acme/scoped-acp@1.10.0", Args: []string{"--acp"}, Env: map[string]string{"A": "1"}}
	if diff := cmp.Diff(want, scoped.NPX); diff != "" || scoped.License != "MIT" || scoped.Icon == "" {
		t.Error(diff, scoped)
	}
	if withCmd.NPX.Cmd != "other-bin" || withCmd.Repository != "" {
		t.Errorf("%+v", withCmd)
	}
	if py.UVX.Package != "py-agent==0.3.1" || py.NPX != nil {
		t.Errorf("%+v", py)
	}
	got := slices.Sorted(maps.Keys(built.Binary))
	if diff := cmp.Diff([]string{"darwin-aarch64", "windows-x86_64"}, got); diff != "" {
		t.Error(diff) // R-AGT-003: windows-*, and platforms of tomorrow are no reason to lose the others
	}
}

func TestWhatIsNoRegistryFails_R_AGT_002(t *testing.T) {
	for _, data := range []string{``, `[]`, `{}`, `{"version":"1"}`, `{"agents":null}`, `{"agents":{}}`, `<html>`, `{"agents":[]} x`} {
		if _, _, err := Parse([]byte(data)); err == nil {
			t.Errorf("%q was taken", data)
		}
	}
	if doc, _, err := Parse([]byte(`{"agents":[]}`)); err != nil || len(doc.Agents) != 0 {
		t.Error(doc, err)
	}
}

func TestPlatforms_R_AGT_003(t *testing.T) {
	for in, want := range map[[2]string]string{
		{"windows", "amd64"}: "windows-x86_64", {"linux", "arm64"}: "linux-aarch64", {"darwin", "arm64"}: "darwin-aarch64",
		{"linux", "riscv64"}: "", {"freebsd", "amd64"}: "",
	} {
		if got := Platform(in[0], in[1]); got != want {
			t.Errorf("%v: %q", in, got)
		}
	}
}

func TestBarePackages_R_AGT_031(t *testing.T) {
	for in, want := range map[string]string{"@a/b@1.2.3": "@a/b", "@a/b": "@a/b", "b@latest": "b", "b": "b"} {
		if got := BareNPM(in); got != want {
			t.Errorf("npm %q: %q", in, got)
		}
	}
	for in, want := range map[string]string{"b==1.2": "b", "b@1.2": "b", "b[acp]==1.2": "b", "b>=1": "b", "b": "b"} {
		if got := BarePyPI(in); got != want {
			t.Errorf("uv %q: %q", in, got)
		}
	}
}

func TestVersionsAreComparedAsNumbers_R_AGT_033(t *testing.T) {
	for _, c := range []struct {
		offered, installed string
		want               bool
	}{
		{"1.10.0", "1.9.9", true}, {"1.9.9", "1.10.0", false}, {"1.2", "1.2.0", false}, {"1.2.0.1", "1.2", true},
		{"2", "10", false}, {"1.02", "1.2", false}, {"1.2.3", "", false}, {"", "1", false}, {"1.2.4", "1.2.3-beta", false},
		{"99999999999999999999999", "99999999999999999999998", true}, {"1..2", "1", false},
	} {
		if got := Newer(c.offered, c.installed); got != c.want {
			t.Errorf("%q > %q: %v", c.offered, c.installed, got)
		}
	}
}

// server counts its requests and answers as answer says.
func server(t *testing.T, answer http.HandlerFunc) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	var n atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s, &n
}

func source(url, cache string) *Source {
	return NewSource(url, cache, slog.New(slog.DiscardHandler))
}

func putCache(t *testing.T, path, url string, at time.Time, data string) {
	t.Helper()
	b, err := json.Marshal(map[string]any{"source": url, "fetchedAt": at, "data": json.RawMessage(data)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

const kept = `{"version":"1","agents":[{"id":"kept","name":"Kept","version":"1","distribution":{"npx":{"package":"kept"}}}]}`

func TestFetchedAndKept_R_AGT_005(t *testing.T) {
	data := fixture(t)
	srv, n := server(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(data) })
	cache := filepath.Join(t.TempDir(), "acp", "registry.json")
	s := source(srv.URL, cache)
	if _, ok := s.Kept(); ok || n.Load() != 0 {
		t.Fatal("something was there before the first fetch")
	}
	got, err := s.Fetch(t.Context())
	if err != nil || len(got.Agents) != 4 || !got.Fresh(time.Now()) {
		t.Fatal(got, err)
	}
	kept, ok := source(srv.URL, cache).Kept() // another run of the program
	if diff := cmp.Diff(got, kept); diff != "" || !ok || n.Load() != 1 {
		t.Error(diff, ok, n.Load())
	}
	if info, err := os.Stat(cache); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
}

func TestADocumentIsFreshForADay_R_AGT_005(t *testing.T) {
	now := time.Now()
	for age, want := range map[time.Duration]bool{0: true, 23 * time.Hour: true, 24 * time.Hour: false, -time.Hour: false} {
		if got := (Snapshot{FetchedAt: now.Add(-age)}).Fresh(now); got != want {
			t.Errorf("%v: %v", age, got)
		}
	}
}

func TestAFailureKeepsTheCopy_R_AGT_005(t *testing.T) {
	srv, _ := server(t, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"agents":0}`)) })
	cache := filepath.Join(t.TempDir(), "registry.json")
	putCache(t, cache, srv.URL, time.Now().Add(-25*time.Hour), kept)
	s := source(srv.URL, cache)
	if _, err := s.Fetch(t.Context()); err == nil {
		t.Fatal("a document without agents was taken")
	}
	if doc, ok := s.Kept(); !ok || ids(doc.Document)[0] != "kept" || doc.Fresh(time.Now()) {
		t.Fatal(doc, ok)
	}
}

func TestOnlyTheCopyOfThisSourceCounts_R_AGT_004_005(t *testing.T) {
	dir := t.TempDir()
	foreign, damaged := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	putCache(t, foreign, "https://elsewhere.invalid/", time.Now(), kept)
	if err := os.WriteFile(damaged, []byte(`{"source":`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cache := range []string{foreign, damaged, filepath.Join(dir, "none")} {
		if doc, ok := source("http://127.0.0.1/", cache).Kept(); ok {
			t.Errorf("%s: %v", filepath.Base(cache), doc)
		}
	}
}

func TestSources_R_AGT_004(t *testing.T) {
	file, err := filepath.Abs("testdata/registry.json")
	if err != nil {
		t.Fatal(err)
	}
	huge, _ := server(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, maxDocument+1)) })
	broken, _ := server(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	away, _ := server(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "file://"+file, http.StatusFound) })
	loop, _ := server(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) })
	for url, want := range map[string]string{
		"file://" + file:          "",
		"file://elsewhere" + file: "absolute path",
		"file:///nowhere/x.json":  "no such file",
		"file:///dev/zero":        "not a file",
		"ftp://127.0.0.1/x":       "no http, https or file URL",
		huge.URL:                  "larger than",
		broken.URL:                "502",
		away.URL:                  "refused",
		loop.URL:                  "too many redirects",
	} {
		_, err := source(url, filepath.Join(t.TempDir(), "c")).Fetch(t.Context())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestAFetchEndsWithItsContext_R_AGT_005(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	srv, _ := server(t, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	if _, err := source(srv.URL, filepath.Join(t.TempDir(), "c")).Fetch(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Starting never downloads, and what a person is told to type is what the entry says (R-AGT-040, 046, 051).
func TestLaunchAndInstall_R_AGT_040_046_051(t *testing.T) {
	doc, _, err := Parse(fixture(t))
	if err != nil {
		t.Fatal(err)
	}
	scoped, withCmd, py, built := doc.Agents[0], doc.Agents[1], doc.Agents[2], doc.Agents[3]
	const mac = "darwin-aarch64"
	for _, c := range []struct {
		agent  Agent
		method fyllo.InstallMethod
		at     string
		want   string
	}{
		{scoped, fyllo.InstallNPX, "", "npx --no-install @acme/scoped-acp --acp"},
		{scoped, fyllo.InstallNPX, "/lib/scoped-acp/run.js", "/lib/scoped-acp/run.js --acp"},
		{withCmd, fyllo.InstallNPX, "/lib/with-cmd/run.js", "other-bin"},
		{withCmd, fyllo.InstallNPX, "", "other-bin"},
		{py, fyllo.InstallUVX, "", "uvx --offline py-agent acp"},
		{built, fyllo.InstallBinary, "", "built acp"},
		{built, fyllo.InstallBinary, "/data/built", "/data/built acp"},
	} {
		l, ok := c.agent.Launch(c.method, mac, c.at)
		if got := strings.Join(append([]string{l.Command}, l.Args...), " "); !ok || got != c.want {
			t.Errorf("%s: %q, %v", c.agent.ID, got, ok)
		}
	}
	if _, ok := built.Launch(fyllo.InstallBinary, "linux-x86_64", "/data/built"); ok {
		t.Error("a build for another platform is started")
	}
	if l, _ := scoped.Launch(fyllo.InstallNPX, mac, ""); l.Env["A"] != "1" {
		t.Error(l.Env)
	}
	extras := Agent{UVX: &Package{Package: "py[acp]>=1"}, NPX: &Package{Package: "js"}}
	for _, c := range []struct {
		agent Agent
		want  []fyllo.InstallWay
	}{
		{scoped, []fyllo.InstallWay{{Method: fyllo.InstallNPX, Text: "npm install -g @acme/scoped-acp@1.10.0"}}},
		{built, []fyllo.InstallWay{{Method: fyllo.InstallBinary, Text: "https://example.invalid/b-darwin.tar.gz"}}},
		{extras, []fyllo.InstallWay{{Method: fyllo.InstallNPX, Text: "npm install -g js"}, {Method: fyllo.InstallUVX, Text: "uv tool install 'py[acp]>=1'"}}},
	} {
		if diff := cmp.Diff(c.want, c.agent.Ways(mac)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestPackagesAreNamesOnly_R_AGT_041(t *testing.T) {
	for pkg, ok := range map[string]bool{
		"a": true, "@s/a": true, "@s/a@latest": true, "a@^1.2.3": true, "a_b.c": true,
		"": false, "-g": false, "a b": false, "a;ls": false, "$(ls)": false, "git+https://x/y": false, "file:../x": false, "../x": false, "@s": false, "a@1 --x": false,
	} {
		_, warnings, err := Parse([]byte(`{"agents":[{"id":"x","name":"X","distribution":{"npx":{"package":` + strconv.Quote(pkg) + `}}}]}`))
		if err != nil || (len(warnings) == 0) != ok {
			t.Errorf("npx %q: %v %v", pkg, warnings, err)
		}
	}
	for pkg, ok := range map[string]bool{
		"a": true, "a==1.0": true, "a[x,y]>=1": true, "a@1.0": true, "": false, "--from": false, "a;ls": false, "a @ https://x": false, "'a'": false,
	} {
		_, warnings, err := Parse([]byte(`{"agents":[{"id":"x","name":"X","distribution":{"uvx":{"package":` + strconv.Quote(pkg) + `}}}]}`))
		if err != nil || (len(warnings) == 0) != ok {
			t.Errorf("uvx %q: %v %v", pkg, warnings, err)
		}
	}
}

// What is shown has bounds, so that one entry does not fill a page (R-AGT-002).
func TestTextsAreCut_R_AGT_002(t *testing.T) {
	long := strings.Repeat("ä ", 3000)
	doc, _, err := Parse([]byte(`{"agents":[{"id":"x","name":"` + long + `","description":"a\n` + long + `","distribution":{"npx":{"package":"x"}}}]}`))
	if err != nil || len([]rune(doc.Agents[0].Name)) != maxName || len([]rune(doc.Agents[0].Description)) != maxDescription {
		t.Error(doc, err)
	}
	var many []string
	for i := range maxAgents + 5 {
		many = append(many, fmt.Sprintf(`{"id":"a%d","name":"A","distribution":{"npx":{"package":"x"}}}`, i))
	}
	doc, warnings, err := Parse([]byte(`{"agents":[` + strings.Join(many, ",") + `]}`))
	if err != nil || len(doc.Agents) != maxAgents || len(warnings) != 1 {
		t.Error(len(doc.Agents), warnings, err)
	}
}
