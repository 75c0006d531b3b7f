package spawn

import (
	"cmp"
	"context"
	"slices"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/transcript"
)

// AvailableAgents returns the Agents that work can be handed to, in catalogue order, the Tour last. Nothing is started
// (R-SPAWN-025).
func (e *Engine) AvailableAgents(context.Context) ([]fyllo.SpawnAgent, error) {
	all := []fyllo.SpawnAgent{}
	for _, a := range e.Agents.List() {
		if !a.Installed {
			continue
		}
		description := a.Description
		switch a.Source {
		case fyllo.SourceCustom:
			description = "Custom ACP Agent"
		case fyllo.SourceBuiltin:
			description = "A scripted Agent that shows what delegated work looks like; it does no real work."
		case fyllo.SourceRegistry:
		}
		all = append(all, fyllo.SpawnAgent{AgentID: a.ID, Name: a.Name, Description: description})
	}
	return all, nil
}

// Status tells how a spawned Session stands, without waiting for anything (R-SPAWN-065).
func (e *Engine) Status(_ context.Context, o fyllo.SpawnOwner, session string) (fyllo.SpawnStatusResult, error) {
	id := fyllo.SessionID(session)
	meta, found := e.meta(o, id)
	if running, ok := e.running(o, id); ok {
		return running, nil
	}
	if found && meta.Status == fyllo.SpawnIsRunning { // it was settled between the two looks
		meta, found = e.meta(o, id)
	}
	if !found {
		return fyllo.SpawnStatusResult{Status: fyllo.SpawnNotFound}, nil
	}
	if reusable(meta.Status) && !e.usable(id) {
		meta = e.gone(o, meta)
	}
	switch meta.Status {
	case fyllo.SpawnIdle:
		r := fyllo.SpawnStatusResult{Status: fyllo.SpawnIdle}
		if meta.LatestResponseID != "" {
			r.LatestTurnID, r.LatestResponseID = meta.LatestTurnID, meta.LatestResponseID
		}
		return r, nil
	case fyllo.SpawnIsRunning: // a prompt began between the looks
		if running, ok := e.running(o, id); ok {
			return running, nil
		}
		return fyllo.SpawnStatusResult{Status: fyllo.SpawnIdle}, nil
	default:
	}
	r := fyllo.SpawnStatusResult{Status: meta.Status}
	if meta.Error != nil {
		r.Code, r.Message = meta.Error.Code, meta.Error.Message
	}
	if meta.Status == fyllo.SpawnIsExpired {
		r.Message = expiredText(&meta)
	}
	return r, nil
}

// meta returns the metadata of an owner's spawned Session, false when there is none for it.
func (e *Engine) meta(o fyllo.SpawnOwner, id fyllo.SessionID) (fyllo.SpawnMeta, bool) {
	m, err := e.Store.Meta(o, id)
	return m, err == nil
}

// running is the status of a Session with an active turn or preparation.
func (e *Engine) running(o fyllo.SpawnOwner, id fyllo.SessionID) (fyllo.SpawnStatusResult, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	j := e.jobs[place{o, id}]
	if j == nil {
		return fyllo.SpawnStatusResult{}, false
	}
	recent := append([]fyllo.SpawnActivity{}, j.recent...)
	return fyllo.SpawnStatusResult{
		Status: fyllo.SpawnIsRunning, TurnID: j.turnID, Mode: j.mode, StartedAt: stamp(j.startedAt), LastActivityAt: stamp(j.lastAt), RecentActivity: &recent,
	}, true
}

// usable reports whether a Session's ACP session can take another prompt.
func (e *Engine) usable(id fyllo.SessionID) bool {
	e.mu.Lock()
	c := e.children[id]
	e.mu.Unlock()
	return c != nil && c.alive()
}

// gone is the metadata of a Session whose child was found missing. A child leaves its last word before it goes, so that a
// second look tells how it ended; without one, its process is gone.
func (e *Engine) gone(o fyllo.SpawnOwner, meta fyllo.SpawnMeta) fyllo.SpawnMeta {
	if m, found := e.meta(o, meta.SessionID); found {
		meta = m
	}
	if reusable(meta.Status) {
		meta = e.expire(o, meta)
	}
	return meta
}

// expire records that a Session's process is gone and returns the metadata.
func (e *Engine) expire(o fyllo.SpawnOwner, meta fyllo.SpawnMeta) fyllo.SpawnMeta {
	meta.Status, meta.UpdatedAt = fyllo.SpawnIsExpired, now()
	meta.Error = &fyllo.Failure{Code: fyllo.CodeProcessInvalidated, Message: expiredText(&meta)}
	if err := e.Store.PutMeta(o, meta); err != nil {
		e.Log.Warn("record that a spawned Session expired", "session", meta.SessionID, "err", err) // it is found again the next time
	}
	return meta
}

