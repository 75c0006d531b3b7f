package fyllo

// Limits of what one message can carry besides its text.
const (
	// MaxAttachment is how many bytes one file may have (R-CHAT-044).
	MaxAttachment = 25 << 20
	// MaxAttachments is how many files one message may have.
	MaxAttachments = 64
	// MaxAttachmentBytes is how many bytes the files of one message may have together. Agents get a prompt as one line,
	// and many of them take no longer one than 32 MiB.
	MaxAttachmentBytes = 32 << 20
)

// NewAttachment is a file that a user adds, as the client describes it ahead of its bytes. Nothing in it is trusted.
type NewAttachment struct {
	Name string `json:"name"` // as the user's system names it, for display only
	MIME string `json:"mime,omitempty"`
	Size int64  `json:"size"` // in bytes; exactly so many follow
}

// KeptAttachment is a file that was added to a Session and not sent yet (R-CHAT-043). A prompt names it by its handle.
type KeptAttachment struct {
	Handle string `json:"handle"` // an opaque UUID (R-CHAT-049)
	Name   string `json:"name"`   // fit for display: one line without control or direction characters
	MIME   string `json:"mime"`
	Size   int64  `json:"size"`
	File   string `json:"file"` // as in Attachment
}
