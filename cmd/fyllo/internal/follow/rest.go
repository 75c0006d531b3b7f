package follow

import (
	"context"
	"slices"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
)

// Rest follows what the Session has delegated, after Follow has returned: until none of it runs and the Agent was told of
// every end, it prints what changes and the turns in which the Agent is told (R-CLI-006). When it ends with an error, telling
// reports whether such a turn was running.
func (t *Turn) Rest(ctx context.Context) (telling bool, err error) {
	r := t.observer("")
	r.held, t.held = t.held, nil
	seen := map[string]bool{t.userMessage: true}
	for {
		until, over, err := r.atRest(ctx)
		if err != nil {
			return false, err
		}
		notices, reset, more, err := r.await(ctx, until, over, t.userMessage)
		if err != nil {
			return false, err
		}
		if !more {
			return false, nil
		}
		for _, id := range notices {
			if seen[id] {
				continue
			}
			seen[id] = true
			if err := r.notice(ctx, id, reset); err != nil {
				return true, err
			}
		}
	}
}

// observer follows another turn of the Session on the same feed, or none.
func (t *Turn) observer(userMessage string) *Turn {
	o := New(t.client, t.feed, t.session, userMessage)
	o.out, o.door, o.floor, o.spawned = t.out, t.door, t.floor, t.spawned
	return o
}

// atRest reports whether nothing runs and nothing is to be told, and up to where the feed then has to be read.
func (t *Turn) atRest(ctx context.Context) (seq uint64, over bool, err error) {
	all, err := t.client.Spawned(ctx, t.session)
	if err != nil {
		return 0, false, err
	}
	if all.Telling || slices.ContainsFunc(all.Spawned, running) {
		return 0, false, nil
	}
	d, err := t.client.Detail(ctx, t.session)
	return d.Seq, err == nil, err
}

func running(s fyllo.SpawnSummary) bool {
	return s.Status == fyllo.SpawnIsRunning || s.Status == fyllo.SpawnIsStarting
}

// await takes one frame and returns the messages that begin turns in which the Agent is told. With over it takes frames up
// to until and returns false when they begin none. After a reset, all such messages behind the message last are returned.
func (t *Turn) await(ctx context.Context, until uint64, over bool, last string) (notices []string, reset, more bool, err error) {
	for {
		fr, ok, err := t.frame(ctx, until, over)
		if err != nil || !ok {
			return nil, false, false, err
		}
		if fr.Type == fyllo.EventReset {
			notices, err := t.missed(ctx, last)
			return notices, true, true, err
		}
		if id := t.hidden(fr); id != "" {
			return []string{id}, false, true, nil
		}
		if err := t.take(ctx, fr); err != nil {
			return nil, false, false, err
		}
		if !over {
			return nil, false, true, nil
		}
	}
}

// frame returns the next frame; with over only up to until.
func (t *Turn) frame(ctx context.Context, until uint64, over bool) (coreapi.Frame, bool, error) {
	switch {
	case t.held != nil:
		fr := *t.held
		t.held = nil
		return fr, true, nil
	case over:
		return t.feed.NextUntil(ctx, until)
	}
	fr, err := t.feed.Next(ctx)
	return fr, err == nil, err
}

// hidden returns the id of the message of a frame that begins a turn in which the Agent is told something: a message of
// the user that shows nothing (R-SPAWN-108).
func (t *Turn) hidden(fr coreapi.Frame) (id string) {
	if fr.Type != fyllo.EventMessage || fr.SessionID != t.session || fr.Seq <= t.floor {
		return ""
	}
	_ = with(fr, func(m fyllo.Message) error { // what cannot be read is told when it is taken
		if isNotice(m) && m.End == nil {
			id = m.ID
		}
		return nil
	})
	return id
}

func isNotice(m fyllo.Message) bool { return m.Role == fyllo.RoleUser && len(m.Parts) == 0 }

// missed finds in the stored messages what the feed could not give.
func (t *Turn) missed(ctx context.Context, last string) (notices []string, err error) {
	page, err := t.client.Messages(ctx, t.session, "", 0)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(page.Messages, func(m fyllo.Message) bool { return m.ID == last })
	for _, m := range page.Messages[at+1:] {
		if isNotice(m) {
			notices = append(notices, m.ID)
		}
	}
	return notices, t.children(ctx, func(s fyllo.SpawnSummary) bool { _, known := t.spawned[s.SessionID]; return known || running(s) })
}

// notice follows the turn that a hidden message began; after a reset, what is known of it comes from snapshots.
func (t *Turn) notice(ctx context.Context, id string, reset bool) error {
	n := t.observer(id)
	n.begun = true
	if reset {
		if err := n.catchUp(ctx); err != nil {
			return err
		}
	}
	end, err := n.Follow(ctx)
	if err != nil {
		return err
	}
	t.floor, t.held = n.floor, n.held
	return t.out.Print(TurnEndLine{Type: "turn_end", Turn: "notification", StopReason: end.StopReason, Error: end.Error})
}

// child prints the new state of one spawned Session; "" is none.
func (t *Turn) child(ctx context.Context, id fyllo.SessionID) error {
	if id == "" {
		return nil
	}
	return t.children(ctx, func(s fyllo.SpawnSummary) bool { return s.SessionID == id })
}

// children prints those spawned Sessions whose state is new.
func (t *Turn) children(ctx context.Context, which func(fyllo.SpawnSummary) bool) error {
	all, err := t.client.Spawned(ctx, t.session)
	if err != nil {
		return err
	}
	for _, s := range all.Spawned {
		line := SpawnedLine{"spawned", s.SessionID, s.AgentID, s.Status, s.CurrentTurnID}
		if !which(s) || t.spawned[s.SessionID] == line {
			continue
		}
		t.spawned[s.SessionID] = line
		if err := t.out.Print(line); err != nil {
			return err
		}
	}
	return nil
}
