package session_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
)

// call makes an update of a tool call with diffs, given as [path, old, new] with old nil for a new file.
func call(id, status string, diffs ...[3]any) fyllo.AgentEvent {
	content := []map[string]any{}
	for _, d := range diffs {
		content = append(content, map[string]any{"type": "diff", "path": d[0], "oldText": d[1], "newText": d[2]})
	}
	update, err := json.Marshal(map[string]any{
		"sessionUpdate": "tool_call", "toolCallId": id, "title": "Edit", "kind": "edit", "status": status, "content": content,
	})
	if err != nil {
		panic(err)
	}
	return line(string(update))
}

func (w *world) changes(s fyllo.SessionID, message string) fyllo.FileChanges {
	w.t.Helper()
	c, err := w.m.Changes(w.t.Context(), wid, s, message)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *world) fileText(s fyllo.SessionID, message, path string) fyllo.FileText {
	w.t.Helper()
	f, err := w.m.FileText(w.t.Context(), wid, s, message, path)
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// names lists changes as "added a.txt, deleted b.txt".
func names(c fyllo.FileChanges) string {
	var out []string
	for _, f := range c.Changes {
		out = append(out, string(f.Change)+" "+filepath.Base(f.Path))
	}
	return strings.Join(out, ", ")
}

// answerID waits for content of the running turn and returns the id of its message.
func (w *world) answerID(s fyllo.SessionID) string {
	w.t.Helper()
	w.until("the answer has content", func() bool { return w.detail(s).Live != nil })
	return w.detail(s).Live.ID
}

// TestChangesOfAnAnswer_R_CHAT_097_098 asks for the changes while the turn runs, when it has ended, when its answer is
// stored, and after a restart. Only the unfinished call makes a difference: it counts as long as the message streams.
func TestChangesOfAnAnswer_R_CHAT_097_098(t *testing.T) {
	w := newWorld(t)
	s := w.first("change files")
	agent := w.agents.now()
	p := agent.prompted(w, 1)
	long := strings.Repeat("a long line\n", 1000)
	agent.send(p,
		call("1", "completed", [3]any{"new.txt", nil, "new"}, [3]any{"/else/long.txt", long, long + "more\n"}),
		call("2", "failed", [3]any{"failed.txt", "a", "b"}),
		call("3", "in_progress", [3]any{"open.txt", "a", "b"}),
		call("4", "completed", [3]any{"new.txt", "new", "newer"}),
	)
	id := w.answerID(s)
	w.until("all calls are there", func() bool { return names(w.changes(s, id)) == "added new.txt, modified long.txt, modified open.txt" })
	if got := w.changes(s, id).Changes[0].Path; got != filepath.Join(w.spaces.dir, "new.txt") {
		t.Errorf("a relative path became %s", got)
	}
	streaming := w.changes(s, id)

	agent.finish(p, "end_turn")
	w.idle(s)
	ended := w.changes(s, id)
	want := fyllo.FileChanges{MessageID: id, Changes: streaming.Changes[:2]}
	if d := cmp.Diff(want, ended); d != "" {
		t.Errorf("after the end (-want +got):\n%s", d)
	}
	texts := []fyllo.FileText{w.fileText(s, id, streaming.Changes[0].Path), w.fileText(s, id, "/else/../else/long.txt")}
	if texts[1].Texts[0].New == nil || *texts[1].Texts[0].New != long+"more\n" || texts[1].NewSize != int64(len(long)+5) {
		t.Errorf("the long text is not whole: %d bytes", texts[1].NewSize)
	}
	check := func(when string) {
		t.Helper()
		if d := cmp.Diff(ended, w.changes(s, id)); d != "" {
			t.Errorf("%s (-want +got):\n%s", when, d)
		}
		for _, text := range texts {
			if d := cmp.Diff(text, w.fileText(s, id, text.Path)); d != "" {
				t.Errorf("%s (-want +got):\n%s", when, d)
			}
		}
	}
	w.until("the answer is stored", func() bool { return w.detail(s).Live == nil })
	check("stored")
	w.restart()
	check("after a restart")
	w.prompt(s, "another message changes nothing about this one")
	check("with another turn")
}

// TestChangesThatAreNotThere wants a clear answer, and never one of another Session.
func TestChangesThatAreNotThere(t *testing.T) {
	w := newWorld(t)
	s := w.first("change files")
	agent := w.agents.now()
	p := agent.prompted(w, 1)
	agent.send(p, call("1", "completed", [3]any{"/p/a.txt", "a", "b"}, [3]any{"/p/b.txt", "a", "b"}, [3]any{"/p/b.txt", "b", "a"}))
	agent.finish(p, "end_turn")
	w.idle(s)
	id := w.messages(s)[1].ID
	other := w.first("another Session")
	for _, ask := range []struct {
		s             fyllo.SessionID
		message, path string
		code          fyllo.Code
	}{
		{s, id, "/p/b.txt", fyllo.CodeNotFound}, // what the answer cancelled out
		{s, id, "/p/c.txt", fyllo.CodeNotFound},
		{s, "msg-unknown", "/p/a.txt", fyllo.CodeNotFound},
		{other, id, "/p/a.txt", fyllo.CodeNotFound},
		{"session-unknown", id, "/p/a.txt", fyllo.CodeSessionNotFound},
	} {
		if f, err := w.m.FileText(t.Context(), wid, ask.s, ask.message, ask.path); fyllo.CodeOf(err) != ask.code {
			t.Errorf("%+v: %+v, %v", ask, f, err)
		}
		if ask.message == id && ask.s == s {
			continue
		}
		if c, err := w.m.Changes(t.Context(), wid, ask.s, ask.message); fyllo.CodeOf(err) != ask.code {
			t.Errorf("%+v: %+v, %v", ask, c, err)
		}
	}
	user := w.messages(s)[0].ID
	if c := w.changes(s, user); c.Changes == nil || len(c.Changes) != 0 {
		t.Errorf("a user message: %+v", c)
	}
}

// TestADamagedTextHidesNoOtherFile_R_CHAT_097 breaks the stored text of one diff. Its file is listed with the reason,
// and all others as before.
func TestADamagedTextHidesNoOtherFile_R_CHAT_097(t *testing.T) {
	w := newWorld(t)
	s := w.first("change files")
	agent := w.agents.now()
	p := agent.prompted(w, 1)
	long := func(word string) string { return strings.Repeat(word+" ", 1000) }
	agent.send(p, call("1", "completed",
		[3]any{"/p/a.txt", "a", "b"}, [3]any{"/p/broken.txt", "old", long("breakable")}, [3]any{"/p/z.txt", long("x"), long("y")}))
	agent.finish(p, "end_turn")
	w.idle(s)
	id := w.messages(s)[1].ID
	w.until("the answer is stored", func() bool { return w.detail(s).Live == nil })
	before := w.changes(s, id)

	path := filepath.Join(w.root, "workspaces", string(wid), "sessions", string(s), "bodies.jsonl")
	stored, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := bytes.Replace(stored, []byte(`"breakable`), []byte(`xbreakable`), 1)
	if err := os.WriteFile(path, broken, 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(code fyllo.Code) {
		t.Helper()
		after := w.changes(s, id)
		if names(after) != names(before) {
			t.Fatalf("changes %s, want %s", names(after), names(before))
		}
		f := after.Changes[1]
		if f.Problem == nil || f.Problem.Code != code || f.Segments != 0 {
			t.Errorf("the broken file: %+v", f)
		}
		text := w.fileText(s, id, "/p/broken.txt")
		if text.Problem == nil || text.Texts == nil || len(text.Texts) != 0 {
			t.Errorf("its text: %+v", text)
		}
	}
	check(fyllo.CodeStorageDamaged)
	if d := cmp.Diff(before.Changes[2], w.changes(s, id).Changes[2]); d != "" {
		t.Errorf("the file behind it: %s", d)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	check(fyllo.CodeNotFound)
}
