package session

import (
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/session/internal/warm"
	"fyllocode.dev/fyllo/internal/transcript"
	"fyllocode.dev/fyllo/internal/turns"
)

// handle takes one event of the Agent in wire order.
func (a *actor) handle(it turns.Mail[*warm.Link]) {
	if a.opening != nil && it.Link != a.link && it.Link.Owner == a.opening {
		if u := it.Event.Update; u != nil && u.Kind == fyllo.UpdateCommands {
			a.control(u)
		} else {
			a.refuse(it.Event) // its options come with the end of the change, all at once
		}
		return
	}
	if !a.knows(it.Link) {
		a.refuse(it.Event)
		return
	}
	switch e := it.Event; {
	case e.Update != nil:
		a.update(e.Update)
	case e.Permission != nil:
		a.permission(e.Permission)
	case e.Withdrawn != nil:
		a.withdrawn(e.Withdrawn)
	case e.PromptDone != nil:
		a.promptDone(e.PromptDone)
	case e.Closed != nil:
		a.closed(it.Link, e.Closed)
	}
}

// knows reports whether events of l concern the Session: its link, or one that its turn is opening.
func (a *actor) knows(l *warm.Link) bool {
	return l == a.link || a.turn != nil && !a.turn.sent() && l.Owner == a.turn
}

// refuse answers a permission request that nobody will see (R-CHAT-141).
func (a *actor) refuse(e fyllo.AgentEvent) {
	if e.Permission != nil {
		e.Permission.Answer("")
	}
}

// closed handles the end of the Agent's process (R-CHAT-150).
func (a *actor) closed(l *warm.Link, c *fyllo.AgentClosed) {
	if l != a.link {
		return // the activation sees it by itself
	}
	a.link = nil
	if a.turn != nil && a.turn.sent() {
		a.failTurn(c.Reason)
	}
}

// update folds one update.
func (a *actor) update(u *fyllo.Update) {
	at := now()
	if a.turn != nil && a.turn.sent() {
		a.turn.updateAt = at
		if !ofSession(u.Kind) {
			a.turn.updates++
		}
	}
	if u.Kind.Control() || u.Kind == fyllo.UpdateUnknown {
		a.control(u)
		a.activity(at)
		return
	}
	t := a.turn
	if t == nil || !t.sent() {
		t = a.late
	}
	if t == nil {
		a.m.Log.Debug("drop content outside a turn", "session", a.sid, "bytes", len(u.Raw))
		return
	}
	a.out.Record(fyllo.TurnRecord{At: at, Line: u.Raw})
	a.changed(t, t.live.Apply(u, at), at)
}

// ofSession reports whether an update tells about the ACP session rather than about a turn. Agents send such ones
// behind their answer to a resume, where they may meet a prompt that is on its way.
func ofSession(k fyllo.UpdateKind) bool {
	switch k {
	case fyllo.UpdateConfig, fyllo.UpdateCommands, fyllo.UpdateMode, fyllo.UpdateUsage, fyllo.UpdateSessionInfo:
		return true
	default:
		return false
	}
}

// changed publishes what a change of the live answer shows.
func (a *actor) changed(t *turn, c transcript.Change, at time.Time) {
	if c.Kind == transcript.None {
		a.activity(at)
		return
	}
	if t.contentAt.IsZero() {
		a.firstContent(t, at)
	}
	if c.Kind == transcript.Part {
		a.publishPart(t, c.Index)
	} else {
		a.out.Delta(a.w, a.sid, fyllo.Delta{
			MessageID: t.live.ID(), PartID: t.live.PartID(c.Index), Index: c.Index, Kind: t.live.PartType(c.Index),
			At: c.At, Text: c.Text,
		})
		if part := t.live.Part(c.Index); t.tags.Read(c.Index, &part) {
			a.publishTags(t, c.Index)
		}
	}
	for _, i := range c.More {
		a.publishPart(t, i)
	}
	a.publishTags(t, t.tags.End(func(i int) bool { return !t.live.Growing(i) })...)
}

// firstContent makes the answer appear and the turn stream (R-CHAT-073).
func (a *actor) firstContent(t *turn, at time.Time) {
	t.contentAt = at
	a.publish(fyllo.EventMessage, fyllo.Message{
		ID: t.live.ID(), Role: fyllo.RoleAssistant, CreatedAt: t.startedAt, UpdatedAt: at,
		Parts: []fyllo.Part{}, Model: t.user.Model, Effort: t.user.Effort,
	})
	if t == a.turn && t.state == fyllo.TurnWaiting {
		t.state = fyllo.TurnStreaming
	}
	if t == a.turn {
		a.publish(fyllo.EventTurn, t.view())
	}
}

func (a *actor) publishPart(t *turn, i int) {
	part := transcript.Light(t.live.Part(i))
	t.tags.Read(i, &part)
	t.tags.Put(i, &part)
	a.out.Part(a.w, a.sid, fyllo.PartEvent{MessageID: t.live.ID(), Index: i, Part: part})
}

// publishTags tells the tags of parts that have new ones.
func (a *actor) publishTags(t *turn, parts ...int) {
	for _, i := range parts {
		part := t.live.Part(i)
		t.tags.Put(i, &part)
		if len(part.Tags) > 0 { // none of a part that turned out to be a subagent's
			a.publish(fyllo.EventTags, fyllo.TagsEvent{MessageID: t.live.ID(), Index: i, Tags: part.Tags})
		}
	}
}

// activity tells a running turn's signs of life that show nothing else (decision 13).
func (a *actor) activity(at time.Time) {
	t := a.turn
	if t == nil || !t.sent() || at.Sub(t.toldAt) < activityEvery {
		return
	}
	t.toldAt = at
	a.publish(fyllo.EventActivity, fyllo.Activity{At: at.Format(time.RFC3339Nano)})
}

// control applies Session state, at any time (R-ACP-022).
func (a *actor) control(u *fyllo.Update) {
	switch u.Kind {
	case fyllo.UpdateConfig:
		if t := a.turn; t != nil && !t.sent() {
			t.config = &u.Config // not ours before the activation has restored the stored values (R-AGT-095)
			return
		}
		a.setConfig(u.Config)
	case fyllo.UpdateCommands:
		a.commandl = u.Commands
		a.publish(fyllo.EventCommands, fyllo.CommandsEvent{Commands: orEmpty(u.Commands)})
		a.touchMeta()
	case fyllo.UpdateUsage:
		if u.Usage == nil {
			return
		}
		if u.Usage.Cost == nil && a.usage != nil {
			u.Usage.Cost = a.usage.Cost // cumulative: absent means unchanged
		}
		a.usage = u.Usage
		a.publish(fyllo.EventUsage, *u.Usage)
		a.touchMeta()
	case fyllo.UpdatePlan:
		a.plan = u.Plan
		a.publish(fyllo.EventPlan, fyllo.PlanEvent{Entries: orEmpty(u.Plan)})
	default:
		// Session info never changes the title (R-ACP-019); modes arrive as config; the rest is activity.
	}
}

// setConfig replaces the snapshot (R-AGT-093).
func (a *actor) setConfig(options []fyllo.ConfigOption) {
	a.config = options
	a.publish(fyllo.EventConfig, fyllo.ConfigEvent{Options: orEmpty(options)})
	a.touchMeta()
}
