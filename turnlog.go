package fyllo

import "time"

// TurnHeader is the first line of <sid>/turn.jsonl: what the replay of a turn needs besides its records.
type TurnHeader struct {
	UserMessageID string       `json:"userMessageId"`
	MessageID     string       `json:"messageId"` // of the assistant message; minted before anything arrives
	StartedAt     time.Time    `json:"startedAt"`
	ACPSessionID  ACPSessionID `json:"acpSessionId"`
	Model         string       `json:"model,omitempty"`
	Effort        string       `json:"effort,omitempty"`
	Cwd           string       `json:"cwd"` // resolves relative diff paths (R-ACP-023)
}

// TurnRecord is one later line of turn.jsonl. Exactly one of the last three fields is set.
type TurnRecord struct {
	At     time.Time
	Line   []byte          // a line of the Agent, as it came
	Answer *PermissionNote // how a permission request was answered
	End    *TurnEnd        // the turn is over; late content may still follow (R-ACP-022)
}
