package main

import (
	"context"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/acp"
	"fyllocode.dev/fyllo/internal/agents"
	"fyllocode.dev/fyllo/internal/records"
	"fyllocode.dev/fyllo/internal/search"
	"fyllocode.dev/fyllo/internal/session"
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

// decoder reads turn logs with the code that reads the wire.
type decoder struct{}

// DecodeLine implements session.Decoder.
func (decoder) DecodeLine(line []byte) (fyllo.Update, bool) { return acp.DecodeLine(line) }

// DecodePermission implements session.Decoder.
func (decoder) DecodePermission(line []byte) (fyllo.PermissionAsk, bool) {
	return acp.DecodePermission(line)
}
