package fyllo

// The words for what happened to a file within one answer (R-CHAT-102).
const (
	FileAdded    = "added"
	FileModified = "modified"
	FileDeleted  = "deleted"
)

// FileChange is the net change of one file in one answer, made from the diffs that its calls reported and from
// nothing else (R-CHAT-097).
type FileChange struct {
	Path   string `json:"path"`   // absolute, as first reported
	Change string `json:"change"` // added, modified or deleted
	// Version differs whenever the texts differ; an open view fetches them again when it changes (R-CHAT-104).
	Version  string `json:"version"`
	Segments int    `json:"segments"`
	OldSize  int64  `json:"oldSize"` // bytes of all segments
	NewSize  int64  `json:"newSize"`
}

// FileChanges are the net changes of one answer, files in the order in which they first appeared (R-CHAT-099).
type FileChanges struct {
	MessageID string       `json:"messageId"`
	Changes   []FileChange `json:"changes"`
}

// FileSegment is one replaced stretch of a file: all of it, or a fragment whose place is not known (R-CHAT-105).
// Nil means that the file did not exist.
type FileSegment struct {
	Old *string `json:"old,omitempty"`
	New *string `json:"new,omitempty"`
}

// FileText is one net change with its texts.
type FileText struct {
	FileChange
	Texts []FileSegment `json:"texts"`
}
