//go:build agents

package agents

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// agent is how one npm package becomes an Agent behind the fake model server.
type agent struct {
	name    string                            // also the folder of its package.json
	command []string                          // the first is relative to node_modules
	env     func(s setting) map[string]string // nil: none
	files   func(s setting) map[string]string // written before the first start, relative to HOME; nil: none
}

// setting is what a configuration depends on.
type setting struct{ model, home, project string }

func (s setting) openAI() string { return s.model + "/v1" }

var all = []agent{
	{
		name: "opencode", command: []string{".bin/opencode", "acp"},
		env: func(s setting) map[string]string {
			return map[string]string{
				"OPENCODE_CONFIG_CONTENT": encode(openCodeConfig(s)), "OPENCODE_DISABLE_AUTOUPDATE": "1",
				"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
			}
		},
	},
	{
		name: "gemini", command: []string{".bin/gemini", "--acp"},
		// Without NO_RELAUNCH a wrapper stays above the Agent, and ignores SIGTERM.
		env: func(s setting) map[string]string {
			return map[string]string{
				"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": s.model, "GEMINI_MODEL": "gemini-2.5-pro",
				"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_NO_RELAUNCH": "true",
			}
		},
		files: func(setting) map[string]string {
			return map[string]string{".gemini/settings.json": settingsFile("gemini-api-key")}
		},
	},
	{
		name: "claude", command: []string{".bin/claude-agent-acp"},
		env: func(s setting) map[string]string {
			return map[string]string{
				"ANTHROPIC_BASE_URL": s.model, "ANTHROPIC_API_KEY": "none", "ANTHROPIC_MODEL": "fake-1",
				"ANTHROPIC_SMALL_FAST_MODEL": "fake-1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
				"DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1",
			}
		},
	},
	{
		name: "codex", command: []string{".bin/codex-acp"},
		env: func(s setting) map[string]string {
			return map[string]string{"FAKE_API_KEY": "none", "CODEX_HOME": filepath.Join(s.home, ".codex")}
		},
		files: func(s setting) map[string]string { return map[string]string{".codex/config.toml": codexConfig(s)} },
	},
	{
		name: "qwen", command: []string{".bin/qwen", "--acp"},
		env: func(s setting) map[string]string {
			return map[string]string{"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": s.openAI(), "OPENAI_MODEL": "fake-1"}
		},
		files: func(setting) map[string]string {
			return map[string]string{".qwen/settings.json": settingsFile("openai")}
		},
	},
}

func openCodeConfig(s setting) any {
	return map[string]any{
		"autoupdate": false, "share": "disabled", "model": "fake/fake-1", "small_model": "fake/fake-1",
		"enabled_providers": []string{"fake"},
		"permission":        map[string]string{"edit": "ask", "bash": "ask"},
		"provider": map[string]any{"fake": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Fake",
			"options": map[string]string{"baseURL": s.openAI(), "apiKey": "none"},
			"models": map[string]any{"fake-1": map[string]any{
				"name": "Fake One", "tool_call": true, "limit": map[string]int{"context": 128000, "output": 8192},
			}},
		}},
	}
}

// settingsFile is what Gemini CLI and its fork Qwen Code read.
func settingsFile(auth string) string {
	return encode(map[string]any{
		"security":  map[string]any{"auth": map[string]string{"selectedType": auth}},
		"general":   map[string]bool{"disableAutoUpdate": true, "enableAutoUpdate": false},
		"privacy":   map[string]bool{"usageStatisticsEnabled": false},
		"telemetry": map[string]bool{"enabled": false},
	})
}

// codexConfig names a model that Codex knows, or it offers no apply_patch. Codex asks before it writes; its sandbox is off,
// since it needs bubblewrap, which not every machine has, and what runs is what these tests say. Without bubblewrap a
// command fails, or Codex asks to run it outside, as the moment decides.
func codexConfig(s setting) string {
	return fmt.Sprintf(`model = "gpt-5.5"
model_provider = "fake"
approval_policy = "untrusted"
sandbox_mode = "danger-full-access"

[model_providers.fake]
name = "Fake"
base_url = %q
env_key = "FAKE_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false

[otel]
metrics_exporter = "none"

[projects.%q]
trust_level = "trusted"
`, s.openAI(), s.project)
}

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // a mistake in this file
	}
	return string(data)
}
