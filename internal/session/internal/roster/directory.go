package roster

import (
	"context"
	"math"
	"sync"

	"fyllocode.dev/fyllo"
)

// maxPage bounds the rows of one page.
const maxPage = 500

// Source is where the lists of a Directory come from.
type Source interface {
	// IDs names the Workspaces that exist.
	IDs() []fyllo.WorkspaceID
	// Scan begins to fill an empty list and ends that with its Loaded. An error, when Core is stopping, begins nothing.
	Scan(x *Index) error
	// Seq is that of the last event published to a Workspace.
	Seq(w fyllo.WorkspaceID) uint64
}

// Directory holds the lists of all Workspaces, each filled by one scan when it is first used. Its methods may be called
// from any goroutine.
type Directory struct {
	source Source

	mu      sync.Mutex
	indexes map[fyllo.WorkspaceID]*Index
}

// NewDirectory returns a Directory without lists.
func NewDirectory(s Source) *Directory {
	return &Directory{source: s, indexes: make(map[fyllo.WorkspaceID]*Index)}
}

// NoSession is the error CHAT_SESSION_NOT_FOUND.
func NoSession(s fyllo.SessionID) error {
	return fyllo.Errorf(fyllo.CodeSessionNotFound, "session %s: it does not exist or has expired", s)
}

// Loaded returns the list of a Workspace once it is filled, or the error of its scan.
func (d *Directory) Loaded(ctx context.Context, w fyllo.WorkspaceID) (*Index, error) {
	x, err := d.index(w)
	if err != nil {
		return nil, err
	}
	return x, x.Wait(ctx)
}

func (d *Directory) index(w fyllo.WorkspaceID) (*Index, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if x := d.indexes[w]; x != nil {
		return x, nil
	}
	x := New(w)
	if err := d.source.Scan(x); err != nil {
		return nil, err
	}
	d.indexes[w] = x
	return x, nil
}

// ReadAhead fills the lists of all Workspaces one after the other, until one fails or ctx ends.
func (d *Directory) ReadAhead(ctx context.Context) {
	for _, w := range d.source.IDs() {
		if _, err := d.Loaded(ctx, w); err != nil {
			return
		}
	}
}

// List returns a page of a Workspace's Sessions in list order; limit is cut to 1…500.
func (d *Directory) List(ctx context.Context, w fyllo.WorkspaceID, cursor string, limit int) (fyllo.SessionPage, error) {
	x, err := d.Loaded(ctx, w)
	if err != nil {
		return fyllo.SessionPage{}, err
	}
	// Read before the rows: an event that is in both is applied twice, which session events allow.
	seq := d.source.Seq(w)
	page, err := x.Page(cursor, min(max(limit, 1), maxPage))
	page.Seq = seq
	return page, err
}

// Rows returns all of a Workspace's Sessions in list order, as they are at one moment.
func (d *Directory) Rows(ctx context.Context, w fyllo.WorkspaceID) ([]fyllo.SessionSummary, error) {
	x, err := d.Loaded(ctx, w)
	if err != nil {
		return nil, err
	}
	page, err := x.Page("", math.MaxInt)
	return page.Sessions, err
}

// Find returns the Workspace that owns a Session, or CHAT_SESSION_NOT_FOUND.
func (d *Directory) Find(ctx context.Context, s fyllo.SessionID) (fyllo.WorkspaceID, error) {
	if !s.Valid() {
		return "", NoSession(s)
	}
	for _, w := range d.source.IDs() {
		x, err := d.Loaded(ctx, w)
		if err != nil {
			return "", err
		}
		if x.Has(s) {
			return w, nil
		}
	}
	return "", NoSession(s)
}

// Counts returns how many Sessions exist and how many run a turn, over all Workspaces.
func (d *Directory) Counts(ctx context.Context) (total, running int, err error) {
	for _, w := range d.source.IDs() {
		x, err := d.Loaded(ctx, w)
		if err != nil {
			return 0, 0, err
		}
		t, r := x.Counts()
		total, running = total+t, running+r
	}
	return total, running, nil
}
