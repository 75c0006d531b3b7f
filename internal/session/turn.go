package session

import (
	"context"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/session/internal/asks"
	"fyllocode.dev/fyllo/internal/session/internal/tagged"
	"fyllocode.dev/fyllo/internal/session/internal/warm"
	"fyllocode.dev/fyllo/internal/transcript"
)

const (
	// cancelTime is how long an Agent may take to confirm a cancel before its ACP session is given up (R-CHAT-052).
	cancelTime = 5 * time.Second
	// lateTime is how long content may still join a turn after its answer (R-ACP-022).
	lateTime = 500 * time.Millisecond
	// refileTime is when a message that could not be stored is tried again.
	refileTime = 5 * time.Second
	// activityEvery bounds how often activity without content is told.
	activityEvery = time.Second
)

// stopCancelled is the stop reason of a cancelled turn.
const stopCancelled = "cancelled"

// turn is one prompt and everything it brings, from the durable user message to the stored answer.
type turn struct {
	user  fyllo.Message // as stored
	token uint64        // of the prompt; 0 before it was sent
	live  *transcript.Live
	tags  tagged.Answer // of live
	log   TurnLog       // nil until the prompt is sent, and after the message was stored

	state     fyllo.TurnState
	startedAt time.Time
	contentAt time.Time // zero before the first content
	updateAt  time.Time // of the last update of any kind
	toldAt    time.Time // of the last activity event

	asks      asks.List
	config    *[]fyllo.ConfigOption // last snapshot seen while the turn is being activated
	stop      context.CancelFunc    // ends the activation
	cancelled bool                  // a person asked for it
	deadline  *time.Timer           // of the cancel
	updates   int                   // seen since the prompt was sent, besides those about the ACP session
	retried   bool                  // recovered from a missing ACP session (R-CHAT-147)
	way       warm.Way              // how the link of the last prompt came to be
	draft     *draft                // whose ACP session it takes over, or nil
	files     []fyllo.PromptBlock   // and mentions of the user message, until the prompt is sent
	notice    *notice               // that the turn is about; nil for a message of the user
}

// view is the turn as windows see it.
func (t *turn) view() fyllo.Turn {
	started, content, update := t.startedAt, t.contentAt, t.updateAt // a view never changes afterwards
	v := fyllo.Turn{State: t.state, UserMessageID: t.user.ID, StartedAt: &started, Notice: t.notice != nil}
	if !content.IsZero() {
		v.MessageID, v.FirstContentAt = t.live.ID(), &content
	}
	if !update.IsZero() {
		v.LastActivityAt = &update
	}
	return v
}

// sent reports whether the prompt went out.
func (t *turn) sent() bool { return t.token != 0 }

// begin starts the turn of a stored user message: it makes the Session warm and sends the prompt.
func (a *actor) begin(user fyllo.Message, d *draft, n *notice) {
	a.file()
	cwd := ""
	if a.meta.Scope != nil {
		cwd = a.meta.Scope.Cwd
	}
	at := now()
	a.turn = &turn{
		user: user, live: transcript.New(newID("msg-"), cwd, at),
		state: fyllo.TurnWaiting, startedAt: at, draft: d, notice: n,
	}
	a.publish(fyllo.EventTurn, a.turn.view())
	a.announce()
	a.activate(a.turn)
}

// activate makes the Session warm on a goroutine of its own, which ends with its result or the turn.
func (a *actor) activate(t *turn) {
	ctx, cancel := context.WithCancel(a.m.life)
	t.stop = cancel
	job, user := a.activation(t), t.user
	scope := a.meta.Scope
	started := a.m.spawn(func() {
		defer cancel()
		got, err := job.Run(ctx)
		var files []fyllo.PromptBlock
		if err == nil && got.Link != nil {
			files, err = a.blocks(ctx, user, scope, got.Link)
		}
		if !a.post(a.m.life, func() { t.files = files; a.dispatch(t, got, err) }) && got.Link != nil {
			got.Link.Close()
		}
	})
	if !started {
		cancel()
	}
}

// dispatch sends the prompt over the link that the activation brought.
func (a *actor) dispatch(t *turn, got warm.Ready, err error) {
	if a.turn != t {
		if got.Link != nil && got.Link != a.link {
			a.m.spawn(got.Link.Close)
		}
		return
	}
	if got.Link != nil && got.Link != a.link {
		a.drop()
		a.link = got.Link
	}
	t.way = got.Way
	switch {
	case t.cancelled:
		a.endTurn(fyllo.TurnEnd{StopReason: stopCancelled, At: now()})
	case err != nil:
		a.failTurn(err)
	default:
		if t.config == nil {
			t.config = &got.Config
		}
		if t.notice != nil && !t.notice.claimed {
			err = a.claimNotice(t)
		}
		if err == nil {
			err = a.send(t)
		}
		if err != nil {
			a.failTurn(err)
		}
	}
}

