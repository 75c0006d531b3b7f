package session

import (
	"context"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/session/internal/batch"
	"fyllocode.dev/fyllo/internal/session/internal/roster"
	"fyllocode.dev/fyllo/internal/session/internal/warm"
	"fyllocode.dev/fyllo/internal/turns"
)

// idleTime is how long an actor without a link or a turn lives on.
const idleTime = 30 * time.Second

// metaDelay is how long changes of usage, commands and configuration wait before they are stored together.
const metaDelay = time.Second

// actor owns one Session. Only its own goroutine touches its fields, except where a comment says otherwise.
type actor struct {
	m    *Manager
	list *roster.Index
	w    fyllo.WorkspaceID
	sid  fyllo.SessionID

	refs     int                        // holders; guarded by Manager.mu
	commands chan func()                // run one by one on the actor's goroutine
	box      *turns.Mailbox[*warm.Link] // events of the Agent
	gone     chan struct{}              // closed when the goroutine has ended
	changing chan struct{}              // holds a token while options are set, so that sets never overlap (R-AGT-094)
	loadErr  error                      // why it never began; read after gone
	first    *firstTurn                 // set for a Session that was just made

	meta     fyllo.SessionMeta
	link     *warm.Link // nil when cold
	opening  *opening   // owner of a link that a change of configuration opens
	config   []fyllo.ConfigOption
	commandl []fyllo.Command
	usage    *fyllo.Usage
	plan     []fyllo.PlanEntry

	turn   *turn        // nil when idle
	late   *turn        // ended, still open for late content (R-ACP-022)
	tokens uint64       // of prompts so far
	out    batch.Outbox // what the current batch publishes

	answered map[string]fyllo.Message // user messages by request id, of this actor's life
	earlier  map[string]string        // ids of those before it, by request id; nil until needed
	notes    map[string]fyllo.PermissionNote

	queue  fyllo.Queue // of messages that wait for the end of the turn
	urgent bool        // the turn is being stopped for one of them

	notices []*notice // that wait for the Session to be idle

	deleted   bool
	metaDirty bool
	metaTimer *time.Timer
	lateTimer *time.Timer
	idleTimer *time.Timer
}

func newActor(m *Manager, x *roster.Index, s fyllo.SessionID) *actor {
	return &actor{
		m: m, list: x, w: x.Workspace(), sid: s,
		commands: make(chan func()), box: turns.NewMailbox[*warm.Link](), gone: make(chan struct{}), changing: make(chan struct{}, 1),
		answered: make(map[string]fyllo.Message), notes: make(map[string]fyllo.PermissionNote),
		metaTimer: stoppedTimer(), lateTimer: stoppedTimer(), idleTimer: time.NewTimer(idleTime),
	}
}

func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// goneErr says why a command could not be taken; valid after gone is closed.
func (a *actor) goneErr() error {
	switch {
	case a.loadErr != nil:
		return a.loadErr
	case a.deleted:
		return roster.NoSession(a.sid)
	}
	return errStopping()
}

// run is the actor's goroutine. It ends when the Manager stops, the Session is deleted, or nothing about it has
// been alive for a while and nobody holds it.
func (a *actor) run() {
	defer close(a.gone)
	defer a.box.Close()
	defer func() { a.dropNotices(a.goneErr()) }()
	if !a.load() {
		return
	}
	for !a.deleted {
		select {
		case f := <-a.commands:
			f()
			a.idleTimer.Reset(idleTime)
		case <-a.box.Ready():
			a.drain()
		case <-a.lateTimer.C:
			a.file()
		case <-a.metaTimer.C:
			a.saveMeta()
		case <-a.idleTimer.C:
			if a.turn == nil && a.late == nil && a.link == nil && len(a.notices) == 0 && a.retireNow() {
				return
			}
			a.idleTimer.Reset(idleTime)
		case <-a.turnClock():
			a.turnTick()
		case <-a.m.life.Done():
			a.shutdown()
			return
		}
		a.pump()
		a.flush()
	}
}

