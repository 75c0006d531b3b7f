package fyllo

import (
	"cmp"
	"time"
)

// Mode is what a Session injects: FylloCode context, or nothing (R-CHAT-026…028). It never changes.
type Mode string

// The modes. A missing or unknown stored mode reads as ModeFyllo.
const (
	ModeFyllo  Mode = "fyllocode"
	ModeNative Mode = "native"
)

// Policy says how permission requests of a Chat Session are answered (decision 1).
type Policy string

// The policies: ask a person, or take the first allow_once option. Absent means ask.
const (
	PolicyAsk       Policy = "ask"
	PolicyAllowOnce Policy = "allow_once"
)

// Usage is the context use an Agent last reported (R-ACP-016). Cost is stored, never shown (R-CHAT-117).
type Usage struct {
	Used uint64 `json:"used"`
	Size uint64 `json:"size"`
	Cost *Cost  `json:"cost,omitempty"`
}

// Cost is cumulative; Currency may be something like "credits".
type Cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

// SessionMeta is the stored metadata of a Session, workspaces/<wid>/sessions/<sid>.json (R-WS-133). Its
// existence on disk is what makes a Session exist: it is written after the first message (R-CHAT-053, 054).
type SessionMeta struct {
	SessionID         SessionID      `json:"sessionId"`
	ACPSessionID      ACPSessionID   `json:"acpSessionId,omitempty"`
	AgentID           AgentID        `json:"agentId"`
	AgentName         string         `json:"agentName,omitempty"` // kept so that a removed Agent can be named (R-AGT-113)
	Mode              Mode           `json:"sessionMode"`
	Title             string         `json:"title"`
	IsPinned          bool           `json:"isPinned,omitempty"`
	TurnCount         int            `json:"turnCount"`
	TokenUsage        *Usage         `json:"tokenUsage,omitempty"`
	AvailableCommands []Command      `json:"available_commands,omitempty"`
	ConfigOptions     []ConfigOption `json:"configOptions,omitempty"`
	PermissionPolicy  Policy         `json:"permissionPolicy,omitempty"`
	Scope             *Scope         `json:"workspaceSnapshot,omitempty"`
	StartRequestID    string         `json:"startRequestId,omitempty"` // client-made id of the first submission; a repeat gets the same Session
	CreatedAt         time.Time      `json:"createdAt"`
	UpdatedAt         time.Time      `json:"updatedAt"` // not moved by pin or policy changes
}

// TurnState is what a Session is doing.
type TurnState string

// The states of a Session's turn: nothing runs; sent but no content yet (decision 13); content arrives;
// a cancel was sent and not yet confirmed.
const (
	TurnIdle       TurnState = "idle"
	TurnWaiting    TurnState = "waiting"
	TurnStreaming  TurnState = "streaming"
	TurnCancelling TurnState = "cancelling"
)

// SessionSummary is a row of the sidebar and of `fyllo sessions list` (R-CLI-008).
type SessionSummary struct {
	SessionID   SessionID   `json:"sessionId"`
	WorkspaceID WorkspaceID `json:"workspaceId"`
	Title       string      `json:"title"`
	AgentID     AgentID     `json:"agentId"`
	AgentName   string      `json:"agentName"`
	Mode        Mode        `json:"mode"`
	Pinned      bool        `json:"pinned"`
	Running     bool        `json:"running"`
	Attention   int         `json:"attention"` // open permission requests (decision 1)
	CreatedAt   time.Time   `json:"createdAt"`
	UpdatedAt   time.Time   `json:"updatedAt"`
}

// CompareSessions is the list order (R-CHAT-008): pinned Sessions first, then the others, each by their last change,
// newest first, ties by id.
func CompareSessions(a, b *SessionSummary) int {
	group := func(s *SessionSummary) int {
		if s.Pinned {
			return 0
		}
		return 1
	}
	return cmp.Or(group(a)-group(b), b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.SessionID, b.SessionID))
}

// Turn is the live state of a Session's turn. Times let a page that reloads go on counting (R-CHAT-076).
type Turn struct {
	State          TurnState  `json:"state"`
	UserMessageID  string     `json:"userMessageId,omitempty"`
	MessageID      string     `json:"messageId,omitempty"`      // the assistant message being written
	StartedAt      *time.Time `json:"startedAt,omitempty"`      // prompt accepted
	FirstContentAt *time.Time `json:"firstContentAt,omitempty"` // R-CHAT-074 counts from here
	LastActivityAt *time.Time `json:"lastActivityAt,omitempty"` // any update at all (decision 13)
	// Notice is set while Core tells the Agent about delegated work: nobody can send meanwhile (R-SPAWN-105).
	Notice bool `json:"notice,omitempty"`
}

// SessionDetail is everything a page needs to show one Session, except its older messages.
type SessionDetail struct {
	SessionSummary
	Seq              uint64         `json:"seq"` // stream position this is true at: apply only later events of this Session
	Turn             Turn           `json:"turn"`
	Live             *Message       `json:"live,omitempty"` // the assistant message not yet in the messages file; replaces one of the same id
	Permissions      []Permission   `json:"permissions"`    // open requests, oldest first
	Usage            *Usage         `json:"usage,omitempty"`
	ConfigOptions    []ConfigOption `json:"configOptions"`
	Commands         []Command      `json:"commands"`
	Plan             []PlanEntry    `json:"plan"`
	PermissionPolicy Policy         `json:"permissionPolicy"`
	Scope            *Scope         `json:"scope,omitempty"`
	Queue            Queue          `json:"queue"`
	StaleReason      *Failure       `json:"staleReason,omitempty"` // set when the scope is stale (R-WS-073)
}

// SessionPage is one page of the list of a Workspace's Sessions, in list order (CompareSessions): as soon as it has one
// that is not pinned, the pages up to it have all that are.
type SessionPage struct {
	Sessions []SessionSummary `json:"sessions"`
	Total    int              `json:"total"`
	Next     string           `json:"next,omitempty"` // cursor of the next page; "" at the end
	Seq      uint64           `json:"seq"`
}

// MessagePage is a run of stored messages in transcript order, in light form.
type MessagePage struct {
	Messages []Message `json:"messages"`
	Before   string    `json:"before,omitempty"` // cursor of the page before this one; "" at the beginning
	Damage   []Damage  `json:"damage,omitempty"` // lines that were skipped (R-WS-131)
	Seq      uint64    `json:"seq"`
}

// Damage is an unreadable stretch of a record file.
type Damage struct {
	File   string `json:"file"` // relative to the data root
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
	Reason string `json:"reason"`
}
