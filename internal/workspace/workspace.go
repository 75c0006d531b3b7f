// Package workspace is the registry of Folders, which users see as Projects, and of the Workspaces made of them: who
// is who, what a Workspace consists of right now, and whether the scope that a Session was given still holds.
//
// A Folder is one directory, by identity and not by spelling: whatever alias a directory is opened by, it gets the
// same FolderID (R-WS-020). Identity is what the file system says, so symbolic links and, on volumes that do not
// distinguish case, other spellings lead to the same Folder. Containment is judged by walking up real paths and
// comparing identities, besides the comparison of the paths themselves (R-WS-030, 032).
//
// Changes are serialised; each is checked completely before anything is saved. Folders are saved before the
// Workspace that needs them, so that a crash in between leaves an unused Folder and nothing else. What a Workspace
// consists of is resolved anew at each call and never stored (R-WS-074).
//
// A Registry is used by any number of goroutines and starts none, except in Complete.
package workspace

import (
	"cmp"
	"crypto/rand"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"fyllocode.dev/fyllo"
)

// maxMembers is how many Folders a Workspace may have (R-WS-001).
const maxMembers = 16

// Store keeps the metadata. The loads are called once and skip, with a warning, what cannot be read; a save is
// durable when it returns.
type Store interface {
	Folders() ([]fyllo.FolderMeta, error)
	Workspaces() ([]fyllo.WorkspaceMeta, error)
	SaveFolder(m fyllo.FolderMeta) error
	SaveWorkspace(m fyllo.WorkspaceMeta) error
}

// Registry knows all Folders and Workspaces.
type Registry struct {
	store Store
	now   func() time.Time

	changing sync.Mutex // held through every change, so that changes happen one after another (R-WS-021)

	mu         sync.RWMutex // guards the maps; never held during disk work
	folders    map[fyllo.FolderID]fyllo.FolderMeta
	workspaces map[fyllo.WorkspaceID]fyllo.WorkspaceMeta
	invalid    map[fyllo.WorkspaceID]error // Workspaces whose stored metadata breaks a rule
}

// New loads the registry. Metadata that breaks a rule is skipped with a warning (R-WS-011).
func New(store Store, now func() time.Time) (*Registry, error) {
	r := &Registry{
		store: store, now: now,
		folders:    map[fyllo.FolderID]fyllo.FolderMeta{},
		workspaces: map[fyllo.WorkspaceID]fyllo.WorkspaceMeta{},
		invalid:    map[fyllo.WorkspaceID]error{},
	}
	folders, err := store.Folders()
	if err != nil {
		return nil, err
	}
	for _, f := range folders {
		if err := validateFolder(f); err != nil {
			slog.Warn("skip a Folder", "folder", f.ID, "err", err)
			continue
		}
		r.folders[f.ID] = f
	}
	workspaces, err := store.Workspaces()
	if err != nil {
		return nil, err
	}
	for _, w := range workspaces {
		if err := Validate(w); err != nil {
			slog.Warn("skip a Workspace", "workspace", w.ID, "err", err)
			r.invalid[w.ID] = err
			continue
		}
		r.workspaces[w.ID] = w
	}
	return r, nil
}

