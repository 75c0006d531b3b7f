package follow

import (
	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/export"
)

// The lines of `prompt --json` (R-CLI-007). Type is the name behind each.

// SessionLine names the Session; it comes first.
type SessionLine struct {
	Type        string            `json:"type"` // session
	SessionID   fyllo.SessionID   `json:"sessionId"`
	WorkspaceID fyllo.WorkspaceID `json:"workspaceId"`
	AgentID     fyllo.AgentID     `json:"agentId"`
	Mode        fyllo.Mode        `json:"mode"`
}

// TextLine is new text of one Part.
type TextLine struct {
	Type      string `json:"type"` // text or reasoning
	MessageID string `json:"messageId"`
	PartID    string `json:"partId"`
	Text      string `json:"text"`                       // what is new
	ParentID  string `json:"parentToolCallId,omitempty"` // the call of the subagent whose words these are
}

// ToolLine is one tool call as it is now.
type ToolLine struct {
	Type string `json:"type"` // tool
	export.Tool
}

// PlanLine is the whole agenda.
type PlanLine struct {
	Type    string            `json:"type"` // plan
	Entries []fyllo.PlanEntry `json:"entries"`
}

// ConfigLine is a complete snapshot of the options.
type ConfigLine struct {
	Type    string         `json:"type"` // config
	Options []ConfigOption `json:"options"`
}

// ConfigOption is an option as scripts read it (R-AGT-093): Choices is a list of choices, or of groups when the Agent
// groups them; nil for a boolean option.
type ConfigOption struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Category    string            `json:"category,omitempty"`
	Type        string            `json:"type"`
	Current     fyllo.ConfigValue `json:"currentValue"`
	Choices     any               `json:"options,omitempty"`
}

func configOptions(options []fyllo.ConfigOption) []ConfigOption {
	out := make([]ConfigOption, 0, len(options))
	for _, o := range options {
		line := ConfigOption{o.ID, o.Name, o.Description, o.Category, o.Type, o.Current, nil}
		switch {
		case len(o.Choices) == 1 && o.Choices[0].ID == "" && o.Choices[0].Name == "":
			line.Choices = o.Choices[0].Choices
		case len(o.Choices) > 0:
			line.Choices = o.Choices
		}
		out = append(out, line)
	}
	return out
}

// CommandsLine is the complete list of slash commands.
type CommandsLine struct {
	Type     string          `json:"type"` // commands
	Commands []fyllo.Command `json:"commands"`
}

// UsageLine is the context use.
type UsageLine struct {
	Type string `json:"type"` // usage
	Used uint64 `json:"used"`
	Size uint64 `json:"size"`
}

// PermissionLine is a permission request that was answered.
type PermissionLine struct {
	Type    string                   `json:"type"` // permission
	Title   string                   `json:"title"`
	Options []fyllo.PermissionOption `json:"options"` // as the Agent sent them
	Outcome PermissionOutcome        `json:"outcome"`
}

// PermissionOutcome is how it was answered.
type PermissionOutcome struct {
	Outcome  string `json:"outcome"` // selected or cancelled
	OptionID string `json:"optionId,omitempty"`
}

// TurnEndLine ends a turn.
type TurnEndLine struct {
	Type       string         `json:"type"` // turn_end
	Turn       string         `json:"turn"` // prompt or notification
	StopReason string         `json:"stopReason,omitempty"`
	Error      *fyllo.Failure `json:"error,omitempty"`
}

// SpawnedLine is the new state of something that the Session has delegated.
type SpawnedLine struct {
	Type      string            `json:"type"` // spawned
	SessionID fyllo.SessionID   `json:"sessionId"`
	AgentID   fyllo.AgentID     `json:"agentId"`
	Status    fyllo.SpawnStatus `json:"status"`
	TurnID    string            `json:"turnId,omitempty"` // of the turn that runs
}

// EndLine is the outcome of the command; it comes last.
type EndLine struct {
	Type       string         `json:"type"` // end
	StopReason string         `json:"stopReason,omitempty"`
	Error      *fyllo.Failure `json:"error,omitempty"`
}
