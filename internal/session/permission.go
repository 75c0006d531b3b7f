package session

import (
	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/session/internal/asks"
)

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
	if t.asks.Full() {
		ask.Answer("")
		a.m.Log.Warn("permission refused: too many wait", "session", a.sid, "open", len(t.asks))
		a.activity(at)
		return
	}
	a.out.Record(fyllo.TurnRecord{At: at, Line: ask.Raw})
	a.changed(t, t.live.Ask(ask, at), at)
	call := t.live.CallID(ask)
	k := asks.New(ask, fyllo.Permission{
		ID: newID("permission-"), SessionID: a.sid, MessageID: t.live.ID(), Options: ask.Options, RequestedAt: at,
		ToolCallID: call, Title: t.live.ToolTitle(call), // as folded, since a request may carry none
	})
	if a.policy() == fyllo.PolicyAllowOnce {
		a.settle(k, asks.AllowOnce(ask.Options), asks.Policy)
		return
	}
	t.asks = append(t.asks, k)
	a.publish(fyllo.EventPermission, k.Permission)
	a.announce()
}

// settle answers a request and returns the note of it.
func (a *actor) settle(k *asks.Ask, optionID string, by asks.By) fyllo.PermissionNote {
	return a.settleAll([]*asks.Ask{k}, optionID, by)[0]
}

// settleAll answers requests: durable first, then to the Agent, then to windows (architecture §4). However many they
// are, the disk is waited for once.
func (a *actor) settleAll(open []*asks.Ask, optionID string, by asks.By) []fyllo.PermissionNote {
	t, at := a.turn, now()
	notes := make([]fyllo.PermissionNote, len(open))
	for i, k := range open {
		note := k.Note(optionID, by, at)
		notes[i] = note
		a.out.Record(fyllo.TurnRecord{At: at, Answer: &note})
		a.m.Log.Info("permission answered", "session", a.sid, "outcome", note.Outcome, "by", note.By) // R-CHAT-142
		a.changed(t, t.live.Answered(k.ToolCallID, note, at), at)
	}
	failure := a.syncAnswer(t)
	if failure != nil {
		optionID = ""
	}
	for i, k := range open {
		k.Answer(optionID)
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
	open := a.turn.asks
	a.turn.asks = nil
	a.settleAll(open, "", asks.Turn)
}

// withdrawn closes a request that the Agent no longer waits for.
func (a *actor) withdrawn(w *fyllo.PermissionWithdrawn) {
	t := a.turn
	if t == nil {
		return // the end of its turn answered it
	}
	gone := t.asks.Withdraw(w.Request)
	if len(gone) == 0 {
		return
	}
	a.settleAll(gone, "", asks.Agent)
	a.announce()
}

// answer takes a person's answer. The same request id again gets the first answer.
func (a *actor) answerAsk(r fyllo.AnswerRequest) (fyllo.PermissionNote, error) {
	if note, ok := a.notes[r.RequestID]; ok && r.RequestID != "" {
		return note, nil
	}
	if a.turn == nil {
		return fyllo.PermissionNote{}, asks.Gone()
	}
	k, err := a.turn.asks.Take(r.PermissionID, r.OptionID)
	if err != nil {
		return fyllo.PermissionNote{}, err
	}
	note := a.settle(k, r.OptionID, asks.User)
	if r.RequestID != "" {
		a.notes[r.RequestID] = note
	}
	a.announce()
	return note, nil
}
