package fyllo

// FileChangeKind says what happened to a file within one answer.
type FileChangeKind string

// The kinds of FileChange (R-CHAT-102).
const (
	FileAdded    FileChangeKind = "added"
	FileModified FileChangeKind = "modified"
	FileDeleted  FileChangeKind = "deleted"
)

// FileChange is the net change of one file in one answer, made from the diffs that its calls reported and from
// nothing else (R-CHAT-097).
type FileChange struct {
	Path   string         `json:"path"` // absolute, as first reported
	Change FileChangeKind `json:"change"`
	// Version differs whenever the kind or the texts differ; an open view fetches them again when it changes
	// (R-CHAT-104). The same texts have the same version after a restart.
	Version  string `json:"version"`
	Segments int    `json:"segments"`
	OldSize  int64  `json:"oldSize"` // bytes of all segments
	NewSize  int64  `json:"newSize"`
	// Problem is set when a stored text of this file cannot be read. There are no segments then, Change is what the
	// diffs say without their texts, and nobody can tell whether they cancelled each other out.
	Problem *Failure `json:"problem,omitempty"`
}

// FileChanges are the net changes of one answer, files in the order in which they first appeared (R-CHAT-099).
type FileChanges struct {
	MessageID string       `json:"messageId"`
	Changes   []FileChange `json:"changes"`
}

// FileSegment is one replaced stretch of a file: all of it, or a fragment whose place is not known (R-CHAT-105).
// Nil means that the file did not exist: Old is nil in every segment of an added file, New in every segment of a
// deleted one, and neither in a modified one.
type FileSegment struct {
	Old *string `json:"old,omitempty"`
	New *string `json:"new,omitempty"`
}

// FileText is one net change with its texts.
type FileText struct {
	FileChange
	Texts []FileSegment `json:"texts"`
}
