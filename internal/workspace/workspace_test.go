package workspace_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a Store that counts its writes.
type memory struct {
	mu         sync.Mutex
	folders    map[fyllo.FolderID]fyllo.FolderMeta
	workspaces map[fyllo.WorkspaceID]fyllo.WorkspaceMeta
	saves      int
	fail       int // of the n-th save from now
}

func (m *memory) Folders() (out []fyllo.FolderMeta, err error) {
	for _, f := range m.folders {
		out = append(out, f)
	}
	return out, nil
}

func (m *memory) Workspaces() (out []fyllo.WorkspaceMeta, err error) {
	for _, w := range m.workspaces {
		out = append(out, w)
	}
	return out, nil
}

func (m *memory) save(do func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail--; m.fail == 0 {
		return errors.New("disk full")
	}
	m.saves++
	do()
	return nil
}

func (m *memory) SaveFolder(f fyllo.FolderMeta) error {
	return m.save(func() { m.folders[f.ID] = f })
}

func (m *memory) SaveWorkspace(w fyllo.WorkspaceMeta) error {
	return m.save(func() { m.workspaces[w.ID] = w })
}

// world is a registry above a directory with the given subdirectories.
type world struct {
	*workspace.Registry
	t     *testing.T
	store *memory
	root  string
	clock time.Time
}

func newWorld(t *testing.T, dirs ...string) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{t: t, root: root, clock: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	w.store = &memory{folders: map[fyllo.FolderID]fyllo.FolderMeta{}, workspaces: map[fyllo.WorkspaceID]fyllo.WorkspaceMeta{}}
	w.restart()
	return w
}

func (w *world) restart() {
	w.t.Helper()
	var err error
	w.Registry, err = workspace.New(w.store, func() time.Time { w.clock = w.clock.Add(time.Minute); return w.clock })
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) path(name string) string { return filepath.Join(w.root, name) }

func (w *world) paths(names ...string) (out []string) {
	for _, n := range names {
		out = append(out, w.path(n))
	}
	return out
}

