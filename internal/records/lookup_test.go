package records_test

import (
	"os"
	"path/filepath"
	"testing"

	"fyllocode.dev/fyllo"
)

// TestOneMessage looks messages up by their id: the newest version of each, whatever stands behind it.
func TestOneMessage(t *testing.T) {
	s, root := newSession(t)
	store := func(m fyllo.Message) {
		t.Helper()
		if _, err := s.AppendMessage(wid, sid, m); err != nil {
			t.Fatal(err)
		}
	}
	want := func(id, text string) {
		t.Helper()
		m, err := s.Message(wid, sid, id)
		if err != nil || m.Parts[0].Text != text {
			t.Fatalf("message %s: %+v, %v; want %q", id, m, err, text)
		}
	}
	missing := func(id string) {
		t.Helper()
		if m, err := s.Message(wid, sid, id); fyllo.CodeOf(err) != fyllo.CodeNotFound {
			t.Fatalf("message %q: %+v, %v; want NOT_FOUND", id, m, err)
		}
	}
	store(text("m1", "one"))
	store(text("m2", "two speaks of m1"))
	newer := text("m1", "one again")
	newer.Rev = 1
	store(newer)
	store(text("m3", "three"))
	want("m0", "first")
	want("m1", "one again") // its newest line stands behind m2
	want("m2", "two speaks of m1")
	want("m3", "three")
	missing("m")
	missing("")
	missing("m4")

	// A damaged version is passed over for the one before it.
	f, err := os.OpenFile(filepath.Join(sessionsDir(root), string(sid)+".messages.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"id":"m1","rev":2,broken` + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	want("m1", "one again")
	if _, err := s.Message(wid, "session-unknown", "m1"); err == nil {
		t.Fatal("a message of a Session that is not there")
	}
}
