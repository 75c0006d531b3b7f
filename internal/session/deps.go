package session

import (
	"context"
	"log/slog"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/session/internal/ports"
	"fyllocode.dev/fyllo/internal/session/internal/warm"
	"fyllocode.dev/fyllo/internal/turns"
)

// Store keeps Sessions on disk. A call returns after what it promises is durable. Implemented by the data root.
type Store = ports.Store

// TurnLog is the append-only record of one running turn.
type TurnLog = turns.TurnLog

// Agents gives running Agents.
type Agents = warm.Agents

// Agent is one generation of an Agent's process.
type Agent = warm.Agent

// Workspaces gives scopes and checks them.
type Workspaces interface {
	Scope(w fyllo.WorkspaceID) (fyllo.Scope, error)
	CheckScope(s fyllo.Scope) error // R-WS-073
	IDs() []fyllo.WorkspaceID
}

// Mentions finds the files that a text mentions.
type Mentions interface {
	// Mentioned returns a resource link for each file of the directories that the text mentions, in its order.
	Mentioned(ctx context.Context, dirs []fyllo.ScopeFolder, text string) []fyllo.PromptBlock
}

// Publisher sends events to windows. Publish never blocks on a window and keeps the order of its calls.
type Publisher interface {
	Publish(e fyllo.Event)
	Seq(w fyllo.WorkspaceID) uint64 // of the last event published to that Workspace
}

// Decoder reads lines of a turn log.
type Decoder = turns.Decoder

// Servers gives activations FylloCode's own MCP servers.
type Servers = warm.Lender

// Lease is the right of one activation to call them.
type Lease = warm.Lease

// Children are the Sessions that Sessions have spawned.
type Children interface {
	// StopParent ends them before their parent is deleted, and lets nothing of them be written any more (R-SPAWN-097).
	StopParent(ctx context.Context, o fyllo.SpawnOwner)
}

// Deps are the borders of a Manager. All fields without another word are needed.
type Deps struct {
	Store      Store
	Agents     Agents
	Workspaces Workspaces
	Mentions   Mentions
	Publisher  Publisher
	Decoder    Decoder
	Settings   func() fyllo.Settings
	Servers    Servers  // FylloCode's own MCP servers; nil for none
	Children   Children // what Sessions have spawned; nil for none
	Log        *slog.Logger
}
