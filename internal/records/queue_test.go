package records_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/records"
)

// waiting makes a queue of messages.
func waiting(texts ...string) fyllo.Queue {
	q := fyllo.Queue{Held: fyllo.HeldStopped}
	for i, text := range texts {
		q.Entries = append(q.Entries, fyllo.Queued{ID: fmt.Sprint("q", i), Text: text, CreatedAt: noon})
	}
	return q
}

// queued tells what waits.
func queued(t *testing.T, s *records.Store) string {
	t.Helper()
	q, err := s.Queue(wid, sid)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range q.Entries {
		out = append(out, e.ID+"="+e.Text)
	}
	return strings.Join(out, " ")
}

func TestQueueIsKept_R_CHAT_052(t *testing.T) {
	s, root := newSession(t)
	path := filepath.Join(sessionsDir(root), string(sid), "queue.json")
	if got := queued(t, s); got != "" {
		t.Errorf("at first %q", got)
	}
	if err := s.PutQueue(wid, sid, waiting("one", "two 二\n")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	s, _ = openStore(t, root)
	if got := queued(t, s); got != "q0=one q1=two 二\n" {
		t.Errorf("after a restart %q", got)
	}
	if err := s.PutQueue(wid, sid, fyllo.Queue{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty queue leaves a file: %v", err)
	}
	if err := s.DeleteSession(wid, sid); err != nil {
		t.Fatal(err)
	}
	wantCode(t, s.PutQueue(wid, sid, waiting("late")), fyllo.CodeSessionNotFound)
	_, err := s.Queue(wid, sid)
	wantCode(t, err, fyllo.CodeSessionNotFound)
}

// A file that people or disks have damaged is kept beside, and the Session opens.
func TestDamagedQueueIsKeptBeside_R_CHAT_052(t *testing.T) {
	s, root := newSession(t)
	path := filepath.Join(sessionsDir(root), string(sid), "queue.json")
	mustWrite(t, path, `{"entries":[{"id":"q0","text":"half`)
	if got := queued(t, s); got != "" {
		t.Errorf("read %q", got)
	}
	copies, _ := filepath.Glob(path + "*")
	if len(copies) != 1 || copies[0] == path {
		t.Fatalf("files %q", copies)
	}
	if kept, err := os.ReadFile(copies[0]); err != nil || !strings.Contains(string(kept), "half") {
		t.Errorf("the copy is %q, %v", kept, err)
	}
	if err := s.PutQueue(wid, sid, waiting("new")); err != nil || queued(t, s) != "q0=new" {
		t.Errorf("afterwards: %v", err)
	}
}

// Whatever disk operation fails, what was acknowledged is there, and what was not is there whole or not at all.
func TestQueueAtEveryDiskFault_R_CHAT_052(t *testing.T) {
	for n := 0; ; n++ {
		s, root := newSession(t)
		if err := s.PutQueue(wid, sid, waiting("old")); err != nil {
			t.Fatal(err)
		}
		seen, failed := 0, false
		restore := disk(func(op, _ string) error {
			if seen++; seen <= n {
				return nil
			}
			failed = true
			return errors.New("the disk is gone")
		})
		err := s.PutQueue(wid, sid, waiting("new", "more"))
		var emptied error
		if err == nil {
			emptied = s.PutQueue(wid, sid, fyllo.Queue{})
		}
		restore()
		s, _ = openStore(t, root)
		got := queued(t, s)
		switch {
		case err != nil && got != "q0=old" && got != "q0=new q1=more", err == nil && emptied == nil && got != "", emptied != nil && got != "" && got != "q0=new q1=more":
			t.Errorf("operation %d failed (%v, %v): %q", n, err, emptied, got)
		}
		if !failed {
			break
		}
		if err == nil && emptied == nil {
			t.Errorf("operation %d failed, and nobody was told", n)
		}
	}
}
