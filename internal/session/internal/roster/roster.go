// Package roster holds the list of one Workspace's Sessions in memory: the rows, their order, and which submission
// made which Session. It is filled by one scan of the metadata and never written to disk.
package roster

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"fyllocode.dev/fyllo"
)

// Index holds the rows of one Workspace's list in memory. It is filled by one scan of the metadata and never
// written to disk (seed: no index).
type Index struct {
	workspace fyllo.WorkspaceID
	loaded    chan struct{} // closed when the scan is over
	err       error         // of the scan; read after loaded

	mu     sync.Mutex
	rows   map[fyllo.SessionID]*fyllo.SessionSummary
	starts map[string]fyllo.SessionID // by StartRequestID
	order  []*fyllo.SessionSummary    // list order; nil when it must be sorted again
}

// New returns an empty list, whose scan is still to come.
func New(w fyllo.WorkspaceID) *Index {
	return &Index{
		workspace: w, loaded: make(chan struct{}),
		rows:   make(map[fyllo.SessionID]*fyllo.SessionSummary),
		starts: make(map[string]fyllo.SessionID),
	}
}

// Workspace returns whose list it is.
func (x *Index) Workspace() fyllo.WorkspaceID { return x.workspace }

// Loaded ends the scan; err is nil when every Session is in. It is called once.
func (x *Index) Loaded(err error) {
	x.err = err
	close(x.loaded)
}

// Wait returns when the index is filled.
func (x *Index) Wait(ctx context.Context) error {
	select {
	case <-x.loaded:
		return x.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Put adds or replaces a row.
func (x *Index) Put(row fyllo.SessionSummary, startRequest string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	old, known := x.rows[row.SessionID]
	moved := !known || old.Pinned != row.Pinned || !old.UpdatedAt.Equal(row.UpdatedAt)
	if known {
		*old = row
	} else {
		x.rows[row.SessionID] = &row
	}
	if startRequest != "" {
		x.starts[startRequest] = row.SessionID
	}
	if moved {
		x.order = nil
	}
}

// Remove takes a row out.
func (x *Index) Remove(s fyllo.SessionID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.rows, s)
	x.order = nil
}

// Has reports whether the Session exists.
func (x *Index) Has(s fyllo.SessionID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, ok := x.rows[s]
	return ok
}

// Started returns the Session that an earlier submission with this request id made.
func (x *Index) Started(request string) (fyllo.SessionID, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, ok := x.starts[request]
	if ok && x.rows[s] == nil {
		return "", false // deleted since
	}
	return s, ok && request != ""
}

// Counts returns how many Sessions there are and how many run a turn.
func (x *Index) Counts() (total, running int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range x.rows {
		if r.Running {
			running++
		}
	}
	return len(x.rows), running
}

// Page returns the rows behind a cursor in list order (R-CHAT-008). Pinned rows come first, so that a page of the list
// has all of them as soon as it has any other.
func (x *Index) Page(cursor string, limit int) (fyllo.SessionPage, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.order == nil {
		x.order = make([]*fyllo.SessionSummary, 0, len(x.rows))
		for _, r := range x.rows {
			x.order = append(x.order, r)
		}
		slices.SortFunc(x.order, fyllo.CompareSessions)
	}
	from := 0
	if cursor != "" {
		at, err := parseCursor(cursor)
		if err != nil {
			return fyllo.SessionPage{}, err
		}
		from, _ = slices.BinarySearchFunc(x.order, at, fyllo.CompareSessions)
		if from < len(x.order) && fyllo.CompareSessions(x.order[from], at) == 0 {
			from++
		}
	}
	to := from + min(limit, len(x.order)-from)
	page := fyllo.SessionPage{Total: len(x.order), Sessions: make([]fyllo.SessionSummary, 0, to-from)}
	for _, r := range x.order[from:to] {
		page.Sessions = append(page.Sessions, *r)
	}
	if to < len(x.order) {
		last := x.order[to-1]
		page.Next = cursorAt(last)
	}
	return page, nil
}

// cursorAt names the place of a row in the order: whether it is pinned, when it was changed, and its id. The row itself
// need not stay there.
func cursorAt(r *fyllo.SessionSummary) string {
	group := "r"
	if r.Pinned {
		group = "p"
	}
	return group + strconv.FormatInt(r.UpdatedAt.UnixNano(), 10) + "." + string(r.SessionID)
}

func parseCursor(cursor string) (*fyllo.SessionSummary, error) {
	stamp, id, ok := strings.Cut(cursor[1:], ".")
	nanos, err := strconv.ParseInt(stamp, 10, 64)
	if !ok || err != nil || cursor[0] != 'p' && cursor[0] != 'r' {
		return nil, fyllo.Errorf(fyllo.CodeInvalidRequest, "list sessions: the cursor %q is not one of ours", cursor)
	}
	return &fyllo.SessionSummary{
		SessionID: fyllo.SessionID(id), Pinned: cursor[0] == 'p', UpdatedAt: time.Unix(0, nanos),
	}, nil
}

// Summarise makes the row of a Session that does nothing.
func Summarise(w fyllo.WorkspaceID, m *fyllo.SessionMeta) fyllo.SessionSummary {
	return fyllo.SessionSummary{
		SessionID: m.SessionID, WorkspaceID: w, Title: m.Title, AgentID: m.AgentID, AgentName: m.AgentName,
		Mode: m.Mode, Pinned: m.IsPinned, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}
}