func (w *world) open(names ...string) fyllo.Workspace {
	w.t.Helper()
	got, err := w.Open(w.paths(names...))
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

func (w *world) symlink(target, name string) {
	w.t.Helper()
	if err := os.Symlink(w.path(target), w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

func wantCode(t testing.TB, err error, code fyllo.Code) {
	t.Helper()
	if got := fyllo.CodeOf(err); got != code {
		t.Errorf("error %v has code %q, want %q", err, got, code)
	}
}

func TestOneDirectoryIsAProject_R_WS_002_022_040_R_CLI_002(t *testing.T) {
	w := newWorld(t, "a")
	got := w.open("a")
	id := fyllo.FolderID(got.ID)
	want := fyllo.Workspace{
		ID: got.ID, Name: "a", Kind: fyllo.KindFolder, PrimaryFolderID: id, LastOpenedAt: w.clock,
		Folders: []fyllo.WorkspaceFolder{{ScopeFolder: fyllo.ScopeFolder{FolderID: id, FolderName: "a", FolderPath: w.path("a")}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	w.restart()
	again := w.open("a")
	if again.ID != got.ID || !again.LastOpenedAt.After(got.LastOpenedAt) || len(w.store.workspaces) != 1 {
		t.Errorf("opened again: %+v", again)
	}
}

func TestSeveralDirectoriesAreOneWorkspace_R_WS_001_R_CLI_002(t *testing.T) {
	w := newWorld(t, "b", "a", "c")
	got := w.open("b", "a", "c")
	if got.Kind != fyllo.KindCollection || got.Name != "b + a + c" || got.Folders[0].FolderID != got.PrimaryFolderID ||
		got.Folders[0].FolderPath != w.path("b") || got.Folders[2].FolderPath != w.path("c") {
		t.Errorf("%+v", got)
	}
	w.restart()
	if again := w.open("b", "c", "a"); again.ID != got.ID || again.Folders[1].FolderName != "a" {
		t.Errorf("another order gave %+v", again)
	}
	if other := w.open("a", "b", "c"); other.ID == got.ID {
		t.Error("another primary gave the same Workspace")
	}
	if other := w.open("b", "a"); other.ID == got.ID {
		t.Error("another set gave the same Workspace")
	}
	if len(w.store.folders) != 3 {
		t.Errorf("%d Folders, want 3", len(w.store.folders))
	}
}

func TestAliasesAreOneFolder_R_WS_020(t *testing.T) {
	w := newWorld(t, "a/sub", "b")
	w.symlink("a", "link")
	w.symlink("link", "link2")
	want := w.open("a").ID
	for _, alias := range []string{"a/", "a/.", "a/sub/..", "b/../a", "link", "link2", "link2/sub/.."} {
		got, err := w.Open([]string{w.root + "/" + alias})
		if err != nil || got.ID != want || got.Folders[0].FolderPath != w.path("a") {
			t.Errorf("%s gave %+v, %v", alias, got, err)
		}
	}
	if len(w.store.folders) != 1 {
		t.Errorf("Folders %v", w.store.folders)
	}
}

// A Folder whose stored path has become a link is still the directory it leads to.
func TestFolderFollowsItsPath_R_WS_020(t *testing.T) {
	w := newWorld(t, "a")
	id := w.open("a").ID
	if err := os.Rename(w.path("a"), w.path("moved")); err != nil {
		t.Fatal(err)
	}
	w.symlink("moved", "a")
	for _, name := range []string{"a", "moved"} {
		if got := w.open(name); got.ID != id || got.Folders[0].FolderPath != w.path("moved") {
			t.Errorf("%s gave %+v", name, got)
		}
	}
}

func TestConcurrentOpensMakeOneFolder_R_WS_021(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.Registry, _ = workspace.New(w.store, time.Now)
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			names := []string{"a", "b"}[:1+i%2]
			if _, err := w.Open(w.paths(names...)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(w.store.folders) != 2 || len(w.store.workspaces) != 2 {
		t.Errorf("%d Folders, %d Workspaces", len(w.store.folders), len(w.store.workspaces))
	}
}

func TestMissingFolderIsKeptAndNotFound_R_WS_023_060_061(t *testing.T) {
	w := newWorld(t, "a", "b")
	both, project := w.open("a", "b"), w.open("b")
	os.Rename(w.path("b"), w.path("c"))
	got, err := w.Get(both.ID)
	if err != nil || got.Folders[0].PathMissing || !got.Folders[1].PathMissing || got.Folders[1].FolderPath != w.path("b") {
		t.Errorf("%+v, %v", got, err)
	}
	scope, err := w.Scope(both.ID)
	if err != nil || len(scope.Folders) != 1 || scope.Cwd != w.path("a") || len(scope.AdditionalDirectories) != 0 {
		t.Errorf("reduced scope %+v, %v", scope, err)
	}
	_, err = w.Scope(project.ID)
	wantCode(t, err, fyllo.CodeWorkspacePrimaryGone)
	if moved := w.open("c"); moved.ID == project.ID {
		t.Error("a new directory was taken for a missing one")
	}
	os.WriteFile(w.path("b"), nil, 0o600)
	if got, _ := w.Get(project.ID); !got.Folders[0].PathMissing {
		t.Error("a file was taken for the directory")
	}
}

func TestUnavailablePathWritesNothing_R_WS_024(t *testing.T) {
	w := newWorld(t, "a", "locked")
	os.WriteFile(w.path("file"), nil, 0o600)
	w.symlink("nowhere", "dangling")
	bad := []string{w.path("missing"), w.path("file"), w.path("file/x"), w.path("dangling"), "relative", "", "."}
	if os.Getuid() != 0 {
		os.Chmod(w.path("locked"), 0o300)
		bad = append(bad, w.path("locked"))
	}
	for _, path := range bad {
		_, err := w.Open([]string{w.path("a"), path})
		wantCode(t, err, fyllo.CodeFolderPathUnavailable)
	}
	if w.store.saves != 0 {
		t.Errorf("%d writes", w.store.saves)
	}
}

func TestMembersMayNotOverlap_R_WS_030_031_032(t *testing.T) {
	w := newWorld(t, "a/b/c", "a/bc", "d", "x")
	w.symlink("a", "link")
	w.symlink("a/b", "inner")
	for names, code := range map[string]fyllo.Code{
		"a a":       fyllo.CodeWorkspacePathDuplicate,
		"d a link":  fyllo.CodeWorkspacePathDuplicate,
		"a a/b/c":   fyllo.CodeWorkspacePathNested,
		"a/b/c a":   fyllo.CodeWorkspacePathNested,
		"d a inner": fyllo.CodeWorkspacePathNested,
	} {
		_, err := w.Open(w.paths(strings.Fields(names)...))
		wantCode(t, err, code)
	}
	many := slices.Repeat([]string{w.path("a")}, 17)
	_, err := w.Open(many)
	wantCode(t, err, fyllo.CodeWorkspaceShape)
	_, err = w.Open(nil)
	wantCode(t, err, fyllo.CodeWorkspaceShape)
	if w.store.saves != 0 {
		t.Errorf("%d writes: something was saved before everything was checked", w.store.saves)
	}
	w.open("a/b", "a/bc") // siblings whose names begin alike are no nesting
}

func TestCollection_R_WS_042(t *testing.T) {
	w := newWorld(t, "a", "b", "c", "a/in")
	id := func(name string) fyllo.FolderID { return w.open(name).PrimaryFolderID }
	a, b, c, in := id("a"), id("b"), id("c"), id("a/in")
	os.Remove(w.path("c"))
	before := w.store.saves
	ids := func(ids ...fyllo.FolderID) []fyllo.FolderID { return ids }
	many := make([]fyllo.FolderID, 17)
	for i := range many {
		many[i] = fyllo.FolderID(fmt.Sprint("f", i))
	}
	for _, test := range []struct {
		ids     []fyllo.FolderID
		primary fyllo.FolderID
		code    fyllo.Code
	}{
		{nil, a, fyllo.CodeWorkspaceShape},
		{many, many[0], fyllo.CodeWorkspaceShape},
		{ids(a, b, a), a, fyllo.CodeWorkspaceDuplicate},
		{ids(a, "unknown"), a, fyllo.CodeFolderNotFound},
		{ids(a, c), a, fyllo.CodeFolderPathUnavailable},
		{ids(a, in), a, fyllo.CodeWorkspacePathNested},
		{ids(a, b), c, fyllo.CodeWorkspacePrimary},
	} {
		_, err := w.CreateCollection("name", test.ids, test.primary)
		wantCode(t, err, test.code)
	}
	if w.store.saves != before {
		t.Error("something was saved")
	}
	got, err := w.CreateCollection("", ids(a, b), b)
	if err != nil || got.Name != "a + b" || got.PrimaryFolderID != b || got.Folders[0].FolderID != a {
		t.Errorf("%+v, %v", got, err)
	}
	scope, err := w.Scope(got.ID)
	if err != nil || scope.Cwd != w.path("b") || !slices.Equal(scope.AdditionalDirectories, w.paths("a")) {
		t.Errorf("scope %+v, %v", scope, err)
	}
	one, err := w.CreateCollection("alone", ids(a), a)
	if err != nil || one.Kind != fyllo.KindCollection || string(one.ID) == string(a) {
		t.Errorf("a collection with one member: %+v, %v", one, err)
	}
}

func TestDeletedWorkspaceIsNotRevived_R_WS_041(t *testing.T) {
	w := newWorld(t, "a", "b")
	at := time.Now()
	for _, names := range [][]string{{"a"}, {"a", "b"}} {
		id := w.open(names...).ID
		meta := w.store.workspaces[id]
		meta.IsDeleted, meta.DeletedAt, meta.CleanupState = true, &at, "restorable"
		w.store.workspaces[id] = meta
		w.restart()
		saves := w.store.saves
		_, err := w.Open(w.paths(names...))
		wantCode(t, err, fyllo.CodeWorkspaceDeleted)
		e, _ := errors.AsType[*fyllo.Error](err)
		if d := cmp.Diff(map[string]fyllo.WorkspaceID{"workspaceId": id}, e.Details); d != "" {
			t.Error(d)
		}
		_, err = w.Get(id)
		wantCode(t, err, fyllo.CodeWorkspaceDeleted)
		wantCode(t, w.Touch(id), fyllo.CodeWorkspaceDeleted)
		if slices.Contains(w.IDs(), id) || w.store.saves != saves {
			t.Error("it came back")
		}
	}
}

func TestInvalidMetadata_R_WS_010_011(t *testing.T) {
	w := newWorld(t, "a", "b")
	good := w.open("a")
	at := time.Now()
	base := w.store.workspaces[good.ID]
	for i, test := range []struct {
		change func(*fyllo.WorkspaceMeta)
		code   fyllo.Code
	}{
		{func(m *fyllo.WorkspaceMeta) { m.Version = 3 }, fyllo.CodeWorkspaceMetaInvalid},
		{func(m *fyllo.WorkspaceMeta) { m.Name = "" }, fyllo.CodeWorkspaceMetaInvalid},
		{func(m *fyllo.WorkspaceMeta) { m.Kind = "cloud" }, fyllo.CodeWorkspaceMetaInvalid},
		{func(m *fyllo.WorkspaceMeta) { m.DeletedAt = &at }, fyllo.CodeWorkspaceMetaInvalid},
		{func(m *fyllo.WorkspaceMeta) { m.CleanupState = "restorable" }, fyllo.CodeWorkspaceMetaInvalid},
		{func(m *fyllo.WorkspaceMeta) { m.IsDeleted, m.CleanupState = true, "restorable" }, fyllo.CodeWorkspaceMetaInvalid},
		{func(m *fyllo.WorkspaceMeta) { m.IsDeleted, m.DeletedAt, m.CleanupState = true, &at, "lost" }, fyllo.CodeWorkspaceMetaInvalid},
		{func(m *fyllo.WorkspaceMeta) { m.Kind = fyllo.KindFolder }, fyllo.CodeWorkspaceShape},
		{func(m *fyllo.WorkspaceMeta) { m.FolderIDs = nil }, fyllo.CodeWorkspaceShape},
		{func(m *fyllo.WorkspaceMeta) { m.FolderIDs = append(m.FolderIDs, "../x") }, fyllo.CodeWorkspaceShape},
		{func(m *fyllo.WorkspaceMeta) { m.FolderIDs = append(m.FolderIDs, m.FolderIDs[0]) }, fyllo.CodeWorkspaceDuplicate},
		{func(m *fyllo.WorkspaceMeta) { m.PrimaryFolderID = "other" }, fyllo.CodeWorkspacePrimary},
	} {
		m := base
		m.ID, m.Kind, m.FolderIDs = fyllo.WorkspaceID(fmt.Sprint("w", i)), fyllo.KindCollection, slices.Clone(base.FolderIDs)
		test.change(&m)
		wantCode(t, workspace.Validate(m), test.code)
		w.store.workspaces[m.ID] = m
		w.restart()
		_, err := w.Get(m.ID)
		wantCode(t, err, test.code)
	}
	w.store.folders["bad"] = fyllo.FolderMeta{Version: 1, ID: "bad", Name: "x", Path: "relative"}
	w.restart()
	if got := w.IDs(); !slices.Equal(got, []fyllo.WorkspaceID{good.ID}) {
		t.Errorf("Workspaces %v", got)
	}
	_, err := w.Get("unknown")
	wantCode(t, err, fyllo.CodeWorkspaceNotFound)
	delete(w.store.folders, good.PrimaryFolderID)
	w.restart()
	if got, err := w.Get(good.ID); err != nil || !got.Folders[0].PathMissing {
		t.Errorf("a Workspace whose Folder is unreadable: %+v, %v", got, err)
	}
}

func TestFailedSaveLeavesNoWorkspace(t *testing.T) {
	for n := 1; n <= 3; n++ {
		w := newWorld(t, "a", "b")
		w.store.fail = n
		if _, err := w.Open(w.paths("a", "b")); err == nil {
			t.Fatal("no error")
		}
		if len(w.IDs()) != 0 || len(w.store.workspaces) != 0 {
			t.Error("a Workspace exists")
		}
		w.open("a", "b")
		if len(w.store.folders) != 2 {
			t.Errorf("%d Folders", len(w.store.folders))
		}
	}
}

func TestRecents_R_WS_047(t *testing.T) {
	w := newWorld(t, "a", "b", "c")
	a, b, c := w.open("a").ID, w.open("b").ID, w.open("c").ID
	if err := w.Touch(a); err != nil {
		t.Fatal(err)
	}
	w.restart()
	var got []fyllo.WorkspaceID
	for _, r := range w.Recents(2) {
		got = append(got, r.ID)
	}
	if !slices.Equal(got, []fyllo.WorkspaceID{a, c}) {
		t.Errorf("%v, want %v", got, []fyllo.WorkspaceID{a, c, b})
	}
	if n := len(w.Recents(10)); n != 3 {
		t.Errorf("%d recents", n)
	}
	wantCode(t, w.Touch("unknown"), fyllo.CodeWorkspaceNotFound)
}
