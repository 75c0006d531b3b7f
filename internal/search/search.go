package search

import (
	"context"
	"io"

	"fyllocode.dev/fyllo"
)

// Sessions knows the Sessions of a Workspace.
type Sessions interface {
	// Rows returns all of them in list order: updatedAt descending, ties by id. The slice is the caller's.
	Rows(ctx context.Context, w fyllo.WorkspaceID) ([]fyllo.SessionSummary, error)
}

// Transcripts opens message files.
type Transcripts interface {
	// OpenMessages opens the file with the messages of a Session, one line of JSON each, and returns its size.
	OpenMessages(w fyllo.WorkspaceID, s fyllo.SessionID) (Transcript, int64, error)
}

// Transcript is an open message file.
type Transcript interface {
	io.ReaderAt
	io.Closer
}

// Search finds Sessions. Its methods may be called from any goroutine.
type Search struct {
	sessions    Sessions
	transcripts Transcripts
	turn        chan struct{} // holds who scans
}

// New returns a Search. There must be one in a Core: it is what keeps two scans from running at once.
func New(sessions Sessions, transcripts Transcripts) *Search {
	return &Search{sessions: sessions, transcripts: transcripts, turn: make(chan struct{}, 1)}
}

// Find returns the Sessions of a Workspace that hold the words of text, at most limit, which is cut to 1…50: those whose
// title does, then those whose id does, then those in which a message does, each by updatedAt descending (R-CHAT-020).
// Nothing is found for a blank text; one that is too long is INVALID_REQUEST. A Session whose messages cannot be read is
// passed over (R-CHAT-023). What an Agent is still saying is not in the records yet, and is not found.
func (s *Search) Find(ctx context.Context, w fyllo.WorkspaceID, text string, limit int) ([]fyllo.SearchHit, error) {
	q, err := NewQuery(text)
	if q == nil || err != nil {
		return []fyllo.SearchHit{}, err
	}
	rows, err := s.sessions.Rows(ctx, w)
	if err != nil {
		return nil, err
	}
	limit = min(max(limit, 1), fyllo.SearchLimit)
	hits, rest := q.named(rows)
	if len(hits) >= limit {
		return hits[:limit], nil
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.scan(ctx, q, hits, rest, limit)
}

// named returns the hits in titles and ids, and the rows that have none, which it moves to the front of rows.
func (q *Query) named(rows []fyllo.SessionSummary) (hits []fyllo.SearchHit, rest []fyllo.SessionSummary) {
	rest = rows[:0]
	hits = []fyllo.SearchHit{}
	var ids []fyllo.SearchHit
	for i := range rows {
		hit := hitIn(&rows[i])
		if start, end, ok := q.find(hit.Title, 0); ok {
			hit.Match, hit.Mark = fyllo.MatchTitle, mark(hit.Title, start, end)
			hits = append(hits, hit)
		} else if start, end, ok := q.findID(string(hit.SessionID)); ok {
			hit.Match, hit.Mark = fyllo.MatchID, mark(string(hit.SessionID), start, end)
			ids = append(ids, hit)
		} else {
			rest = append(rest, rows[i])
		}
	}
	return append(hits, ids...), rest
}

// idPrefix is what all ids begin with.
const idPrefix = "session-"

// findID is find in a Session id. A hit that lies in what all ids begin with says nothing about this one: without the
// rule, "on" would find every Session, and nothing else of what it stands in.
func (q *Query) findID(id string) (start, end int, ok bool) {
	from := 0
	if len(id) > len(idPrefix) && id[:len(idPrefix)] == idPrefix {
		from = max(len(idPrefix)-len(q.runes)+1, 0)
	}
	return q.find(id, from)
}

func hitIn(row *fyllo.SessionSummary) fyllo.SearchHit {
	return fyllo.SearchHit{SessionID: row.SessionID, Title: row.Title, UpdatedAt: row.UpdatedAt}
}

// scan adds the hits in messages. Rows are in the order of the answer, so the scan ends when that is full.
func (s *Search) scan(ctx context.Context, q *Query, hits []fyllo.SearchHit, rows []fyllo.SessionSummary, limit int) ([]fyllo.SearchHit, error) {
	scanner := newScanner(ctx, q)
	for i := range rows {
		if len(hits) == limit {
			break
		}
		m, err := s.transcript(scanner, &rows[i])
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || !m.hit {
			continue // it cannot be read, or was deleted meanwhile
		}
		hit := hitIn(&rows[i])
		hit.Match, hit.MessageID, hit.Snippet, hit.Mark = fyllo.MatchMessage, m.id, m.snippet.Text, m.snippet.Mark
		hits = append(hits, hit)
	}
	return hits, nil
}

func (s *Search) transcript(scanner *scanner, row *fyllo.SessionSummary) (message, error) {
	t, size, err := s.transcripts.OpenMessages(row.WorkspaceID, row.SessionID)
	if err != nil {
		return message{}, err
	}
	defer func() { _ = t.Close() }() // nothing was written
	return scanner.first(file{t, size})
}
