package agents

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"fyllocode.dev/fyllo"
)

// known are the Agents that are looked for on PATH, in the order of offering.
var known = []struct {
	fyllo.CustomAgent
	needs string        // another command without which it does not work
	id    fyllo.AgentID // in the registry
}{
	{CustomAgent: fyllo.CustomAgent{Name: "Claude Code", Command: "claude-agent-acp", Env: claudeEnv}, id: "claude-acp"},
	{CustomAgent: fyllo.CustomAgent{Name: "Claude Code", Command: "claude-code-acp", Env: claudeEnv}, id: "claude-acp"},
	{CustomAgent: fyllo.CustomAgent{Name: "Codex", Command: "codex-acp"}, id: "codex-acp"},
	{CustomAgent: fyllo.CustomAgent{Name: "Gemini CLI", Command: "gemini", Args: []string{"--acp"}, Env: geminiEnv}, id: "gemini"},
	{CustomAgent: fyllo.CustomAgent{Name: "OpenCode", Command: "opencode", Args: []string{"acp"}}, id: "opencode"},
	{CustomAgent: fyllo.CustomAgent{Name: "Kilo Code", Command: "kilo", Args: []string{"acp"}}, id: "kilo"},
	{CustomAgent: fyllo.CustomAgent{Name: "Qwen Code", Command: "qwen", Args: []string{"--acp"}}, id: "qwen-code"},
	{CustomAgent: fyllo.CustomAgent{Name: "GitHub Copilot", Command: "copilot", Args: []string{"--acp"}}, id: "github-copilot-cli"},
	{CustomAgent: fyllo.CustomAgent{Name: "Cline", Command: "cline", Args: []string{"--acp"}}, id: "cline"},
	{CustomAgent: fyllo.CustomAgent{Name: "Goose", Command: "goose", Args: []string{"acp"}}, id: "goose"},
	{CustomAgent: fyllo.CustomAgent{Name: "Pi", Command: "pi-acp"}, needs: "pi", id: "pi-acp"},
}

var (
	// Without these, Claude gives up long tool calls and starts before its MCP servers are connected.
	claudeEnv = map[string]string{
		"MCP_CONNECTION_NONBLOCKING":         "0",
		"MCP_TOOL_TIMEOUT":                   "86400000",
		"CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT":  "0",
		"CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS": "0",
	}
	// Without this, Gemini CLI runs as a grandchild behind a wrapper that ignores SIGTERM.
	geminiEnv = map[string]string{"GEMINI_CLI_NO_RELAUNCH": "true"}
)

// withNeeded returns the environment of a registry Agent with what that Agent is known to need; what the registry says
// of a variable counts (R-AGT-051).
func withNeeded(id fyllo.AgentID, env map[string]string) map[string]string {
	for _, k := range known {
		if k.id == id && len(k.Env) > 0 {
			all := maps.Clone(k.Env)
			maps.Copy(all, env)
			return all
		}
	}
	return env
}

// Suggestions returns the known Agents that are on the effective PATH and not added yet; passed to AddCustom as they
// stand they make working entries, with the arguments and the environment that each needs (R-AGT-051). It may wait up to 5 s
// for the login shell the first time; a Pool that does not run asks no shell.
func (p *Pool[C]) Suggestions() []fyllo.AgentSuggestion {
	p.mu.Lock()
	entries, serving := p.entries, p.serving
	p.mu.Unlock()
	path := p.lookup.known()
	if serving {
		path = p.lookup.effective()
	}
	out := []fyllo.AgentSuggestion{}
	for _, k := range known {
		file := p.lookup.find(k.Command, path)
		if file == "" || k.needs != "" && p.lookup.find(k.needs, path) == "" {
			continue
		}
		if slices.ContainsFunc(entries, func(e entry) bool {
			if e.listed != nil { // an installed one is in the catalogue already
				return e.id == k.id && e.path != ""
			}
			return e.path == file || filepath.Base(e.command) == k.Command
		}) {
			continue
		}
		c := k.CustomAgent
		// Two adapters for one Agent, or a name that is taken: adding must not replace the other entry.
		taken := func(name string) bool {
			return slices.ContainsFunc(entries, func(e entry) bool { return e.name == name && e.listed == nil }) ||
				slices.ContainsFunc(out, func(s fyllo.AgentSuggestion) bool { return s.Name == name })
		}
		if taken(c.Name) {
			c.Name += " (" + c.Command + ")"
		}
		out = append(out, fyllo.AgentSuggestion{Name: c.Name, Command: file, Args: slices.Clone(c.Args), Env: maps.Clone(c.Env)})
	}
	return out
}

var customForm = regexp.MustCompile(`^custom-(.*)-[0-9a-f]{8}$`)

// kindOf derives the kind from the id (R-AGT-007); of a custom id the part made from its command counts.
func kindOf(id fyllo.AgentID) string {
	name := string(id)
	if m := customForm.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	switch strings.TrimSuffix(name, "-exe") {
	case "claude-acp", "claude-agent-acp", "claude-code-acp", "codex-acp", "amp-acp":
		return "adapter"
	case "pi-acp":
		return "bridge"
	}
	return "native"
}
