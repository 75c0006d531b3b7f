package fyllo

import "time"

// FolderMeta is one directory identity, stored at workspace-folders/<fid>/meta.json (R-WS-001, FolderMeta v1).
type FolderMeta struct {
	Version int      `json:"version"` // 1
	ID      FolderID `json:"id"`
	Name    string   `json:"name"` // shown; default is the last path segment (R-WS-022)
	Path    string   `json:"path"` // absolute, canonical when it was written
}

// WorkspaceKind tells a single Project from a collection (R-WS-002).
type WorkspaceKind string

// The kinds of Workspace.
const (
	KindFolder     WorkspaceKind = "folder"
	KindCollection WorkspaceKind = "collection"
)

// WorkspaceMeta is stored at workspaces/<wid>/meta.json (WorkspaceMeta v2).
type WorkspaceMeta struct {
	Version         int           `json:"version"` // 2
	ID              WorkspaceID   `json:"id"`
	Name            string        `json:"name"`
	Kind            WorkspaceKind `json:"kind"`
	FolderIDs       []FolderID    `json:"folderIds"` // 1–16, unique, ordered
	PrimaryFolderID FolderID      `json:"primaryFolderId"`
	IsDeleted       bool          `json:"isDeleted"`
	DeletedAt       *time.Time    `json:"deletedAt,omitempty"`
	CleanupState    string        `json:"cleanupState,omitempty"` // restorable, purging or cleanup-failed; deleted only
	CreatedAt       time.Time     `json:"createdAt"`
	LastOpenedAt    time.Time     `json:"lastOpenedAt"`
}

// ScopeFolder is one Project of a Scope.
type ScopeFolder struct {
	FolderID   FolderID `json:"folderId"`
	FolderName string   `json:"folderName"`
	FolderPath string   `json:"folderPath"` // absolute real path
}

// Scope is the snapshot of Workspace members that a Session keeps for life (R-WS-070). Cwd is the primary's
// path; AdditionalDirectories are the other paths in member order.
type Scope struct {
	WorkspaceID           WorkspaceID   `json:"workspaceId"`
	WorkspaceKind         WorkspaceKind `json:"workspaceKind"`
	PrimaryFolderID       FolderID      `json:"primaryFolderId"`
	Folders               []ScopeFolder `json:"folders"`
	Cwd                   string        `json:"cwd"`
	AdditionalDirectories []string      `json:"additionalDirectories"`
}

// WorkspaceFolder is a member as resolved now (R-WS-060).
type WorkspaceFolder struct {
	ScopeFolder
	PathMissing bool `json:"pathMissing"`
}

// Workspace is a resolved Workspace (R-WS-060): what windows show and what a Scope is made from.
type Workspace struct {
	ID              WorkspaceID       `json:"workspaceId"`
	Name            string            `json:"name"`
	Kind            WorkspaceKind     `json:"kind"`
	PrimaryFolderID FolderID          `json:"primaryFolderId"`
	Folders         []WorkspaceFolder `json:"folders"` // member order
	LastOpenedAt    time.Time         `json:"lastOpenedAt"`
}
