package workspace

import (
	"cmp"
	"slices"

	"fyllocode.dev/fyllo"
)

// Get returns a Workspace as it is now: members in their order, those whose directory is gone marked (R-WS-023, 060).
// Errors: WORKSPACE_NOT_FOUND, WORKSPACE_DELETED, WORKSPACE_META_INVALID or the narrower code.
func (r *Registry) Get(id fyllo.WorkspaceID) (fyllo.Workspace, error) {
	meta, err := r.active(id)
	if err != nil {
		return fyllo.Workspace{}, err
	}
	return r.resolved(meta), nil
}

func (r *Registry) resolved(meta fyllo.WorkspaceMeta) fyllo.Workspace {
	w := fyllo.Workspace{
		ID: meta.ID, Name: meta.Name, Kind: meta.Kind, PrimaryFolderID: meta.PrimaryFolderID, LastOpenedAt: meta.LastOpenedAt,
		Folders: make([]fyllo.WorkspaceFolder, len(meta.FolderIDs)),
	}
	for i, id := range meta.FolderIDs {
		f, _ := r.folder(id) // one whose data is unreadable has no path and is missing
		m := fyllo.WorkspaceFolder{ScopeFolder: fyllo.ScopeFolder{FolderID: id, FolderName: f.Name, FolderPath: f.Path}}
		if d, err := resolve(f.Path); err == nil {
			m.FolderPath = d.path
		} else {
			m.PathMissing = true
		}
		w.Folders[i] = m
	}
	return w
}

// Recents returns up to n Workspaces that are not deleted, the one opened last first (R-WS-047).
func (r *Registry) Recents(n int) []fyllo.Workspace {
	metas := r.actives()
	slices.SortFunc(metas, func(a, b fyllo.WorkspaceMeta) int {
		return cmp.Or(b.LastOpenedAt.Compare(a.LastOpenedAt), cmp.Compare(a.ID, b.ID))
	})
	out := []fyllo.Workspace{}
	for _, m := range metas[:min(n, len(metas))] {
		out = append(out, r.resolved(m))
	}
	return out
}

// IDs returns the ids of all Workspaces that are not deleted, in order.
func (r *Registry) IDs() []fyllo.WorkspaceID {
	ids := []fyllo.WorkspaceID{}
	for _, m := range r.actives() {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return ids
}

func (r *Registry) actives() []fyllo.WorkspaceMeta {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var metas []fyllo.WorkspaceMeta
	for _, m := range r.workspaces {
		if !m.IsDeleted {
			metas = append(metas, m)
		}
	}
	return metas
}

// Scope takes the snapshot that a new Session keeps: the available members in their order (R-WS-070). A missing
// secondary member is left out; a missing primary is WORKSPACE_PRIMARY_FOLDER_MISSING (R-WS-061). Members that have
// become one directory or nested since are refused like at their opening.
func (r *Registry) Scope(id fyllo.WorkspaceID) (fyllo.Scope, error) {
	w, err := r.Get(id)
	if err != nil {
		return fyllo.Scope{}, err
	}
	s := fyllo.Scope{
		WorkspaceID: w.ID, WorkspaceKind: w.Kind, PrimaryFolderID: w.PrimaryFolderID,
		Folders: []fyllo.ScopeFolder{}, AdditionalDirectories: []string{},
	}
	var dirs []directory
	for _, f := range w.Folders {
		d, err := resolve(f.FolderPath)
		switch {
		case err == nil && !f.PathMissing:
		case f.FolderID == w.PrimaryFolderID:
			return fyllo.Scope{}, primaryMissing(f)
		default:
			continue
		}
		dirs = append(dirs, d)
		s.Folders = append(s.Folders, f.ScopeFolder)
		if f.FolderID == w.PrimaryFolderID {
			s.Cwd = f.FolderPath
		} else {
			s.AdditionalDirectories = append(s.AdditionalDirectories, f.FolderPath)
		}
	}
	if err := checkMembers(dirs); err != nil {
		return fyllo.Scope{}, err
	}
	return s, nil
}

func primaryMissing(f fyllo.WorkspaceFolder) error {
	e := fyllo.Errorf(fyllo.CodeWorkspacePrimaryGone, "no Agent can work here: the primary project directory %s is missing", f.FolderPath)
	e.Details = f.ScopeFolder
	return e
}

// CheckScope tells whether a Session's snapshot still holds, Folder by Folder in its order (R-WS-073). It is computed
// at each call, so a Folder that is back makes the Session usable again (R-WS-074). Details is the snapshot's Folder.
//
// Errors: SESSION_FOLDER_REMOVED, SESSION_FOLDER_RELOCATED, SESSION_FOLDER_PATH_MISSING, and those of Get.
func (r *Registry) CheckScope(s fyllo.Scope) error {
	meta, err := r.active(s.WorkspaceID)
	if err != nil {
		return err
	}
	for _, sf := range s.Folders {
		if err := r.checkFolder(meta, sf); err != nil {
			err.Details = sf
			return err
		}
	}
	return nil
}

// checkFolder compares one Folder of a snapshot with what is now; nil means that it holds.
func (r *Registry) checkFolder(meta fyllo.WorkspaceMeta, sf fyllo.ScopeFolder) *fyllo.Error {
	f, known := r.folder(sf.FolderID)
	if !known || !slices.Contains(meta.FolderIDs, sf.FolderID) {
		return fyllo.Errorf(fyllo.CodeFolderRemoved, "the Session cannot go on: the Project %s no longer belongs to its Workspace", sf.FolderName)
	}
	now, gone := f.Path, true
	if d, err := resolve(f.Path); err == nil {
		now, gone = d.path, false
	}
	if now != sf.FolderPath {
		return fyllo.Errorf(fyllo.CodeFolderRelocated, "the Session cannot go on: the Project %s has moved from %s to %s", sf.FolderName, sf.FolderPath, now)
	}
	if gone {
		return fyllo.Errorf(fyllo.CodeFolderPathMissing, "the Session cannot go on: the project directory %s is missing", sf.FolderPath)
	}
	return nil
}
