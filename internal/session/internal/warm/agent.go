package warm

import (
	"context"

	"fyllocode.dev/fyllo"
)

// Agents gives running Agents. Errors carry the codes of R-AGT-053…056.
type Agents interface {
	// Connect starts the Agent's process or joins the one that runs.
	Connect(ctx context.Context, id fyllo.AgentID) (Agent, error)
	// Describe returns the catalogue entry, false when there is none.
	Describe(id fyllo.AgentID) (fyllo.Agent, bool)
	// Missing says why an id is not in the catalogue.
	Missing(id fyllo.AgentID) error
}

// Agent is one generation of an Agent's process: its identity, its ACP sessions and their turns.
type Agent interface {
	Identity
	Opener
	Prompter
}

// Lender gives activations FylloCode's own MCP servers. A nil Lease means that there are none for it.
type Lender interface {
	// Lease is for a Session, "" for a draft that has none yet. It may wait some seconds for the servers to be ready.
	Lease(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) Lease
}

// Lease is the right of one activation to call those servers. It must be ended when the activation is (R-AGT-103).
type Lease interface {
	Servers() []fyllo.MCPServer
	Bind(s fyllo.SessionID) // the draft's Session is known now
	End()
}

// Identity tells generations of one Agent apart.
type Identity interface {
	Generation() uint64
	Info() fyllo.AgentInfo
	Done() <-chan struct{} // closed when the connection is over and its last event delivered
}

// Opener makes and ends ACP sessions. Sinks get every event of the ACP session in wire order, also those that
// came before the call returned; they may block, which stops the reading of this Agent. A snapshot of the
// configuration in an answer also comes as an UpdateConfig event, in its place on the wire.
type Opener interface {
	NewSession(ctx context.Context, p fyllo.SessionParams, sink func(fyllo.AgentEvent)) (fyllo.SessionOpened, error)
	LoadSession(ctx context.Context, id fyllo.ACPSessionID, p fyllo.SessionParams, sink func(fyllo.AgentEvent)) (fyllo.SessionOpened, error)
	ResumeSession(ctx context.Context, id fyllo.ACPSessionID, p fyllo.SessionParams, sink func(fyllo.AgentEvent)) (fyllo.SessionOpened, error)
	CloseSession(ctx context.Context, id fyllo.ACPSessionID) error // forgets the sink in any case
	Forget(id fyllo.ACPSessionID)                                  // drops all later events of id
}

// Prompter runs turns. None of its calls waits for the Agent, except SetConfig.
type Prompter interface {
	// Prompt queues session/prompt; its answer comes as a PromptDone with the token.
	Prompt(id fyllo.ACPSessionID, token uint64, blocks []fyllo.PromptBlock) error
	Cancel(id fyllo.ACPSessionID) error
	SetConfig(ctx context.Context, id fyllo.ACPSessionID, option fyllo.ConfigOption, value fyllo.ConfigValue) ([]fyllo.ConfigOption, error)
}
