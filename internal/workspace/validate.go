package workspace

import (
	"errors"
	"path/filepath"
	"slices"

	"fyllocode.dev/fyllo"
)

// Validate checks the rules of R-WS-001, 002 and 010. Errors: WORKSPACE_FOLDER_SHAPE_INVALID,
// WORKSPACE_MEMBER_DUPLICATE, WORKSPACE_PRIMARY_FOLDER_INVALID, and WORKSPACE_META_INVALID for everything else.
func Validate(m fyllo.WorkspaceMeta) error {
	switch {
	case m.Version != 2:
		return fyllo.Errorf(fyllo.CodeWorkspaceMetaInvalid, "the Workspace cannot be used: its data has version %d, not 2", m.Version)
	case !fyllo.PathSafe(string(m.ID)) || m.Name == "":
		return fyllo.Errorf(fyllo.CodeWorkspaceMetaInvalid, "the Workspace cannot be used: its data has no id or no name")
	}
	if err := validateMembers(m); err != nil {
		return err
	}
	return validateDeletion(m)
}

func validateMembers(m fyllo.WorkspaceMeta) error {
	shape := func(why string) error {
		return fyllo.Errorf(fyllo.CodeWorkspaceShape, "the Workspace cannot be used: %s", why)
	}
	if n := len(m.FolderIDs); n < 1 || n > maxMembers {
		return shape("it needs 1 to 16 Projects")
	}
	for i, id := range m.FolderIDs {
		if !fyllo.PathSafe(string(id)) {
			return shape("a Project has no valid id")
		}
		if slices.Contains(m.FolderIDs[:i], id) {
			return fyllo.Errorf(fyllo.CodeWorkspaceDuplicate, "the Workspace cannot be used: a Project is in it twice")
		}
	}
	if !slices.Contains(m.FolderIDs, m.PrimaryFolderID) {
		return fyllo.Errorf(fyllo.CodeWorkspacePrimary, "the Workspace cannot be used: its primary Project is not one of its Projects")
	}
	switch m.Kind {
	case fyllo.KindCollection:
	case fyllo.KindFolder:
		if len(m.FolderIDs) != 1 || string(m.FolderIDs[0]) != string(m.ID) {
			return shape("a Project consists of itself alone")
		}
	default:
		return fyllo.Errorf(fyllo.CodeWorkspaceMetaInvalid, "the Workspace cannot be used: its kind %q is unknown", m.Kind)
	}
	return nil
}

func validateDeletion(m fyllo.WorkspaceMeta) error {
	states := []string{"restorable", "purging", "cleanup-failed"}
	ok := m.DeletedAt == nil && m.CleanupState == ""
	if m.IsDeleted {
		ok = m.DeletedAt != nil && slices.Contains(states, m.CleanupState)
	}
	if !ok {
		return fyllo.Errorf(fyllo.CodeWorkspaceMetaInvalid, "the Workspace cannot be used: its data contradicts itself about its deletion")
	}
	return nil
}

// validateFolder checks what the registry needs of a Folder.
func validateFolder(f fyllo.FolderMeta) error {
	switch {
	case f.Version != 1:
		return errors.New("unknown version")
	case !fyllo.PathSafe(string(f.ID)) || f.Name == "":
		return errors.New("no id or no name")
	case !filepath.IsAbs(f.Path):
		return errors.New("the path is not absolute")
	}
	return nil
}
