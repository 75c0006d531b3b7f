package mcphost

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fyllocode.dev/fyllo"
)

var checkSessionStatus = tool{
	Tool: mcp.Tool{
		Name:  "check_session_status",
		Title: "Status of delegated work",
		Description: "Tells at once how a session that you started stands; it never waits. \"running\" comes with what the Agent did lately, among it permissions that " +
			"were answered for it; \"idle\" means that the last task completed, and latestResponseId is what read_response takes. \"error\", \"expired\" and \"interrupted\" are final: " +
			"start a new session and restate the task. Space your calls; every 30 seconds is enough.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"sessionId":` + idSchema + `}},"required":["sessionId"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{
			"status":{"type":"string","enum":["not_found","running","idle","error","expired","interrupted"]},
			"turnId":{"type":"string"},"mode":{"type":"string","enum":["sync","background"]},"startedAt":{"type":"string"},"lastActivityAt":{"type":"string"},
			"recentActivity":{"type":"array","maxItems":3,"items":{"type":"object","properties":{
				"kind":{"type":"string","enum":["message","reasoning","tool","plan","config","session","usage","permission"]},
				"at":{"type":"string"},"message":{"type":"string"}},"required":["kind","at"],"additionalProperties":false}},
			"latestTurnId":{"type":"string"},"latestResponseId":{"type":"string"},"code":{"type":"string"},"message":{"type":"string"},
			` + errorSchema + `},"additionalProperties":false}`),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	},
	run: func(ctx context.Context, h *Host, o fyllo.SpawnOwner, args arguments) (any, error) {
		session, err := args.identity("sessionId", true)
		if err == nil {
			err = args.rest()
		}
		if err != nil {
			return nil, err
		}
		return h.Spawner.Status(ctx, o, session)
	},
}
