package spawn

import (
	"context"
	"slices"
	"strings"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/transcript"
	"fyllocode.dev/fyllo/internal/turns"
)

const (
	// recordEvery bounds how often a running turn's activity is stored.
	recordEvery = time.Second
	// slept is how much more the clock on the wall may have moved than the monotonic one before the machine counts as
	// having slept (R-SPAWN-068).
	slept = 30 * time.Second
	// lateTime is how long content still joins a response after the Agent's answer, as in Chat (R-ACP-022). The response
	// never changes, so the turn is settled after it.
	lateTime = 500 * time.Millisecond
)

// turn is one dispatched prompt, from its record to its settling.
type turn struct {
	job   *job
	rec   fyllo.SpawnTurn
	live  *transcript.Live
	log   turns.TurnLog
	lines []fyllo.TurnRecord // of the batch, not written yet
	token uint64             // of the prompt; 0 before it was sent
	stop  context.CancelFunc // ends the opening of its ACP session

	lastAt   time.Time // of the last activity, with its monotonic reading
	lastWall time.Time // the same by the clock on the wall alone, which goes on while the machine sleeps
	storedAt time.Time // of the last write of rec
	watch    *time.Timer
	deadline *time.Timer // of a cancel; nil while nobody wants one
	answered *end        // how the Agent completed it; nil while it works
	filing   *time.Timer // of the content behind the answer; nil while the Agent works

	reply    chan<- outcome // gets the one answer of the call
	accepted bool
	warnings []fyllo.SpawnWarning
}

// alive notes a sign of life.
func (t *turn) alive() {
	t.lastAt = time.Now()
	t.lastWall = t.lastAt.Round(0)
}

func (t *turn) silent() <-chan time.Time {
	if t == nil || t.watch == nil {
		return nil
	}
	return t.watch.C
}

func (t *turn) complete() <-chan time.Time {
	if t == nil || t.filing == nil {
		return nil
	}
	return t.filing.C
}

func (t *turn) late() <-chan time.Time {
	if t == nil || t.deadline == nil {
		return nil
	}
	return t.deadline.C
}

// begin records the turn and sends its prompt (steps 14–17).
func (c *child) begin(ctx context.Context, j *job, p *fyllo.SpawnPrompt, warnings []fyllo.SpawnWarning, reply chan<- outcome) {
	e, at := c.e, now()
	if err := e.take(ctx, j); err != nil {
		reply <- e.unbegun(ctx, j, c, p, err)
		return
	}
	prior, err := e.Store.Turns(c.owner, c.id)
	if err != nil {
		reply <- e.unbegun(ctx, j, c, p, err)
		return
	}
	user := fyllo.Message{ID: "msg-" + newID(), Role: fyllo.RoleUser, CreatedAt: at, UpdatedAt: at, TurnID: j.turnID}
	user.Parts = []fyllo.Part{{ID: user.ID + ".0", Type: fyllo.PartText, Text: p.Prompt}}
	t := &turn{
		job: j, reply: reply, warnings: warnings, stop: j.stop,
		live: transcript.New("msg-"+newID(), c.meta.Snapshot.Cwd, at),
		rec: fyllo.SpawnTurn{
			TurnID: j.turnID, Ordinal: len(prior) + 1, Mode: p.Mode, Phase: fyllo.SpawnStarting, UserMessageID: user.ID,
			StartedAt: j.startedAt, LastActivityAt: at, UpdatedAt: at,
		},
	}
	if n := len(prior); n > 0 {
		t.rec.Ordinal = prior[n-1].Ordinal + 1
	}
	t.rec.MessageID = t.live.ID()
	c.meta.Status, c.meta.PromptPreview, c.meta.LatestTurnID, c.meta.LatestMode, c.meta.UpdatedAt = fyllo.SpawnIsRunning, preview(p.Prompt), j.turnID, p.Mode, at
	err = e.Store.PutMeta(c.owner, c.meta)
	if err == nil {
		_, err = e.Store.AppendMessage(c.owner, c.id, user)
	}
	if err == nil {
		err = e.Store.PutTurn(c.owner, c.id, t.rec)
	}
	if err != nil {
		reply <- e.unbegun(ctx, j, c, p, err)
		return
	}
	c.turn = t
	e.changed(c.owner, c.id)
	if c.acp != "" {
		c.dispatch(p.Prompt)
		return
	}
	e.work.Add(1)
	go func() { // ends with the answer to session/new, or with its time
		defer e.work.Done()
		opened, err := c.open(ctx)
		if !c.do(func() {
			if c.turn != t {
				return
			}
			if err != nil {
				if ctx.Err() != nil && t.rec.Phase == fyllo.SpawnStarting { // the caller is gone, and its word comes later
					t.rec.Phase, t.rec.CancelReason = fyllo.SpawnCancelling, string(fyllo.CodeTurnCancelled)
				}
				c.settle(c.ended(err))
				return
			}
			c.opened(opened)
			c.dispatch(p.Prompt)
		}) && err == nil {
			c.agent.Forget(opened.ID)
		}
	}()
}

