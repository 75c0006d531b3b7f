package warm

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/configplan"
)

// Limits of the calls of an activation. A load may replay a long history before it answers.
const (
	OpenTime = 2 * time.Minute // session/new and session/resume
	loadTime = 5 * time.Minute
	setTime  = time.Minute
)

// How often and after what time a pool that still hands out a dead process is asked again.
const (
	reconnects     = 20
	reconnectDelay = 25 * time.Millisecond
)

// Job makes a Session warm: the link of its draft, its own, resume, load, fresh (R-CHAT-143). It works on a copy of
// what the Session's owner knows and touches nothing of it.
type Job struct {
	Agents  Agents
	Log     *slog.Logger
	Owner   any // of the links it opens
	AgentID fyllo.AgentID
	ACPID   fyllo.ACPSessionID            // "" when the Agent knows nothing of the Session
	Link    *Link                         // of the last activation; nil when cold
	Draft   func(context.Context) *Link   // takes over the link of a draft; nil when there is none
	Scope   func() (*fyllo.Scope, error)  // the fixed scope, checked
	Holder  func(*Link, fyllo.AgentEvent) // gets the events of links it opens
	Stored  []fyllo.ConfigOption          // to restore in an ACP session that was not warm
	Changes []fyllo.ConfigChange          // to set after that
	Fresh   bool                          // a new ACP session is allowed (R-AGT-091)
	After   Way                           // ways up to this one were tried in the turn
	Lease   func(context.Context) Lease   // of FylloCode's MCP servers; nil for none
}

// Way is how a link came to be, in the order in which the ways are tried (R-CHAT-143).
type Way int

// The ways: there already, or made by session/resume, session/load or session/new.
const (
	WayWarm Way = iota
	WayResume
	WayLoad
	WayFresh
)

// Ready is a link that is ready for a prompt, with the configuration last seen.
type Ready struct {
	Link   *Link
	Config []fyllo.ConfigOption
	Way    Way
}

// Run returns the ready link, or an error and, if one was opened, the link that still works.
func (j *Job) Run(ctx context.Context) (Ready, error) {
	scope, err := j.Scope()
	if err != nil {
		return Ready{}, err
	}
	agent, err := Connect(ctx, j.Agents, j.AgentID)
	if err != nil {
		return Ready{}, err
	}
	if err := Gate(agent, scope); err != nil {
		return Ready{}, err
	}
	got, err := j.open(ctx, agent, scope)
	if err != nil {
		return Ready{}, err
	}
	if got.Way != WayWarm {
		if got.Config, err = restore(ctx, got.Link, got.Config, j.kept(), j.Log); err != nil {
			got.Link.Close()
			return Ready{}, err
		}
	}
	if got.Config, err = Apply(ctx, got.Link, got.Config, j.Changes); err != nil {
		return got, err
	}
	return got, nil
}

// kept returns the stored options that stay as they were. One that is about to be changed is not restored first, so
// that a value that the Agent refuses by now can be changed by hand.
func (j *Job) kept() []fyllo.ConfigOption {
	return slices.DeleteFunc(slices.Clone(j.Stored), func(o fyllo.ConfigOption) bool {
		return slices.ContainsFunc(j.Changes, func(c fyllo.ConfigChange) bool { return c.ID == o.ID })
	})
}

