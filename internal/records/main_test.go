package records_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/records"
)

// Every step of the property test waits for the disk several times, so it tries fewer cases than rapid's default;
// -rapid.checks still overrides that.
func init() { _ = flag.Set("rapid.checks", "20") }

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	wid = fyllo.WorkspaceID("folder-1")
	sid = fyllo.SessionID("session-1")
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// logs collects what a Store reports.
type logs struct{ strings.Builder }

func openStore(t testing.TB, root string) (*records.Store, *logs) {
	t.Helper()
	l := &logs{}
	s, err := records.Open(root, slog.New(slog.NewTextHandler(l, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return s, l
}

func text(id, body string) fyllo.Message {
	return fyllo.Message{
		ID: id, Role: fyllo.RoleUser, CreatedAt: noon, UpdatedAt: noon,
		Parts: []fyllo.Part{{ID: id + ".0", Type: fyllo.PartText, Text: body}},
	}
}

func metaOf(id fyllo.SessionID) fyllo.SessionMeta {
	return fyllo.SessionMeta{
		SessionID: id, AgentID: "tour", Mode: fyllo.ModeFyllo, Title: "title of " + string(id), TurnCount: 1,
		CreatedAt: noon, UpdatedAt: noon,
	}
}

// newSession returns a Store with one Session that holds one message "m0".
func newSession(t testing.TB) (*records.Store, string) {
	t.Helper()
	root := t.TempDir()
	s, _ := openStore(t, root)
	if _, err := s.CreateSession(wid, metaOf(sid), text("m0", "first")); err != nil {
		t.Fatal(err)
	}
	return s, root
}

func sessionsDir(root string) string {
	return filepath.Join(root, "workspaces", string(wid), "sessions")
}

func all(t testing.TB, s *records.Store) fyllo.MessagePage {
	t.Helper()
	page, err := s.Messages(wid, sid, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// texts lists messages as id=text.
func texts(messages []fyllo.Message) []string {
	out := []string{}
	for _, m := range messages {
		out = append(out, fmt.Sprintf("%s=%s", m.ID, m.Parts[0].Text))
	}
	return out
}

func scan(t testing.TB, s *records.Store) map[fyllo.SessionID]bool {
	t.Helper()
	got := map[fyllo.SessionID]bool{}
	err := s.ScanSessions(context.Background(), wid, func(m fyllo.SessionMeta, inFlight bool) { got[m.SessionID] = inFlight })
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func wantCode(t testing.TB, err error, code fyllo.Code) {
	t.Helper()
	if got := fyllo.CodeOf(err); got != code {
		t.Errorf("error %v has code %q, want %q", err, got, code)
	}
}

func mustWrite(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tree lists all paths below root, relative, directories with a slash.
func tree(t testing.TB, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() {
			rel += "/"
		}
		out = append(out, rel)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var bg = context.Background()

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