// Open finds or makes the Workspace of the directories at paths, which are absolute or begin with "~", and marks it
// opened now. One directory is a Project; several are a Workspace with the first as primary. The same set again, in
// any order but with the same primary, is the same Workspace (R-CLI-002, R-WS-040).
//
// Errors: FOLDER_PATH_UNAVAILABLE, WORKSPACE_FOLDER_SHAPE_INVALID, WORKSPACE_MEMBER_PATH_DUPLICATE,
// WORKSPACE_MEMBER_PATH_NESTED, WORKSPACE_DELETED, WORKSPACE_META_INVALID; nothing was saved then.
func (r *Registry) Open(paths []string) (fyllo.Workspace, error) {
	dirs, err := resolveAll(paths)
	if err != nil {
		return fyllo.Workspace{}, err
	}
	if err := checkMembers(dirs); err != nil {
		return fyllo.Workspace{}, err
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	members := make([]fyllo.FolderMeta, len(dirs))
	for i, d := range dirs {
		members[i] = r.folderOf(d)
	}
	meta, err := r.workspaceOf(members)
	if err != nil {
		return fyllo.Workspace{}, err
	}
	return r.save(meta, members)
}

// CreateCollection makes a Workspace of Folders that exist (R-WS-042). name "" becomes the names of its members.
//
// Errors: WORKSPACE_FOLDER_SHAPE_INVALID, WORKSPACE_MEMBER_DUPLICATE, FOLDER_NOT_FOUND, FOLDER_PATH_UNAVAILABLE,
// WORKSPACE_MEMBER_PATH_DUPLICATE, WORKSPACE_MEMBER_PATH_NESTED, WORKSPACE_PRIMARY_FOLDER_INVALID; nothing was saved
// then.
func (r *Registry) CreateCollection(name string, ids []fyllo.FolderID, primary fyllo.FolderID) (fyllo.Workspace, error) {
	r.changing.Lock()
	defer r.changing.Unlock()
	meta := r.newCollection(name, ids, primary)
	if meta.Name == "" {
		meta.Name = r.joinedNames(ids)
	}
	if err := Validate(meta); err != nil {
		return fyllo.Workspace{}, err
	}
	var dirs []directory
	for _, id := range ids {
		f, ok := r.folder(id)
		if !ok {
			return fyllo.Workspace{}, fyllo.Errorf(fyllo.CodeFolderNotFound, "the Workspace cannot be made: one of its Projects is unknown")
		}
		d, err := resolve(f.Path)
		if err != nil {
			return fyllo.Workspace{}, err
		}
		dirs = append(dirs, d)
	}
	if err := checkMembers(dirs); err != nil {
		return fyllo.Workspace{}, err
	}
	return r.save(meta, nil)
}

// save stores the Folders that are new, then the Workspace, marked as opened now.
func (r *Registry) save(meta fyllo.WorkspaceMeta, members []fyllo.FolderMeta) (fyllo.Workspace, error) {
	for _, f := range members {
		if _, known := r.folder(f.ID); known {
			continue
		}
		if err := r.store.SaveFolder(f); err != nil {
			return fyllo.Workspace{}, err
		}
		r.mu.Lock()
		r.folders[f.ID] = f
		r.mu.Unlock()
	}
	meta.LastOpenedAt = r.now().UTC()
	if err := r.saveWorkspace(meta); err != nil {
		return fyllo.Workspace{}, err
	}
	return r.Get(meta.ID)
}

// saveWorkspace is where every Workspace is written, so that none is stored that breaks a rule (R-WS-010).
func (r *Registry) saveWorkspace(meta fyllo.WorkspaceMeta) error {
	if err := Validate(meta); err != nil {
		return err
	}
	if err := r.store.SaveWorkspace(meta); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workspaces[meta.ID] = meta
	return nil
}

// Touch marks a Workspace as opened now.
func (r *Registry) Touch(id fyllo.WorkspaceID) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	meta, err := r.active(id)
	if err != nil {
		return err
	}
	meta.LastOpenedAt = r.now().UTC()
	return r.saveWorkspace(meta)
}

// folderOf returns the Folder that is the directory d, or a new one, not yet saved. A Folder whose path is gone is
// never found (R-WS-023).
func (r *Registry) folderOf(d directory) fyllo.FolderMeta {
	r.mu.RLock()
	all := slices.Collect(maps.Values(r.folders))
	r.mu.RUnlock()
	slices.SortFunc(all, func(a, b fyllo.FolderMeta) int { return cmp.Compare(a.ID, b.ID) })
	if i := slices.IndexFunc(all, func(f fyllo.FolderMeta) bool { return f.Path == d.path }); i >= 0 {
		return all[i]
	}
	for _, f := range all {
		if known, err := resolve(f.Path); err == nil && known.same(d) {
			return f
		}
	}
	return fyllo.FolderMeta{Version: 1, ID: fyllo.FolderID(newID("folder")), Name: filepath.Base(d.path), Path: d.path}
}

