package records_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/atomicfile"
	"fyllocode.dev/fyllo/internal/journal"
	"fyllocode.dev/fyllo/internal/records"
)

// disk lets a test act before every disk operation that changes something, one at a time.
func disk(act func(op, path string) error) (restore func()) {
	var mu sync.Mutex // a turn is also synced behind
	before := func(op, path string) error {
		mu.Lock()
		defer mu.Unlock()
		return act(op, path)
	}
	a := atomicfile.SetFault(func(op atomicfile.Op, path string) error { return before(string(op), path) })
	b := journal.SetFault(func(op journal.Op, path string) error { return before(string(op), path) })
	return func() { b(); a() }
}

// acked is what a scenario was told to be durable.
type acked struct {
	created  bool
	messages map[string]string // id → text
	records  int               // of the turn, -1 when it may be gone
	pinned   bool
	began    bool
}

var longText = strings.Repeat("a long output\n", 400)

// withBody is a message with a body that has to be moved out and a picture that has to become a file.
func withBody(id, body string) fyllo.Message {
	m := text(id, body)
	m.Parts = append(m.Parts, fyllo.Part{Type: fyllo.PartTool, Tool: &fyllo.Tool{
		Output: &fyllo.Body{Text: longText}, Media: []fyllo.Attachment{{Data: encoded(pngBytes + id)}},
	}})
	return m
}

// scenario is the life of a Session: created, one turn, its answer stored, the question amended, pinned.
func scenario(s *records.Store, a *acked) {
	a.messages = map[string]string{}
	if _, err := s.CreateSession(wid, metaOf(sid), withBody("m0", "question")); err != nil {
		return
	}
	a.created = true
	a.messages["m0"] = "question"
	log, err := s.BeginTurn(wid, sid, header)
	if err == nil {
		a.began = true
		for range 3 {
			if log.Append([]fyllo.TurnRecord{line(`{"a":1}`), line(`{"a":2}`)}) == nil {
				a.records += 2
			}
		}
		log.Sync()
	}
	if _, err := s.AppendMessage(wid, sid, withBody("m1", "answer")); err == nil {
		a.messages["m1"] = "answer"
	}
	if log != nil {
		a.records = -1
		log.Remove()
	}
	amended := text("m0", "amended")
	amended.Rev = 1
	if _, err := s.AppendMessage(wid, sid, amended); err == nil {
		a.messages["m0"] = "amended"
	}
	if _, err := s.UpdateMeta(wid, sid, func(m *fyllo.SessionMeta) { m.IsPinned = true }); err == nil {
		a.pinned = true
	}
}

// verify opens what a scenario left. strict: nothing is visible that was not acknowledged.
func verify(root string, a acked, strict bool) error {
	s, err := records.Open(root, discard())
	if err != nil {
		return err
	}
	visible := false
	err = s.ScanSessions(bg, wid, func(m fyllo.SessionMeta, _ bool) {
		visible = true
	})
	if err != nil {
		return err
	}
	if !visible {
		if a.created {
			return errors.New("an acknowledged Session is gone")
		}
		left, _ := filepath.Glob(filepath.Join(sessionsDir(root), "*"))
		if len(left) > 0 {
			return fmt.Errorf("remnants: %v", left)
		}
		return nil
	}
	if !a.created && strict {
		return errors.New("a Session is visible whose creation failed")
	}
	if err := verifyMessages(s, a, strict); err != nil {
		return err
	}
	if err := verifyRest(s, a); err != nil {
		return err
	}
	return verifyFiles(s, root)
}

// verifyFiles does what a recovery does, stores the answer again and drops the turn. No file is left then that no line
// names, and none is half written.
func verifyFiles(s *records.Store, root string) error {
	if _, err := s.AppendMessage(wid, sid, withBody("m1", "answer")); err != nil {
		return err
	}
	if err := s.DropTurn(wid, sid); err != nil {
		return err
	}
	lines, err := os.ReadFile(messagesFile(root))
	if err != nil {
		return err
	}
	left, err := os.ReadDir(filesDir(root))
	if err != nil {
		return err
	}
	for _, f := range left {
		if !strings.Contains(string(lines), `"file":"`+f.Name()+`"`) {
			return fmt.Errorf("no line names the file %s", f.Name())
		}
	}
	return nil
}

