package spawn_test

import (
	"strings"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/spawn"
)

// Windows are told of what a running child says in steps of 40 ms at least, however many chunks it says it in.
func TestGrowthIsToldInSteps_R_SPAWN_116(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		w.accepted(mum, fyllo.SpawnPrompt{})
		p := agent.prompted(w, 1)
		time.Sleep(time.Second)
		w.growths = nil
		for range 200 {
			agent.send(p, says("word "))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		w.mu.Lock()
		defer w.mu.Unlock()
		if n := len(w.growths); n < 4 || n > 6 {
			t.Errorf("told %d times in 200 ms", n)
		}
		for i := 1; i < len(w.growths); i++ {
			if d := w.growths[i].Sub(w.growths[i-1]); d < 40*time.Millisecond {
				t.Errorf("told again after %v", d)
			}
		}
	})
}

// A view asks for one turn: the others come without what was said in them. What is being said is there before it is
// stored, and once after.
func TestDetailOfOneTurn_R_SPAWN_123(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		id := w.accepted(mum, fyllo.SpawnPrompt{Prompt: "first"})
		p := agent.prompted(w, 1)
		agent.send(p, says("one"))
		agent.finish(p, "end_turn")
		w.settled(mum, id)
		w.accepted(mum, fyllo.SpawnPrompt{SessionID: string(id), Prompt: "second"})
		p = agent.prompted(w, 2)
		agent.send(p, says("two"))

		// told is what was said in each turn of a detail, "-" where it is not told.
		told := func(turn string) string {
			d, err := w.e.DetailOf(t.Context(), mum, id, turn)
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, turn := range d.Turns {
				said := "-"
				for _, m := range turn.Messages {
					said = map[bool]string{true: "", false: "live "}[m.Durable] + m.Parts[0].Text
				}
				all = append(all, turn.Prompt+": "+said)
			}
			return strings.Join(all, ", ")
		}
		first := w.turns(mum, id)[0].TurnID
		w.until("the words have come", func() bool { return told(spawn.LatestTurn) == ": -, second: live two" })
		for turn, want := range map[string]string{first: "first: one, : -", "turn-none": ": -, : -"} {
			if got := told(turn); got != want {
				t.Errorf("%s: %s", turn, got)
			}
		}
		live, err := w.e.DetailOf(t.Context(), mum, id, spawn.LatestTurn)
		if err != nil {
			t.Fatal(err)
		}
		part := live.Turns[1].Messages[1].Parts[0].ID
		for range 2 { // running, settled
			if text, err := w.e.Body(t.Context(), mum, id, fyllo.BodyQuery{PartID: part, Field: "text"}); err != nil || text != "two" {
				t.Errorf("%q %v", text, err)
			}
			if _, err := w.e.Body(t.Context(), dad, id, fyllo.BodyQuery{PartID: part, Field: "text"}); fyllo.CodeOf(err) != fyllo.CodeNotFound {
				t.Errorf("the body of somebody else's child: %v", err)
			}
			agent.finish(p, "end_turn")
			w.settled(mum, id)
		}
		if got := told(spawn.LatestTurn); got != ": -, second: two" {
			t.Error(got)
		}
		for _, q := range []fyllo.BodyQuery{{PartID: part, Field: "input"}, {PartID: part + "9", Field: "text"}, {PartID: "nothing", Field: "text"}} {
			if _, err := w.e.Body(t.Context(), mum, id, q); fyllo.CodeOf(err) != fyllo.CodeNotFound {
				t.Errorf("%+v: %v", q, err)
			}
		}
	})
}
