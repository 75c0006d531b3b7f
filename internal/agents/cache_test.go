package agents

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"

	"fyllocode.dev/fyllo"
)

func cacheOf(t *testing.T, root string) map[string]any {
	t.Helper()
	var f struct {
		Version int                       `json:"version"`
		Agents  map[string]map[string]any `json:"agents"`
	}
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(root, "acp", "agent-capabilities.json"))), &f); err != nil || f.Version != 2 {
		t.Fatalf("version %d, %v", f.Version, err)
	}
	for _, a := range f.Agents {
		return a
	}
	return nil
}

func TestCacheKeepsRawValues_R_AGT_070(t *testing.T) {
	root := t.TempDir()
	p, stop := realPool(t, Config{Root: root})
	id := add(t, p, toy("Toy"))
	connect(t, p, id)
	stop()
	a := cacheOf(t, root)
	prompt, _ := a["promptCapabilities"].(map[string]any)
	if a["capabilityCompleteness"] != "complete" || a["capturedAgentVersion"] != "" || a["loadSession"] != true ||
		prompt["audio"] != "yes" || prompt["_meta"] == nil || a["capturedAt"] == nil {
		t.Errorf("%v", a)
	}
	if _, ok := a["_meta"]; ok {
		t.Error("absent became present")
	}
	// Another run takes them from the cache: no process (R-AGT-071), strictly derived (R-AGT-072).
	h := &fakeHost{play: func(_ int, c *fakeChild) { c.live(time.Hour) }}
	q, err := newPool(Config{Root: root, Env: env()}, dialToy, h, true)
	if err != nil {
		t.Fatal(err)
	}
	defer serve(t, q)()
	caps, err := q.Capabilities(t.Context(), id)
	want := fyllo.Capabilities{
		Image: fyllo.Supported, Audio: fyllo.Unsupported, EmbeddedContext: fyllo.Unsupported, HTTPMCP: fyllo.Supported,
		MultiRoot: fyllo.Supported, Load: true, Resume: true, Close: false,
	}
	if err != nil || caps != want || h.started() != 0 {
		t.Errorf("%+v, %v, %d starts", caps, err, h.started())
	}
	if got := describe(t, q, id); got.Capabilities != want || len(got.AuthMethods) != 1 || got.AuthMethods[0].ID != "login" {
		t.Errorf("%+v", got)
	}
	// The live answer wins.
	x := connect(t, q, id)
	if caps, _ = q.Capabilities(t.Context(), id); caps != x.Info().Capabilities || caps == want {
		t.Errorf("%+v", caps)
	}
}

func TestCacheOfOtherFormsIsEmpty_R_AGT_070(t *testing.T) {
	id, _ := customID(fyllo.CustomAgent{Command: os.Args[0]})
	for _, c := range []struct {
		text  string
		image fyllo.Support
	}{
		{"{", fyllo.Unknown},
		{`{"version":3,"agents":{"ID":{"promptCapabilities":{"image":true},"capabilityCompleteness":"complete"}}}`, fyllo.Unknown},
		{`{"version":2}`, fyllo.Unknown},
		{`{"version":2,"agents":{"ID":{"promptCapabilities":{"image":true},"capabilityCompleteness":"partial"}}}`, fyllo.Supported},
		{`{"version":1,"agents":{"ID":{"promptCapabilities":{"image":true},"sessionCapabilities":{"resume":{}}}}}`, fyllo.Supported},
	} {
		root := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			writeFile(t, customPath(root), `{"agent_servers":{"Toy":{"command":"`+os.Args[0]+`"}}}`, 0o600)
			writeFile(t, filepath.Join(root, "acp", "agent-capabilities.json"), strings.ReplaceAll(c.text, "ID", string(id)), 0o600)
			h := &fakeHost{play: func(_ int, c *fakeChild) { c.live(time.Hour) }}
			p, err := newPool(Config{Root: root, Env: env()}, dialToy, h, true)
			if err != nil {
				t.Fatal(err)
			}
			stop := serve(t, p)
			if a := describe(t, p, id); a.Capabilities.Image != c.image || a.Capabilities.MultiRoot != fyllo.Unknown || a.Capabilities.Resume {
				t.Errorf("%s: %+v", c.text, a.Capabilities)
			}
			// What is not whole is asked for, never guessed (R-AGT-073).
			if _, err := p.Capabilities(t.Context(), id); err != nil || h.started() != 1 {
				t.Errorf("%s: %v, %d starts", c.text, err, h.started())
			}
			stop()
			if cacheOf(t, root)["capabilityCompleteness"] != "complete" {
				t.Error("not replaced")
			}
		})
	}
}

func TestCacheFailureBlocksNothing_R_AGT_070(t *testing.T) {
	root := t.TempDir()
	var log strings.Builder
	p, stop := realPool(t, Config{Root: root, Log: slog.New(slog.NewTextHandler(&log, nil))})
	id := add(t, p, toy("Toy"))
	path := filepath.Join(root, "acp", "agent-capabilities.json")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	connect(t, p, id)
	stop()
	if !strings.Contains(log.String(), "file="+path) {
		t.Errorf("the log does not name the file: %s", &log)
	}
	if a := describe(t, p, id); a.Capabilities.Image != fyllo.Supported {
		t.Errorf("%+v", a)
	}
	log.Reset()
	idlePool(t, Config{Root: root, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if !strings.Contains(log.String(), "file="+path) {
		t.Errorf("the log does not name the file: %s", &log)
	}
}

func TestSaveClearsTheCacheEntry_R_AGT_024(t *testing.T) {
	root := t.TempDir()
	p, stop := realPool(t, Config{Root: root})
	id := add(t, p, toy("Toy"))
	connect(t, p, id)
	stop()
	q := idlePool(t, Config{Root: root}) // an edit without a running Core
	c := toy("Toy")
	c.Env = map[string]string{"K": "V"}
	add(t, q, c)
	if a := cacheOf(t, root); a != nil {
		t.Errorf("still there: %v", a)
	}
}
