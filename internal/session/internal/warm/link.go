// Package warm makes ACP sessions ready for prompts and keeps hold of them: new ones, and those that an Agent knows
// and gives back by resume or load (R-CHAT-143…148).
package warm

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"fyllocode.dev/fyllo"
)

// How the end of a load's replay is told: this long without an update, at most so long after the answer
// (R-CHAT-145).
const (
	replayQuiet = 300 * time.Millisecond
	replayLimit = 3 * time.Second
)

// closeTime is how long an ACP session may take to close (R-AGT-058).
const closeTime = 300 * time.Millisecond

// Link is one ACP session in one generation of an Agent's process: what makes a Session or a draft warm. Its sink
// hands events to whoever holds the link, first a draft perhaps, then an actor.
type Link struct {
	Agent Agent
	ID    fyllo.ACPSessionID // set before the link is handed on
	Fresh bool               // no prompt was sent yet over a new ACP session: reminders are due (R-GOV-161)

	mu     sync.Mutex
	holder func(*Link, fyllo.AgentEvent)
	told   []fyllo.ConfigOption // the snapshot that the Agent told last; nil for none

	lending sync.Mutex // guards lease; never held during a delivery, which may block
	lease   Lease      // of FylloCode's MCP servers; nil when it has none

	Config    []fyllo.ConfigOption // what a draft saw last; set when its link is handed on
	Owner     any                  // the turn that opened it; nil for a draft's; set before its first event
	replaying atomic.Bool          // content is history that a load repeats
	last      atomic.Int64         // time of the last event, unix nanoseconds
}

// NewLink returns a link without an ACP session; holder gets the events of the one it will open.
func NewLink(agent Agent, holder func(*Link, fyllo.AgentEvent)) *Link {
	l := &Link{Agent: agent, holder: holder}
	l.last.Store(time.Now().UnixNano())
	return l
}

// sink runs on the reader of the Agent's connection.
func (l *Link) sink(e fyllo.AgentEvent) {
	if e.Update != nil {
		l.last.Store(time.Now().UnixNano())
		if l.replaying.Load() && !e.Update.Kind.Control() {
			return
		}
	}
	if e.Closed != nil {
		l.Revoke() // the process is gone (R-AGT-103)
	}
	// Held while delivering, so that a change of holder cannot reorder events.
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Update != nil && e.Update.Kind == fyllo.UpdateConfig {
		l.told = orEmpty(e.Update.Config)
	}
	l.holder(l, e)
}

// configOf returns the snapshot of an ACP session that was just opened: that of the answer, else what the Agent has told
// beside it, else otherwise, since absent is not empty (R-AGT-095).
func (l *Link) configOf(opened fyllo.SessionOpened, otherwise []fyllo.ConfigOption) []fyllo.ConfigOption {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case opened.HasConfig:
		return opened.ConfigOptions
	case l.told != nil:
		return l.told
	default:
		return otherwise
	}
}

// Hand gives the link to a new holder. before runs when the old holder has seen its last event.
func (l *Link) Hand(holder func(*Link, fyllo.AgentEvent), before func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before()
	l.holder = holder
}

// Alive reports whether the process generation of the link still runs.
func (l *Link) Alive() bool {
	select {
	case <-l.Agent.Done():
		return false
	default:
		return true
	}
}

// lend gives the link the servers of its activation, before its ACP session is opened: the Agent may connect to them inside
// that call (R-AGT-104). Only an Agent that takes HTTP servers gets any (R-SPAWN-001).
func (l *Link) lend(ctx context.Context, lease func(context.Context) Lease) {
	if lease == nil || l.Agent.Info().Capabilities.HTTPMCP != fyllo.Supported {
		return
	}
	got := lease(ctx)
	l.lending.Lock()
	defer l.lending.Unlock()
	l.lease = got
}

// Bind names the Session of a link that a draft has opened.
func (l *Link) Bind(s fyllo.SessionID) {
	l.lending.Lock()
	defer l.lending.Unlock()
	if l.lease != nil {
		l.lease.Bind(s)
	}
}

// Revoke ends the right to call FylloCode's MCP servers.
func (l *Link) Revoke() {
	l.lending.Lock()
	defer l.lending.Unlock()
	if l.lease != nil {
		l.lease.End()
		l.lease = nil
	}
}

// Drop gives the ACP session up without a word: its later events and calls come to nothing.
func (l *Link) Drop() {
	l.Revoke()
	l.Agent.Forget(l.ID)
}

// Close ends the ACP session if the Agent can, and drops its later events.
func (l *Link) Close() {
	l.Revoke()
	if l.ID == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if l.Agent.Info().Capabilities.Close && l.Alive() {
		_ = l.Agent.CloseSession(ctx, l.ID) // best effort: the Agent may be gone or slow
	}
	l.Agent.Forget(l.ID)
}

// awaitReplay waits for the end of the history that a load repeats, which some Agents send past their answer.
func (l *Link) awaitReplay(ctx context.Context) error {
	limit := time.NewTimer(replayLimit)
	defer limit.Stop()
	for {
		quiet := replayQuiet - time.Since(time.Unix(0, l.last.Load()))
		if quiet <= 0 {
			return nil
		}
		select {
		case <-time.After(quiet):
		case <-limit.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Open makes a new ACP session over l, which must be fresh.
func (l *Link) Open(ctx context.Context, scope *fyllo.Scope) (fyllo.SessionOpened, error) {
	opened, err := l.Agent.NewSession(ctx, l.params(scope), l.sink)
	if err != nil {
		l.Revoke()
		return fyllo.SessionOpened{}, err
	}
	l.ID, l.Fresh = opened.ID, true
	return opened, nil
}

// params are what every activation sends (R-WS-072), with FylloCode's own MCP servers.
func (l *Link) params(scope *fyllo.Scope) fyllo.SessionParams {
	p := fyllo.SessionParams{Cwd: scope.Cwd, AdditionalDirectories: scope.AdditionalDirectories}
	l.lending.Lock()
	defer l.lending.Unlock()
	if l.lease != nil {
		p.MCPServers = l.lease.Servers()
	}
	return p
}
