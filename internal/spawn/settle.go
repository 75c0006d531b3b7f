package spawn

import (
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"fyllocode.dev/fyllo"
)

// restate tells a caller what to do about a Session that cannot go on (R-SPAWN-033).
const restate = " The turn did not continue and this spawned session cannot be reused. Call prompt_to_agent without sessionId and restate the task."

// end is how a turn ends. failure is nil for a completed one.
type end struct {
	phase   fyllo.SpawnPhase
	failure *fyllo.Failure
	reason  string // the Agent's stop reason
}

func lost() end {
	return end{phase: fyllo.SpawnExpired, failure: &fyllo.Failure{
		Code: fyllo.CodeProcessInvalidated, Message: "The Agent's process ended." + restate,
	}}
}

func failed(format string) end {
	return end{phase: fyllo.SpawnError, failure: &fyllo.Failure{Code: fyllo.CodeTurnFailed, Message: format}}
}

// promptEnd reads the answer to session/prompt (R-SPAWN-041, 062).
func (c *child) promptEnd(done *fyllo.PromptDone) end {
	switch {
	case done.Err != nil:
		return c.ended(done.Err)
	case c.turn.rec.Phase == fyllo.SpawnCancelling:
		return c.cancelEnd()
	case done.StopReason == "cancelled":
		return failed("The Agent reported that the turn was cancelled, which nobody had asked for.")
	}
	reason := done.StopReason
	if reason == "" {
		reason = "end_turn"
	}
	return end{phase: fyllo.SpawnCompleted, reason: reason}
}

// ended is the end of a turn by an error. A process that is gone counts before everything, and a wanted cancel before
// what it caused.
func (c *child) ended(err error) end {
	gone := []fyllo.Code{fyllo.CodeAgentExited, fyllo.CodeAgentStopped, fyllo.CodeShuttingDown}
	switch {
	case c.e.life.Err() == nil && slices.Contains(gone, fyllo.CodeOf(err)):
		return lost()
	case c.e.life.Err() != nil:
		return end{phase: fyllo.SpawnInterrupted, failure: &fyllo.Failure{Code: fyllo.CodeAppShutdown, Message: "FylloCode was closed while the turn ran." + restate}}
	case c.turn.rec.Phase == fyllo.SpawnCancelling:
		return c.cancelEnd()
	}
	return failed("The Agent failed: " + plain(err) + ".")
}

// cancelEnd is the end of a turn that was cancelled, with the reason of the first who wanted it.
func (c *child) cancelEnd() end {
	code := fyllo.Code(c.turn.rec.CancelReason)
	message := map[fyllo.Code]string{
		fyllo.CodeTurnParentCancelled: "The parent Agent cancelled this spawned session.",
		fyllo.CodeTurnInactivity:      "The Agent showed no activity for too long, and the turn was stopped.",
		fyllo.CodeTurnCancelled:       "The caller went away before the turn had a result.",
	}[code]
	return end{phase: fyllo.SpawnError, failure: &fyllo.Failure{Code: code, Message: message}}
}

// persistFailed ends a turn whose records cannot be written.
func (c *child) persistFailed(err error) {
	c.e.Log.Error("store a spawned turn", "session", c.id, "err", err)
	c.settle(end{phase: fyllo.SpawnError, failure: &fyllo.Failure{
		Code: fyllo.CodeTurnPersist, Message: "What the Agent answered could not be stored.",
	}})
}

// settle makes the end of the turn durable, tells it, and gives the reservation back. The order is the promise: the
// answer, then the response, then the record that says completed (R-SPAWN-028). Only a completed turn leaves a Session
// that can be used again (R-SPAWN-029).
func (c *child) settle(as end) {
	t := c.turn
	for _, timer := range []*time.Timer{t.watch, t.deadline, t.filing} {
		if timer != nil {
			timer.Stop()
		}
	}
	at := now()
	as = c.keep(as, at)
	t.rec.Phase, t.rec.Error, t.rec.SettledAt = as.phase, as.failure, &at
	if t.accepted {
		t.rec.Notification = &fyllo.SpawnNotification{ID: newID(), State: fyllo.NotificationPending}
	}
	if as.phase != fyllo.SpawnCompleted {
		t.rec.ResponseID = ""
	}
	if err := c.record(); err != nil && as.phase == fyllo.SpawnCompleted {
		c.e.Log.Error("store the end of a spawned turn", "session", c.id, "err", err)
		as = end{phase: fyllo.SpawnError, failure: &fyllo.Failure{Code: fyllo.CodeTurnPersist, Message: "What the Agent answered could not be stored."}}
		t.rec.Phase, t.rec.Error, t.rec.ResponseID = as.phase, as.failure, ""
		if err := c.record(); err != nil {
			c.e.Log.Error("store the end of a spawned turn", "session", c.id, "err", err) // the next start settles it
		}
	}
	c.meta.UpdatedAt, c.meta.Error = at, as.failure
	switch as.phase {
	case fyllo.SpawnCompleted:
		c.meta.Status, c.meta.LatestResponseID = fyllo.SpawnIdle, t.rec.ResponseID
		c.meta.TurnCount++
	case fyllo.SpawnExpired:
		c.meta.Status = fyllo.SpawnIsExpired
	case fyllo.SpawnInterrupted:
		c.meta.Status = fyllo.SpawnIsInterrupted
	default:
		c.meta.Status = fyllo.SpawnFailed
	}
	c.put()
	if t.log != nil {
		if err := t.log.Remove(); err != nil {
			c.e.Log.Warn("remove the log of a spawned turn", "session", c.id, "err", err)
		}
	}
	c.over = as.phase != fyllo.SpawnCompleted
	out := c.syncAnswer(as)
	c.turn = nil
	c.e.conclude(t.job, t.accepted) // first, so that who has the answer can go on at once
	t.answer(out)
}