// send stores what the dispatch adds to the user message, opens the turn log and sends session/prompt.
func (a *actor) send(t *turn) error {
	if t.config != nil {
		a.setConfig(*t.config)
		t.config = nil
	}
	if err := a.patchUser(t, a.link.Fresh); err != nil {
		return err
	}
	a.meta.ACPSessionID = a.link.ID
	err := a.changeMeta(func(m *fyllo.SessionMeta) {
		if !t.retried {
			m.TurnCount++
		}
	})
	if err != nil {
		return err
	}
	log, err := a.m.Store.BeginTurn(a.w, a.sid, fyllo.TurnHeader{
		UserMessageID: t.user.ID, MessageID: t.live.ID(), StartedAt: t.startedAt,
		ACPSessionID: a.link.ID, Model: t.user.Model, Effort: t.user.Effort, Cwd: a.meta.Scope.Cwd,
	})
	if err != nil {
		return err
	}
	t.log = log
	t.live.Of(a.link.ID)
	a.tokens++
	t.token = a.tokens
	a.link.Fresh = false
	blocks := append(promptBlocks(t.user), t.files...)
	t.files = nil
	return a.link.Agent.Prompt(a.link.ID, t.token, blocks)
}

// patchUser adds the reminders that a new ACP session needs and the configuration used (R-CHAT-157, 160, 161).
func (a *actor) patchUser(t *turn, fresh bool) error {
	t.user.Model = fyllo.CurrentOf(a.config, "model")
	t.user.Effort = fyllo.CurrentOf(a.config, "thought_level")
	if fresh && a.meta.Mode == fyllo.ModeFyllo {
		parts, err := a.reminders(t.user)
		if err != nil {
			return err
		}
		if t.notice != nil {
			parts = append(parts, t.user.Parts...) // all of it is hidden
		} else {
			parts = append(parts, visibleParts(t.user)...)
		}
		t.user.Parts = parts
	}
	if t.user.Model == "" && t.user.Effort == "" && !fresh {
		return nil
	}
	stored, err := a.supersede(t.user)
	if err != nil {
		return err
	}
	t.user = stored
	return nil
}

// promptBlocks are the content blocks of a user message: reminders first, each a block of its own.
func promptBlocks(m fyllo.Message) []fyllo.PromptBlock {
	blocks := make([]fyllo.PromptBlock, 0, len(m.Parts))
	for _, p := range m.Parts {
		if p.Type == fyllo.PartText || p.Type == fyllo.PartReminder {
			blocks = append(blocks, fyllo.PromptBlock{Type: "text", Text: p.Text})
		}
	}
	return blocks
}

// failTurn ends the turn with an error; the user message stays (R-CHAT-056).
func (a *actor) failTurn(err error) {
	if a.turn.cancelled {
		a.endTurn(fyllo.TurnEnd{StopReason: stopCancelled, At: now()})
		return
	}
	a.endTurn(fyllo.TurnEnd{Error: fyllo.FailureOf(err), At: now()})
}

// promptDone handles the answer to session/prompt.
func (a *actor) promptDone(done *fyllo.PromptDone) {
	t := a.turn
	if t == nil || t.token != done.Token {
		return // of a turn that was given up
	}
	switch {
	case done.Err == nil:
		reason := done.StopReason
		if reason == "" {
			reason = "end_turn"
		}
		a.endTurn(fyllo.TurnEnd{StopReason: reason, At: now()})
	case fyllo.CodeOf(done.Err) == fyllo.CodeACPSessionMissing && t.recoverable():
		a.recoverTurn(t)
	default:
		a.failTurn(done.Err)
	}
}

// recoverable reports whether a prompt that the Agent refused, since it does not know the ACP session, is sent again
// (R-CHAT-147): once, or until no way is left when the Agent resumed or loaded that very session in this turn. Each
// way is taken at most once (R-CHAT-143); without the next one the Session could never be used again.
func (t *turn) recoverable() bool {
	return t.updates == 0 && !t.cancelled && (!t.retried || t.way < warm.WayFresh)
}

// recoverTurn sends the prompt again over a recovered ACP session: the Agent no longer knew the old one and did
// nothing with the prompt (R-CHAT-147).
func (a *actor) recoverTurn(t *turn) {
	t.retried, t.token, t.draft = true, 0, nil
	if err := t.log.Remove(); err != nil {
		a.m.Log.Error("remove turn log", "session", a.sid, "err", err)
	}
	t.log = nil
	if a.link != nil {
		a.link.Drop()
		a.link = nil
	}
	a.activate(t)
}

// endTurn makes the end durable and tells it. The answer stays open for late content until file.
func (a *actor) endTurn(end fyllo.TurnEnd) {
	t := a.turn
	t.stop()
	if t.deadline != nil {
		t.deadline.Stop()
	}
	a.refuseAsks()
	if a.turn != t {
		return // an answer could not be stored, which ended the turn
	}
	for _, i := range t.live.End(end) {
		a.publishPart(t, i)
	}
	if t.notice == nil || t.notice.claimed {
		if err := a.storeEnd(t, end); err != nil {
			a.m.Log.Error("store the end of a turn", "session", a.sid, "err", err)
			end = fyllo.TurnEnd{Error: fyllo.FailureOf(err), At: end.At}
		}
	}
	if n := t.notice; n != nil {
		switch {
		case end.Error != nil:
			endNotice(n, &fyllo.Error{Code: end.Error.Code, Message: end.Error.Message})
		case end.StopReason == stopCancelled:
			endNotice(n, fyllo.Errorf(fyllo.CodeTurnCancelled, "the turn was stopped"))
		case t.live.Empty():
			endNotice(n, nil)
		}
	}
	a.holdQueue(&end)
	a.turn = nil
	event := fyllo.TurnEndEvent{UserMessageID: t.user.ID, End: end}
	if t.log != nil {
		a.late = t
		a.lateTimer.Reset(lateTime)
	}
	if !t.live.Empty() {
		event.MessageID = t.live.ID()
	}
	a.publish(fyllo.EventTurnEnd, event)
	a.publish(fyllo.EventTurn, fyllo.Turn{State: fyllo.TurnIdle})
	a.announce()
}