// Connect returns a running Agent. For an instant after a crash the pool may still hand out the process that died;
// then it is asked again.
func Connect(ctx context.Context, agents Agents, id fyllo.AgentID) (Agent, error) {
	for tries := 0; ; tries++ {
		agent, err := agents.Connect(ctx, id)
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

// Gate refuses a multi-root scope to an Agent that cannot take it (R-WS-077).
func Gate(agent Agent, scope *fyllo.Scope) error {
	if len(scope.AdditionalDirectories) == 0 || agent.Info().Capabilities.MultiRoot == fyllo.Supported {
		return nil
	}
	return ErrMultiRoot(len(scope.Folders))
}

// ErrMultiRoot says that an Agent cannot take n directories.
func ErrMultiRoot(n int) error {
	return fyllo.Errorf(fyllo.CodeCapability, "start the Agent: it does not support several directories, and this Workspace has %d", n).
		WithHint("Choose an Agent with multi-root support, or open one Project alone.")
}

// open finds or makes the ACP session. A warm one has its configuration.
func (j *Job) open(ctx context.Context, agent Agent, scope *fyllo.Scope) (got Ready, err error) {
	if j.Draft != nil {
		if l := j.Draft(ctx); l != nil && l.Alive() {
			return Ready{Link: l, Config: l.Config}, nil
		}
	}
	if l := j.Link; l != nil && l.Alive() && l.Agent.Generation() == agent.Generation() {
		return Ready{Link: l, Config: j.Stored}, nil
	}
	if j.ACPID != "" {
		caps := agent.Info().Capabilities
		if caps.Resume && j.After < WayResume {
			if got, err = j.resume(ctx, agent, scope); !missing(err) {
				return got, err
			}
		}
		if caps.Load && j.After < WayLoad {
			if got, err = j.load(ctx, agent, scope); !missing(err) {
				return got, err
			}
		}
	}
	return j.openFresh(ctx, agent, scope)
}

// openFresh makes a new ACP session.
func (j *Job) openFresh(ctx context.Context, agent Agent, scope *fyllo.Scope) (Ready, error) {
	if !j.Fresh {
		return Ready{}, fyllo.Errorf(fyllo.CodeACPSessionMissing,
			"activate the session: the Agent no longer knows it").
			WithHint("Send a message first; it starts a new ACP session with the history.")
	}
	l := j.newLink(agent)
	ctx, cancel := context.WithTimeout(ctx, OpenTime)
	defer cancel()
	l.lend(ctx, j.Lease)
	opened, err := l.Open(ctx, scope)
	if err != nil {
		return Ready{}, InTime(ctx, err, "open an ACP session")
	}
	return Ready{Link: l, Config: l.configOf(opened, nil), Way: WayFresh}, nil
}

func (j *Job) newLink(agent Agent) *Link {
	l := NewLink(agent, j.Holder)
	l.Owner = j.Owner
	return l
}

func (j *Job) resume(ctx context.Context, agent Agent, scope *fyllo.Scope) (Ready, error) {
	ctx, cancel := context.WithTimeout(ctx, OpenTime)
	defer cancel()
	l := j.newLink(agent)
	l.lend(ctx, j.Lease)
	opened, err := agent.ResumeSession(ctx, j.ACPID, l.params(scope), l.sink)
	got, err := j.known(l, opened, InTime(ctx, err, "resume the ACP session"))
	got.Way = WayResume
	return got, err
}

// load suppresses the history that the Agent repeats (R-CHAT-145).
func (j *Job) load(ctx context.Context, agent Agent, scope *fyllo.Scope) (Ready, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	l := j.newLink(agent)
	l.replaying.Store(true)
	l.lend(ctx, j.Lease)
	opened, err := agent.LoadSession(ctx, j.ACPID, l.params(scope), l.sink)
	if err == nil {
		err = l.awaitReplay(ctx)
		l.replaying.Store(false)
	}
	got, err := j.known(l, opened, InTime(ctx, err, "load the ACP session"))
	got.Way = WayLoad
	return got, err
}

// known finishes a resume or load; a failed one leaves no sink behind.
func (j *Job) known(l *Link, opened fyllo.SessionOpened, err error) (Ready, error) {
	if err != nil {
		l.Revoke()
		l.Agent.Forget(j.ACPID)
		return Ready{}, err
	}
	l.ID = j.ACPID
	return Ready{Link: l, Config: l.configOf(opened, j.Stored)}, nil
}

// missing reports whether the next way of recovery is due (R-CHAT-144).
func missing(err error) bool {
	code := fyllo.CodeOf(err)
	return code == fyllo.CodeACPSessionMissing || code == fyllo.CodeMethodMissing
}

// InTime names a call that ran out of time.
func InTime(ctx context.Context, err error, what string) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fyllo.Errorf(fyllo.CodeAgentTimeout, "%s: the Agent did not answer in time", what).
			WithHint("Try again, or restart the Agent in Settings.")
	}
	return err
}

// restore brings the configuration that the Session last confirmed back into a cold ACP session (R-AGT-095).
func restore(ctx context.Context, l *Link, have, stored []fyllo.ConfigOption, log *slog.Logger) ([]fyllo.ConfigOption, error) {
	if len(stored) == 0 {
		return have, nil
	}
	plan := configplan.New(stored)
	for {
		step, done, err := plan.Next(have)
		for _, w := range step.Warnings {
			log.Warn("stored option is not restored", "acpSession", l.ID, "option", w.ID, "reason", w.Reason)
		}
		if done || err != nil {
			return have, err
		}
		if have, err = set(ctx, l, step.Option, step.Value); err != nil {
			return have, err
		}
	}
}

// Apply sets options as the submission asks, each against the latest snapshot.
func Apply(ctx context.Context, l *Link, have []fyllo.ConfigOption, changes []fyllo.ConfigChange) ([]fyllo.ConfigOption, error) {
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

func set(ctx context.Context, l *Link, option fyllo.ConfigOption, value fyllo.ConfigValue) ([]fyllo.ConfigOption, error) {
	ctx, cancel := context.WithTimeout(ctx, setTime)
	defer cancel()
	have, err := l.Agent.SetConfig(ctx, l.ID, option, value)
	return have, InTime(ctx, err, "set the option "+option.ID)
}
