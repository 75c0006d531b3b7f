package fyllo

import (
	"encoding/json"
	"time"
)

// Support is a capability that may not be known yet (R-AGT-072).
type Support string

// The states of a capability.
const (
	Supported   Support = "supported"
	Unsupported Support = "unsupported"
	Unknown     Support = "unknown"
)

// Capabilities are derived from an initialize answer (R-AGT-072).
type Capabilities struct {
	Image           Support `json:"image"`
	Audio           Support `json:"audio"`
	EmbeddedContext Support `json:"embeddedContext"`
	HTTPMCP         Support `json:"httpMcp"`
	MultiRoot       Support `json:"multiRoot"`
	Load            bool    `json:"load"`
	Resume          bool    `json:"resume"`
	Close           bool    `json:"close"`
}

// AuthMethod is a way to sign in that the Agent offers.
type AuthMethod struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Type        string `json:"type,omitempty"` // "" = the agent method, else terminal, env_var, …
}

// AgentInfo is what a running Agent said in its initialize answer.
type AgentInfo struct {
	ProtocolVersion int             `json:"protocolVersion"`
	Name            string          `json:"name,omitempty"`
	Title           string          `json:"title,omitempty"`
	Version         string          `json:"version,omitempty"`
	AuthMethods     []AuthMethod    `json:"authMethods"`
	Capabilities    Capabilities    `json:"capabilities"`
	Raw             json.RawMessage `json:"-"` // the whole initialize result, for the capability cache (R-AGT-070)
}

// AgentSource says where a catalogue entry comes from.
type AgentSource string

// The sources.
const (
	SourceRegistry AgentSource = "registry"
	SourceCustom   AgentSource = "custom"
	SourceBuiltin  AgentSource = "builtin"
)

// AgentState is the life of an Agent's process.
type AgentState string

// The states of an Agent's process. AgentFailed is given up until a user retries (R-AGT-056).
const (
	AgentStopped    AgentState = "stopped"
	AgentStarting   AgentState = "starting"
	AgentReady      AgentState = "ready"
	AgentRestarting AgentState = "restarting"
	AgentFailed     AgentState = "failed"
)

// InstallMethod is a way in which a registry Agent is installed (R-AGT-030).
type InstallMethod string

// The methods, the preferred one first (R-AGT-040).
const (
	InstallNPX    InstallMethod = "npx"    // a global package of npm
	InstallUVX    InstallMethod = "uvx"    // a tool of uv
	InstallBinary InstallMethod = "binary" // a program for this platform
)

// ManagedBy says who installed an Agent; "" = it is not installed, or not a registry Agent (R-AGT-030).
type ManagedBy string

// Who installs.
const (
	ManagedByFyllo ManagedBy = "fyllocode"
	ManagedByUser  ManagedBy = "user"
)

// InstallWay tells a person how to install an Agent, or its newest version.
type InstallWay struct {
	Method InstallMethod `json:"method"`
	Text   string        `json:"text"` // a command line for npx and uvx, the address of the download for binary
}

// RegistryState tells where the public list of Agents comes from and how it stands (R-AGT-005).
type RegistryState struct {
	Source    string     `json:"source"`              // its URL
	FetchedAt *time.Time `json:"fetchedAt,omitempty"` // of the list that is used; nil = there is none
	Looking   bool       `json:"looking"`             // it is being fetched, or what is installed is being looked at
	Problem   *Failure   `json:"problem,omitempty"`   // why the last fetch failed, with code REGISTRY_FAILED
}

// Agent is a catalogue entry with its state, for lists and pickers. Env values never appear (R-AGT-024).
type Agent struct {
	ID           AgentID      `json:"id"`
	Name         string       `json:"name"`
	Source       AgentSource  `json:"source"`
	Kind         string       `json:"kind"`                  // native, adapter or bridge (R-AGT-007)
	Description  string       `json:"description,omitempty"` // registry only
	Installed    bool         `json:"installed"`
	Version      string       `json:"version,omitempty"` // as detected for registry Agents, else as it runs; "" = unknown
	Command      string       `json:"command,omitempty"` // shown in settings; custom only
	Args         []string     `json:"args,omitempty"`
	EnvNames     []string     `json:"envNames,omitempty"`
	State        AgentState   `json:"state"`
	PID          int          `json:"pid,omitempty"`
	Generation   uint64       `json:"generation,omitempty"`
	Capabilities Capabilities `json:"capabilities"`
	AuthMethods  []AuthMethod `json:"authMethods,omitempty"`
	Problem      *Failure     `json:"problem,omitempty"` // why it is not usable

	// Registry Agents only (R-AGT-030).
	LatestVersion   string        `json:"latestVersion,omitempty"`
	UpdateAvailable bool          `json:"updateAvailable,omitempty"`
	InstallMethod   InstallMethod `json:"installMethod,omitempty"` // "" = not installed
	ManagedBy       ManagedBy     `json:"managedBy,omitempty"`
	InstallWays     []InstallWay  `json:"installWays,omitempty"` // when it is not installed or has an update
}

// SessionParams are what session/new, load and resume need.
type SessionParams struct {
	Cwd                   string
	AdditionalDirectories []string    // sent only when the Agent supports it
	MCPServers            []MCPServer // never nil on the wire
}

// MCPServer is one HTTP MCP server handed to an Agent.
type MCPServer struct {
	Name    string
	URL     string
	Headers map[string]string
}

// SessionOpened is the answer to session/new, load or resume. HasConfig tells an absent list from an empty
// one (R-AGT-095); legacy modes and models are already folded into ConfigOptions (decision 19).
type SessionOpened struct {
	ID            ACPSessionID
	ConfigOptions []ConfigOption
	HasConfig     bool
}

// PromptBlock is one content block of a prompt.
type PromptBlock struct {
	Type string // text, image, resource or resource_link
	Text string
	MIME string
	URI  string
	Name string
	Data []byte // of images, audio and resources that are no text; encoded when it is sent
}

// AgentEvent is one thing that happened to an ACP session, delivered in wire order. Exactly one field is set.
type AgentEvent struct {
	Update     *Update
	Permission *PermissionAsk
	Withdrawn  *PermissionWithdrawn
	PromptDone *PromptDone
	Closed     *AgentClosed
}

// PermissionAsk is a session/request_permission. Tool carries what the request says about the call; it may be
// all that is ever known of it. Answer may be called once, from any goroutine, and never blocks; an empty
// optionID means cancelled.
type PermissionAsk struct {
	SessionID ACPSessionID
	Request   string // the Agent's id of the request, as JSON; unique only while the request is open
	Tool      *ToolPatch
	Options   []PermissionOption
	Raw       []byte // the request line, see Update.Raw
	Answer    func(optionID string)
}

// PermissionWithdrawn says that the Agent no longer waits for the answer to a request. It comes after the request and
// before it was answered; the request must be answered all the same.
type PermissionWithdrawn struct {
	Request string // see PermissionAsk.Request
}

// PromptDone is the answer to session/prompt, delivered after every update that came before it on the wire.
type PromptDone struct {
	Token      uint64 // of the Prompt call it answers
	StopReason string // set when Err is nil
	Err        error
}

// AgentClosed says that the connection ended; it is the last event of an ACP session. The reason has code
// AGENT_EXITED unless the stop was wanted.
type AgentClosed struct {
	Reason error
	At     time.Time
}