func (a *actor) retireNow() bool {
	a.saveMeta()
	return a.m.retire(a)
}

// load reads the metadata and settles what a crash left between a message and its turn. A failure makes every
// command fail with its reason.
func (a *actor) load() bool {
	if f := a.first; f != nil {
		a.first, a.queue.Entries = nil, []fyllo.Queued{}
		a.adopt(f.meta)
		a.publish(fyllo.EventMessage, shown(f.user))
		a.begin(f.user, f.draft, nil)
		a.flush()
		return true
	}
	meta, err := a.m.Store.Meta(a.w, a.sid)
	if err == nil {
		a.adopt(meta)
		err = a.settleUnanswered()
	}
	if err == nil {
		err = a.loadQueue()
	}
	if err != nil {
		a.loadErr = err
		a.m.mu.Lock()
		delete(a.m.actors, a.sid) // the next caller tries again
		a.m.mu.Unlock()
		return false
	}
	return true
}

func (a *actor) adopt(meta fyllo.SessionMeta) {
	a.meta = meta
	a.config, a.commandl, a.usage = meta.ConfigOptions, meta.AvailableCommands, meta.TokenUsage
}

// settleUnanswered ends the last user message if Core died before its turn began (R-CHAT-149).
func (a *actor) settleUnanswered() error {
	page, err := a.m.Store.Messages(a.w, a.sid, "", 1)
	if err != nil || len(page.Messages) == 0 {
		return err
	}
	last := page.Messages[len(page.Messages)-1]
	if last.Role != fyllo.RoleUser || last.End != nil {
		return nil
	}
	last.End = turns.Interrupted(last.UpdatedAt)
	_, err = a.supersede(last)
	return err
}

// supersede stores a changed version of a stored message (R-CHAT-162).
func (a *actor) supersede(m fyllo.Message) (fyllo.Message, error) {
	m.Rev++
	return a.m.Store.AppendMessage(a.w, a.sid, m)
}

// drain handles everything that waits in the mailbox, then writes and publishes it as one batch.
func (a *actor) drain() {
	for _, it := range a.box.Take() {
		a.handle(it)
	}
}

// publish queues an event behind those of the batch.
func (a *actor) publish(t fyllo.EventType, data any) {
	a.out.Event(fyllo.Event{Workspace: a.w, SessionID: a.sid, Type: t, Data: data})
}

// flush writes the batch's records and then publishes its events.
func (a *actor) flush() {
	if err := a.write(a.turn); err != nil {
		a.storageFailed(err)
	}
	a.out.Publish(a.m.Publisher.Publish)
}

// write appends the batch's records to the log of the turn they belong to: t if it runs, else the late one.
func (a *actor) write(t *turn) error {
	return a.out.Write(func(records []fyllo.TurnRecord) error {
		if t == nil || t.log == nil {
			t = a.late
		}
		if t == nil || t.log == nil {
			return nil // the log is gone with its turn, whose message is stored
		}
		return t.log.Append(records)
	})
}

// summary is the Session's row as it is now.
func (a *actor) summary() fyllo.SessionSummary {
	row := roster.Summarise(a.w, &a.meta)
	if a.turn != nil {
		row.Running = true
		row.Attention = len(a.turn.asks)
	}
	return row
}

// announce updates the row in the list and tells windows.
func (a *actor) announce() {
	row := a.summary()
	a.list.Put(row, a.meta.StartRequestID)
	a.publish(fyllo.EventSession, row)
}

// changeMeta stores a change that somebody is told about.
func (a *actor) changeMeta(change func(*fyllo.SessionMeta)) error {
	meta, err := a.m.Store.UpdateMeta(a.w, a.sid, func(m *fyllo.SessionMeta) {
		a.intoMeta(m)
		change(m)
	})
	if err != nil {
		return err
	}
	a.meta, a.metaDirty = meta, false
	a.metaTimer.Stop()
	return nil
}

