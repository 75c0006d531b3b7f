package mcphost

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fyllocode.dev/fyllo"
)

var availableAgents = tool{
	Tool: mcp.Tool{
		Name:  "available_agents",
		Title: "Available Agents",
		Description: "Lists the Agents that are installed here and can be given work, your own kind among them. Nothing is started. " +
			"Use an agentId from this list with prompt_to_agent. The list says nothing about the models of an Agent: those are known only " +
			"from a live session, so pass model and thought_level to prompt_to_agent directly instead of probing.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{
			"agents":{"type":"array","items":{"type":"object","properties":{
				"agentId":{"type":"string"},"name":{"type":"string"},"description":{"type":"string"}},
				"required":["agentId","name"],"additionalProperties":false}},
			` + errorSchema + `},"additionalProperties":false}`),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	},
	run: func(ctx context.Context, h *Host, _ fyllo.SpawnOwner, args arguments) (any, error) {
		if err := args.rest(); err != nil {
			return nil, err
		}
		agents, err := h.Spawner.AvailableAgents(ctx)
		return struct {
			Agents []fyllo.SpawnAgent `json:"agents"`
		}{agents}, err
	},
}

// errorSchema is the member that a failed call has instead of its result (R-SPAWN-022).
const errorSchema = `"error":{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"},"retryable":{"type":"boolean"}},` +
	`"required":["code","message","retryable"],"additionalProperties":false}`

// idSchema describes an id.
const idSchema = `{"type":"string","minLength":1,"maxLength":256,"pattern":"^[^/\\\\\\u0000]+$"`