// take gives the reservation to the child's goroutine, unless it is to end.
func (e *Engine) take(ctx context.Context, j *job) error {
	if err := e.halted(ctx, j); err != nil {
		return err
	}
	e.mu.Lock()
	j.started = true
	e.mu.Unlock()
	return nil
}

// unbegun answers a call whose turn could not be recorded. What is stored of it says so, as far as it can.
func (e *Engine) unbegun(ctx context.Context, j *job, c *child, p *fyllo.SpawnPrompt, err error) outcome {
	c.over = true
	if p.SessionID == "" {
		_ = e.Store.Remove(c.owner, c.id) // its caller never learned about it
	} else {
		c.fail(&fyllo.Failure{Code: fyllo.CodeTurnPersist, Message: "The turn could not be recorded."})
	}
	e.release(j)
	result, err := stopped(j, e.public(ctx, j, err))
	return outcome{result, err}
}

// preview is a prompt as lists show it.
func preview(s string) string { return cut(strings.Join(strings.Fields(s), " "), fyllo.SpawnPreview) }

// dispatch sends the prompt and, when everything about the turn is durable, accepts it (steps 16 and 17). What the Agent
// answers meanwhile waits in the mailbox, so that nothing ends before it was accepted (R-SPAWN-027).
func (c *child) dispatch(prompt string) {
	t := c.turn
	if t.rec.Phase == fyllo.SpawnCancelling {
		c.settle(c.cancelEnd())
		return
	}
	log, err := c.e.Store.BeginTurn(c.owner, c.id, fyllo.TurnHeader{
		UserMessageID: t.rec.UserMessageID, MessageID: t.rec.MessageID, StartedAt: t.rec.StartedAt, ACPSessionID: c.acp, Cwd: c.meta.Snapshot.Cwd,
	})
	if err != nil {
		c.persistFailed(err)
		return
	}
	t.log = log
	t.live.Of(c.acp)
	t.alive()
	t.watch = time.NewTimer(c.e.Inactivity)
	c.sent++
	t.token = c.sent
	if err := c.agent.Prompt(c.acp, t.token, []fyllo.PromptBlock{{Type: "text", Text: prompt}}); err != nil {
		c.settle(c.ended(err))
		return
	}
	t.rec.Phase = fyllo.SpawnRunning
	err = c.e.Store.PutMeta(c.owner, c.meta)
	if err == nil {
		err = c.record()
	}
	if err != nil {
		_ = c.agent.Cancel(c.acp) // the call fails in any case
		c.persistFailed(err)
		return
	}
	if t.rec.Mode == fyllo.SpawnBackground {
		t.accepted = true
		items := configItems(c.meta.ConfigOptions)
		t.answer(outcome{result: fyllo.SpawnPromptResult{
			Status: "accepted", SessionID: c.id, TurnID: t.rec.TurnID, StartedAt: stamp(t.rec.StartedAt), Config: &items, Warnings: &t.warnings,
		}})
	}
}

// answer gives the call its one answer.
func (t *turn) answer(o outcome) {
	if t.reply != nil {
		t.reply <- o
		t.reply = nil
	}
}

// record stores the turn as it is.
func (c *child) record() error {
	t := c.turn
	c.e.mu.Lock()
	t.rec.RecentActivity, t.rec.LastActivityAt = slices.Clone(t.job.recent), t.job.lastAt
	c.e.mu.Unlock()
	t.storedAt, t.rec.UpdatedAt = time.Now(), now()
	return c.e.Store.PutTurn(c.owner, c.id, t.rec)
}

