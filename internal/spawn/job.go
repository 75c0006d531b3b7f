package spawn

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"time"

	"fyllocode.dev/fyllo"
)

// place is where a reservation stands in the table. An id that somebody else owns is a place of its own, so that naming it
// gets in nobody's way (R-SPAWN-078).
type place struct {
	owner fyllo.SpawnOwner
	id    fyllo.SessionID
}

// job is a reservation: one turn, or the preparation of one. Its fields below the line are guarded by Engine.mu.
type job struct {
	place
	turnID    string
	mode      fyllo.SpawnMode
	startedAt time.Time
	stop      context.CancelFunc // ends the preparation
	done      chan struct{}      // closed when it is released

	lastAt    time.Time
	recent    []fyllo.SpawnActivity
	started   bool       // a child's goroutine has the turn
	cancelled fyllo.Code // why the preparation is to end; "" while it goes on
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// newID returns a random UUID.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// reserve is the critical section of a prompt (R-SPAWN §6, steps 1–4): a job, or the answer why there is none.
func (e *Engine) reserve(o fyllo.SpawnOwner, id fyllo.SessionID, mode fyllo.SpawnMode) (*job, fyllo.SpawnPromptResult, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return nil, fyllo.SpawnPromptResult{}, errClosing()
	case e.fenced[o]:
		return nil, fyllo.SpawnPromptResult{}, errParent()
	}
	at := place{o, id}
	if j := e.jobs[at]; j != nil {
		return nil, fyllo.SpawnPromptResult{Status: "busy", SessionID: id, StartedAt: stamp(j.startedAt), LastActivityAt: stamp(j.lastAt)}, nil
	}
	if c := e.children[id]; c != nil && c.owner != o { // not there for this owner, also when nothing could begin
		return nil, fyllo.SpawnPromptResult{Status: "not_found", SessionID: id}, nil
	}
	if len(e.jobs) >= fyllo.SpawnPerCore || e.busy[o] >= fyllo.SpawnPerParent {
		yes := true
		return nil, fyllo.SpawnPromptResult{Status: "capacity_exceeded", Code: fyllo.CodeSpawnCapacity, Retryable: &yes}, nil
	}
	begun := now()
	j := &job{place: at, turnID: newID(), mode: mode, startedAt: begun, lastAt: begun, done: make(chan struct{})}
	e.jobs[at] = j
	e.busy[o]++
	e.work.Add(1) // until it is released
	return j, fyllo.SpawnPromptResult{}, nil
}

// release gives a reservation back. It may be called often (R-SPAWN-060).
func (e *Engine) release(j *job) { e.conclude(j, false) }

// conclude gives a reservation back; tell begins, in the same moment, to tell the parent of the end.
func (e *Engine) conclude(j *job, tell bool) {
	e.mu.Lock()
	held := e.jobs[j.place] == j
	if held {
		e.free(j)
	}
	if tell {
		e.wakeLocked(j.owner)
	}
	e.mu.Unlock()
	if held {
		e.changed(j.owner, j.id)
	}
}

// free takes a reservation out of the table; e.mu is held.
func (e *Engine) free(j *job) {
	delete(e.jobs, j.place)
	if e.busy[j.owner]--; e.busy[j.owner] == 0 {
		delete(e.busy, j.owner)
	}
	close(j.done)
	e.work.Done()
}

// halted says why a preparation is to end, nil if it goes on (R-SPAWN §6, steps 5, 11 and 13).
func (e *Engine) halted(ctx context.Context, j *job) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return errClosing()
	case e.fenced[j.owner]:
		return errParent()
	case j.cancelled == fyllo.CodeTurnParentCancelled:
		return errCancelled()
	case ctx.Err() != nil:
		return errGivenUp()
	}
	return nil
}

// maxActivities and equal neighbours: R-SPAWN-021.
func (e *Engine) active(j *job, kind, message string, at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	j.lastAt = at
	if kind == "" {
		return
	}
	message = cut(message, fyllo.SpawnTitle)
	if n := len(j.recent); n > 0 && j.recent[n-1].Kind == kind && j.recent[n-1].Message == message {
		j.recent[n-1].At = fyllo.SpawnTime{Time: at}
		return
	}
	j.recent = append(j.recent, fyllo.SpawnActivity{Kind: kind, At: fyllo.SpawnTime{Time: at}, Message: message})
	if n := len(j.recent); n > fyllo.SpawnActivities {
		j.recent = slices.Clone(j.recent[n-fyllo.SpawnActivities:])
	}
}

// cut shortens a text to n characters.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func stamp(t time.Time) *fyllo.SpawnTime { return &fyllo.SpawnTime{Time: t} }

func errClosing() error {
	return fyllo.Errorf(fyllo.CodeSpawnUnavailable, "FylloCode is shutting down. Nothing was started; try again later.")
}

func errParent() error {
	return fyllo.Errorf(fyllo.CodeSpawnParentMissing, "The parent Session does not exist, or is being deleted. Nothing was started.")
}

func errGivenUp() error {
	return fyllo.Errorf(fyllo.CodeSpawnCancelled, "The call was given up before it had a result.")
}

func errCancelled() error {
	return fyllo.Errorf(fyllo.CodeTurnParentCancelled, "The parent Agent cancelled this spawned session.")
}