// expiredText says why a Session is expired and what of it is left (R-SPAWN-032, 033).
func expiredText(meta *fyllo.SpawnMeta) string {
	text := "The Agent process of this spawned session is gone." + restate
	if meta.LatestResponseID != "" {
		text += " Its last response stays readable: read_response with responseId " + meta.LatestResponseID + "."
	}
	return text
}

// notReusable answers a continuation of a Session that cannot go on (R-SPAWN-029).
func notReusable(meta *fyllo.SpawnMeta) fyllo.SpawnPromptResult {
	r := fyllo.SpawnPromptResult{Status: "expired", SessionID: meta.SessionID}
	if meta.Status == fyllo.SpawnIsExpired {
		r.Code, r.Message = fyllo.CodeProcessInvalidated, expiredText(meta)
		return r
	}
	r.Message = "The last turn of this spawned session did not complete"
	if meta.Error != nil {
		r.Message += " (" + string(meta.Error.Code) + ")"
	}
	r.Message += "." + restate
	return r
}

// Cancel asks a running turn to stop (R-SPAWN §10). It answers as soon as that is recorded and sent.
func (e *Engine) Cancel(_ context.Context, o fyllo.SpawnOwner, session string) (fyllo.SpawnCancelResult, error) {
	missing := fyllo.SpawnCancelResult{Reason: "Session not found"}
	e.mu.Lock()
	j := e.jobs[place{o, fyllo.SessionID(session)}]
	if j == nil {
		e.mu.Unlock()
		return missing, nil
	}
	if !j.started { // it is being prepared: the prompt will not be sent (R-SPAWN-074)
		j.cancelled = fyllo.CodeTurnParentCancelled
		if j.stop != nil {
			j.stop()
		}
		e.mu.Unlock()
		return fyllo.SpawnCancelResult{Cancelled: true}, nil
	}
	c := e.children[j.id]
	e.mu.Unlock()
	done := false
	if c != nil {
		c.do(func() { done = c.turn != nil && c.turn.job == j && c.cancel(fyllo.CodeTurnParentCancelled) })
	}
	if !done {
		return missing, nil
	}
	return fyllo.SpawnCancelResult{Cancelled: true}, nil
}

// StopParent ends everything that a parent has spawned, before the parent is deleted: new calls are refused from here, what
// runs is cancelled without waiting for Agents, at most 5 s, and its records are fenced (R-SPAWN-097, 098).
func (e *Engine) StopParent(ctx context.Context, o fyllo.SpawnOwner) {
	e.mu.Lock()
	e.fenced[o] = true
	var jobs []*job
	for _, j := range e.jobs {
		if j.owner == o {
			jobs = append(jobs, j)
			if !j.started && j.stop != nil {
				j.stop()
			}
		}
	}
	var children []*child
	for _, c := range e.children {
		if c.owner == o {
			children = append(children, c)
		}
	}
	e.mu.Unlock()
	for _, c := range children {
		c.do(c.abandon)
	}
	limit := time.NewTimer(fyllo.SpawnCancelTime)
	defer limit.Stop()
wait:
	for _, j := range jobs {
		select {
		case <-j.done:
		case <-limit.C:
			break wait
		case <-ctx.Done():
			break wait
		}
	}
	e.Store.Fence(o)
}

// abandon ends a child whose records are about to go: nothing more is written.
func (c *child) abandon() {
	c.over = true
	t := c.turn
	if t == nil {
		return
	}
	t.stop()
	if t.token != 0 {
		_ = c.agent.Cancel(c.acp) // its answer no longer matters
	}
	if t.log != nil {
		_ = t.log.Close() // removed with everything else
	}
	c.turn = nil
	c.e.release(t.job)
	t.answer(outcome{err: errParent()})
}

// List returns what a parent has spawned: what is active first, then by last change, ties by id (R-SPAWN-117, 119).
func (e *Engine) List(_ context.Context, o fyllo.SpawnOwner) ([]fyllo.SpawnSummary, error) {
	metas, err := e.Store.List(o)
	if err != nil {
		return nil, err
	}
	all := make([]fyllo.SpawnSummary, 0, len(metas))
	for _, m := range metas {
		all = append(all, e.summary(o, m))
	}
	slices.SortFunc(all, func(a, b fyllo.SpawnSummary) int {
		return cmp.Or(inactive(a.Status)-inactive(b.Status), b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.SessionID, b.SessionID))
	})
	return all, nil
}

