package workspace_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
)

func TestScopeIsASnapshot_R_WS_070_074_075(t *testing.T) {
	w := newWorld(t, "a", "b", "c")
	id := w.open("a", "b").ID
	scope, err := w.Scope(id)
	if err != nil {
		t.Fatal(err)
	}
	f := w.store.workspaces[id].FolderIDs
	want := fyllo.Scope{
		WorkspaceID: id, WorkspaceKind: fyllo.KindCollection, PrimaryFolderID: f[0],
		Folders: []fyllo.ScopeFolder{
			{FolderID: f[0], FolderName: "a", FolderPath: w.path("a")}, {FolderID: f[1], FolderName: "b", FolderPath: w.path("b")},
		},
		Cwd: w.path("a"), AdditionalDirectories: w.paths("b"),
	}
	if d := cmp.Diff(want, scope); d != "" {
		t.Error(d)
	}
	if err := w.CheckScope(scope); err != nil {
		t.Error(err)
	}
	// A new member changes nothing for a scope that exists.
	meta := w.store.workspaces[id]
	meta.FolderIDs = append(slices.Clone(meta.FolderIDs), w.open("c").PrimaryFolderID)
	w.store.workspaces[id] = meta
	w.restart()
	if err := w.CheckScope(scope); err != nil {
		t.Error(err)
	}
	// What is missing is back: the scope holds again.
	os.Rename(w.path("b"), w.path("away"))
	wantCode(t, w.CheckScope(scope), fyllo.CodeFolderPathMissing)
	os.Rename(w.path("away"), w.path("b"))
	if err := w.CheckScope(scope); err != nil {
		t.Error(err)
	}
}

func TestStaleScope_R_WS_073(t *testing.T) {
	w := newWorld(t, "a", "b", "elsewhere")
	id := w.open("a", "b").ID
	scope, _ := w.Scope(id)
	meta := w.store.workspaces[id]
	stale := func(code fyllo.Code, folder int) {
		t.Helper()
		err := w.CheckScope(scope)
		wantCode(t, err, code)
		if e, ok := errors.AsType[*fyllo.Error](err); ok {
			if d := cmp.Diff(any(scope.Folders[folder]), e.Details); d != "" {
				t.Error(d)
			}
		}
	}
	without := meta
	without.FolderIDs = meta.FolderIDs[:1]
	w.store.workspaces[id] = without
	w.restart()
	stale(fyllo.CodeFolderRemoved, 1)
	w.store.workspaces[id] = meta

	moved := w.store.folders[meta.FolderIDs[0]]
	back := moved
	moved.Path = w.path("elsewhere")
	w.store.folders[moved.ID] = moved
	w.restart()
	stale(fyllo.CodeFolderRelocated, 0) // in order: the first Folder that does not hold is named
	w.store.folders[moved.ID] = back
	w.restart()

	// The same name leads elsewhere: the Agent's directory is another one now.
	os.Remove(w.path("a"))
	w.symlink("elsewhere", "a")
	stale(fyllo.CodeFolderRelocated, 0)
	os.Remove(w.path("a"))
	stale(fyllo.CodeFolderPathMissing, 0)

	scope.WorkspaceID = "unknown"
	wantCode(t, w.CheckScope(scope), fyllo.CodeWorkspaceNotFound)
}

// Two members that have become one directory are not handed to an Agent.
func TestMembersThatCollapsed_R_WS_031_070(t *testing.T) {
	w := newWorld(t, "a", "b")
	id := w.open("a", "b").ID
	os.Remove(w.path("b"))
	w.symlink("a", "b")
	_, err := w.Scope(id)
	wantCode(t, err, fyllo.CodeWorkspacePathDuplicate)
}

func TestComplete(t *testing.T) {
	w := newWorld(t, "alpha", "alps", "beta/one", "beta/.hidden", ".dot")
	os.WriteFile(w.path("alfile"), nil, 0o600)
	w.symlink("beta", "allink")
	w.symlink("nowhere", "albroken")
	t.Setenv("HOME", w.root)
	for prefix, want := range map[string][]string{
		w.root + "/al":         w.paths("allink", "alpha", "alps"),
		w.root + "/":           w.paths("allink", "alpha", "alps", "beta"),
		w.root + "/.":          w.paths(".dot"),
		w.root + "/beta/":      w.paths("beta/one"),
		w.root + "/beta/.h":    w.paths("beta/.hidden"),
		w.root + "/beta":       w.paths("beta"),
		"":                     w.paths("allink", "alpha", "alps", "beta"),
		"~":                    w.paths("allink", "alpha", "alps", "beta"),
		"~/be":                 w.paths("beta"),
		"~other":               {},
		"alp":                  {},
		w.root + "/none/x":     {},
		w.root + "/alfile/":    {},
		w.root + "/alpha\x00/": {},
	} {
		got := w.Complete(prefix)
		if d := cmp.Diff(want, got); d != "" && len(want)+len(got) > 0 || got == nil {
			t.Errorf("%q: %s", strings.TrimPrefix(prefix, w.root), d)
		}
	}
	for i := range 60 {
		os.MkdirAll(filepath.Join(w.root, "many", fmt.Sprintf("d%02d", i)), 0o755)
	}
	if got := w.Complete(w.root + "/many/"); len(got) != 50 || got[49] != w.path("many/d49") {
		t.Errorf("%d completions, the last %v", len(got), got[len(got)-1])
	}
}

func TestOpenExpandsHome(t *testing.T) {
	w := newWorld(t, "a")
	t.Setenv("HOME", w.root)
	got, err := w.Open([]string{"~/a"})
	if err != nil || got.Folders[0].FolderPath != w.path("a") {
		t.Errorf("%+v, %v", got, err)
	}
}
