package main

import (
	"context"
	"errors"
	"io/fs"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/acp"
	"fyllocode.dev/fyllo/internal/agents"
	"fyllocode.dev/fyllo/internal/mcphost"
	"fyllocode.dev/fyllo/internal/media"
	"fyllocode.dev/fyllo/internal/records"
	"fyllocode.dev/fyllo/internal/records/spawned"
	"fyllocode.dev/fyllo/internal/search"
	"fyllocode.dev/fyllo/internal/session"
	"fyllocode.dev/fyllo/internal/spawn"
	"fyllocode.dev/fyllo/internal/turns"
)

// The types of this file join packages that may not know each other. They translate and decide nothing.

// sessionStore is the data root as Sessions see it.
type sessionStore struct{ *records.Store }

// BeginTurn implements session.TurnStore.
func (s sessionStore) BeginTurn(w fyllo.WorkspaceID, id fyllo.SessionID, h fyllo.TurnHeader) (session.TurnLog, error) {
	log, err := s.Store.BeginTurn(w, id, h)
	if err != nil {
		return nil, err // not a nil *TurnLog, which would be an interface that is not nil
	}
	return log, nil
}

// transcripts are the message files of the data root as a search sees them.
type transcripts struct{ store *records.Store }

// OpenMessages implements search.Transcripts.
func (t transcripts) OpenMessages(w fyllo.WorkspaceID, id fyllo.SessionID) (search.Transcript, int64, error) {
	f, size, err := t.store.OpenMessages(w, id)
	if err != nil {
		return nil, 0, err // not a nil *os.File, which would be an interface that is not nil
	}
	return f, size, nil
}

// liveAgents are the Agents as Sessions see them.
type liveAgents struct{ *pool }

// Connect implements session.Agents.
func (a liveAgents) Connect(ctx context.Context, id fyllo.AgentID) (session.Agent, error) {
	process, err := a.pool.Connect(ctx, id)
	if err != nil {
		return nil, err
	}
	return liveAgent{Conn: process.Conn(), process: process}, nil
}

// liveAgent is one generation of an Agent: its identity from the process, everything else from the connection.
type liveAgent struct {
	*acp.Conn
	process *agents.Process[*acp.Conn]
}

// Generation implements session.Identity.
func (a liveAgent) Generation() uint64 { return a.process.Generation() }

// Info implements session.Identity.
func (a liveAgent) Info() fyllo.AgentInfo { return a.process.Info() }

// spawnAgents are the Agents as spawned Sessions see them.
type spawnAgents struct{ *pool }

// Connect implements spawn.Agents.
func (a spawnAgents) Connect(ctx context.Context, id fyllo.AgentID) (spawn.Agent, error) {
	process, err := a.pool.Connect(ctx, id)
	if err != nil {
		return nil, err
	}
	return liveAgent{Conn: process.Conn(), process: process}, nil
}

// spawnStore are the records of spawned Sessions.
type spawnStore struct{ *spawned.Store }

// BeginTurn implements spawn.Store.
func (s spawnStore) BeginTurn(o fyllo.SpawnOwner, id fyllo.SessionID, h fyllo.TurnHeader) (turns.TurnLog, error) {
	log, err := s.Store.BeginTurn(o, id, h)
	if err != nil {
		return nil, err // not a nil *TurnLog
	}
	return log, nil
}

// children are what Sessions have spawned, for windows and commands.
type children struct {
	*spawn.Engine
	store *spawned.Store
}

// Media implements httpd.Children.
func (c children) Media(ctx context.Context, o fyllo.SpawnOwner, id fyllo.SessionID, q fyllo.MediaQuery) (*fyllo.Media, error) {
	of := spawnedBy{c, o}
	return media.New(of, of).Media(ctx, o.Workspace, id, q)
}

// spawnedBy sees what one Session has spawned as if it were Sessions of the Workspace.
type spawnedBy struct {
	children
	owner fyllo.SpawnOwner
}

// Part implements media.Parts.
func (s spawnedBy) Part(ctx context.Context, _ fyllo.WorkspaceID, id fyllo.SessionID, part string) (fyllo.Part, error) {
	return s.Engine.Part(ctx, s.owner, id, part)
}

// Attachment implements media.Store.
func (s spawnedBy) Attachment(_ fyllo.WorkspaceID, id fyllo.SessionID, name string) (fs.File, error) {
	return s.store.Attachment(s.owner, id, name)
}

// Body implements media.Store.
func (s spawnedBy) Body(_ fyllo.WorkspaceID, id fyllo.SessionID, ref fyllo.BodyRef) ([]byte, error) {
	return s.store.Body(s.owner, id, ref)
}

// parents are the Chat Sessions that spawn. The manager is built after the engine that asks for them.
type parents struct{ core *core }

// Scope implements spawn.Parents.
func (p parents) Scope(ctx context.Context, o fyllo.SpawnOwner) (fyllo.Scope, error) {
	d, err := p.core.sessions.Detail(ctx, o.Workspace, o.Parent)
	if err != nil {
		return fyllo.Scope{}, err
	}
	if d.Scope == nil {
		return fyllo.Scope{}, fyllo.Errorf(fyllo.CodeFolderRemoved, "session %s: it has no recorded scope", o.Parent)
	}
	return *d.Scope, nil
}

// Notify implements spawn.Parents.
func (p parents) Notify(ctx context.Context, o fyllo.SpawnOwner, text string, claim func() error) (sent bool, err error) {
	err = p.core.sessions.Notify(ctx, o.Workspace, o.Parent, text, claim)
	return !errors.Is(err, session.ErrNotClaimed), err
}

// lender gives activations their right to call FylloCode's MCP servers.
type lender struct{ host *mcphost.Host }

// Lease implements session.Servers.
func (l lender) Lease(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) session.Lease {
	if lease := l.host.Lease(ctx, w, s); lease != nil {
		return lease
	}
	return nil // not a nil *Lease, which would be an interface that is not nil
}

// decoder reads turn logs with the code that reads the wire.
type decoder struct{}

// DecodeLine implements session.Decoder.
func (decoder) DecodeLine(line []byte) (fyllo.Update, bool) { return acp.DecodeLine(line) }

// DecodePermission implements session.Decoder.
func (decoder) DecodePermission(line []byte) (fyllo.PermissionAsk, bool) {
	return acp.DecodePermission(line)
}
