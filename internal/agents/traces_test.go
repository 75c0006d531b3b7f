package agents

import (
	"strings"
	"testing"
)

// C14: Claude connects MCP servers in the background unless it is told not to, and the first prompt would miss them.
func TestTrace_C14_ClaudeWaitsForItsServers(t *testing.T) {
	seen := 0
	for _, k := range known {
		if strings.HasPrefix(k.Command, "claude") {
			seen++
			if k.Env["MCP_CONNECTION_NONBLOCKING"] != "0" {
				t.Errorf("%s starts with %v", k.Command, k.Env)
			}
		}
	}
	if seen == 0 {
		t.Error("no Claude is known")
	}
}
