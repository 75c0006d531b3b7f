package queue_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/session/internal/queue"
)

// Whatever people do, in whatever order, the queue is what a plain list of ids would be, and earlier states of it, which
// windows may hold, never change (R-CHAT-052).
func TestQueueIsAList_R_CHAT_052(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var model []string
		q := fyllo.Queue{Entries: []fyllo.Queued{}}
		id := rapid.StringMatching(`[a-f]`)
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			before := ids(q)
			old := q
			x := id.Draw(t, "id")
			at := slices.Index(model, x)
			var err error
			switch rapid.SampledFrom([]string{"add", "remove", "move", "now", "hold", "release", "load"}).Draw(t, "op") {
			case "add":
				if at >= 0 {
					continue
				}
				q, err = queue.Add(q, fyllo.Queued{ID: x})
				model, at = append(model, x), len(model)
			case "remove":
				q, _, err = queue.Remove(q, x)
				if at >= 0 {
					model = slices.Delete(slices.Clone(model), at, at+1)
				}
			case "move":
				target := rapid.SampledFrom(append([]string{""}, model...)).Draw(t, "target")
				q, err = queue.Change(q, x, fyllo.QueueChange{Before: &target})
				if at >= 0 && target != x {
					model = slices.Delete(slices.Clone(model), at, at+1)
					to := len(model)
					if target != "" {
						to = slices.Index(model, target)
					}
					model = slices.Insert(model, to, x)
				}
			case "now":
				q, err = queue.Change(q, x, fyllo.QueueChange{Now: true})
				if at >= 0 {
					model = slices.Insert(slices.Delete(slices.Clone(model), at, at+1), 0, x)
				}
			case "hold":
				q, at = queue.Hold(q, fyllo.HeldStopped, nil), 0
				if (q.Held != "") != (len(model) > 0) {
					t.Fatalf("held %q with %d entries", q.Held, len(model))
				}
			case "release":
				q, at = queue.Release(q), 0
			case "load":
				q = queue.Loaded(q, func(s string) bool { return s == x })
				model = slices.DeleteFunc(slices.Clone(model), func(s string) bool { return s == x })
				if at = 0; len(model) > 0 && q.Held == "" {
					t.Fatal("what a restart found would be sent by itself")
				}
			}
			if (err == nil) != (at >= 0) {
				t.Fatalf("error %v for an entry at %d", err, at)
			}
			if ids(q) != strings.Join(model, " ") {
				t.Fatalf("queue %q, want %q", ids(q), model)
			}
			if ids(old) != before {
				t.Fatalf("an earlier state changed from %q to %q", before, ids(old))
			}
			if len(model) == 0 && q.Held != "" {
				t.Fatal("nothing waits and is held")
			}
		}
	})
}

func ids(q fyllo.Queue) string {
	var all []string
	for _, e := range q.Entries {
		all = append(all, e.ID)
	}
	return strings.Join(all, " ")
}
