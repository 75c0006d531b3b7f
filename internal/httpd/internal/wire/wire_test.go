package wire

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/stream"
)

// event is one event as a client reads it.
type event struct {
	Seq  uint64          `json:"seq"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

func TestMergedTextIsTheSameText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var entries []stream.Entry
		texts := map[string]string{}
		for i := range rapid.IntRange(0, 30).Draw(t, "n") {
			part := rapid.SampledFrom([]string{"m.0", "m.1"}).Draw(t, "part")
			text := rapid.String().Draw(t, "text")
			texts[part] += text
			entries = append(entries, stream.Entry{Seq: uint64(i + 1), Item: stream.Item{
				Type: "delta", Session: "s", Data: fyllo.Delta{MessageID: "m", PartID: part, Text: text}}})
			if rand.IntN(8) == 0 {
				entries = append(entries, stream.Entry{Seq: uint64(i + 1), Item: stream.Item{Type: "focus", Data: struct{}{}}})
			}
		}
		frame, err := AppendFrame(nil, entries)
		if err != nil {
			t.Fatal(err)
		}
		var events []event
		if err := json.Unmarshal(frame, &events); err != nil {
			t.Fatalf("%q: %v", frame, err)
		}
		got := map[string]string{}
		for i, e := range events {
			if e.Type == "delta" {
				var d fyllo.Delta
				if err := json.Unmarshal(e.Data, &d); err != nil {
					t.Fatal(err)
				}
				got[d.PartID] += d.Text
			}
			if i == len(events)-1 && e.Seq != entries[len(entries)-1].Seq {
				t.Fatalf("the last event is %d, want %d", e.Seq, entries[len(entries)-1].Seq)
			}
		}
		for part, want := range texts {
			if got[part] != strings.ToValidUTF8(want, "\uFFFD") {
				t.Fatalf("%s = %q, want %q", part, got[part], want)
			}
		}
	})
}

func TestDeltaIsEncodedLikeItsGoType(t *testing.T) {
	d := fyllo.Delta{MessageID: "m\"", PartID: "m.0", Index: 3, Kind: fyllo.PartReasoning, Text: "a\n<b>\u2028\x00é"}
	frame, err := AppendFrame(nil, []stream.Entry{{Seq: 7, Item: stream.Item{Type: "delta", Session: "s", Data: d}}})
	if err != nil {
		t.Fatal(err)
	}
	var events []struct {
		Data fyllo.Delta `json:"data"`
	}
	if err := json.Unmarshal(frame, &events); err != nil || events[0].Data != d {
		t.Errorf("%s decodes to %+v, %v", frame, events, err)
	}
	want, _ := json.Marshal(d)
	var a, b map[string]any
	_ = json.Unmarshal(want, &a)
	var raw []event
	_ = json.Unmarshal(frame, &raw)
	_ = json.Unmarshal(raw[0].Data, &b)
	if len(a) != len(b) {
		t.Errorf("fields of %s differ from %s", raw[0].Data, want)
	}
}

func TestEventThatCannotBeEncodedBecomesAReset(t *testing.T) {
	frame, err := AppendFrame(nil, []stream.Entry{
		{Seq: 1, Item: stream.Item{Type: "plan", Data: func() {}}},
		{Seq: 2, Item: stream.Item{Type: "focus"}},
	})
	if err == nil {
		t.Error("no error")
	}
	if want := `[{"seq":1,"type":"reset","data":{}},{"seq":2,"type":"focus","data":{}}]`; string(frame) != want {
		t.Errorf("%s, want %s", frame, want)
	}
}
