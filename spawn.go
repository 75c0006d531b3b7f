package fyllo

import "time"

// The vocabulary of fyllo-spawn: a Chat Session, the parent, hands work to other Agents in spawned Sessions of its own.

// SpawnOwner is the one who may see and steer a spawned Session: a parent Session in its Workspace. It comes from a
// trusted source, never from what an Agent says (R-SPAWN-077).
type SpawnOwner struct {
	Workspace WorkspaceID
	Parent    SessionID
}

// SpawnMode says who waits for a spawned turn.
type SpawnMode string

// The modes: the caller waits for the answer, or Core owns the turn and tells when it is over.
const (
	SpawnSync       SpawnMode = "sync"
	SpawnBackground SpawnMode = "background"
)

// SpawnPhase is the life of a spawned turn (R-SPAWN §9.1).
type SpawnPhase string

// The phases of a turn. The last four are final.
const (
	SpawnStarting    SpawnPhase = "starting"
	SpawnRunning     SpawnPhase = "running"
	SpawnCancelling  SpawnPhase = "cancelling"
	SpawnCompleted   SpawnPhase = "completed"
	SpawnError       SpawnPhase = "error"
	SpawnExpired     SpawnPhase = "expired"
	SpawnInterrupted SpawnPhase = "interrupted"
)

// Final reports whether a turn in this phase never changes again.
func (p SpawnPhase) Final() bool {
	return p == SpawnCompleted || p == SpawnError || p == SpawnExpired || p == SpawnInterrupted
}

// SpawnStatus is what a caller, a list or a person is told about a spawned Session (R-SPAWN-065, 117).
type SpawnStatus string

// The statuses. SpawnIsStarting is told to people only; a caller reads running.
const (
	SpawnNotFound      SpawnStatus = "not_found"
	SpawnIsStarting    SpawnStatus = "starting"
	SpawnIsRunning     SpawnStatus = "running"
	SpawnIdle          SpawnStatus = "idle"
	SpawnFailed        SpawnStatus = "error"
	SpawnIsExpired     SpawnStatus = "expired"
	SpawnIsInterrupted SpawnStatus = "interrupted"
)

// The bounds of fyllo-spawn (R-SPAWN §2).
const (
	SpawnPerParent   = 4
	SpawnPerCore     = 8
	SpawnInline      = 24576 // bytes of a synchronous answer, and what a read takes without maxBytes
	SpawnReadMin     = 4
	SpawnReadMax     = 65536
	SpawnPreview     = 240 // characters of a prompt in lists
	SpawnActivities  = 3
	SpawnTitle       = 200 // characters of an activity's message
	SpawnConfigMax   = 64  // raw values of one call
	SpawnIdentityMax = 256 // UTF-16 units of an id
	SpawnInactivity  = 10 * time.Minute
	SpawnCancelTime  = 5 * time.Second
	SpawnPrepareTime = 2 * time.Minute // of each request to the Agent before the prompt is sent
)

// SpawnTime is a time as results show it: ISO 8601, UTC, with milliseconds (R-SPAWN-017).
type SpawnTime struct{ time.Time }

// spawnLayout always has three digits, which time.RFC3339Nano does not.
const spawnLayout = "2006-01-02T15:04:05.000Z"

// MarshalJSON writes the time as a JSON string.
func (t SpawnTime) MarshalJSON() ([]byte, error) {
	return []byte(`"` + t.UTC().Format(spawnLayout) + `"`), nil
}

// SpawnActivity is one thing that a child did lately (R-SPAWN-021). Kind is one of message, reasoning, tool, plan,
// config, session, usage and permission. Message is the title of a tool, or of a permission request with how it was
// answered; it never holds output, input or a path beyond the title.
type SpawnActivity struct {
	Kind    string    `json:"kind"`
	At      SpawnTime `json:"at"`
	Message string    `json:"message,omitempty"`
}

// SpawnConfigItem is an option of the child as it is set (R-SPAWN-018).
type SpawnConfigItem struct {
	ID           string      `json:"id"`
	Name         string      `json:"name"`
	Type         string      `json:"type"` // select or boolean
	CurrentValue ConfigValue `json:"currentValue"`
}

// SpawnWarning names a raw option that was not set as asked (R-SPAWN-019).
type SpawnWarning struct {
	OptionID string `json:"optionId"`
	Message  string `json:"message"`
}

// SpawnCandidate is a value that the Agent offers.
type SpawnCandidate struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Group       string `json:"group,omitempty"`
	Description string `json:"description,omitempty"`
}

