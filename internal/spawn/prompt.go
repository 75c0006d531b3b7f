package spawn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fyllocode.dev/fyllo"
)

// outcome is what a call of prompt_to_agent is answered.
type outcome struct {
	result fyllo.SpawnPromptResult
	err    error
}

// Prompt makes a spawned Session, or continues one, and begins a turn in it (R-SPAWN §6). In background mode it returns
// when Core owns the turn, else when the turn is settled. The end of ctx means that the caller is gone: it cancels a
// synchronous turn, and a background one that is not accepted yet (R-SPAWN §9.1).
func (e *Engine) Prompt(ctx context.Context, o fyllo.SpawnOwner, p fyllo.SpawnPrompt) (fyllo.SpawnPromptResult, error) {
	if err := checkPrompt(&p); err != nil {
		return fyllo.SpawnPromptResult{}, err
	}
	id := fyllo.SessionID(p.SessionID)
	if id == "" {
		id = fyllo.SessionID(newID())
	} else if !id.Valid() {
		return fyllo.SpawnPromptResult{Status: "not_found", SessionID: id}, nil
	}
	j, answer, err := e.reserve(o, id, p.Mode)
	if j == nil {
		return answer, err
	}
	prep, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(e.life, stop)()
	e.mu.Lock()
	j.stop = stop
	e.mu.Unlock()
	c, ready, err := e.prepare(prep, j, &p)
	if ready == nil || err != nil {
		out := e.unprepared(ctx, j, c, p.SessionID == "", err, ready)
		e.release(j)
		return out.result, out.err
	}
	if ready.answer != nil {
		e.release(j)
		return *ready.answer, nil
	}
	reply := make(chan outcome, 1)
	if !c.do(func() { c.begin(prep, j, &p, ready.warnings, reply) }) {
		why := e.halted(ctx, j)
		e.release(j)
		if why != nil {
			return stopped(j, why)
		}
		return c.expired(), nil
	}
	select {
	case out := <-reply:
		return out.result, out.err
	case <-ctx.Done():
	}
	select {
	case out := <-reply:
		return out.result, out.err
	default:
	}
	c.do(func() { c.cancel(fyllo.CodeTurnCancelled) })
	return fyllo.SpawnPromptResult{}, errGivenUp()
}

func checkPrompt(p *fyllo.SpawnPrompt) error {
	switch {
	case strings.TrimSpace(p.Prompt) == "":
		return invalid("prompt: it has no text.")
	case p.SessionID != "" && p.FolderID != "":
		return invalid("folderId: a continuation keeps its scope. Leave folderId out, or leave sessionId out to start a new Session.")
	}
	return nil
}

func invalid(format string, args ...any) error {
	return fyllo.Errorf(fyllo.CodeSpawnInvalid, format, args...)
}

// ready is a successful preparation: the turn can begin, or the call has its answer already.
type ready struct {
	answer   *fyllo.SpawnPromptResult
	warnings []fyllo.SpawnWarning
}

// prepare takes steps 5–13. It returns the child as soon as there is one, also with an error.
func (e *Engine) prepare(ctx context.Context, j *job, p *fyllo.SpawnPrompt) (*child, *ready, error) {
	if err := e.halted(ctx, j); err != nil {
		return nil, nil, err
	}
	scope, err := e.Parents.Scope(ctx, j.owner)
	if err != nil {
		if fyllo.CodeOf(err) == fyllo.CodeSessionNotFound {
			err = errParent()
		}
		return nil, nil, err
	}
	if err := e.Workspaces.CheckScope(scope); err != nil {
		return nil, nil, stale(err)
	}
	agent, ok := e.Agents.Describe(p.AgentID)
	if !ok || !agent.Installed {
		return nil, nil, fyllo.Errorf(fyllo.CodeSpawnAgent, "Agent %q is not among the available Agents. Call available_agents and use one of its agentId values.", p.AgentID)
	}
	var c *child
	if p.SessionID != "" {
		var answer *fyllo.SpawnPromptResult
		if c, answer, err = e.continued(j, p); answer != nil || err != nil {
			return nil, &ready{answer: answer}, err
		}
	} else if c, err = e.fresh(ctx, j, p, agent, scope); err != nil {
		return c, nil, err
	}
	if err := e.halted(ctx, j); err != nil {
		return c, nil, err
	}
	r := &ready{warnings: []fyllo.SpawnWarning{}}
	if p.Model != nil || p.ThoughtLevel != nil || len(p.Config) > 0 {
		r, err = c.configure(ctx, p)
		lost := !c.alive() && (fyllo.CodeOf(err) == fyllo.CodeSpawnConfig || fyllo.CodeOf(err) == fyllo.CodeProcessInvalidated)
		if err != nil && !lost || err == nil && r.answer != nil {
			return c, r, err
		}
	}
	if why := e.halted(ctx, j); why != nil {
		return c, nil, why
	}
	if !c.alive() {
		answer := c.expired()
		return c, &ready{answer: &answer}, nil
	}
	return c, r, nil
}

