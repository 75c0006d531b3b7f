package fyllo

import (
	"strings"
	"time"
)

// Role says who speaks in a Message.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one entry of a transcript, and one line of <sid>.messages.jsonl.
type Message struct {
	ID        string    `json:"id"`
	Role      Role      `json:"role"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"` // moved by real changes only (R-CHAT-159)
	Parts     []Part    `json:"parts"`
	Model     string    `json:"model,omitempty"`     // config value used at dispatch (R-CHAT-160)
	Effort    string    `json:"effort,omitempty"`    // likewise, category thought_level
	End       *TurnEnd  `json:"end,omitempty"`       // assistant messages, and user messages whose turn never got one
	RequestID string    `json:"requestId,omitempty"` // client-made id of the submission; a repeat is answered with this message
	TurnID    string    `json:"turnId,omitempty"`    // messages of spawned Sessions only (R-SPAWN-124)
	Rev       int       `json:"rev,omitempty"`       // > 0: this line replaces an earlier line of the same id
}

// TurnEnd says how the turn of a message ended. Exactly one of StopReason and Error is set.
type TurnEnd struct {
	StopReason string    `json:"stopReason,omitempty"` // end_turn, max_tokens, max_turn_requests, refusal, cancelled, or what the Agent said
	Error      *Failure  `json:"error,omitempty"`
	At         time.Time `json:"at"`
}

// PartType is the kind of a Part.
type PartType string

// The types of Part.
const (
	PartText       PartType = "text"
	PartReasoning  PartType = "reasoning"
	PartTool       PartType = "tool"
	PartAttachment PartType = "attachment"
	PartReminder   PartType = "reminder" // injected by the application; never shown, searched or copied (R-CHAT-157, 158)
)

// Part is one piece of a Message. Its position never changes; Parts are only appended.
type Part struct {
	ID         string      `json:"id"` // "<message id>.<index>", so live and stored views agree (R-CHAT-096)
	Type       PartType    `json:"type"`
	Text       string      `json:"text,omitempty"`       // text, reasoning, reminder
	Tool       *Tool       `json:"tool,omitempty"`       // tool
	Attachment *Attachment `json:"attachment,omitempty"` // attachment
	// ParentID names the call of the subagent whose words these are; set only when that call stands in the same message
	// (R-CHAT-108). Tools have their own.
	ParentID string `json:"parentToolCallId,omitempty"`
	Tags     []Tag  `json:"tags,omitempty"` // text of the Agent itself: those that are certain, in order; never stored
}

// Attachment is a non-text block: an image, audio, file or link, sent by the user or the Agent.
type Attachment struct {
	Name string `json:"name,omitempty"`
	MIME string `json:"mime,omitempty"`
	URI  string `json:"uri,omitempty"`  // as the Agent sent it: untrusted, never fetched
	Data *Body  `json:"data,omitempty"` // as received; nil when only linked, or when File is set
	// IsText: Data is the text of an embedded resource. Otherwise it is base64, or what an Agent sent as such.
	IsText bool `json:"isText,omitempty"`
	// File names the stored copy in <sid>/attachments, "" as long as there is none; Size is its length in bytes.
	File string `json:"file,omitempty"`
	Size int64  `json:"size,omitempty"`
}

// ToolKind is the closed vocabulary of R-CHAT-088.
type ToolKind string

// The tool kinds; everything unknown is KindOther.
const (
	KindRead       ToolKind = "read"
	KindWrite      ToolKind = "write"
	KindEdit       ToolKind = "edit"
	KindDelete     ToolKind = "delete"
	KindMove       ToolKind = "move"
	KindSearch     ToolKind = "search"
	KindExecute    ToolKind = "execute"
	KindThink      ToolKind = "think"
	KindFetch      ToolKind = "fetch"
	KindSwitchMode ToolKind = "switch_mode"
	KindOther      ToolKind = "other"
)

// ToolStatus is the Agent's word for a tool call's progress.
type ToolStatus string

// The tool statuses; completed and failed are final (R-CHAT-089).
const (
	ToolPending    ToolStatus = "pending"
	ToolInProgress ToolStatus = "in_progress"
	ToolCompleted  ToolStatus = "completed"
	ToolFailed     ToolStatus = "failed"
)

// Final reports whether s is a terminal status.
func (s ToolStatus) Final() bool { return s == ToolCompleted || s == ToolFailed }