// drain takes what the Agent sent, writes it to the log, and stores activity now and then.
func (c *child) drain() {
	for _, mail := range c.box.Take() {
		c.handle(mail.Event)
		if c.over {
			return
		}
	}
	c.flush()
	if t := c.turn; t != nil && !t.storedAt.IsZero() && time.Since(t.storedAt) >= recordEvery {
		if err := c.record(); err != nil {
			c.e.Log.Warn("store the activity of a spawned turn", "session", c.id, "err", err) // settling will tell
		}
	}
}

// flush writes the batch to the turn's log.
func (c *child) flush() {
	t := c.turn
	if t == nil || t.log == nil || len(t.lines) == 0 {
		return
	}
	err := t.log.Append(t.lines)
	clear(t.lines)
	t.lines = t.lines[:0]
	if err != nil {
		_ = c.agent.Cancel(c.acp)
		c.persistFailed(err)
	}
}

// handle takes one event in wire order. Whatever an Agent says or asks is a sign of life (R-SPAWN-067).
func (c *child) handle(ev fyllo.AgentEvent) {
	switch {
	case ev.PromptDone != nil:
		if t := c.turn; t != nil && t.token == ev.PromptDone.Token && t.answered == nil {
			c.flush()
			if c.turn == t {
				c.answered(c.promptEnd(ev.PromptDone))
			}
		}
	case ev.Closed != nil:
		c.closed()
	case ev.Permission != nil:
		c.permission(ev.Permission)
	case ev.Update != nil:
		c.update(ev.Update)
	}
}

// answered takes the Agent's answer: a completed turn waits for the content that may come behind it.
func (c *child) answered(as end) {
	t := c.turn
	if as.phase != fyllo.SpawnCompleted {
		c.settle(as)
		return
	}
	t.watch.Stop()
	t.answered, t.filing = &as, time.NewTimer(c.e.LateTime)
}

// file settles a completed turn with all that came.
func (c *child) file() {
	c.flush()
	if c.turn != nil {
		c.settle(*c.turn.answered)
	}
}

func (c *child) update(u *fyllo.Update) {
	switch u.Kind {
	case fyllo.UpdateConfig:
		c.meta.ConfigOptions = u.Config
	case fyllo.UpdateUsage:
		c.meta.TokenUsage = u.Usage
	default:
	}
	t := c.turn
	if t == nil || t.token == 0 {
		return
	}
	at := now()
	t.alive()
	if !u.Kind.Control() && u.Kind != fyllo.UpdateUnknown {
		t.lines = append(t.lines, fyllo.TurnRecord{At: at, Line: u.Raw})
		t.live.Apply(u, at)
		c.grow()
	}
	kind, message := kindOf(u)
	if kind == "tool" && u.Tool != nil {
		if title := t.live.ToolTitle(u.Tool.CallID); title != "" {
			message = title
		}
	}
	c.e.active(t.job, kind, message, at)
}

// kindOf names an update as activity; "" for one that is only a sign of life.
func kindOf(u *fyllo.Update) (kind, message string) {
	switch u.Kind {
	case fyllo.UpdateText, fyllo.UpdateMessage:
		return "message", ""
	case fyllo.UpdateReasoning:
		return "reasoning", ""
	case fyllo.UpdateTool, fyllo.UpdateSubagent:
		return "tool", ""
	case fyllo.UpdatePlan:
		return "plan", ""
	case fyllo.UpdateConfig, fyllo.UpdateMode, fyllo.UpdateCommands:
		return "config", ""
	case fyllo.UpdateUsage:
		return "usage", ""
	case fyllo.UpdateSessionInfo, fyllo.UpdateNotice:
		return "session", ""
	default:
		return "", ""
	}
}

