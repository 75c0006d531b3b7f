package mcphost

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fyllocode.dev/fyllo"
)

var cancelSession = tool{
	Tool: mcp.Tool{
		Name:  "cancel_session",
		Title: "Cancel delegated work",
		Description: "Asks for the running task of a session to stop and returns at once. It may run for a few more seconds; then its status is error with " +
			"TURN_CANCELLED_BY_PARENT, and the session cannot be used again. Check with check_session_status. \"cancelled\": false means that nothing of yours ran there.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"sessionId":` + idSchema + `}},"required":["sessionId"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"cancelled":{"type":"boolean"},"reason":{"type":"string"},
			` + errorSchema + `},"additionalProperties":false}`),
	},
	run: func(ctx context.Context, h *Host, o fyllo.SpawnOwner, args arguments) (any, error) {
		session, err := args.identity("sessionId", true)
		if err == nil {
			err = args.rest()
		}
		if err != nil {
			return nil, err
		}
		return h.Spawner.Cancel(ctx, o, session)
	},
}
