package spawn

import (
	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/turns"
)

// reconcile settles what a dead Core left (R-SPAWN-093, 094): turns that ran are interrupted, with what they had said;
// Sessions whose process is gone are expired; notifications that were being delivered are never sent again. It may be
// run again after a failure, and what cannot be read hides only itself. It returns the parents that are to be told.
func (e *Engine) reconcile() (waiting []fyllo.SpawnOwner) {
	for _, w := range e.Workspaces.IDs() {
		parents, err := e.Store.Parents(w)
		if err != nil {
			e.Log.Error("look for spawned Sessions", "workspace", w, "err", err)
			continue
		}
		for _, parent := range parents {
			o := fyllo.SpawnOwner{Workspace: w, Parent: parent}
			metas, err := e.Store.List(o)
			if err != nil {
				e.Log.Error("list spawned Sessions", "parent", parent, "err", err)
				continue
			}
			for _, m := range metas {
				if err := e.reconcileOne(o, m); err != nil {
					e.Log.Error("settle a spawned Session", "session", m.SessionID, "err", err)
				}
			}
			if _, t := e.pending(o); t != nil {
				waiting = append(waiting, o)
			}
		}
	}
	return waiting
}

func (e *Engine) reconcileOne(o fyllo.SpawnOwner, meta fyllo.SpawnMeta) error {
	all, err := e.Store.Turns(o, meta.SessionID)
	if err != nil {
		return err
	}
	if unknown(&meta, all) {
		return e.Store.Remove(o, meta.SessionID)
	}
	for i := range all {
		t, changed := &all[i], false
		if n := t.Notification; n != nil && n.State == fyllo.NotificationDispatched {
			n.State, changed = fyllo.NotificationUnknown, true
		}
		if !t.Phase.Final() {
			e.interrupt(o, meta.SessionID, t)
			changed = true
		}
		if changed {
			if err := e.Store.PutTurn(o, meta.SessionID, *t); err != nil {
				return err
			}
		}
	}
	if err := e.Store.DropTurn(o, meta.SessionID); err != nil {
		return err
	}
	before := meta.Status
	settled(&meta, all)
	if reusable(meta.Status) {
		e.expire(o, meta)
		return nil
	}
	if meta.Status == before {
		return nil
	}
	return e.Store.PutMeta(o, meta)
}

// unknown reports whether nobody was told about a Session, since its first turn was not recorded (R-SPAWN-040). One that
// was prepared for a caller has an ACP session.
func unknown(meta *fyllo.SpawnMeta, all []fyllo.SpawnTurn) bool {
	return len(all) == 0 && meta.Status == fyllo.SpawnIsRunning && meta.ACPSessionID == ""
}

// interrupt ends a turn that a dead Core ran, and stores what it had said by the fold that would have made the answer.
func (e *Engine) interrupt(o fyllo.SpawnOwner, id fyllo.SessionID, t *fyllo.SpawnTurn) {
	at := now()
	if h, records, err := e.Store.ReadTurn(o, id); err == nil && h.MessageID == t.MessageID {
		live, _ := turns.Replay(e.Decoder, h, records)
		m := live.Message()
		m.TurnID = t.TurnID
		if !live.Empty() {
			if _, err := e.Store.AppendMessage(o, id, m); err != nil {
				e.Log.Error("store what an interrupted turn had said", "session", id, "err", err)
			}
		}
	}
	if t.Mode == fyllo.SpawnBackground && t.Phase != fyllo.SpawnStarting { // starting was never accepted (R-SPAWN-101)
		t.Notification = &fyllo.SpawnNotification{ID: newID(), State: fyllo.NotificationPending}
	}
	t.Phase, t.SettledAt, t.UpdatedAt, t.ResponseID = fyllo.SpawnInterrupted, &at, at, ""
	t.Error = &fyllo.Failure{Code: fyllo.CodeAppRestarted, Message: "FylloCode ended without warning while the turn ran." + restate}
}

// settled makes the metadata agree with the turns, which were stored first.
func settled(meta *fyllo.SpawnMeta, all []fyllo.SpawnTurn) {
	if len(all) == 0 {
		if meta.Status == fyllo.SpawnIsRunning {
			meta.Status = fyllo.SpawnIdle
		}
		return
	}
	last := &all[len(all)-1]
	meta.LatestTurnID, meta.LatestMode = last.TurnID, last.Mode
	for i := range all {
		if all[i].ResponseID != "" {
			meta.LatestResponseID = all[i].ResponseID
		}
	}
	if meta.Status != fyllo.SpawnIsRunning && meta.Status != fyllo.SpawnIdle {
		return
	}
	meta.Error = last.Error
	switch last.Phase {
	case fyllo.SpawnCompleted:
		meta.Status, meta.Error = fyllo.SpawnIdle, nil
	case fyllo.SpawnExpired:
		meta.Status = fyllo.SpawnIsExpired
	case fyllo.SpawnError:
		meta.Status = fyllo.SpawnFailed
	default:
		meta.Status = fyllo.SpawnIsInterrupted
	}
}
