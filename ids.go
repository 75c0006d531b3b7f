package fyllo

import "strings"

// Ids are generated once, opaque, and never reused (R-WS-003). The types keep a FylloCode Session id from being
// taken for the id that the Agent gave to its ACP session.
type (
	// WorkspaceID names a Workspace. For kind folder it equals the FolderID of its only member (R-WS-002).
	WorkspaceID string
	// FolderID names one directory identity, which users see as a Project.
	FolderID string
	// SessionID is the FylloCode id of a Session: "session-" and letters, digits, '-' or '_'.
	SessionID string
	// ACPSessionID is the id an Agent gave to its ACP session; unique only within that Agent.
	ACPSessionID string
	// AgentID names a member of the catalogue; ids of custom Agents begin "custom-" (R-AGT-001).
	AgentID string
	// WindowID names one authenticated browser tab (R-WS-127).
	WindowID string
)

// TourAgent is the id of the Agent built into the binary (decision 20).
const TourAgent AgentID = "tour"

// PathSafe reports whether an id may be used as one path segment: not empty, not "." or "..", and free of
// '/', '\' and NUL (R-WS-003).
func PathSafe(id string) bool {
	return id != "" && id != "." && id != ".." && !strings.ContainsAny(id, "/\\\x00")
}

// Valid reports whether id has the form of a Session id (R-WS-003): ^[a-zA-Z0-9_-]+$, at most 128 bytes.
func (id SessionID) Valid() bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for _, c := range []byte(id) {
		ok := c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !ok {
			return false
		}
	}
	return true
}
