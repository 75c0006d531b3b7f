package fyllo

import "time"

// SearchMatch says where the words of a search were found, which is also the order of its hits (R-CHAT-020).
type SearchMatch string

// What can match, best first.
const (
	MatchTitle   SearchMatch = "title"
	MatchID      SearchMatch = "id"
	MatchMessage SearchMatch = "message"
)

// SearchLimit is the number of hits that a search gives at most, and by default (R-CHAT-020).
const SearchLimit = 50

// SearchHit is one Session that a search found.
type SearchHit struct {
	SessionID SessionID   `json:"sessionId"`
	Title     string      `json:"title"`
	Match     SearchMatch `json:"match"`
	UpdatedAt time.Time   `json:"updatedAt"`           // of the Session
	MessageID string      `json:"messageId,omitempty"` // of a message hit: the first message that holds the words
	Snippet   string      `json:"snippet,omitempty"`   // of a message hit: what stands around them, one line (R-CHAT-022)
	Mark      SearchMark  `json:"mark"`                // where they stand in the title, the id or the snippet
}

// SearchMark is a place in a text, in UTF-16 units.
type SearchMark struct {
	Start  int `json:"start"`
	Length int `json:"length"`
}

// SearchResult is the answer to a search.
type SearchResult struct {
	Hits []SearchHit `json:"hits"` // in the order of R-CHAT-020
}