// workspaceOf returns the Workspace that consists of members, or a new one, not yet saved.
func (r *Registry) workspaceOf(members []fyllo.FolderMeta) (fyllo.WorkspaceMeta, error) {
	if len(members) == 1 {
		return r.project(members[0])
	}
	ids := make([]fyllo.FolderID, len(members))
	names := make([]string, len(members))
	for i, f := range members {
		ids[i], names[i] = f.ID, filepath.Base(f.Path)
	}
	meta := r.newCollection(strings.Join(names, " + "), ids, ids[0])
	existing, ok := r.collectionOf(ids)
	if !ok {
		return meta, nil
	}
	if existing.IsDeleted {
		return meta, deleted(existing.ID)
	}
	return existing, nil
}

// project returns the Workspace of kind folder that a Folder is.
func (r *Registry) project(f fyllo.FolderMeta) (fyllo.WorkspaceMeta, error) {
	id := fyllo.WorkspaceID(f.ID)
	meta, err := r.active(id)
	if fyllo.CodeOf(err) != fyllo.CodeWorkspaceNotFound {
		return meta, err
	}
	return fyllo.WorkspaceMeta{
		Version: 2, ID: id, Name: f.Name, Kind: fyllo.KindFolder,
		FolderIDs: []fyllo.FolderID{f.ID}, PrimaryFolderID: f.ID, CreatedAt: r.now().UTC(),
	}, nil
}

func (r *Registry) newCollection(name string, ids []fyllo.FolderID, primary fyllo.FolderID) fyllo.WorkspaceMeta {
	return fyllo.WorkspaceMeta{
		Version: 2, ID: fyllo.WorkspaceID(newID("workspace")), Name: name, Kind: fyllo.KindCollection,
		FolderIDs: slices.Clone(ids), PrimaryFolderID: primary, CreatedAt: r.now().UTC(),
	}
}

// collectionOf finds the collection with these members and the first as primary. An active one is preferred to a
// deleted one, an older one to a newer one.
func (r *Registry) collectionOf(ids []fyllo.FolderID) (fyllo.WorkspaceMeta, bool) {
	set := slices.Sorted(slices.Values(ids))
	var found []fyllo.WorkspaceMeta
	r.mu.RLock()
	for _, w := range r.workspaces {
		if w.Kind == fyllo.KindCollection && w.PrimaryFolderID == ids[0] && slices.Equal(slices.Sorted(slices.Values(w.FolderIDs)), set) {
			found = append(found, w)
		}
	}
	r.mu.RUnlock()
	if len(found) == 0 {
		return fyllo.WorkspaceMeta{}, false
	}
	return slices.MinFunc(found, func(a, b fyllo.WorkspaceMeta) int {
		if a.IsDeleted != b.IsDeleted {
			if b.IsDeleted {
				return -1
			}
			return 1
		}
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	}), true
}

func (r *Registry) joinedNames(ids []fyllo.FolderID) string {
	var names []string
	for _, id := range ids {
		f, _ := r.folder(id)
		names = append(names, f.Name)
	}
	return strings.Join(names, " + ")
}

func (r *Registry) folder(id fyllo.FolderID) (fyllo.FolderMeta, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	f, ok := r.folders[id]
	return f, ok
}

// active returns the metadata of a Workspace that may be used.
func (r *Registry) active(id fyllo.WorkspaceID) (fyllo.WorkspaceMeta, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if err := r.invalid[id]; err != nil {
		return fyllo.WorkspaceMeta{}, err
	}
	meta, ok := r.workspaces[id]
	switch {
	case !ok:
		return meta, fyllo.Errorf(fyllo.CodeWorkspaceNotFound, "the Workspace does not exist")
	case meta.IsDeleted:
		return meta, deleted(id)
	}
	return meta, nil
}

// deleted is the error of R-WS-041: a deleted Workspace is not silently revived.
func deleted(id fyllo.WorkspaceID) error {
	e := fyllo.Errorf(fyllo.CodeWorkspaceDeleted, "the Workspace cannot be opened: it is in the recycle bin")
	e.Details = map[string]fyllo.WorkspaceID{"workspaceId": id}
	return e
}

// newID makes an opaque id (R-WS-003); lower case, since it names a directory on any kind of volume.
func newID(prefix string) string { return prefix + "-" + strings.ToLower(rand.Text()) }
