package session

import (
	"slices"

	"fyllocode.dev/fyllo"
)

// Who answered a permission request.
const (
	byUser   = "user"
	byPolicy = "policy"
	byTurn   = "turn"  // its turn ended or was cancelled
	byAgent  = "agent" // the Agent withdrew it
)

// maxAsks is how many requests of one turn may wait for people. No Agent with work to do comes near; one that asks
// and asks must neither fill the memory nor bury the window.
const maxAsks = 256

const (
	outcomeSelected  = "selected"
	outcomeCancelled = "cancelled"
)

// openAsk is a permission request that waits for a person.
type openAsk struct {
	fyllo.Permission
	request string // the Agent's id of it
	answer  func(optionID string)
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
	if len(t.asks) == maxAsks {
		ask.Answer("")
		a.m.Log.Warn("permission refused: too many wait", "session", a.sid, "open", maxAsks)
		a.activity(at)
		return
	}
	a.out.Record(fyllo.TurnRecord{At: at, Line: ask.Raw})
	a.changed(t, t.live.Ask(ask, at), at)
	k := &openAsk{request: ask.Request, answer: ask.Answer, Permission: fyllo.Permission{
		ID: newID("permission-"), SessionID: a.sid, MessageID: t.live.ID(), Options: ask.Options, RequestedAt: at,
	}}
	k.ToolCallID = t.live.CallID(ask)
	k.Title = t.live.ToolTitle(k.ToolCallID) // as folded, since a request may carry none
	if a.policy() == fyllo.PolicyAllowOnce {
		a.settle(k, allowOnce(ask.Options), byPolicy)
		return
	}
	t.asks = append(t.asks, k)
	a.publish(fyllo.EventPermission, k.Permission)
	a.announce()
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

// settle answers a request and returns the note of it.
func (a *actor) settle(k *openAsk, optionID, by string) fyllo.PermissionNote {
	return a.settleAll([]*openAsk{k}, optionID, by)[0]
}

// settleAll answers requests: durable first, then to the Agent, then to windows (architecture §4). However many they
// are, the disk is waited for once.
func (a *actor) settleAll(asks []*openAsk, optionID, by string) []fyllo.PermissionNote {
	t, at := a.turn, now()
	notes := make([]fyllo.PermissionNote, len(asks))
	for i, k := range asks {
		note := fyllo.PermissionNote{
			ID: k.ID, ToolCallID: k.ToolCallID, Title: k.Title, Options: k.Options,
			Outcome: outcomeSelected, OptionID: optionID, By: by, At: at,
		}
		if optionID == "" {
			note.Outcome = outcomeCancelled
		}
		notes[i] = note
		a.out.Record(fyllo.TurnRecord{At: at, Answer: &note})
		a.m.Log.Info("permission answered", "session", a.sid, "outcome", note.Outcome, "by", by) // R-CHAT-142
		a.changed(t, t.live.Answered(k.ToolCallID, note, at), at)
	}
	failure := a.syncAnswer(t)
	if failure != nil {
		optionID = ""
	}
	for i, k := range asks {
		k.answer(optionID)
		if failure == nil {
			a.publish(fyllo.EventPermissionClosed, fyllo.PermissionClosed{
				MessageID: k.MessageID, ToolCallID: k.ToolCallID, Note: notes[i],
			})
		}
	}
	if failure != nil {
		a.storageFailed(failure)
	}
	return notes
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
	if a.turn == nil || len(a.turn.asks) == 0 {
		return
	}
	asks := a.turn.asks
	a.turn.asks = nil
	a.settleAll(asks, "", byTurn)
}

// withdrawn closes a request that the Agent no longer waits for.
func (a *actor) withdrawn(w *fyllo.PermissionWithdrawn) {
	t := a.turn
	if t == nil {
		return // the end of its turn answered it
	}
	var gone, rest []*openAsk
	for _, k := range t.asks {
		if k.request == w.Request {
			gone = append(gone, k)
		} else {
			rest = append(rest, k)
		}
	}
	if len(gone) == 0 {
		return
	}
	t.asks = rest
	a.settleAll(gone, "", byAgent)
	a.announce()
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