// intoMeta copies the Session's live state into its metadata.
func (a *actor) intoMeta(m *fyllo.SessionMeta) {
	m.ConfigOptions, m.AvailableCommands, m.TokenUsage = a.config, a.commandl, a.usage
	m.ACPSessionID = a.meta.ACPSessionID
}

// touchMeta has live state stored soon.
func (a *actor) touchMeta() {
	if !a.metaDirty {
		a.metaDirty = true
		a.metaTimer.Reset(metaDelay)
	}
}

func (a *actor) saveMeta() {
	if !a.metaDirty || a.deleted {
		return
	}
	if err := a.changeMeta(func(*fyllo.SessionMeta) {}); err != nil {
		a.m.Log.Error("store session metadata", "session", a.sid, "err", err)
	}
}

// shutdown ends the turn as interrupted, files what is in memory and closes the ACP session (R-AGT-058). The process
// is the pool's to end.
func (a *actor) shutdown() {
	if a.turn != nil {
		a.refuseAsks()
		a.endTurn(*turns.Interrupted(now()))
	}
	a.file()
	a.saveMeta()
	a.flush()
	if a.link != nil {
		a.link.Close()
	}
}

// drop closes the link, if there is one, without waiting for the Agent.
func (a *actor) drop() {
	l := a.link
	if l == nil {
		return
	}
	a.link = nil
	a.m.spawn(l.Close)
}

// scope checks the fixed scope before any activation (R-WS-073, R-WS-076).
func (a *actor) scope() (*fyllo.Scope, error) {
	if a.meta.Scope == nil {
		if err := a.fillScope(); err != nil {
			return nil, err
		}
	}
	return a.meta.Scope, a.m.Workspaces.CheckScope(*a.meta.Scope)
}

// fillScope gives an old record of a single Project its snapshot, once (R-WS-076).
func (a *actor) fillScope() error {
	scope, err := a.m.Workspaces.Scope(a.w)
	if err != nil {
		return err
	}
	if scope.WorkspaceKind != fyllo.KindFolder {
		return fyllo.Errorf(fyllo.CodeFolderRemoved, "session %s: it has no recorded scope", a.sid).
			WithHint("Start a new Session; this one stays readable.")
	}
	return a.changeMeta(func(m *fyllo.SessionMeta) { m.Scope = &scope })
}

// detail answers SessionDetail; run on the actor's goroutine it is exact at its seq.
func (a *actor) detail() (fyllo.SessionDetail, error) {
	a.flush()
	d := fyllo.SessionDetail{
		SessionSummary: a.summary(), Turn: fyllo.Turn{State: fyllo.TurnIdle},
		Usage: a.usage, ConfigOptions: orEmpty(a.config), Commands: orEmpty(a.commandl), Plan: orEmpty(a.plan),
		Permissions: []fyllo.Permission{}, PermissionPolicy: a.policy(), Scope: a.meta.Scope, Queue: a.queue,
	}
	if t := a.turn; t != nil {
		d.Turn = t.view()
		for _, k := range t.asks {
			d.Permissions = append(d.Permissions, k.Permission)
		}
	}
	d.Live = a.liveMessage()
	if a.meta.Scope != nil {
		d.StaleReason = fyllo.FailureOf(a.m.Workspaces.CheckScope(*a.meta.Scope))
	}
	d.Seq = a.m.Publisher.Seq(a.w)
	return d, nil
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (a *actor) policy() fyllo.Policy {
	if a.meta.PermissionPolicy == fyllo.PolicyAllowOnce {
		return fyllo.PolicyAllowOnce
	}
	return fyllo.PolicyAsk
}

// post hands f to the actor from a goroutine that the actor started. It reports false when the actor is gone.
func (a *actor) post(ctx context.Context, f func()) bool {
	select {
	case a.commands <- f:
		return true
	case <-a.gone:
		return false
	case <-ctx.Done():
		return false
	}
}
