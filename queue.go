package fyllo

import (
	"slices"
	"time"
)

// QueueMax is how many messages may wait in one Session.
const QueueMax = 32

// Queued is a message that waits for the end of the running turn (R-CHAT-052).
type Queued struct {
	ID          string           `json:"id"` // made by the client; becomes the request id of the message
	Text        string           `json:"text"`
	Attachments []KeptAttachment `json:"attachments,omitempty"`
	CreatedAt   time.Time        `json:"createdAt"`
}

// HeldReason says why a queue waits for its user.
type HeldReason string

// The reasons: the user stopped the turn, the turn or a queued message failed, or Core began anew.
const (
	HeldStopped   HeldReason = "stopped"
	HeldFailed    HeldReason = "failed"
	HeldRestarted HeldReason = "restarted"
)

// Queue is what waits in a Session, in the order in which it will be sent. While it is held nothing is sent by itself.
type Queue struct {
	Entries []Queued   `json:"entries"`
	Held    HeldReason `json:"held,omitempty"` // "" = the first entry goes as soon as no turn runs
	Failure *Failure   `json:"failure,omitempty"`
}

// Holds reports whether a file waits with a message of the queue, by its handle. It is no longer the composer's.
func (q Queue) Holds(handle string) bool {
	return slices.ContainsFunc(q.Entries, func(e Queued) bool {
		return slices.ContainsFunc(e.Attachments, func(k KeptAttachment) bool { return k.Handle == handle })
	})
}

// QueueRequest adds a message to the queue.
type QueueRequest struct {
	ID          string   `json:"id" minLength:"1" maxLength:"128"`
	Text        string   `json:"text"`
	Attachments []string `json:"attachments,omitempty"` // handles, as in PromptRequest
}

// QueueChange edits one entry; nil means no change. Before names the entry in front of which it moves, "" the end.
// Now sends it next: the running turn is stopped, and the queue goes on.
type QueueChange struct {
	Text   *string `json:"text,omitempty"`
	Before *string `json:"before,omitempty"`
	Now    bool    `json:"now,omitempty"`
}
