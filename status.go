package fyllo

// Status is what `fyllo status --json` prints and what a running Core says of itself (R-CLI-004).
type Status struct {
	Running       bool          `json:"running"`
	PID           int           `json:"pid,omitempty"`
	URL           string        `json:"url,omitempty"` // without a secret
	Version       string        `json:"version"`
	UptimeSeconds *int64        `json:"uptimeSeconds,omitempty"` // nil when no Core runs; 0 in its first second
	Sessions      SessionCounts `json:"sessions"`
	Spawned       SpawnedCounts `json:"spawned"`
	Agents        []AgentStatus `json:"agents"` // never nil
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
	ID         AgentID    `json:"id"`
	State      AgentState `json:"state"`
	PID        int        `json:"pid,omitempty"`
	Generation uint64     `json:"generation,omitempty"`
}
