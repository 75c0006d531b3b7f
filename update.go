package fyllo

// UpdateKind says what an Update carries.
type UpdateKind uint8

// The kinds of Update. UpdateUnknown is kept, counts as activity and changes nothing (R-ACP-001).
const (
	UpdateUnknown UpdateKind = iota
	UpdateText               // assistant text chunk
	UpdateReasoning
	UpdateUserText // a user chunk, seen in replays
	UpdateTool
	UpdateSubagent // a subagent that has an ACP session of its own was announced or changed
	UpdateMessage  // a message between the ACP sessions of an Agent and its subagents
	UpdatePlan
	UpdateConfig
	UpdateCommands
	UpdateMode
	UpdateUsage
	UpdateSessionInfo // never changes the title (R-ACP-019); counts as activity
	UpdateNotice
)

// Control reports whether the update is Session state rather than transcript content; such updates apply at
// any time (R-ACP-022) and pass during the replay of a load (R-CHAT-145).
func (k UpdateKind) Control() bool {
	return k >= UpdatePlan
}

// Update is one thing an Agent reported, decoded tolerantly. All of it is an upsert, so that later protocol
// versions need no change above internal/acp (decision 12).
type Update struct {
	Kind UpdateKind
	// SessionID is the ACP session that it came under: the Agent's, or that of a subagent, whose updates belong to the
	// session of its parent.
	SessionID ACPSessionID
	MessageID string // the Agent's id of the message a chunk belongs to; "" when it sends none (R-ACP-008)
	// Text of text and reasoning chunks. A chunk may begin or end inside a character: half a surrogate pair, which
	// JSON can carry as a lone \uD83D, stands here as its three bytes of WTF-8 (ED A0…BF xx). Transcript joins the
	// halves across chunks and replaces those that stay alone by U+FFFD.
	Text     string
	ParentID string // Claude: the Agent tool call that this chunk or tool belongs to

	Block    *Block          // a chunk that is not text
	Tool     *ToolPatch      // UpdateTool
	Child    *ChildPatch     // UpdateSubagent
	Message  *SessionMessage // UpdateMessage
	Plan     []PlanEntry
	Config   []ConfigOption // UpdateConfig; nil when the list was absent, empty when it was []
	Commands []Command
	Mode     string // UpdateMode
	Usage    *Usage
	Notice   string

	// Raw is the line as it came from the Agent, without newline. It is what turn.jsonl keeps; it is only
	// valid until the receiver returns, unless it copies it.
	Raw []byte
}

// Block is a content block that is not plain text.
type Block struct {
	Type string // image, audio, resource_link, resource, or something newer
	Name string
	MIME string
	URI  string
	Data string // base64, or the text of an embedded resource
	// IsText: Data is the text of an embedded resource rather than base64.
	IsText bool
}

// ToolPatch changes one tool call. A nil pointer or false flag means "no change" (R-ACP-002).
type ToolPatch struct {
	CallID   string
	Start    bool // came as tool_call
	Title    *string
	Name     *string
	Kind     *string
	Status   *string
	ParentID *string

	IsSubagent bool // the Agent marks the call as that of a subagent (R-CHAT-106)
	// Subagent is what it tells about the subagent, if the call is one; a field that is nil or "" means "no change".
	Subagent *Subagent

	RawInput  []byte // JSON; nil when absent or null
	RawOutput []byte // JSON; nil when absent or null

	HasContent bool        // content was present, also as null or []
	Texts      []string    // text of its text blocks, in order
	Blocks     []Block     // its other content blocks
	Diffs      []DiffPatch // its diffs, in order

	HasLocations bool // locations were present, also as null or []
	Locations    []Location

	OutputDelta string  // _meta.terminal_output_delta.data
	OutputAll   *string // _meta.terminal_output.data: the whole output so far
}

// DiffPatch is a diff as sent; Old nil means absent or null.
type DiffPatch struct {
	Path string
	Old  *string
	New  string
	Kind string
}

// ChildPatch changes what is known about a subagent that has an ACP session of its own; nil and "" mean "no change".
type ChildPatch struct {
	SessionID   ACPSessionID // the subagent's; never ""
	Title       *string
	Description *string
	State       string // what it does, in the Agent's words
	StopReason  string // why it stopped, when State says that it does nothing
	Cwd         string
}

// SessionMessage is what one ACP session of an Agent tells another one. "" as From or To means that the Agent did not
// say it: the message then belongs to the session it came under.
type SessionMessage struct {
	From, To ACPSessionID
	// ID is the sender's id of the message, so that a message that both sides report is told once; "" when there is none.
	ID     string
	Whole  bool     // Texts and Blocks are all of the message, rather than the next piece of it
	Texts  []string // its text blocks; a piece may begin or end inside a character
	Blocks []Block
}

// PlanEntry is one line of the Agent's agenda (R-CHAT-137).
type PlanEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"` // high, medium, low; missing reads as medium
	Status   string `json:"status"`   // pending, in_progress, completed; missing reads as pending
}

// Command is a slash command of an Agent.
type Command struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Hint        string `json:"hint,omitempty"`
}

// ConfigOption is one setting of an ACP session; snapshots are always complete and replace (R-AGT-093).
type ConfigOption struct {
	ID          string        `json:"id"`
	Name        string        `json:"name"`
	Description string        `json:"description,omitempty"`
	Category    string        `json:"category,omitempty"` // mode, model, thought_level, or any other string
	Type        string        `json:"type"`               // select or boolean
	Current     ConfigValue   `json:"currentValue"`
	Choices     []ConfigGroup `json:"options,omitempty"` // select only; a flat list is one group without id
	Legacy      string        `json:"legacy,omitempty"`  // modes or models: made from the older fields, set by their own methods (decision 19)
}

// ConfigValue is a string or a boolean. It marshals as the plain JSON value; see config.go.
type ConfigValue struct {
	Text   string
	Bool   bool
	IsBool bool
}

// ConfigGroup is a run of choices; ID and Name are "" for choices outside any group.
type ConfigGroup struct {
	ID      string         `json:"group,omitempty"`
	Name    string         `json:"name,omitempty"`
	Choices []ConfigChoice `json:"options"`
}

// ConfigChoice is one value of a select option.
type ConfigChoice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}