// keep stores the answer and, of a completed turn, the response. A failure changes the end.
func (c *child) keep(as end, at time.Time) end {
	t := c.turn
	stop := fyllo.TurnEnd{StopReason: as.reason, Error: as.failure, At: at}
	t.live.End(stop)
	var err error
	if !t.live.Empty() {
		m := t.live.Message()
		m.TurnID = t.rec.TurnID
		_, err = c.e.Store.AppendMessage(c.owner, c.id, m)
	}
	if err == nil && as.phase == fyllo.SpawnCompleted {
		t.rec.ResponseID = newID()
		err = c.e.Store.PutResponse(c.owner, c.id, t.rec.ResponseID, response(t.live.Message()))
	}
	if err == nil || as.phase != fyllo.SpawnCompleted {
		return as
	}
	c.e.Log.Error("store the answer of a spawned turn", "session", c.id, "err", err)
	return end{phase: fyllo.SpawnError, failure: &fyllo.Failure{Code: fyllo.CodeTurnPersist, Message: "What the Agent answered could not be stored."}}
}

// syncAnswer is what a synchronous call gets at the end (R-SPAWN-026a, 090), and a background one that was not accepted.
func (c *child) syncAnswer(as end) outcome {
	t := c.turn
	if t.reply == nil {
		return outcome{}
	}
	if as.phase != fyllo.SpawnCompleted {
		if as.failure.Code == fyllo.CodeTurnCancelled {
			return outcome{err: errGivenUp()}
		}
		if t.rec.Mode == fyllo.SpawnBackground && as.failure.Code == fyllo.CodeTurnPersist {
			return outcome{err: fyllo.Errorf(fyllo.CodeSpawnInternal, "The turn could not be recorded and was stopped.")}
		}
		return outcome{result: fyllo.SpawnPromptResult{Status: "error", SessionID: c.id, Code: as.failure.Code, Message: as.failure.Message}}
	}
	chunk, err := c.e.chunk(c.owner, c.id, t.rec.ResponseID, 0, fyllo.SpawnInline)
	if err != nil {
		return outcome{err: fyllo.Errorf(fyllo.CodeSpawnInternal, "The answer is stored and could not be read back; use read_response with responseId %s.", t.rec.ResponseID)}
	}
	items, truncated := configItems(c.meta.ConfigOptions), !chunk.Done
	return outcome{result: fyllo.SpawnPromptResult{
		Status: "completed", SessionID: c.id, ResponseID: t.rec.ResponseID, Content: &chunk.Content, Truncated: &truncated,
		NextCursor: chunk.NextCursor, Config: &items, Warnings: &t.warnings,
	}}
}

// response is the text of an answer that a parent reads (R-SPAWN-084): what was said, and which tools were used. Nothing
// is copied into one string; an answer may be long.
func response(m fyllo.Message) io.Reader {
	var parts []io.Reader
	add := func(s ...string) {
		if len(parts) > 0 {
			parts = append(parts, strings.NewReader("\n\n"))
		}
		for _, x := range s {
			parts = append(parts, strings.NewReader(x))
		}
	}
	for _, p := range m.Parts {
		switch {
		case p.Type == fyllo.PartText && p.Text != "":
			add(p.Text)
		case p.Type == fyllo.PartTool && p.Tool != nil:
			add("### Tool: ", strings.ToValidUTF8(strings.Join(strings.Fields(p.Tool.Title), " "), "\uFFFD"))
		}
	}
	return io.MultiReader(parts...)
}

// isNotFound reports whether a record does not exist for its owner.
func isNotFound(err error) bool {
	e, ok := errors.AsType[*fyllo.Error](err)
	return ok && e.Code == fyllo.CodeNotFound
}