// SpawnIssue says why a semantic value could not be resolved (R-SPAWN-020). Parameter is model or thought_level; Reason
// is unsupported, ambiguous or missing_category_option. Candidates is never nil.
type SpawnIssue struct {
	Parameter  string           `json:"parameter"`
	Reason     string           `json:"reason"`
	Requested  string           `json:"requested"`
	OptionID   string           `json:"optionId,omitempty"`
	Category   string           `json:"category,omitempty"`
	Candidates []SpawnCandidate `json:"candidates"`
}

// SpawnScope is where a spawned Session works, for people (R-SPAWN-079).
type SpawnScope struct {
	Kind        string      `json:"kind"` // workspace or folder
	WorkspaceID WorkspaceID `json:"workspaceId,omitempty"`
	FolderID    FolderID    `json:"folderId,omitempty"`
	Name        string      `json:"name"`
}

// SpawnMeta is the stored metadata of a spawned Session (R-SPAWN-129). Version is 1.
type SpawnMeta struct {
	Version           int            `json:"version"`
	SessionID         SessionID      `json:"sessionId"`
	WorkspaceID       WorkspaceID    `json:"workspaceId"`
	ParentSessionID   SessionID      `json:"parentSessionId"`
	AgentID           AgentID        `json:"agentId"`
	AgentName         string         `json:"agentName"`
	ACPSessionID      ACPSessionID   `json:"acpSessionId,omitempty"`
	ProcessGeneration uint64         `json:"processGeneration,omitempty"`
	Snapshot          Scope          `json:"workspaceSnapshot"` // where it works: the parent's scope, or one Folder of it
	Scope             SpawnScope     `json:"scope"`
	Status            SpawnStatus    `json:"status"` // as of the last change; running may be the word of a Core that died
	ConfigOptions     []ConfigOption `json:"configOptions,omitempty"`
	TurnCount         int            `json:"turnCount"` // completed turns
	TokenUsage        *Usage         `json:"tokenUsage,omitempty"`
	PromptPreview     string         `json:"promptPreview,omitempty"`
	LatestTurnID      string         `json:"latestTurnId,omitempty"`
	LatestMode        SpawnMode      `json:"latestMode,omitempty"`
	LatestResponseID  string         `json:"latestResponseId,omitempty"`
	Error             *Failure       `json:"error,omitempty"`
	CreatedAt         time.Time      `json:"createdAt"`
	UpdatedAt         time.Time      `json:"updatedAt"`
}

// NotificationState is the life of a completion notification (R-SPAWN §15).
type NotificationState string

// The states of a notification. The last three are final.
const (
	NotificationPending    NotificationState = "pending"
	NotificationDispatched NotificationState = "dispatched"
	NotificationDelivered  NotificationState = "delivered"
	NotificationUnknown    NotificationState = "delivery_unknown"
	NotificationSuppressed NotificationState = "suppressed"
)

// SpawnNotification tells a parent that a background turn is over. The turn's record is its outbox (R-SPAWN-102).
type SpawnNotification struct {
	ID    string            `json:"notificationId"`
	State NotificationState `json:"state"`
}

// SpawnTurn is the stored record of one spawned turn. Version is 1.
type SpawnTurn struct {
	Version        int                `json:"version"`
	TurnID         string             `json:"turnId"`
	Ordinal        int                `json:"ordinal"` // from 1
	Mode           SpawnMode          `json:"mode"`
	Phase          SpawnPhase         `json:"phase"`
	UserMessageID  string             `json:"userMessageId"`
	MessageID      string             `json:"messageId"`            // of the answer
	ResponseID     string             `json:"responseId,omitempty"` // completed turns only
	Error          *Failure           `json:"error,omitempty"`
	CancelReason   string             `json:"cancelReason,omitempty"` // code that a cancelling turn will end with
	RecentActivity []SpawnActivity    `json:"recentActivity,omitempty"`
	Notification   *SpawnNotification `json:"notification,omitempty"` // background turns, from the moment they are final
	StartedAt      time.Time          `json:"startedAt"`
	LastActivityAt time.Time          `json:"lastActivityAt"`
	SettledAt      *time.Time         `json:"settledAt,omitempty"`
	UpdatedAt      time.Time          `json:"updatedAt"`
}

// SpawnAgent is an Agent that work can be handed to (R-SPAWN-025).
type SpawnAgent struct {
	AgentID     AgentID `json:"agentId"`
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
}

// SpawnPrompt is a call of prompt_to_agent after its form was checked. Model and ThoughtLevel are nil when absent;
// Config keeps the caller's key order (R-SPAWN-055).
type SpawnPrompt struct {
	AgentID      AgentID
	Prompt       string
	SessionID    string // "" = a new spawned Session
	FolderID     FolderID
	Model        *string
	ThoughtLevel *string
	Config       []SpawnValue
	Mode         SpawnMode
}