// Tool is one tool call as folded from all its updates.
type Tool struct {
	CallID      string       `json:"toolCallId"` // opaque; unique only within one turn (R-ACP-012)
	Title       string       `json:"title"`
	Name        string       `json:"name,omitempty"` // programmatic name when the Agent sends one
	Kind        ToolKind     `json:"kind"`
	Status      ToolStatus   `json:"status"`
	Interrupted bool         `json:"interrupted,omitempty"` // not final when its turn ended (decision 15)
	Input       *Body        `json:"input,omitempty"`
	Output      *Body        `json:"output,omitempty"`
	Error       *Body        `json:"error,omitempty"` // text of a failed call, never also Output (R-CHAT-083)
	Diffs       []Diff       `json:"diffs,omitempty"`
	Locations   []Location   `json:"locations,omitempty"`
	Media       []Attachment `json:"media,omitempty"` // pictures, sounds and files in the result
	// ParentID is the subagent's call that this one belongs to, set only when the link is safe: the parent stands in the
	// same message, and no cycle leads back (R-CHAT-108). A call with a ParentID is shown inside its subagent only.
	ParentID    string           `json:"parentToolCallId,omitempty"`
	Subagent    *Subagent        `json:"subagent,omitempty"`    // set: the call is the root of a subagent (R-CHAT-106)
	Permissions []PermissionNote `json:"permissions,omitempty"` // decisions taken (R-CHAT-142)
}

// Subagent is what an Agent told about a subagent. Nil and "" mean that it did not say; nothing is computed from the
// subagent's calls (R-CHAT-109, 110).
type Subagent struct {
	Prompt     *Body      `json:"prompt,omitempty"`
	Status     string     `json:"status,omitempty"` // as sent; the call's own status decides what is shown
	AgentType  string     `json:"agentType,omitempty"`
	Model      string     `json:"resolvedModel,omitempty"`
	Tokens     *int64     `json:"totalTokens,omitempty"` // never added to the Session's usage
	DurationMS *int64     `json:"totalDurationMs,omitempty"`
	ToolUses   *int64     `json:"totalToolUseCount,omitempty"`
	Stats      *ToolStats `json:"toolStats,omitempty"`
}

// ToolStats counts what a subagent's calls did.
type ToolStats struct {
	Reads        *int64 `json:"readCount,omitempty"`
	Searches     *int64 `json:"searchCount,omitempty"`
	Commands     *int64 `json:"bashCount,omitempty"`
	Edits        *int64 `json:"editFileCount,omitempty"`
	LinesAdded   *int64 `json:"linesAdded,omitempty"`
	LinesRemoved *int64 `json:"linesRemoved,omitempty"`
	Others       *int64 `json:"otherToolCount,omitempty"`
}

// Body is a text that may be long. In full form Text is everything. In light form Ref is set, Text is a
// preview cut at a code point, and the rest lies in <sid>/bodies.jsonl or, while the turn runs, in memory.
type Body struct {
	Text string   `json:"text"`
	JSON bool     `json:"json,omitempty"` // Text is indented JSON rather than text the Agent wrote
	Size int      `json:"size"`           // bytes of the whole text
	Ref  *BodyRef `json:"ref,omitempty"`  // nil: Text is whole
}

// BodyRef locates a body's bytes. Length 0 means that it is still in memory only.
type BodyRef struct {
	Offset int64 `json:"offset"`
	Length int64 `json:"length"`
}

// Diff is one file change a tool reported. Old nil means that the file did not exist (R-CHAT-101).
type Diff struct {
	Path string `json:"path"` // absolute; relative ones were resolved against the Session's cwd (R-ACP-023)
	Old  *Body  `json:"old,omitempty"`
	New  *Body  `json:"new,omitempty"`
	Kind string `json:"kind,omitempty"` // the Agent's hint: add, delete, update, modify
}

// Location is a place a tool touched; Line is 1-based, 0 when absent.
type Location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

// PermissionOption is one answer an Agent offers, as it sent it.
type PermissionOption struct {
	OptionID string `json:"optionId"`
	Name     string `json:"name"`
	Kind     string `json:"kind"` // allow_once, allow_always, reject_once, reject_always, or something newer
}

// Permission is an open permission request of a turn (decision 1).
type Permission struct {
	ID          string             `json:"id"` // ours, unique
	SessionID   SessionID          `json:"sessionId"`
	MessageID   string             `json:"messageId"`
	ToolCallID  string             `json:"toolCallId,omitempty"`
	Title       string             `json:"title"`
	Options     []PermissionOption `json:"options"` // the Agent's, in its order
	RequestedAt time.Time          `json:"requestedAt"`
}

// PermissionNote records how a request was answered. Outcome is selected or cancelled; By is user,
// policy, turn (it ended first) or agent (it withdrew the request).
type PermissionNote struct {
	ID         string             `json:"id"`
	ToolCallID string             `json:"toolCallId,omitempty"`
	Title      string             `json:"title,omitempty"`
	Options    []PermissionOption `json:"options,omitempty"`
	Outcome    string             `json:"outcome"`
	OptionID   string             `json:"optionId,omitempty"`
	By         string             `json:"by"`
	At         time.Time          `json:"at"`
}

// MessageOfPart returns the id of the message that a part belongs to, from the part's id.
func MessageOfPart(id string) string {
	if at := strings.LastIndexByte(id, '.'); at >= 0 {
		return id[:at]
	}
	return id
}