// continued finds the child of a continuation (step 8): one that can go on, or the answer why not.
func (e *Engine) continued(j *job, p *fyllo.SpawnPrompt) (*child, *fyllo.SpawnPromptResult, error) {
	meta, found := e.meta(j.owner, j.id)
	if !found {
		return nil, &fyllo.SpawnPromptResult{Status: "not_found", SessionID: j.id}, nil
	}
	switch {
	case !consistent(&meta):
		return nil, nil, invalid("The scope of this spawned Session does not agree with its records. Call again without sessionId.")
	case meta.AgentID != p.AgentID:
		return nil, nil, invalid("agentId: this spawned Session belongs to Agent %q. Use that agentId, or call again without sessionId.", meta.AgentID)
	}
	e.mu.Lock()
	c := e.children[j.id]
	e.mu.Unlock()
	if c != nil && c.alive() && reusable(meta.Status) {
		return c, nil, nil
	}
	if reusable(meta.Status) {
		meta = e.gone(j.owner, meta)
	}
	answer := notReusable(&meta)
	return nil, &answer, nil
}

func reusable(s fyllo.SpawnStatus) bool { return s == fyllo.SpawnIdle || s == fyllo.SpawnIsRunning }

// consistent reports whether the name of a scope and its snapshot are about the same directories.
func consistent(m *fyllo.SpawnMeta) bool {
	if m.Scope.Kind == "folder" {
		return len(m.Snapshot.Folders) == 1 && m.Snapshot.Folders[0].FolderID == m.Scope.FolderID && len(m.Snapshot.AdditionalDirectories) == 0
	}
	return m.Snapshot.WorkspaceID == m.WorkspaceID
}

// fresh makes a child for a new spawned Session and its metadata (steps 9 and 10). No directory is left when it fails.
func (e *Engine) fresh(ctx context.Context, j *job, p *fyllo.SpawnPrompt, agent fyllo.Agent, scope fyllo.Scope) (*child, error) {
	snapshot, name, err := scopeFor(scope, p.FolderID)
	if err != nil {
		return nil, err
	}
	if len(snapshot.AdditionalDirectories) > 0 && agent.Capabilities.MultiRoot == fyllo.Unsupported {
		return nil, mismatch(&agent, scope)
	}
	connect, cancel := context.WithTimeout(ctx, fyllo.SpawnPrepareTime)
	defer cancel()
	live, err := e.Agents.Connect(connect, p.AgentID)
	if err != nil {
		return nil, fyllo.Errorf(fyllo.CodeSpawnInternal, "Agent %q could not be started: %s. No Session was created; try again or choose another Agent.", p.AgentID, plain(err))
	}
	if len(snapshot.AdditionalDirectories) > 0 && live.Info().Capabilities.MultiRoot != fyllo.Supported {
		return nil, mismatch(&agent, scope)
	}
	at := now()
	meta := fyllo.SpawnMeta{
		SessionID: j.id, WorkspaceID: j.owner.Workspace, ParentSessionID: j.owner.Parent, AgentID: agent.ID, AgentName: agent.Name,
		ProcessGeneration: live.Generation(), Snapshot: snapshot, Scope: name, Status: fyllo.SpawnIdle, CreatedAt: at, UpdatedAt: at,
	}
	if p.Model == nil && p.ThoughtLevel == nil && len(p.Config) == 0 {
		meta.Status = fyllo.SpawnIsRunning
	}
	if err := e.Store.PutMeta(j.owner, meta); err != nil {
		_ = e.Store.Remove(j.owner, j.id) // what cannot be removed is no Session without its metadata
		return nil, err
	}
	defer e.changed(j.owner, j.id)
	return e.newChild(j.owner, meta, live), nil
}

// scopeFor narrows the parent's scope to one Folder, if one is named (R-SPAWN-079).
func scopeFor(s fyllo.Scope, folder fyllo.FolderID) (fyllo.Scope, fyllo.SpawnScope, error) {
	if folder == "" {
		name := "Workspace"
		if len(s.Folders) == 1 {
			name = s.Folders[0].FolderName
		}
		return s, fyllo.SpawnScope{Kind: "workspace", WorkspaceID: s.WorkspaceID, Name: name}, nil
	}
	i := slices.IndexFunc(s.Folders, func(f fyllo.ScopeFolder) bool { return f.FolderID == folder })
	if i < 0 {
		return s, fyllo.SpawnScope{}, invalid("folderId: %q is not a Folder of this Session. Nothing was created. Use one of %s, or leave folderId out.", folder, folders(s))
	}
	f := s.Folders[i]
	s.Folders, s.PrimaryFolderID, s.Cwd, s.AdditionalDirectories = []fyllo.ScopeFolder{f}, f.FolderID, f.FolderPath, nil
	return s, fyllo.SpawnScope{Kind: "folder", FolderID: f.FolderID, Name: f.FolderName}, nil
}

