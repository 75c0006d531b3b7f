package fyllo

// EventType names an event of the window stream (architecture §5). The payload type stands behind each.
type EventType string

// The events of the stream. SessionID is set on all but the last group.
const (
	EventSession          EventType = "session"           // SessionSummary: created or changed
	EventSessionRemoved   EventType = "session.removed"   // {}
	EventMessage          EventType = "message"           // Message (light): added, or replaced whole
	EventDelta            EventType = "delta"             // Delta: text appended to one part, which may be new
	EventPart             EventType = "part"              // PartEvent: one part added or replaced (light)
	EventTags             EventType = "tags"              // TagsEvent: a part has more tags
	EventTurn             EventType = "turn"              // Turn
	EventTurnEnd          EventType = "turn.end"          // TurnEndEvent
	EventPermission       EventType = "permission"        // Permission: asked
	EventPermissionClosed EventType = "permission.closed" // PermissionClosed
	EventConfig           EventType = "config"            // ConfigEvent
	EventCommands         EventType = "commands"          // CommandsEvent
	EventUsage            EventType = "usage"             // Usage
	EventPlan             EventType = "plan"              // PlanEvent
	EventQueue            EventType = "queue"             // Queue: what waits for the end of the turn
	EventSpawned          EventType = "spawned"           // SpawnedEvent: something that the Session delegated has changed
	EventActivity         EventType = "activity"          // Activity: something arrived that shows nothing

	EventAgents    EventType = "agents"    // AgentsEvent: the catalogue or a state changed
	EventDraft     EventType = "draft"     // Draft
	EventSettings  EventType = "settings"  // Settings
	EventWorkspace EventType = "workspace" // Workspace
	EventFocus     EventType = "focus"     // {}: another window asked this one to come forward (R-WS-121)
	EventReset     EventType = "reset"     // {}: what was asked for is gone; refetch snapshots
)

// Event is what use cases publish. Workspace "" means every window.
type Event struct {
	Workspace WorkspaceID
	SessionID SessionID
	Type      EventType
	Data      any // the payload type named at the EventType; never changed after publishing
}

// Delta puts Text at position At of the part with PartID, creating the part at Index when it is new. Deltas come
// without gaps, so At is where the text so far ends, unless a snapshot held some of Text already: that much of it is
// then known. Kind is text or reasoning.
type Delta struct {
	MessageID string   `json:"messageId"`
	PartID    string   `json:"partId"`
	Index     int      `json:"index"`
	Kind      PartType `json:"kind"`
	At        int      `json:"at"` // in UTF-16 units, as scripts count
	Text      string   `json:"text"`
}

// PartEvent adds or replaces the part at Index of a message.
type PartEvent struct {
	MessageID string `json:"messageId"`
	Index     int    `json:"index"`
	Part      Part   `json:"part"`
}

// TagsEvent brings all tags of a part that are certain by now (R-TAG-010). Their text came before.
type TagsEvent struct {
	MessageID string `json:"messageId"`
	Index     int    `json:"index"`
	Tags      []Tag  `json:"tags"`
}

// TurnEndEvent closes a turn. MessageID is "" when the Agent sent no content at all.
type TurnEndEvent struct {
	UserMessageID string  `json:"userMessageId"`
	MessageID     string  `json:"messageId,omitempty"`
	End           TurnEnd `json:"end"`
}

// PermissionClosed says how a request ended.
type PermissionClosed struct {
	MessageID  string         `json:"messageId"`
	ToolCallID string         `json:"toolCallId,omitempty"`
	Note       PermissionNote `json:"note"`
}

// ConfigEvent is a complete snapshot, which replaces the one before.
type ConfigEvent struct {
	Options []ConfigOption `json:"options"`
}

// CommandsEvent is a complete list, which replaces the one before.
type CommandsEvent struct {
	Commands []Command `json:"commands"`
}

// PlanEvent is the whole agenda (R-CHAT-137).
type PlanEvent struct {
	Entries []PlanEntry `json:"entries"`
}

// Activity carries the time of the last update, sent at most once a second (decision 13).
type Activity struct {
	At string `json:"at"` // RFC 3339
}

// AgentsEvent is the whole catalogue.
type AgentsEvent struct {
	Agents   []Agent        `json:"agents"`
	Registry *RegistryState `json:"registry,omitempty"` // nil = there is no registry
}

// DraftState is the state of a draft's probe (R-AGT-092).
type DraftState string

// The states of a draft's probe.
const (
	DraftConnecting DraftState = "connecting"
	DraftReady      DraftState = "ready"
	DraftFailed     DraftState = "failed"
)

// Draft is what a window knows about the Session it may start (R-CHAT-030).
type Draft struct {
	AgentID       AgentID        `json:"agentId"`
	Mode          Mode           `json:"mode"`
	State         DraftState     `json:"state"`
	ConfigOptions []ConfigOption `json:"configOptions"`
	Commands      []Command      `json:"commands"`
	Error         *Failure       `json:"error,omitempty"`
}

// Settings are the preferences of R-AGT-122, stored in settings.json; unknown keys there are kept.
type Settings struct {
	Theme                   string  `json:"theme"`    // light, dark or system
	Language                string  `json:"language"` // en, zh-CN, or "" for the browser's
	RailCollapsed           bool    `json:"railCollapsed"`
	HideTour                bool    `json:"hideTour"`
	DefaultPermissionPolicy Policy  `json:"defaultPermissionPolicy"`
	LastAgent               AgentID `json:"lastAgent,omitempty"` // R-AGT-110
}

// SpawnedEvent names the spawned Session that has changed, or of whose end the parent has been told; "" means that there is
// nothing more to tell. What it is now has to be asked for (R-SPAWN-116). Live means that only its running answer has
// grown, so that no list shows anything else.
type SpawnedEvent struct {
	SessionID SessionID `json:"sessionId"`
	Live      bool      `json:"live,omitempty"`
}
