//go:build agents

package agents

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"testing"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/mcphost"
)

// conformance are the scenarios of the protocol's own test suite that need no tools, prompts or resources made for it, with
// the versions of the protocol in which they are run.
var conformance = []struct{ scenario, version string }{
	{"server-initialize", "2025-11-25"},
	{"server-session-lifecycle", "2025-11-25"},
	{"ping", "2025-11-25"},
	{"tools-list", "2025-11-25"},
	{"tools-list", "2026-07-28"},
	{"server-sse-multiple-streams", "2025-11-25"},
	{"http-header-validation", "2026-07-28"},
	{"caching", "2026-07-28"},
}

// TestConformance_R_AGT_100_R_SPAWN_023 runs the test suite of the Model Context Protocol against the door for Agents.
func TestConformance_R_AGT_100_R_SPAWN_023(t *testing.T) {
	needPOSIX(t)
	dir := filepath.Join(install(t, "conformance"), "node_modules")
	address := openDoor(t)
	for _, c := range conformance {
		t.Run(c.scenario+" "+c.version, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), commandLimit)
			defer cancel()
			cmd := exec.CommandContext(ctx, filepath.Join(dir, "node", "bin", "node"),
				filepath.Join(dir, "@modelcontextprotocol", "conformance", "dist", "index.js"),
				"server", "--url", address, "--scenario", c.scenario, "--spec-version", c.version)
			cmd.Dir = t.TempDir() // it writes its results there
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// openDoor serves fyllo-spawn behind a proxy that has the bearer, which the suite cannot send. Everything else passes as it came.
func openDoor(t *testing.T) string {
	ready := make(chan struct{})
	close(ready)
	back := httptest.NewUnstartedServer(nil)
	host := mcphost.New(mcphost.Config{Address: back.Listener.Addr().String(), Spawner: nobody{}, Ready: ready, Version: "1"})
	back.Config.Handler = host
	back.Start()
	server := host.Lease(t.Context(), "w", "session-1").Servers()[0]
	target, err := url.Parse(back.URL)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1, // streams
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			for name, value := range server.Headers {
				r.Out.Header.Set(name, value)
			}
		},
	})
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
		host.Close()
		back.CloseClientConnections()
		back.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return front.URL + "/mcp/" + mcphost.SpawnName
}

// nobody is an engine without Agents.
type nobody struct{}

func (nobody) AvailableAgents(context.Context) ([]fyllo.SpawnAgent, error) {
	return []fyllo.SpawnAgent{}, nil
}

func (nobody) Prompt(context.Context, fyllo.SpawnOwner, fyllo.SpawnPrompt) (fyllo.SpawnPromptResult, error) {
	return fyllo.SpawnPromptResult{}, fyllo.Errorf(fyllo.CodeSpawnAgent, "there is no Agent")
}

func (nobody) Status(context.Context, fyllo.SpawnOwner, string) (fyllo.SpawnStatusResult, error) {
	return fyllo.SpawnStatusResult{Status: fyllo.SpawnNotFound}, nil
}

func (nobody) Read(context.Context, fyllo.SpawnOwner, fyllo.SpawnRead) (fyllo.SpawnChunk, error) {
	return fyllo.SpawnChunk{}, fyllo.Errorf(fyllo.CodeSpawnNotFound, "there is no such answer")
}

func (nobody) Cancel(context.Context, fyllo.SpawnOwner, string) (fyllo.SpawnCancelResult, error) {
	return fyllo.SpawnCancelResult{Reason: "Session not found"}, nil
}
