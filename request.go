package fyllo

import "io"

// What a client asks for and is answered. These forms are read from HTTP bodies as they stand, so httpd and the
// use cases speak the same types without knowing each other.

// StartRequest is the first submission, which creates a Session (R-CHAT-053).
type StartRequest struct {
	RequestID string         `json:"requestId"` // made by the client; a repeat gets the first answer
	AgentID   AgentID        `json:"agentId"`
	Mode      Mode           `json:"mode"`
	Text      string         `json:"text"`
	Policy    Policy         `json:"policy,omitempty"` // "" = the preference for new Sessions
	Config    []ConfigChange `json:"config,omitempty"`
	UseDraft  bool           `json:"useDraft,omitempty"` // take over the ACP session of the window's draft
	Window    WindowID       `json:"-"`                  // set by httpd from the request; "" for the command line
	// Attachments are the files that come with the message, in order (R-CHAT-042). Their bytes follow in the same request.
	Attachments []NewAttachment `json:"attachments,omitempty"`
	// NextFile returns the bytes of one after the other, and io.EOF behind the last; valid until the next call. Set by
	// httpd; nil when none came.
	NextFile func() (io.Reader, error) `json:"-"`
}

// StartResult is the answer to a StartRequest.
type StartResult struct {
	SessionID SessionID `json:"sessionId"`
	Message   Message   `json:"message"`
}

// PromptRequest is a later submission.
type PromptRequest struct {
	RequestID string         `json:"requestId"` // as in StartRequest
	Text      string         `json:"text"`
	AgentID   AgentID        `json:"agentId,omitempty"` // "" = not checked
	Mode      Mode           `json:"mode,omitempty"`    // "" = not checked
	Config    []ConfigChange `json:"config,omitempty"`
	// RetryOf is the id of the last user message when its turn ended without an answer: that message is sent again
	// instead of a new one, and Text is ignored.
	RetryOf string `json:"retryOf,omitempty"`
	// Attachments are handles of files that were added to this Session and not sent yet, in order (R-CHAT-049).
	Attachments []string `json:"attachments,omitempty"`
	// AttachmentsOf is the id of an earlier message of this Session whose files are sent along once more.
	AttachmentsOf string `json:"attachmentsOf,omitempty"`
}

// PromptResult is the answer to a PromptRequest.
type PromptResult struct {
	Message Message `json:"message"`
}

// ConfigChange sets one option. Value is a choice's value, or "true" or "false" for a boolean option.
type ConfigChange struct {
	ID    string `json:"id"`
	Value string `json:"value"`
}

// AnswerRequest answers a permission request (decision 1).
type AnswerRequest struct {
	RequestID    string `json:"requestId"` // as in StartRequest
	PermissionID string `json:"-"`         // from the path
	OptionID     string `json:"optionId,omitempty"`
}

// Patch changes what a user may change of a Session; nil means no change.
type Patch struct {
	Title  *string `json:"title,omitempty"`
	Pinned *bool   `json:"pinned,omitempty"`
	Policy *Policy `json:"policy,omitempty"`
}

// BodyQuery names one text of a part that may be long. Field is input, output, error, old, new, attachment, media,
// prompt (of a subagent) or text; Index counts diffs for old and new, and media.
type BodyQuery struct {
	PartID string
	Field  string
	Index  int
}

// CustomAgent is a user's own Agent (R-AGT-020). Env values go in and never come out again (R-AGT-024).
type CustomAgent struct {
	Name    string            `json:"name"`
	Command string            `json:"command"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// AgentSuggestion is an Agent that was found on PATH and may be added as it stands.
type AgentSuggestion struct {
	Name    string   `json:"name"`
	Command string   `json:"command"` // absolute path
	Args    []string `json:"args,omitempty"`
	// Env is what the Agent needs in its environment (R-AGT-051); the entry made from the suggestion must carry it.
	// These values are constants, no secrets.
	Env  map[string]string `json:"env,omitempty"`
	Note string            `json:"note,omitempty"` // what a person should know before adding it
}

// AgentCheck is the outcome of starting an Agent once and asking for its capabilities (R-CLI-005).
type AgentCheck struct {
	AgentID     AgentID    `json:"agentId"`
	OK          bool       `json:"ok"`
	Info        *AgentInfo `json:"info,omitempty"`
	StartMillis int64      `json:"startMillis"` // from start to the initialize answer
	Problem     *Failure   `json:"problem,omitempty"`
	StderrTail  string     `json:"stderrTail,omitempty"` // what the Agent wrote to standard error; only when not OK
}
