package warm

import (
	"context"
	"sync"

	"fyllocode.dev/fyllo"
)

// Draft is the probe of a window that may start a Session: an ACP session made ahead, which gives configuration and
// commands before the first message (R-AGT-092, R-CHAT-030). It is not a Session: nothing of it is stored.
type Draft struct {
	s     DraftSpec
	ctx   context.Context //nolint:containedctx // the draft owns this lifetime: it ends when the draft is discarded
	stop  context.CancelFunc
	ready chan struct{} // closed when it is ready or has failed
	sets  chan struct{} // full while options are set: one set at a time, and none while the link changes hands

	mu   sync.Mutex
	view fyllo.Draft
	link *Link // nil until ready, and after it was taken or ended
	over bool
}

// DraftSpec says what a Draft is for. All fields are needed.
type DraftSpec struct {
	Agents  Agents
	AgentID fyllo.AgentID
	Mode    fyllo.Mode
	Scope   fyllo.Scope                 // what the Session gets if it takes the draft over (R-WS-071)
	Publish func(fyllo.Draft)           // told of every change; must not block
	Lease   func(context.Context) Lease // of FylloCode's MCP servers; nil for none
	Turn    sync.Locker                 // serialises the probes of one Agent (R-AGT-092)
}

// NewDraft returns a draft that Run will open. It ends with life, or with End.
func NewDraft(life context.Context, s DraftSpec) *Draft {
	d := &Draft{s: s, ready: make(chan struct{}), sets: make(chan struct{}, 1), view: fyllo.Draft{
		AgentID: s.AgentID, Mode: s.Mode, State: fyllo.DraftConnecting,
		ConfigOptions: []fyllo.ConfigOption{}, Commands: []fyllo.Command{},
	}}
	d.ctx, d.stop = context.WithCancel(life)
	return d
}

// Serves reports whether the draft is for the Agent and mode.
func (d *Draft) Serves(agent fyllo.AgentID, mode fyllo.Mode) bool {
	return d.s.AgentID == agent && d.s.Mode == mode
}

// Await waits until the draft is ready or has failed; its own limits bound that.
func (d *Draft) Await() { <-d.ready }

// Configure sets options of a ready draft, each against the latest snapshot, after the sets that were asked for before
// (R-AGT-094). The Agent's new snapshot comes as an event.
func (d *Draft) Configure(ctx context.Context, changes []fyllo.ConfigChange) error {
	select {
	case d.sets <- struct{}{}:
		defer func() { <-d.sets }()
	case <-ctx.Done():
		return ctx.Err()
	}
	d.mu.Lock()
	l, view := d.link, d.view
	d.mu.Unlock()
	if e := view.Error; e != nil {
		return &fyllo.Error{Code: e.Code, Message: e.Message, Hint: e.Hint}
	}
	if l == nil {
		return fyllo.Errorf(fyllo.CodeACPNotReady, "change the configuration: the Agent is not connected yet")
	}
	_, err := Apply(ctx, l, view.ConfigOptions, changes)
	return err
}

// Fits reports whether the draft serves for the Agent, mode and scope. A failed one is tried again.
func (d *Draft) Fits(agent fyllo.AgentID, mode fyllo.Mode, scope *fyllo.Scope) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	usable := d.view.State == fyllo.DraftConnecting || d.view.State == fyllo.DraftReady && d.link != nil && d.link.Alive()
	return usable && !d.over && d.Serves(agent, mode) && sameScope(&d.s.Scope, scope)
}

func sameScope(a, b *fyllo.Scope) bool {
	if a.WorkspaceID != b.WorkspaceID || a.PrimaryFolderID != b.PrimaryFolderID || len(a.Folders) != len(b.Folders) {
		return false
	}
	for i := range a.Folders {
		if a.Folders[i] != b.Folders[i] {
			return false
		}
	}
	return true
}

