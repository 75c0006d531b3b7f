package main

import "fyllocode.dev/fyllo"

// The lines of `prompt --json` (R-CLI-007). Type is the name behind each.

type sessionLine struct {
	Type        string            `json:"type"` // session
	SessionID   fyllo.SessionID   `json:"sessionId"`
	WorkspaceID fyllo.WorkspaceID `json:"workspaceId"`
	AgentID     fyllo.AgentID     `json:"agentId"`
	Mode        fyllo.Mode        `json:"mode"`
}

type textLine struct {
	Type      string `json:"type"` // text or reasoning
	MessageID string `json:"messageId"`
	PartID    string `json:"partId"`
	Text      string `json:"text"` // what is new
}

type toolLine struct {
	Type string `json:"type"` // tool
	toolFields
}

// toolFields are what a tool line and a tool Part of `sessions show --json` have in common.
type toolFields struct {
	CallID      string           `json:"toolCallId"`
	Title       string           `json:"title"`
	Kind        fyllo.ToolKind   `json:"kind"`
	Status      fyllo.ToolStatus `json:"status"`
	Interrupted bool             `json:"interrupted,omitempty"` // not final when its turn ended (decision 15)
	Input       string           `json:"input,omitempty"`
	Output      string           `json:"output,omitempty"`
	Error       string           `json:"error,omitempty"`
	Locations   []fyllo.Location `json:"locations,omitempty"`
	Changes     []fileChange     `json:"changes,omitempty"`
	ParentID    string           `json:"parentToolCallId,omitempty"`
}

type fileChange struct {
	Path   string `json:"path"`
	Change string `json:"change"` // added, modified or deleted
}

type planLine struct {
	Type    string            `json:"type"` // plan
	Entries []fyllo.PlanEntry `json:"entries"`
}

type configLine struct {
	Type    string               `json:"type"` // config
	Options []fyllo.ConfigOption `json:"options"`
}

type commandsLine struct {
	Type     string          `json:"type"` // commands
	Commands []fyllo.Command `json:"commands"`
}

type usageLine struct {
	Type string `json:"type"` // usage
	Used uint64 `json:"used"`
	Size uint64 `json:"size"`
}

type permissionLine struct {
	Type    string                   `json:"type"` // permission
	Title   string                   `json:"title"`
	Options []fyllo.PermissionOption `json:"options"` // as the Agent sent them
	Outcome permissionOutcome        `json:"outcome"`
}

type permissionOutcome struct {
	Outcome  string `json:"outcome"` // selected or cancelled
	OptionID string `json:"optionId,omitempty"`
}

type turnEndLine struct {
	Type       string         `json:"type"` // turn_end
	Turn       string         `json:"turn"` // prompt
	StopReason string         `json:"stopReason,omitempty"`
	Error      *fyllo.Failure `json:"error,omitempty"`
}

type endLine struct {
	Type       string         `json:"type"` // end
	StopReason string         `json:"stopReason,omitempty"`
	Error      *fyllo.Failure `json:"error,omitempty"`
}
