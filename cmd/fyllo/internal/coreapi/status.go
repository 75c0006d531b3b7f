package coreapi

import (
	"context"
	"net/http"

	"fyllocode.dev/fyllo"
)

// Status is what `status --json` prints (R-CLI-004).
type Status struct {
	Running       bool          `json:"running"`
	PID           int           `json:"pid,omitempty"`
	URL           string        `json:"url,omitempty"`
	Version       string        `json:"version"`
	UptimeSeconds *int64        `json:"uptimeSeconds,omitempty"` // nil when not running
	Sessions      SessionCounts `json:"sessions"`
	Spawned       SpawnedCounts `json:"spawned"`
	Agents        []AgentStatus `json:"agents"`
}

// SessionCounts counts Sessions of all Workspaces.
type SessionCounts struct {
	Total   int `json:"total"`
	Running int `json:"running"`
}

// SpawnedCounts counts spawned turns.
type SpawnedCounts struct {
	Running int `json:"running"`
}

// AgentStatus is the process of one Agent.
type AgentStatus struct {
	ID         fyllo.AgentID    `json:"id"`
	State      fyllo.AgentState `json:"state"`
	PID        int              `json:"pid,omitempty"`
	Generation uint64           `json:"generation,omitempty"`
}

// Status says what Core does.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var out Status
	err := c.Call(ctx, http.MethodGet, "/api/status", nil, &out)
	return out, err
}