func verifyMessages(s *records.Store, a acked, strict bool) error {
	if _, err := s.AppendMessage(wid, sid, withBody("after", "after")); err != nil {
		return err
	}
	page, err := s.Messages(wid, sid, "", 0)
	if err != nil || len(page.Damage) > 0 {
		return fmt.Errorf("damage %v, %w", page.Damage, err)
	}
	got := map[string]string{}
	for _, m := range page.Messages {
		got[m.ID] = m.Parts[0].Text
		for _, p := range m.Parts[1:] {
			body, err := s.Body(wid, sid, *p.Tool.Output.Ref)
			if err != nil || string(body) != longText {
				return fmt.Errorf("body of %s: %d bytes, %w", m.ID, len(body), err)
			}
			picture, err := readFile(s, p.Tool.Media[0].File)
			if err != nil || picture != pngBytes+m.ID {
				return fmt.Errorf("picture of %s: %q, %w", m.ID, picture, err)
			}
		}
	}
	if got["after"] != "after" || got["m0"] == "" {
		return fmt.Errorf("messages %v", got)
	}
	delete(got, "after")
	for id, want := range a.messages {
		if got[id] != want && (strict || got[id] == "") {
			return fmt.Errorf("message %s is %q, want %q", id, got[id], want)
		}
	}
	if strict && len(got) != max(1, len(a.messages)) {
		return fmt.Errorf("messages %v, want %v", got, a.messages)
	}
	return nil
}

func verifyRest(s *records.Store, a acked) error {
	meta, err := s.Meta(wid, sid)
	if err != nil || a.pinned && !meta.IsPinned {
		return fmt.Errorf("metadata %+v: %w", meta, err)
	}
	_, recs, err := s.ReadTurn(wid, sid)
	switch {
	case fyllo.CodeOf(err) == fyllo.CodeNotFound:
		if a.began && a.records >= 0 {
			return errors.New("a turn in flight is gone")
		}
	case err != nil:
		return err
	case len(recs) < a.records:
		return fmt.Errorf("%d records of the turn, want %d", len(recs), a.records)
	}
	log, err := s.BeginTurn(wid, sid, header)
	if err != nil {
		return err
	}
	return log.Remove()
}

// Every disk operation of the scenario fails, once or from then on; what was acknowledged is there afterwards, what
// failed is not, and the Session goes on.
func TestEveryFailingDiskOperation_R_CHAT_053_054_R_WS_135(t *testing.T) {
	for _, forGood := range []bool{false, true} {
		for n := 1; ; n++ {
			root := t.TempDir()
			s, _ := openStore(t, root)
			var a acked
			seen, what := 0, ""
			restore := disk(func(op, path string) error {
				if seen++; seen == n || forGood && seen > n {
					if what == "" {
						what = op + " " + filepath.Base(path)
					}
					return errors.New("injected")
				}
				return nil
			})
			scenario(s, &a)
			restore()
			// On a disk that takes nothing back, what failed at its very end may stay.
			if err := verify(root, a, !forGood); err != nil {
				t.Fatalf("operation %d (%s), for good %v: %v", n, what, forGood, err)
			}
			if what == "" {
				if n < 30 {
					t.Fatalf("only %d operations", n-1)
				}
				t.Logf("%d operations", n-1)
				break
			}
		}
	}
}

// Core is killed before every disk operation of the scenario.
func TestKillBeforeEveryDiskOperation_R_CHAT_149(t *testing.T) {
	root := t.TempDir()
	s, _ := openStore(t, root)
	var a acked
	type state struct {
		dir  string
		a    acked
		what string
	}
	var states []state
	restore := disk(func(op, path string) error {
		if op == string(journal.OpSync) && filepath.Base(path) == "turn.jsonl" {
			return nil // may happen at any time, and changes nothing that a copy shows
		}
		dir := filepath.Join(t.TempDir(), "copy")
		if err := copyOfDead(dir, root); err != nil {
			t.Error(err)
		}
		b := a
		b.messages = map[string]string{}
		for k, v := range a.messages {
			b.messages[k] = v
		}
		states = append(states, state{dir, b, op + " " + filepath.Base(path)})
		return nil
	})
	scenario(s, &a)
	restore()
	if !a.created || !a.pinned || len(states) < 30 {
		t.Fatalf("%+v in %d operations", a, len(states))
	}
	for i, st := range states {
		// An operation whose answer was not yet given may have happened.
		if err := verify(st.dir, st.a, false); err != nil {
			t.Errorf("killed before operation %d (%s): %v", i+1, st.what, err)
		}
	}
}

// copyOfDead copies root as another process would find it after ours was killed.
func copyOfDead(dir, root string) error {
	if err := os.CopyFS(dir, os.DirFS(root)); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if base, random, ok := strings.Cut(path, ".tmp-"); ok && err == nil {
			return os.Rename(path, base+".tmp-"+strings.Repeat("0", len(random)))
		}
		return err
	})
}
