package records_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
)

func TestTranscriptIsReadAsItLies_R_CHAT_023(t *testing.T) {
	root := t.TempDir()
	s, _ := openStore(t, root)
	if _, err := s.CreateSession(wid, metaOf(sid), text("m0", "hello")); err != nil {
		t.Fatal(err)
	}
	f, size, err := s.OpenMessages(wid, sid)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := s.AppendMessage(wid, sid, text("m1", "later")); err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	if err != nil || !strings.HasPrefix(string(data), `{"id":"m0",`) || !strings.HasSuffix(string(data), "}\n") || strings.Contains(string(data), "later") {
		t.Errorf("read %q, %v", data, err)
	}
}

func TestTranscriptThatIsNoFile_R_CHAT_023(t *testing.T) {
	root := t.TempDir()
	s, _ := openStore(t, root)
	if _, _, err := s.OpenMessages(wid, sid); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no transcript: %v", err)
	}
	if _, _, err := s.OpenMessages(wid, "../session"); fyllo.CodeOf(err) != fyllo.CodeInvalidRequest {
		t.Errorf("no id: %v", err)
	}
	dir := filepath.Join(root, "workspaces", string(wid), "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	makePipe(t, filepath.Join(dir, string(sid)+".messages.jsonl"))
	if _, _, err := s.OpenMessages(wid, sid); err == nil {
		t.Error("a pipe was opened, whose reading would wait")
	}
}