// Snapshot returns the draft as windows see it.
func (d *Draft) Snapshot() fyllo.Draft {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.view
}

// Run opens the ACP session. It ends when the draft is ready, has failed or was discarded.
func (d *Draft) Run() {
	defer close(d.ready)
	d.s.Turn.Lock() // one probe of an Agent starts at a time
	defer d.s.Turn.Unlock()
	if d.ctx.Err() != nil {
		return
	}
	l, err := d.open()
	if err != nil {
		d.change(func(v *fyllo.Draft) { v.State, v.Error = fyllo.DraftFailed, fyllo.FailureOf(err) })
		return
	}
	d.mu.Lock()
	over := d.over
	if !over {
		d.link = l
	}
	d.mu.Unlock()
	if over { // the answer came too late (R-CHAT-030)
		l.Close()
		return
	}
	d.change(func(v *fyllo.Draft) { v.State = fyllo.DraftReady })
}

func (d *Draft) open() (*Link, error) {
	agent, err := Connect(d.ctx, d.s.Agents, d.s.AgentID)
	if err != nil {
		return nil, err
	}
	if err := Gate(agent, &d.s.Scope); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(d.ctx, OpenTime)
	defer cancel()
	l := NewLink(agent, d.event)
	l.lend(ctx, d.s.Lease)
	_, err = l.Open(ctx, &d.s.Scope) // its snapshot comes as an event too
	return l, InTime(ctx, err, "open an ACP session")
}

// event takes what the Agent says before the first message. It never blocks.
func (d *Draft) event(_ *Link, e fyllo.AgentEvent) {
	switch {
	case e.Permission != nil:
		e.Permission.Answer("")
	case e.Closed != nil:
		d.change(func(v *fyllo.Draft) { v.State, v.Error = fyllo.DraftFailed, fyllo.FailureOf(e.Closed.Reason) })
	case e.Update != nil && e.Update.Kind == fyllo.UpdateConfig:
		options := orEmpty(e.Update.Config)
		d.change(func(v *fyllo.Draft) { v.ConfigOptions = options })
	case e.Update != nil && e.Update.Kind == fyllo.UpdateCommands:
		commands := orEmpty(e.Update.Commands)
		d.change(func(v *fyllo.Draft) { v.Commands = commands })
	}
}

// change edits the view and tells the window, unless the draft is over.
func (d *Draft) change(f func(*fyllo.Draft)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return
	}
	f(&d.view)
	d.s.Publish(d.view)
}

// End discards the draft and closes its ACP session.
func (d *Draft) End() {
	d.stop()
	d.mu.Lock()
	l := d.link
	d.link, d.over = nil, true
	d.mu.Unlock()
	if l != nil {
		l.Close()
	}
}

// Take hands the draft's link to the turn that its first message begins (R-CHAT-031): the new holder first gets
// the snapshots seen so far, then every later event. It waits for a draft that is still connecting and for options that
// are being set, since the message was written for those, and returns nil when there is nothing to take.
func (d *Draft) Take(ctx context.Context, owner any, holder func(*Link, fyllo.AgentEvent)) *Link {
	select {
	case <-d.ready:
	case <-ctx.Done():
		return nil
	}
	select {
	case d.sets <- struct{}{}:
		defer func() { <-d.sets }()
	case <-ctx.Done():
		return nil
	}
	d.mu.Lock()
	l := d.link
	d.link = nil
	d.mu.Unlock()
	if l == nil {
		d.End()
		return nil
	}
	l.Hand(holder, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.over = true
		l.Owner, l.Config = owner, d.view.ConfigOptions
		holder(l, fyllo.AgentEvent{Update: &fyllo.Update{Kind: fyllo.UpdateConfig, Config: d.view.ConfigOptions}})
		holder(l, fyllo.AgentEvent{Update: &fyllo.Update{Kind: fyllo.UpdateCommands, Commands: d.view.Commands}})
	})
	d.stop()
	return l
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