// SpawnValue is one raw option of a call.
type SpawnValue struct {
	ID    string
	Value ConfigValue
}

// SpawnPromptResult is what prompt_to_agent answers (R-SPAWN §4.2). Status says which of the other fields are there.
type SpawnPromptResult struct {
	Status           string             `json:"status"` // accepted, completed, configuration_required, busy, capacity_exceeded, expired, not_found, error
	SessionID        SessionID          `json:"sessionId,omitempty"`
	TurnID           string             `json:"turnId,omitempty"`
	ResponseID       string             `json:"responseId,omitempty"`
	Content          *string            `json:"content,omitempty"`
	Truncated        *bool              `json:"truncated,omitempty"`
	NextCursor       string             `json:"nextCursor,omitempty"`
	StartedAt        *SpawnTime         `json:"startedAt,omitempty"`
	LastActivityAt   *SpawnTime         `json:"lastActivityAt,omitempty"`
	PromptDispatched *bool              `json:"promptDispatched,omitempty"` // always false: configuration_required
	Config           *[]SpawnConfigItem `json:"config,omitempty"`
	Warnings         *[]SpawnWarning    `json:"warnings,omitempty"`
	Issues           []SpawnIssue       `json:"issues,omitempty"`
	Code             Code               `json:"code,omitempty"`
	Message          string             `json:"message,omitempty"`
	Retryable        *bool              `json:"retryable,omitempty"`
}

// SpawnStatusResult is what check_session_status answers (R-SPAWN §4.3).
type SpawnStatusResult struct {
	Status           SpawnStatus      `json:"status"`
	TurnID           string           `json:"turnId,omitempty"`
	Mode             SpawnMode        `json:"mode,omitempty"`
	StartedAt        *SpawnTime       `json:"startedAt,omitempty"`
	LastActivityAt   *SpawnTime       `json:"lastActivityAt,omitempty"`
	RecentActivity   *[]SpawnActivity `json:"recentActivity,omitempty"`
	LatestTurnID     string           `json:"latestTurnId,omitempty"`
	LatestResponseID string           `json:"latestResponseId,omitempty"`
	Code             Code             `json:"code,omitempty"`
	Message          string           `json:"message,omitempty"`
}

// SpawnRead is a call of read_response. MaxBytes 0 means SpawnInline.
type SpawnRead struct {
	SessionID  string
	ResponseID string
	Cursor     string
	MaxBytes   int
}

// SpawnChunk is what read_response answers (R-SPAWN-034). NextCursor is there unless Done.
type SpawnChunk struct {
	Content    string `json:"content"`
	Done       bool   `json:"done"`
	NextCursor string `json:"nextCursor,omitempty"`
}

// SpawnCancelResult is what cancel_session answers (R-SPAWN-035).
type SpawnCancelResult struct {
	Cancelled bool   `json:"cancelled"`
	Reason    string `json:"reason,omitempty"`
}

// SpawnSummary is a row of the list of a parent's spawned Sessions (R-SPAWN-117).
type SpawnSummary struct {
	SessionID        SessionID   `json:"sessionId"`
	AgentID          AgentID     `json:"agentId"`
	AgentName        string      `json:"agentName"`
	Scope            SpawnScope  `json:"scope"`
	Status           SpawnStatus `json:"status"`
	Mode             SpawnMode   `json:"mode,omitempty"`
	CurrentTurnID    string      `json:"currentTurnId,omitempty"`
	StartedAt        *time.Time  `json:"startedAt,omitempty"`
	LastActivityAt   *time.Time  `json:"lastActivityAt,omitempty"`
	UpdatedAt        time.Time   `json:"updatedAt"`
	PromptPreview    string      `json:"promptPreview,omitempty"`
	LatestResponseID string      `json:"latestResponseId,omitempty"`
	Error            *Failure    `json:"error,omitempty"`
}

// SpawnDetail is everything about one spawned Session (R-SPAWN-123). Messages of a turn are in transcript order; one that
// is not stored yet is not Durable.
type SpawnDetail struct {
	Summary SpawnSummary      `json:"summary"`
	Turns   []SpawnTurnDetail `json:"turns"`
}

// SpawnTurnDetail is one turn of a SpawnDetail with what was said in it.
type SpawnTurnDetail struct {
	SpawnTurn
	Prompt   string         `json:"prompt,omitempty"`
	Messages []SpawnMessage `json:"messages"`
}

// SpawnMessage is a message of a spawned turn.
type SpawnMessage struct {
	Message
	Durable bool `json:"durable"`
}
