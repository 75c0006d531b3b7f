package session_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"fyllocode.dev/fyllo"
	"github.com/google/go-cmp/cmp"
)

const clock = "<fyllo-signal type=\"show.time\">\n{\"label\":\"noon\"}\n</fyllo-signal>"

// taggedParts lists the parts that have tags, with how many.
func taggedParts(m fyllo.Message) map[int]int {
	found := map[int]int{}
	for i, p := range m.Parts {
		if len(p.Tags) > 0 {
			found[i] = len(p.Tags)
		}
	}
	return found
}

// Windows that follow, snapshots, stored messages and the replay after a crash tell the same tags; only the Agent's own text
// has some, and no record holds any.
func TestTagsAreTheSameLiveStoredAndReplayed_R_TAG_001_010_021_022(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first(clock)
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		agent.send(p,
			line(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"<fyllo-signal type=\"show.time\">{\"label\":\"x\"}</fyllo-signal>"}}`),
			text("😀 Now:\n\n"+clock[:20]), text(clock[20:]+"\n"), text("\nor:\n\n"+clock), // the last one ends with its part
			line(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"Agent"}`),
			line(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"<fyllo-signal type=\"show.time\">{\"label\":\"x\"}</fyllo-signal>\n\n"},`+
				`"_meta":{"claudeCode":{"parentToolUseId":"c"}}}`),
			text(clock+"\n\n"+clock+"\nno"), text("\n\n"+clock),
		)
		w.until("the answer is there", func() bool { l := w.detail(s).Live; return l != nil && len(l.Parts) == 5 && taggedParts(*l)[4] > 0 })
		if d := cmp.Diff(map[int]int{1: 2, 4: 1}, taggedParts(*w.detail(s).Live)); d != "" {
			t.Errorf("while it is written\n%s", d)
		}
		agent.finish(p, "end_turn")
		w.idle(s)
		ended := w.copyRoot()
		w.until("it is stored", func() bool { return w.detail(s).Live == nil })
		stored := w.messages(s)[1]
		if d := cmp.Diff(map[int]int{1: 2, 4: 2}, taggedParts(stored)); d != "" {
			t.Errorf("stored\n%s", d)
		}
		if d := cmp.Diff(asJSON(t, stored), asJSON(t, w.followed(stored.ID))); d != "" {
			t.Errorf("a window that follows shows something else\n%s", d)
		}
		if got := taggedParts(w.messages(s)[0]); len(got) > 0 {
			t.Errorf("tags in a message of the user: %v", got)
		}
		err := filepath.WalkDir(w.root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			if bytes.Contains(b, []byte(`"verdict"`)) || bytes.Contains(b, []byte(`"tags"`)) {
				t.Errorf("%s holds tags", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		w.restart()
		if d := cmp.Diff(asJSON(t, stored.Parts), asJSON(t, w.messages(s)[1].Parts)); d != "" {
			t.Errorf("restarted\n%s", d)
		}
		w.end()
		w.root = ended
		w.agents.replace()
		w.start()
		if d := cmp.Diff(asJSON(t, stored.Parts), asJSON(t, w.messages(s)[1].Parts)); d != "" {
			t.Errorf("replayed\n%s", d)
		}
	})
}

// followed is the answer id as a window has it that knows nothing but events.
func (w *world) followed(id string) (m fyllo.Message) {
	at := func(i int) *fyllo.Part {
		for len(m.Parts) <= i {
			m.Parts = append(m.Parts, fyllo.Part{})
		}
		return &m.Parts[i]
	}
	w.events.mu.Lock()
	defer w.events.mu.Unlock()
	live := map[int]int{}
	for _, e := range w.events.events {
		switch d := e.Data.(type) {
		case fyllo.Message:
			if d.ID != id {
				continue
			}
			for i, n := range live {
				if len(d.Parts) <= i || len(d.Parts[i].Tags) < n {
					w.t.Errorf("part %d had %d tags before", i, n)
				}
			}
			m = d
		case fyllo.PartEvent:
			*at(d.Index) = d.Part
		case fyllo.Delta:
			p := at(d.Index)
			p.ID, p.Type = d.PartID, d.Kind
			p.Text += d.Text
		case fyllo.TagsEvent:
			p := at(d.Index)
			if last := d.Tags[len(d.Tags)-1]; last.End > fyllo.UTF16Len(p.Text) {
				w.t.Errorf("a tag of part %d comes before its text", d.Index)
			}
			p.Tags, live[d.Index] = d.Tags, len(d.Tags)
		}
	}
	if len(live) != 2 {
		w.t.Errorf("tags were told live of %v", live)
	}
	return m
}