// folders lists ids and names, no paths (R-SPAWN-037).
func folders(s fyllo.Scope) string {
	all := make([]string, 0, len(s.Folders))
	for _, f := range s.Folders {
		all = append(all, fmt.Sprintf("%q (%s)", f.FolderID, f.FolderName))
	}
	return strings.Join(all, ", ")
}

func mismatch(agent *fyllo.Agent, s fyllo.Scope) error {
	return fyllo.Errorf(fyllo.CodeCapability,
		"Agent %q cannot work in several directories, and this Workspace has %d. No Session and no turn was created. Call again with folderId set to one of %s, or choose another Agent.",
		agent.ID, len(s.Folders), folders(s))
}

// scopeCodes are the errors of a scope that no longer stands.
var scopeCodes = []fyllo.Code{fyllo.CodeFolderRemoved, fyllo.CodeFolderRelocated, fyllo.CodeFolderPathMissing}

// publicCodes are those that callers of a prompt know (R-SPAWN §5).
var publicCodes = append([]fyllo.Code{
	fyllo.CodeSpawnInvalid, fyllo.CodeSpawnParentMissing, fyllo.CodeSpawnAgent, fyllo.CodeSpawnConfig, fyllo.CodeSpawnUnavailable,
	fyllo.CodeSpawnCancelled, fyllo.CodeSpawnInternal, fyllo.CodeCapability, fyllo.CodeTurnParentCancelled,
}, scopeCodes...)

// stale says that a Folder of the parent's scope is gone, without its path.
func stale(err error) error {
	code := fyllo.CodeOf(err)
	if slices.Contains(scopeCodes, code) {
		return fyllo.Errorf(code, "A Folder of this Session left the Workspace, moved, or does not exist now. No Session and no turn was created. Ask the user to put it back, or to start a new Session.")
	}
	return err
}

// unprepared settles a preparation that did not lead to a turn (R-SPAWN-040): a configuration that failed leaves the
// Session idle; a Session that its caller never learned about is removed, and any other fails.
func (e *Engine) unprepared(ctx context.Context, j *job, c *child, isNew bool, err error, r *ready) outcome {
	code := fyllo.CodeOf(err)
	if c != nil {
		switch {
		case code == fyllo.CodeSpawnConfig || code == fyllo.CodeSpawnInvalid:
			err = fyllo.Errorf(code, "%w The prompt was not sent. To try again, use sessionId %q with the same agentId and the prompt.", err, j.id)
		case isNew:
			c.discard()
		default:
			c.do(func() { c.fail(fyllo.FailureOf(e.public(ctx, j, err))) })
		}
	}
	result, err := stopped(j, e.public(ctx, j, err))
	return outcome{result, err}
}

// stopped is the answer of a call that ended before its turn. A cancel is a result, all else an error.
func stopped(j *job, err error) (fyllo.SpawnPromptResult, error) {
	if fyllo.CodeOf(err) == fyllo.CodeTurnParentCancelled {
		return fyllo.SpawnPromptResult{Status: "error", SessionID: j.id, Code: fyllo.CodeTurnParentCancelled, Message: err.Error()}, nil
	}
	return fyllo.SpawnPromptResult{}, err
}

// public gives an error of a preparation a code that callers know (R-SPAWN-038). Why the call is to end counts more than
// what its end caused.
func (e *Engine) public(ctx context.Context, j *job, err error) error {
	if why := e.halted(ctx, j); why != nil {
		return why
	}
	if slices.Contains(publicCodes, fyllo.CodeOf(err)) {
		return err
	}
	e.Log.Error("spawned prompt", "session", j.id, "err", err)
	return fyllo.Errorf(fyllo.CodeSpawnInternal, "FylloCode could not start this turn: %s.", plain(err))
}

// plain is what may be told of an error: the sentence of a coded one without paths, nothing of any other.
func plain(err error) string {
	e, ok := errors.AsType[*fyllo.Error](err)
	if !ok || e.Code == fyllo.CodeInternal || e.Code == fyllo.CodeStorageFailed {
		return "an internal error"
	}
	return strings.TrimRight(scrub(e.Message), ".")
}
