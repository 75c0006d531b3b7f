package session

import (
	"context"
	"errors"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/configplan"
	"fyllocode.dev/fyllo/internal/reminder"
)

// Limits of the calls of an activation. A load may replay a long history before it answers.
const (
	openTime = 2 * time.Minute
	loadTime = 5 * time.Minute
	setTime  = time.Minute
)

// How often and after what time a pool that still hands out a dead process is asked again.
const (
	reconnects     = 20
	reconnectDelay = 25 * time.Millisecond
)

// historyBytes bounds the history reminder of a fresh ACP session (R-GOV-162).
const historyBytes = 48 << 10

// activation makes a Session warm: its draft's link or its own → resume → load → fresh (R-CHAT-143). It works on a copy of what
// the actor knows and touches nothing of it.
type activation struct {
	m       *Manager
	t       *turn // owner of the links it opens; nil when no turn is begun
	agentID fyllo.AgentID
	acpID   fyllo.ACPSessionID
	link    *link  // warm, or nil
	draft   *draft // whose ACP session the turn takes over, or nil
	scope   func() (*fyllo.Scope, error)
	holder  func(*link, fyllo.AgentEvent)
	stored  []fyllo.ConfigOption // to restore in an ACP session that was not warm
	changes []fyllo.ConfigChange
	fresh   bool // a new ACP session is allowed (R-AGT-091)
	after   way  // ways up to this one were tried in the turn
}

// way is how a link came to be, in the order in which the ways are tried (R-CHAT-143).
type way int

const (
	wayWarm way = iota // it was there already
	wayResume
	wayLoad
	wayFresh
)

// activated is a link that is ready for a prompt, with the configuration last seen.
type activated struct {
	link   *link
	config []fyllo.ConfigOption
	way    way
}

func (a *actor) activation(t *turn) *activation {
	job := &activation{
		m: a.m, t: t, agentID: a.meta.AgentID, acpID: a.meta.ACPSessionID, link: a.link,
		holder: a.box.put, stored: a.config, fresh: true,
	}
	scope, err := a.scope()
	job.scope = func() (*fyllo.Scope, error) { return scope, err }
	if t != nil {
		job.changes, job.draft, job.after = t.changes, t.draft, t.way
	}
	return job
}

// run returns the ready link, or an error and, if one was opened, the link that still works.
func (j *activation) run(ctx context.Context) (activated, error) {
	scope, err := j.scope()
	if err != nil {
		return activated{}, err
	}
	agent, err := j.m.connect(ctx, j.agentID)
	if err != nil {
		return activated{}, err
	}
	if err := gate(agent, scope); err != nil {
		return activated{}, err
	}
	got, err := j.open(ctx, agent, scope)
	if err != nil {
		return activated{}, err
	}
	if got.way != wayWarm {
		if got.config, err = restore(ctx, got.link, got.config, j.stored, j.m); err != nil {
			got.link.close()
			return activated{}, err
		}
	}
	if got.config, err = applyChanges(ctx, got.link, got.config, j.changes); err != nil {
		return got, err
	}
	return got, nil
}