// storeEnd writes the end of a turn to where its replay or its readers find it.
func (a *actor) storeEnd(t *turn, end fyllo.TurnEnd) error {
	err := a.write(t)
	if t.log != nil && err == nil {
		if err = t.log.Append([]fyllo.TurnRecord{{At: end.At, End: &end}}); err == nil {
			err = t.log.Sync()
		}
	}
	if t.live.Empty() {
		// There is no answer to carry the end.
		t.user.End = &end
		stored, failed := a.supersede(t.user)
		if failed != nil {
			return failed
		}
		t.user = stored
		a.publish(fyllo.EventMessage, shown(stored))
	}
	if failed := a.changeMeta(func(m *fyllo.SessionMeta) { m.UpdatedAt = end.At }); err == nil {
		err = failed
	}
	return err
}

// file moves the answer of the ended turn from its log to the messages (docs/design/001 rule 4).
func (a *actor) file() {
	t := a.late
	if t == nil {
		return
	}
	a.flush()
	if !t.live.Empty() {
		stored, err := a.m.Store.AppendMessage(a.w, a.sid, a.answer(t))
		if err != nil {
			a.m.Log.Error("store message", "session", a.sid, "message", t.live.ID(), "err", err)
			a.lateTimer.Reset(refileTime)
			if a.m.life.Err() == nil {
				return
			}
			_ = t.log.Close() // the next start replays it
			return
		}
		a.publish(fyllo.EventMessage, tagged.Message(stored))
	}
	endNotice(t.notice, nil)
	if err := t.log.Remove(); err != nil {
		a.m.Log.Error("remove turn log", "session", a.sid, "err", err)
	}
	a.lateTimer.Stop()
	a.late = nil
}

// answer is the assistant message of a turn with its audit data (R-CHAT-160).
func (a *actor) answer(t *turn) fyllo.Message {
	m := t.live.Message()
	m.Model, m.Effort = t.user.Model, t.user.Effort
	return m
}

// liveMessage is the answer that is not stored yet, in light form, nil if there is none.
func (a *actor) liveMessage() *fyllo.Message {
	for _, t := range []*turn{a.turn, a.late} {
		if t != nil && !t.live.Empty() {
			m := transcript.LightMessage(a.answer(t))
			for i := range m.Parts {
				t.tags.Put(i, &m.Parts[i])
			}
			return &m
		}
	}
	return nil
}

// cancel asks the Agent to stop (R-CHAT-052). Without a turn it does nothing.
func (a *actor) cancel() {
	t := a.turn
	if t == nil || t.cancelled {
		return
	}
	t.cancelled = true
	if !t.sent() {
		t.stop() // dispatch ends the turn
	} else if err := a.link.Agent.Cancel(a.link.ID); err != nil {
		a.m.Log.Warn("cancel turn", "session", a.sid, "err", err)
	}
	a.refuseAsks() // after the cancel: an Agent that hears of the answer first takes it for a refusal and goes on
	t.deadline = time.NewTimer(cancelTime)
	t.state = fyllo.TurnCancelling
	a.publish(fyllo.EventTurn, t.view())
	a.announce()
}

// turnClock fires when a cancel has waited long enough.
func (a *actor) turnClock() <-chan time.Time {
	if a.turn == nil || a.turn.deadline == nil {
		return nil
	}
	return a.turn.deadline.C
}

// turnTick gives up an ACP session that did not confirm a cancel: its later updates are dropped and the next
// prompt goes to a fresh one.
func (a *actor) turnTick() {
	if l := a.link; l != nil && a.turn.sent() {
		l.Drop()
		a.link = nil
		a.meta.ACPSessionID = ""
	}
	a.endTurn(fyllo.TurnEnd{StopReason: stopCancelled, At: now()})
}

// storageFailed ends a turn whose updates can no longer be written.
func (a *actor) storageFailed(err error) {
	a.m.Log.Error("write turn log", "session", a.sid, "err", err)
	if a.turn == nil {
		return
	}
	if a.turn.sent() && a.link != nil {
		_ = a.link.Agent.Cancel(a.link.ID) // the turn ends in any case
		a.link.Drop()
		a.link = nil
	}
	a.failTurn(fyllo.Errorf(fyllo.CodeStorageFailed, "store the answer: %w", err).
		WithHint("Free some disk space and send the message again."))
}
