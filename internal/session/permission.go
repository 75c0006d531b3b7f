package session

import (
	"slices"

	"fyllocode.dev/fyllo"
)

// Who answered a permission request.
const (
	byUser   = "user"
	byPolicy = "policy"
	byTurn   = "turn" // its turn ended or was cancelled
)

const (
	outcomeSelected  = "selected"
	outcomeCancelled = "cancelled"
)

// openAsk is a permission request that waits for a person.
type openAsk struct {
	fyllo.Permission
	answer func(optionID string)
}

// permission handles session/request_permission (decision 1).
func (a *actor) permission(ask *fyllo.PermissionAsk) {
	t := a.turn
	if t == nil || !t.sent() || t.cancelled {
		ask.Answer("") // R-CHAT-141
		return
	}
	at := now()
	t.updateAt = at
	t.updates++
	a.out.Record(fyllo.TurnRecord{At: at, Line: ask.Raw})
	a.changed(t, t.live.Ask(ask, at), at)
	k := &openAsk{answer: ask.Answer, Permission: fyllo.Permission{
		ID: newID("permission-"), SessionID: a.sid, MessageID: t.live.ID(),
		Title: t.askTitle(ask), Options: ask.Options, RequestedAt: at,
	}}
	if ask.Tool != nil {
		k.ToolCallID = ask.Tool.CallID
	}
	if a.policy() == fyllo.PolicyAllowOnce {
		a.settle(k, allowOnce(ask.Options), byPolicy)
		return
	}
	t.asks = append(t.asks, k)
	a.publish(fyllo.EventPermission, k.Permission)
	a.announce()
}

// askTitle names what is asked for: the title of the folded tool call, since a request may carry none.
func (t *turn) askTitle(ask *fyllo.PermissionAsk) string {
	if ask.Tool == nil {
		return ""
	}
	for i := t.live.Len() - 1; i >= 0; i-- {
		if t.live.PartType(i) != fyllo.PartTool {
			continue
		}
		if tool := t.live.Part(i).Tool; tool.CallID == ask.Tool.CallID {
			return tool.Title
		}
	}
	return ""
}

// allowOnce picks the first option of kind allow_once, "" meaning cancelled; never allow_always (R-AGT-054).
func allowOnce(options []fyllo.PermissionOption) string {
	for _, o := range options {
		if o.Kind == "allow_once" {
			return o.OptionID
		}
	}
	return ""
}

// settle answers a request: durable first, then to the Agent, then to windows (architecture §4).
func (a *actor) settle(k *openAsk, optionID, by string) fyllo.PermissionNote {
	note := fyllo.PermissionNote{
		ID: k.ID, Title: k.Title, Options: k.Options, Outcome: outcomeSelected, OptionID: optionID, By: by, At: now(),
	}
	if optionID == "" {
		note.Outcome = outcomeCancelled
	}
	t := a.turn
	stored := note
	stored.ToolCallID = k.ToolCallID
	a.out.Record(fyllo.TurnRecord{At: note.At, Answer: &stored})
	a.m.Log.Info("permission answered", "session", a.sid, "outcome", note.Outcome, "by", by) // R-CHAT-142
	a.changed(t, t.live.Answered(k.ToolCallID, stored, note.At), note.At)
	if err := a.syncAnswer(t); err != nil {
		k.answer("")
		a.storageFailed(err)
		return note
	}
	k.answer(optionID)
	a.publish(fyllo.EventPermissionClosed, fyllo.PermissionClosed{
		MessageID: k.MessageID, ToolCallID: k.ToolCallID, Note: stored,
	})
	return stored
}

// syncAnswer makes everything recorded so far durable.
func (a *actor) syncAnswer(t *turn) error {
	if err := a.write(t); err != nil {
		return err
	}
	return t.log.Sync()
}

// refuseAsks answers every open request with cancelled, as the protocol demands of a cancel.
func (a *actor) refuseAsks() {
	if a.turn == nil {
		return
	}
	asks := a.turn.asks
	a.turn.asks = nil
	for _, k := range asks {
		a.settle(k, "", byTurn)
	}
}

// answer takes a person's answer. The same request id again gets the first answer.
func (a *actor) answerAsk(r fyllo.AnswerRequest) (fyllo.PermissionNote, error) {
	if note, ok := a.notes[r.RequestID]; ok && r.RequestID != "" {
		return note, nil
	}
	at := -1
	if a.turn != nil {
		at = slices.IndexFunc(a.turn.asks, func(k *openAsk) bool { return k.ID == r.PermissionID })
	}
	if at < 0 {
		return fyllo.PermissionNote{}, fyllo.Errorf(fyllo.CodePermissionGone,
			"answer permission: it was answered already, or its turn has ended")
	}
	k := a.turn.asks[at]
	offered := slices.ContainsFunc(k.Options, func(o fyllo.PermissionOption) bool { return o.OptionID == r.OptionID })
	if r.OptionID != "" && !offered {
		return fyllo.PermissionNote{}, fyllo.Errorf(fyllo.CodeInvalidRequest,
			"answer permission: the Agent does not offer the option %q", r.OptionID)
	}
	a.turn.asks = slices.Delete(a.turn.asks, at, at+1)
	note := a.settle(k, r.OptionID, byUser)
	if r.RequestID != "" {
		a.notes[r.RequestID] = note
	}
	a.announce()
	return note, nil
}
