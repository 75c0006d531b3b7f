package records_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/journal"
	"fyllocode.dev/fyllo/internal/records"
)

var header = fyllo.TurnHeader{UserMessageID: "m0", MessageID: "m1", StartedAt: noon, ACPSessionID: "acp", Model: "big", Cwd: "/p"}

func turnFile(root string) string { return filepath.Join(sessionsDir(root), string(sid), "turn.jsonl") }

func begin(t testing.TB, s *records.Store) *records.TurnLog {
	t.Helper()
	log, err := s.BeginTurn(wid, sid, header)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func line(text string) fyllo.TurnRecord { return fyllo.TurnRecord{At: noon, Line: []byte(text)} }

func readTurn(t testing.TB, s *records.Store) []fyllo.TurnRecord {
	t.Helper()
	h, recs, err := s.ReadTurn(wid, sid)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(header, h); d != "" {
		t.Error(d)
	}
	return recs
}

// What the Agent sent comes back byte for byte, whatever it was.
func TestTurnComesBackAsItWas(t *testing.T) {
	s, root := newSession(t)
	log := begin(t, s)
	recs := []fyllo.TurnRecord{
		line(`{"jsonrpc":"2.0", "method":"session/update","params":{"text":"é \u00e9 <&>"}}`),
		line(`{"a":1,"a":2}`),
		line("{\"a\":\n1}"),
		line(`[1,2]`),
		line(``),
		line(`not JSON "at" all`),
		{At: noon, Answer: &fyllo.PermissionNote{ID: "p1", Outcome: "selected", OptionID: "ok", By: "user", At: noon}},
		line(`{"big":"` + strings.Repeat("x", 1<<20) + `"}`),
		line(`{"a":3}`),
		{At: noon, End: &fyllo.TurnEnd{StopReason: "end_turn", At: noon}},
	}
	if err := log.Append(recs[:3]); err != nil {
		t.Fatal(err)
	}
	if err := log.Append(recs[3:]); err != nil {
		t.Fatal(err)
	}
	equal := func() {
		t.Helper()
		got := readTurn(t, s)
		if len(got) != len(recs) {
			t.Fatalf("%d records, want %d", len(got), len(recs))
		}
		for i := range recs {
			if string(got[i].Line) != string(recs[i].Line) || !got[i].At.Equal(noon) {
				t.Errorf("record %d: %.80q, want %.80q", i, got[i].Line, recs[i].Line)
			}
			if d := cmp.Diff(recs[i].Answer, got[i].Answer); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(recs[i].End, got[i].End); d != "" {
				t.Error(d)
			}
		}
	}
	equal() // before any sync: a killed Core has lost nothing
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	s, _ = openStore(t, root)
	if inFlight := scan(t, s)[sid]; !inFlight {
		t.Error("the scan does not see the turn")
	}
	equal()
	if log.Append(recs[:1]) == nil {
		t.Error("a closed log takes records")
	}
	for range 2 {
		if err := s.DropTurn(wid, sid); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := s.ReadTurn(wid, sid)
	wantCode(t, err, fyllo.CodeNotFound)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if inFlight := scan(t, s)[sid]; inFlight {
		t.Error("the scan sees a dropped turn")
	}
}

// Cut at any byte, the log gives all whole records before.
func TestTornTurn_R_CHAT_149(t *testing.T) {
	s, root := newSession(t)
	log := begin(t, s)
	log.Append([]fyllo.TurnRecord{line(`{"a":1}`), line(`{"a":2}`)})
	log.Close()
	whole, _ := os.ReadFile(turnFile(root))
	head := strings.IndexByte(string(whole), '\n') + 1
	for cut := head; cut <= len(whole); cut++ {
		mustWrite(t, turnFile(root), string(whole[:cut]))
		recs := readTurn(t, s)
		rest := string(whole[head:cut])
		want := strings.Count(rest, "\n")
		if strings.HasSuffix(rest, "}}") {
			want++ // only the newline is missing
		}
		if len(recs) != want {
			t.Fatalf("cut %d: %d records, want %d", cut, len(recs), want)
		}
	}
	mustWrite(t, turnFile(root), string(whole[:head])+"\x00\x00\n{\"at\":5}\n"+string(whole[head:]))
	s, reported := openStore(t, root)
	if recs := readTurn(t, s); len(recs) != 2 {
		t.Errorf("%d records beside damage", len(recs))
	}
	if !strings.Contains(reported.String(), fmt.Sprintf("offset=%d length=3", head)) {
		t.Errorf("damage was not reported: %s", reported)
	}
	mustWrite(t, turnFile(root), "garbage")
	_, _, err := s.ReadTurn(wid, sid)
	wantCode(t, err, fyllo.CodeStorageDamaged)
	// It does not block the Session, and it is not lost.
	if err := begin(t, s).Remove(); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(turnFile(root) + ".old-1"); string(b) != "garbage" {
		t.Errorf("the old log was not kept: %q", b)
	}
}

func TestRemoveAfterDeleteAndTwice(t *testing.T) {
	s, root := newSession(t)
	log := begin(t, s)
	for range 2 {
		if err := log.Remove(); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(log.Close(), log.Sync()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(turnFile(root)); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Appends are synced behind, together, within 250 ms.
func TestAppendIsSyncedWithin250ms(t *testing.T) {
	s, _ := newSession(t)
	synctest.Test(t, func(t *testing.T) {
		log := begin(t, s)
		defer log.Remove()
		var syncs atomic.Int32
		var fail atomic.Bool
		defer journal.SetFault(func(op journal.Op, _ string) error {
			if op != journal.OpSync {
				return nil
			}
			syncs.Add(1)
			if fail.Load() {
				return errors.New("injected")
			}
			return nil
		})()
		for range 3 {
			log.Append([]fyllo.TurnRecord{line("{}")})
		}
		time.Sleep(250 * time.Millisecond)
		synctest.Wait()
		if n := syncs.Load(); n != 1 {
			t.Errorf("%d syncs after 250 ms, want 1", n)
		}
		time.Sleep(time.Hour)
		if n := syncs.Load(); n != 1 {
			t.Errorf("%d syncs while nothing happened", n-1)
		}
		fail.Store(true)
		log.Append([]fyllo.TurnRecord{line("{}")})
		time.Sleep(250 * time.Millisecond)
		synctest.Wait()
		fail.Store(false)
		wantCode(t, log.Sync(), fyllo.CodeStorageFailed)
		if err := log.Sync(); err != nil {
			t.Error(err)
		}
	})
}

func TestLineOf50MB(t *testing.T) {
	s, _ := newSession(t)
	log := begin(t, s)
	defer log.Remove()
	big := line(`{"x":"` + strings.Repeat("y", 50<<20) + `"}`)
	if err := log.Append([]fyllo.TurnRecord{line("{}"), big, line("{}")}); err != nil {
		t.Fatal(err)
	}
	recs := readTurn(t, s)
	if len(recs) != 3 || string(recs[1].Line) != string(big.Line) {
		t.Errorf("%d records", len(recs))
	}
}