// connect returns a running Agent. For an instant after a crash the pool may still hand out the process that died;
// then it is asked again.
func (m *Manager) connect(ctx context.Context, id fyllo.AgentID) (Agent, error) {
	for tries := 0; ; tries++ {
		agent, err := m.Agents.Connect(ctx, id)
		if err != nil || tries == reconnects {
			return agent, err
		}
		select {
		case <-agent.Done():
		default:
			return agent, nil
		}
		select {
		case <-time.After(reconnectDelay):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// gate refuses a multi-root scope to an Agent that cannot take it (R-WS-077).
func gate(agent Agent, scope *fyllo.Scope) error {
	if len(scope.AdditionalDirectories) == 0 || agent.Info().Capabilities.MultiRoot == fyllo.Supported {
		return nil
	}
	return errMultiRoot(len(scope.Folders))
}

func errMultiRoot(n int) error {
	return fyllo.Errorf(fyllo.CodeCapability, "start the Agent: it does not support several directories, and this Workspace has %d", n).
		WithHint("Choose an Agent with multi-root support, or open one Project alone.")
}

// open finds or makes the ACP session. A warm one has its configuration.
func (j *activation) open(ctx context.Context, agent Agent, scope *fyllo.Scope) (got activated, err error) {
	if j.draft != nil {
		if l := j.draft.take(ctx, j.t, j.holder); l != nil && l.alive() {
			return activated{link: l, config: j.draft.snapshot().ConfigOptions}, nil
		}
	}
	if l := j.link; l != nil && l.alive() && l.agent.Generation() == agent.Generation() {
		return activated{link: l, config: j.stored}, nil
	}
	if j.acpID != "" {
		caps := agent.Info().Capabilities
		if caps.Resume && j.after < wayResume {
			if got, err = j.resume(ctx, agent, scope); !missing(err) {
				return got, err
			}
		}
		if caps.Load && j.after < wayLoad {
			if got, err = j.load(ctx, agent, scope); !missing(err) {
				return got, err
			}
		}
	}
	return j.openFresh(ctx, agent, scope)
}

// openFresh makes a new ACP session.
func (j *activation) openFresh(ctx context.Context, agent Agent, scope *fyllo.Scope) (activated, error) {
	if !j.fresh {
		return activated{}, fyllo.Errorf(fyllo.CodeACPSessionMissing,
			"activate the session: the Agent no longer knows it").
			WithHint("Send a message first; it starts a new ACP session with the history.")
	}
	l := j.newLink(agent)
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	opened, err := l.open(ctx, scope)
	if err != nil {
		return activated{}, inTime(ctx, err, "open an ACP session")
	}
	return activated{link: l, config: opened.ConfigOptions, way: wayFresh}, nil
}

func (j *activation) newLink(agent Agent) *link {
	l := newLink(agent, j.holder)
	l.turn = j.t
	return l
}

func (j *activation) resume(ctx context.Context, agent Agent, scope *fyllo.Scope) (activated, error) {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	l := j.newLink(agent)
	opened, err := agent.ResumeSession(ctx, j.acpID, params(scope), l.sink)
	got, err := j.known(l, opened, inTime(ctx, err, "resume the ACP session"))
	got.way = wayResume
	return got, err
}

// load suppresses the history that the Agent repeats (R-CHAT-145).
func (j *activation) load(ctx context.Context, agent Agent, scope *fyllo.Scope) (activated, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	l := j.newLink(agent)
	l.replaying.Store(true)
	opened, err := agent.LoadSession(ctx, j.acpID, params(scope), l.sink)
	if err == nil {
		err = l.awaitReplay(ctx)
		l.replaying.Store(false)
	}
	got, err := j.known(l, opened, inTime(ctx, err, "load the ACP session"))
	got.way = wayLoad
	return got, err
}

// known finishes a resume or load; a failed one leaves no sink behind.
func (j *activation) known(l *link, opened fyllo.SessionOpened, err error) (activated, error) {
	if err != nil {
		l.agent.Forget(j.acpID)
		return activated{}, err
	}
	l.id = j.acpID
	got := activated{link: l, config: opened.ConfigOptions}
	if !opened.HasConfig {
		got.config = j.stored // absent is not empty (R-AGT-095)
	}
	return got, nil
}

// missing reports whether the next way of recovery is due (R-CHAT-144).
func missing(err error) bool {
	code := fyllo.CodeOf(err)
	return code == fyllo.CodeACPSessionMissing || code == fyllo.CodeMethodMissing
}

// inTime names a call that ran out of time.
func inTime(ctx context.Context, err error, what string) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fyllo.Errorf(fyllo.CodeAgentTimeout, "%s: the Agent did not answer in time", what).
			WithHint("Try again, or restart the Agent in Settings.")
	}
	return err
}

// restore brings the configuration that the Session last confirmed back into a cold ACP session (R-AGT-095).
func restore(ctx context.Context, l *link, have, stored []fyllo.ConfigOption, m *Manager) ([]fyllo.ConfigOption, error) {
	if len(stored) == 0 {
		return have, nil
	}
	plan := configplan.New(stored)
	for {
		step, done, err := plan.Next(have)
		for _, w := range step.Warnings {
			m.Log.Warn("stored option is not restored", "acpSession", l.id, "option", w.ID, "reason", w.Reason)
		}
		if done || err != nil {
			return have, err
		}
		if have, err = set(ctx, l, step.Option, step.Value); err != nil {
			return have, err
		}
	}
}

// applyChanges sets options as the submission asks, each against the latest snapshot.
func applyChanges(ctx context.Context, l *link, have []fyllo.ConfigOption, changes []fyllo.ConfigChange) ([]fyllo.ConfigOption, error) {
	for _, c := range changes {
		option, value, err := configplan.Resolve(have, c.ID, c.Value)
		if err != nil {
			return have, err
		}
		if have, err = set(ctx, l, option, value); err != nil {
			return have, err
		}
	}
	return have, nil
}

func set(ctx context.Context, l *link, option fyllo.ConfigOption, value fyllo.ConfigValue) ([]fyllo.ConfigOption, error) {
	ctx, cancel := context.WithTimeout(ctx, setTime)
	defer cancel()
	have, err := l.agent.SetConfig(ctx, l.id, option, value)
	return have, inTime(ctx, err, "set the option "+option.ID)
}

// reminders are the hidden parts a fresh ACP session starts with (R-GOV-161, 162, R-CHAT-146).
func (a *actor) reminders(user fyllo.Message) ([]fyllo.Part, error) {
	text, err := reminder.Workspace(*a.meta.Scope)
	if err != nil {
		return nil, err
	}
	parts := []fyllo.Part{{ID: user.ID + ".workspace", Type: fyllo.PartReminder, Text: text}}
	page, err := a.m.Store.Messages(a.w, a.sid, "", 0)
	if err != nil {
		return nil, err
	}
	before := page.Messages[:0]
	for _, m := range page.Messages {
		if m.ID != user.ID {
			before = append(before, m)
		}
	}
	if text := reminder.History(before, historyBytes); text != "" {
		parts = append(parts, fyllo.Part{ID: user.ID + ".history", Type: fyllo.PartReminder, Text: text})
	}
	return parts, nil
}

// visibleParts are the parts of a message without reminders.
func visibleParts(m fyllo.Message) []fyllo.Part {
	var parts []fyllo.Part
	for _, p := range m.Parts {
		if p.Type != fyllo.PartReminder {
			parts = append(parts, p)
		}
	}
	return parts
}