// permission answers at once: the first option to allow once, else cancelled (R-SPAWN-014). The parent can see it.
func (c *child) permission(ask *fyllo.PermissionAsk) {
	option := ""
	if i := slices.IndexFunc(ask.Options, func(o fyllo.PermissionOption) bool { return o.Kind == "allow_once" }); i >= 0 {
		option = ask.Options[i].OptionID
	}
	t := c.turn
	if t == nil || t.token == 0 || t.answered != nil || t.rec.Phase == fyllo.SpawnCancelling {
		ask.Answer("")
		return
	}
	at := now()
	t.alive()
	t.live.Ask(ask, at)
	note := fyllo.PermissionNote{ID: "permission-" + newID(), ToolCallID: t.live.CallID(ask), Options: ask.Options, Outcome: "cancelled", By: "policy", At: at}
	note.Title = t.live.ToolTitle(note.ToolCallID)
	said := note.Title + ": no allow_once option, cancelled"
	if option != "" {
		note.Outcome, note.OptionID = "selected", option
		said = note.Title + ": allowed once"
	}
	t.live.Answered(note.ToolCallID, note, at)
	c.grow()
	t.lines = append(t.lines, fyllo.TurnRecord{At: at, Line: ask.Raw}, fyllo.TurnRecord{At: at, Answer: &note})
	c.e.active(t.job, "permission", said, at)
	ask.Answer(option)
}

// closed handles the end of the Agent's process: nothing moves to the next one (R-SPAWN-096).
func (c *child) closed() {
	if c.turn != nil && c.turn.answered != nil {
		c.file()
	}
	if c.turn != nil {
		c.flush()
	}
	if c.turn != nil {
		c.settle(lost())
	}
	if c.over {
		return
	}
	c.over = true
	c.meta.Status, c.meta.Error, c.meta.UpdatedAt = fyllo.SpawnIsExpired, lost().failure, now()
	c.put()
}

// silence looks whether the Agent has been quiet for too long. A machine that slept gets a full fresh period.
func (c *child) silence() {
	t := c.turn
	idle := time.Since(t.lastAt)
	if wall := time.Now().Round(0).Sub(t.lastWall); wall-idle > slept {
		t.alive()
		idle = 0
	}
	if left := c.e.Inactivity - idle; left > 0 {
		t.watch.Reset(left)
		return
	}
	c.cancel(fyllo.CodeTurnInactivity)
}

// cancel asks the Agent to stop, once, and gives it a while to confirm (R-SPAWN-070, 072). It reports whether the turn was
// still to be decided. What was accepted is not cancelled by a caller that went away.
func (c *child) cancel(why fyllo.Code) bool {
	t := c.turn
	if t == nil || t.answered != nil || why == fyllo.CodeTurnCancelled && t.accepted {
		return false
	}
	if t.rec.Phase == fyllo.SpawnCancelling {
		return true
	}
	sent := t.token != 0
	t.rec.Phase, t.rec.CancelReason = fyllo.SpawnCancelling, string(why)
	if err := c.record(); err != nil {
		c.e.Log.Error("record the cancel of a spawned turn", "session", c.id, "err", err) // the Agent is asked all the same
	}
	t.deadline = time.NewTimer(c.e.CancelTime)
	if t.watch != nil {
		t.watch.Stop()
	}
	if !sent {
		t.stop() // the opening of its ACP session; then it is settled
	} else if err := c.agent.Cancel(c.acp); err != nil {
		c.e.Log.Warn("cancel a spawned turn", "session", c.id, "err", err)
	}
	return true
}

// unconfirmed ends a turn whose Agent did not confirm the cancel in time.
func (c *child) unconfirmed() {
	c.flush()
	if c.turn == nil {
		return
	}
	end := c.cancelEnd()
	if end.failure.Code == fyllo.CodeTurnInactivity {
		end.failure = &fyllo.Failure{Code: fyllo.CodeTurnUnconfirmed, Message: "The Agent was silent for too long and did not confirm that it stopped."}
	}
	c.settle(end)
}

// shutdown records what runs as interrupted (R-SPAWN-092).
func (c *child) shutdown() {
	if c.turn != nil && c.turn.answered != nil {
		c.file()
	}
	if c.turn != nil {
		c.flush()
	}
	if t := c.turn; t != nil {
		if t.token != 0 {
			_ = c.agent.Cancel(c.acp) // its process ends soon
		}
		c.settle(end{phase: fyllo.SpawnInterrupted, failure: &fyllo.Failure{
			Code: fyllo.CodeAppShutdown, Message: "FylloCode was closed while the turn ran." + restate,
		}})
	}
	c.over = true
}
