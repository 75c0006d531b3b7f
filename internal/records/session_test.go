package records_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
)

func TestSessionSurvivesRestart_R_CHAT_149_R_WS_133(t *testing.T) {
	root := t.TempDir()
	s, _ := openStore(t, root)
	want := usualMeta(sid)
	if _, err := s.CreateSession(wid, want, text("m0", "first")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.UpdateMeta(wid, sid, func(m *fyllo.SessionMeta) { m.IsPinned = true }); err != nil {
		t.Fatal(err)
	}
	want.IsPinned = true
	s, _ = openStore(t, root)
	got, err := s.Meta(wid, sid)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	page := all(t, s)
	if want := []string{"m0=first"}; !slices.Equal(texts(page.Messages), want) || page.Before != "" {
		t.Errorf("page %+v", page)
	}
}

func TestEverythingIsPrivate_R_WS_136(t *testing.T) {
	s, root := newSession(t)
	m := text("m1", "second")
	m.Parts = append(m.Parts, fyllo.Part{Type: fyllo.PartTool, Tool: &fyllo.Tool{Output: &fyllo.Body{Text: strings.Repeat("x", 3000)}}})
	if _, err := s.AppendMessage(wid, sid, m); err != nil {
		t.Fatal(err)
	}
	log, err := s.BeginTurn(wid, sid, fyllo.TurnHeader{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s.SetComposerText(wid, sid, "x")
	s.UpdateSettings(func(*fyllo.Settings) {})
	s.SaveWorkspace(fyllo.WorkspaceMeta{ID: wid})
	s.SaveFolder(fyllo.FolderMeta{ID: "folder-1"})
	paths := tree(t, root)
	if len(paths) < 12 {
		t.Fatalf("only %v", paths)
	}
	for _, path := range paths {
		info, err := os.Stat(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		want := os.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
}

func TestIdsThatNameNoFileAreRefused_R_WS_003(t *testing.T) {
	s, _ := newSession(t)
	for _, bad := range []fyllo.SessionID{"", ".", "..", "a/b", "a.b", "x\x00", "é"} {
		_, err := s.Meta(wid, bad)
		wantCode(t, err, fyllo.CodeInvalidRequest)
		_, err = s.CreateSession(wid, metaOf(bad), text("m", ""))
		wantCode(t, err, fyllo.CodeInvalidRequest)
	}
	for _, bad := range []fyllo.WorkspaceID{"", "..", "a/b", `a\b`} {
		_, err := s.Meta(bad, sid)
		wantCode(t, err, fyllo.CodeInvalidRequest)
		wantCode(t, s.SaveWorkspace(fyllo.WorkspaceMeta{ID: bad}), fyllo.CodeInvalidRequest)
	}
	_, err := s.CreateSession(wid, metaOf(sid), text("m", ""))
	wantCode(t, err, fyllo.CodeInvalidRequest) // ids are never reused
	if got := texts(all(t, s).Messages); len(got) != 1 {
		t.Errorf("the refused creation changed the Session: %v", got)
	}
}

func TestDamagedMetadataHidesNothing_R_WS_132_133(t *testing.T) {
	_, root := newSession(t)
	dir := sessionsDir(root)
	mustWrite(t, filepath.Join(dir, "garbage.json"), "{\"sessionId\":")
	mustWrite(t, filepath.Join(dir, "garbage.messages.jsonl"), "{}\n")
	mustWrite(t, filepath.Join(dir, "empty.json"), "")
	mustWrite(t, filepath.Join(dir, "trailing.json"), `{"sessionId":"other","title":"t","sessionMode":"turbo"}}}garbage`)
	mustWrite(t, filepath.Join(dir, "notes.txt"), "mine")
	s, log := openStore(t, root)
	var modes []fyllo.Mode
	err := s.ScanSessions(context.Background(), wid, func(m fyllo.SessionMeta, _ bool) {
		if m.SessionID == "trailing" {
			modes = append(modes, m.Mode)
		}
	})
	if err != nil || !slices.Equal(modes, []fyllo.Mode{fyllo.ModeFyllo}) {
		t.Errorf("modes %v, %v", modes, err)
	}
	if got := scan(t, s); len(got) != 2 {
		t.Errorf("Sessions %v", got)
	}
	for _, name := range []string{"garbage.json", "empty.json"} {
		if !strings.Contains(log.String(), name) {
			t.Errorf("no warning about %s in %s", name, log)
		}
	}
	_, err = s.Meta(wid, "garbage")
	wantCode(t, err, fyllo.CodeStorageDamaged)
	for _, name := range []string{"garbage.messages.jsonl", "notes.txt"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s was removed: %v", name, err)
		}
	}
}

func TestUnknownMetadataIsKept(t *testing.T) {
	s, root := newSession(t)
	path := filepath.Join(sessionsDir(root), string(sid)+".json")
	mustWrite(t, path, `{"sessionId":"session-1","title":"a","actionStates":{"x":[1,2]},"configOptions":[]}garbage`)
	got, err := s.UpdateMeta(wid, sid, func(m *fyllo.SessionMeta) { m.Title = "<b> & c" })
	if err != nil || got.Title != "<b> & c" {
		t.Fatal(got, err)
	}
	b, _ := os.ReadFile(path)
	for _, want := range []string{`"actionStates":{"x":[1,2]}`, `"title":"<b> & c"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s lacks %s", b, want)
		}
	}
	if strings.Count(string(b), "title") != 1 || strings.Contains(string(b), "garbage") {
		t.Errorf("metadata %s", b)
	}
}

func TestUpdatesAreSerialised_R_WS_130(t *testing.T) {
	s, _ := newSession(t)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if _, err := s.UpdateMeta(wid, sid, func(m *fyllo.SessionMeta) { m.TurnCount++ }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if m, _ := s.Meta(wid, sid); m.TurnCount != 11 {
		t.Errorf("turn count %d", m.TurnCount)
	}
}

func TestDeleteLeavesNothingAndNothingComesBack_R_WS_134(t *testing.T) {
	s, root := newSession(t)
	before := tree(t, root)
	const other = fyllo.SessionID("session-2")
	if _, err := s.CreateSession(wid, metaOf(other), text("m0", "x")); err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(sessionsDir(root), string(other))
	mustWrite(t, base+"/attachments/a.png", "x")
	mustWrite(t, base+".messages.jsonl.torn-1", "x")
	s.SetComposerText(wid, other, "draft")
	log, err := s.BeginTurn(wid, other, fyllo.TurnHeader{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteSession(wid, other); err != nil {
		t.Fatal(err)
	}
	log.Append([]fyllo.TurnRecord{{At: noon, Line: []byte("{}")}})
	log.Close()
	_, err = s.AppendMessage(wid, other, text("m1", "late"))
	wantCode(t, err, fyllo.CodeSessionNotFound)
	_, err = s.UpdateMeta(wid, other, func(*fyllo.SessionMeta) {})
	wantCode(t, err, fyllo.CodeSessionNotFound)
	_, err = s.BeginTurn(wid, other, fyllo.TurnHeader{})
	wantCode(t, err, fyllo.CodeSessionNotFound)
	_, err = s.Messages(wid, other, "", 0)
	wantCode(t, err, fyllo.CodeSessionNotFound)
	wantCode(t, s.SetComposerText(wid, other, "late"), fyllo.CodeSessionNotFound)
	wantCode(t, s.DeleteSession(wid, other), fyllo.CodeSessionNotFound)
	got := slices.DeleteFunc(tree(t, root), func(p string) bool { return strings.HasSuffix(p, "composer.json") })
	if d := cmp.Diff(before, got); d != "" {
		t.Error(d)
	}
	if text := s.ComposerText(wid, other); text != "" {
		t.Errorf("composer text %q", text)
	}
}

func TestRemnantsGoAtTheNextStart_R_CHAT_054(t *testing.T) {
	s, root := newSession(t)
	dir := sessionsDir(root)
	scan(t, s)
	mustWrite(t, filepath.Join(dir, "gone.messages.jsonl"), "{}\n")
	mustWrite(t, filepath.Join(dir, "gone", "attachments", "a.png"), "x")
	mustWrite(t, filepath.Join(dir, ".session-1.json.tmp-0123456789-1"), "x")
	mustWrite(t, filepath.Join(dir, "foreign", "thesis.doc"), "x")
	scan(t, s)
	if _, err := os.Stat(filepath.Join(dir, "gone.messages.jsonl")); err != nil {
		t.Fatal("a later scan of the same run removed what may be under construction")
	}
	s, _ = openStore(t, root)
	scan(t, s)
	want := []string{"foreign/", "foreign/thesis.doc", "session-1.json", "session-1.messages.jsonl"}
	if d := cmp.Diff(want, tree(t, dir)); d != "" {
		t.Error(d)
	}
	if len(all(t, s).Messages) != 1 {
		t.Error("the Session lost its message")
	}
}

func TestScanStopsWithItsContext(t *testing.T) {
	s, _ := newSession(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := s.ScanSessions(ctx, wid, func(fyllo.SessionMeta, bool) { t.Error("called") })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := s.ScanSessions(context.Background(), "unknown", func(fyllo.SessionMeta, bool) {}); err != nil {
		t.Error(err)
	}
}

func TestSettings_R_AGT_122(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "settings.json")
	s, _ := openStore(t, root)
	if got := s.Settings(); got.Theme != "system" || got.DefaultPermissionPolicy != fyllo.PolicyAsk {
		t.Errorf("defaults %+v", got)
	}
	mustWrite(t, path, `{"theme":"dark","railCollapsed":"yes","hideTour":true,"future":{"a":1}}`)
	s, log := openStore(t, root)
	if got := s.Settings(); got.Theme != "dark" || !got.HideTour || got.RailCollapsed {
		t.Errorf("a value of the wrong type spoiled the rest: %+v", got)
	}
	if !strings.Contains(log.String(), "settings.json") {
		t.Error("no warning")
	}
	if _, err := s.UpdateSettings(func(v *fyllo.Settings) { v.LastAgent = "tour" }); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(path)
	if !strings.Contains(string(b), `"future":{"a":1}`) {
		t.Errorf("an unknown key was lost: %s", b)
	}
	mustWrite(t, path, `{"theme":"purple","defaultPermissionPolicy":"always"}`)
	s, _ = openStore(t, root)
	if got := s.Settings(); got.Theme != "system" || got.DefaultPermissionPolicy != fyllo.PolicyAsk {
		t.Errorf("a value that means nothing was taken: %+v", got)
	}
	mustWrite(t, path, `theme = dark`)
	s, _ = openStore(t, root)
	if _, err := s.UpdateSettings(func(v *fyllo.Settings) { v.Theme = "light" }); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path + ".damaged-1"); string(b) != `theme = dark` {
		t.Errorf("the damaged file was not kept: %q", b)
	}
	s, _ = openStore(t, root)
	if got := s.Settings(); got.Theme != "light" {
		t.Errorf("settings %+v", got)
	}
}

func TestComposerTexts(t *testing.T) {
	s, root := newSession(t)
	for id, text := range map[fyllo.SessionID]string{"": "draft", sid: "reply"} {
		if err := s.SetComposerText(wid, id, text); err != nil {
			t.Fatal(err)
		}
	}
	s, _ = openStore(t, root)
	if s.ComposerText(wid, "") != "draft" || s.ComposerText(wid, sid) != "reply" || s.ComposerText("w2", "") != "" {
		t.Error("texts were lost")
	}
	path := filepath.Join(root, "workspaces", string(wid), "composer.json")
	mustWrite(t, path, "garbage")
	if s.ComposerText(wid, "") != "" {
		t.Error("garbage gave a text")
	}
	if err := s.SetComposerText(wid, "", "new"); err != nil || s.ComposerText(wid, "") != "new" {
		t.Error(err)
	}
	if b, _ := os.ReadFile(path + ".damaged-1"); string(b) != "garbage" {
		t.Error("the damaged file was not kept")
	}
	if err := s.SetComposerText(wid, "", ""); err != nil || s.ComposerText(wid, "") != "" {
		t.Error(err)
	}
}

func TestWorkspacesAndFolders_R_WS_011(t *testing.T) {
	root := t.TempDir()
	s, _ := openStore(t, root)
	f := fyllo.FolderMeta{Version: 1, ID: "f1", Name: "n", Path: "/p"}
	w := fyllo.WorkspaceMeta{Version: 2, ID: "f1", Name: "n", Kind: fyllo.KindFolder, FolderIDs: []fyllo.FolderID{"f1"}, PrimaryFolderID: "f1", CreatedAt: noon, LastOpenedAt: noon}
	if err := s.SaveFolder(f); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveWorkspace(w); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, filepath.Join(root, "workspaces", "w2", "meta.json"), "{")
	mustWrite(t, filepath.Join(root, "workspaces", "w3", "meta.json"), `{"id":"w4"}`)
	mustWrite(t, filepath.Join(root, "workspaces", "w5", "composer.json"), `{}`)
	s, log := openStore(t, root)
	folders, err := s.Folders()
	if d := cmp.Diff([]fyllo.FolderMeta{f}, folders); d != "" || err != nil {
		t.Error(d, err)
	}
	workspaces, err := s.Workspaces()
	if d := cmp.Diff([]fyllo.WorkspaceMeta{w}, workspaces); d != "" || err != nil {
		t.Error(d, err)
	}
	if !strings.Contains(log.String(), "w2/meta.json") || !strings.Contains(log.String(), "w3/meta.json") || strings.Contains(log.String(), "w5") {
		t.Errorf("warnings: %s", log)
	}
}