func inactive(s fyllo.SpawnStatus) int {
	if s == fyllo.SpawnIsStarting || s == fyllo.SpawnIsRunning {
		return 0
	}
	return 1
}

func (e *Engine) summary(o fyllo.SpawnOwner, m fyllo.SpawnMeta) fyllo.SpawnSummary {
	s := fyllo.SpawnSummary{
		SessionID: m.SessionID, AgentID: m.AgentID, AgentName: m.AgentName, Scope: m.Scope, Status: m.Status, Mode: m.LatestMode,
		UpdatedAt: m.UpdatedAt, PromptPreview: m.PromptPreview, LatestResponseID: m.LatestResponseID, Error: m.Error,
	}
	e.mu.Lock()
	j := e.jobs[place{o, m.SessionID}]
	if j != nil {
		started, last := j.startedAt, j.lastAt
		s.Status, s.Mode, s.CurrentTurnID, s.StartedAt, s.LastActivityAt = fyllo.SpawnIsRunning, j.mode, j.turnID, &started, &last
		if !j.started {
			s.Status = fyllo.SpawnIsStarting
		}
		s.Error = nil
	}
	e.mu.Unlock()
	if j == nil && reusable(s.Status) {
		if s.Status = fyllo.SpawnIdle; !e.usable(m.SessionID) {
			s.Status = fyllo.SpawnIsExpired
		}
	}
	return s
}

// LatestTurn names the last turn of a spawned Session in DetailOf.
const LatestTurn = "latest"

// Detail returns a spawned Session with its turns and what was said in them (R-SPAWN-123). Code NOT_FOUND.
func (e *Engine) Detail(_ context.Context, o fyllo.SpawnOwner, session fyllo.SessionID) (fyllo.SpawnDetail, error) {
	return e.detail(o, session, func(fyllo.SpawnTurn, bool) bool { return true })
}

// DetailOf returns what Detail does with what was said in one turn only: that of an id, or LatestTurn.
func (e *Engine) DetailOf(_ context.Context, o fyllo.SpawnOwner, session fyllo.SessionID, turn string) (fyllo.SpawnDetail, error) {
	return e.detail(o, session, func(t fyllo.SpawnTurn, last bool) bool { return turn == t.TurnID || last && turn == LatestTurn })
}

func (e *Engine) detail(o fyllo.SpawnOwner, session fyllo.SessionID, told func(t fyllo.SpawnTurn, last bool) bool) (fyllo.SpawnDetail, error) {
	meta, err := e.Store.Meta(o, session)
	if err != nil {
		return fyllo.SpawnDetail{}, err
	}
	turns, err := e.Store.Turns(o, session)
	if err != nil {
		return fyllo.SpawnDetail{}, err
	}
	page, err := e.Store.Messages(o, session, "", 0)
	if err != nil {
		return fyllo.SpawnDetail{}, err
	}
	d := fyllo.SpawnDetail{Summary: e.summary(o, meta), Turns: []fyllo.SpawnTurnDetail{}}
	for i, t := range turns {
		if told(t, i == len(turns)-1) {
			d.Turns = append(d.Turns, e.withLive(o, session, turnDetail(t, page.Messages)))
		} else {
			d.Turns = append(d.Turns, turnDetail(t, nil))
		}
	}
	return d, nil
}

func turnDetail(t fyllo.SpawnTurn, all []fyllo.Message) fyllo.SpawnTurnDetail {
	d := fyllo.SpawnTurnDetail{SpawnTurn: t, Messages: []fyllo.SpawnMessage{}}
	for _, m := range all {
		if m.TurnID != t.TurnID {
			continue
		}
		if m.ID == t.UserMessageID && len(m.Parts) > 0 {
			d.Prompt = m.Parts[0].Text
		}
		d.Messages = append(d.Messages, fyllo.SpawnMessage{Message: m, Durable: true})
	}
	return d
}

// withLive adds the answer that is being written in a turn.
func (e *Engine) withLive(o fyllo.SpawnOwner, id fyllo.SessionID, d fyllo.SpawnTurnDetail) fyllo.SpawnTurnDetail {
	e.mu.Lock()
	c := e.children[id]
	e.mu.Unlock()
	if c == nil || c.owner != o {
		return d
	}
	c.do(func() {
		t := c.turn
		if t == nil || t.live.Empty() || t.rec.TurnID != d.TurnID || slices.ContainsFunc(d.Messages, func(m fyllo.SpawnMessage) bool { return m.ID == t.live.ID() }) {
			return
		}
		m := transcript.LightMessage(transcript.Mended(t.live.Message()))
		m.TurnID = t.rec.TurnID
		d.Messages = append(d.Messages, fyllo.SpawnMessage{Message: m})
	})
	return d
}
