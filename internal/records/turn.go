package records

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/atomicfile"
	"fyllocode.dev/fyllo/internal/journal"
	"fyllocode.dev/fyllo/internal/records/internal/document"
)

const (
	// syncDelay is how long appended records wait for company before they are synced; with the sync itself it
	// stays within the 250 ms that Append promises.
	syncDelay = 200 * time.Millisecond
	// bigLine is the size from which a line is written by itself instead of being copied with its neighbours.
	bigLine = 256 << 10
)

// TurnLog is turn.jsonl of a running turn: the header, then one record per line. It may be used by several
// goroutines.
type TurnLog struct {
	path string
	log  func(err error)

	dirty chan struct{} // 1: something was appended since the last sync began
	quit  chan struct{}
	done  chan struct{} // closed when the syncing goroutine has ended

	mu     sync.Mutex // guards what follows; not held during a sync
	file   *journal.File
	buf    []byte
	failed error // of a sync in the background that no Sync has reported yet
	closed bool
}

// BeginTurn starts the log of a turn; its header is durable when it returns. The log of an older turn that nobody
// dropped is kept as turn.jsonl.old-<n>, so that it neither blocks the Session nor is lost.
func (s *Store) BeginTurn(w fyllo.WorkspaceID, id fyllo.SessionID, h fyllo.TurnHeader) (*TurnLog, error) {
	p, err := s.place(w, id)
	if err != nil {
		return nil, err
	}
	defer s.sessions.Lock(p.meta)()
	if err := p.mustExist(); err != nil {
		return nil, err
	}
	file, err := s.newTurnFile(p, h)
	if err != nil {
		return nil, failed("begin a turn of", p.id, err)
	}
	t := &TurnLog{
		path: p.turn, file: file,
		log:   func(err error) { s.log.Warn("sync turn", "file", s.relative(p.turn), "err", err) },
		dirty: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go t.syncBehind() // ended by Close or Remove
	return t, nil
}

// newTurnFile writes the header atomically: a log without a header would be of no use.
func (s *Store) newTurnFile(p place, h fyllo.TurnHeader) (*journal.File, error) {
	if err := atomicfile.MkdirAll(p.dir, 0o700); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(p.turn); err == nil {
		old := document.FreeName(p.turn + ".old-")
		s.log.Warn("an old turn was not dropped", "session", p.id, "kept", s.relative(old))
		if err := os.Rename(p.turn, old); err != nil {
			return nil, err
		}
	}
	header, err := document.Marshal(&h)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.Write(p.turn, append(header, '\n'), 0o600); err != nil {
		return nil, errors.Join(err, atomicfile.Remove(p.turn))
	}
	file, err := s.openJournal(p.turn)
	if err != nil {
		return nil, errors.Join(err, atomicfile.Remove(p.turn))
	}
	return file, nil
}

// syncBehind makes appended records durable in groups.
func (t *TurnLog) syncBehind() {
	defer close(t.done)
	for {
		select {
		case <-t.dirty:
		case <-t.quit:
			return
		}
		select {
		case <-time.After(syncDelay):
		case <-t.quit:
			return
		}
		select {
		case <-t.dirty: // appended while we waited: the sync below covers it
		default:
		}
		if err := t.file.Sync(); err != nil {
			t.log(err)
			t.mu.Lock()
			t.failed = err
			t.mu.Unlock()
		}
	}
}

// Append writes the records with one write(2), apart from lines over 256 KiB, which get their own. They survive a
// crash of the process at once and one of the machine 250 ms later. If it fails none of them is in the log. The lines
// are not kept.
func (t *TurnLog) Append(recs []fyllo.TurnRecord) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return fyllo.Errorf(fyllo.CodeStorageFailed, "the turn's log is closed: nothing can be added")
	}
	parts, err := t.encode(recs)
	if err != nil {
		return err
	}
	if _, err := t.file.Append(parts...); err != nil {
		return fyllo.Errorf(fyllo.CodeStorageFailed, "the turn cannot be recorded: %w", err)
	}
	select {
	case t.dirty <- struct{}{}:
	default: // a sync that has not begun yet covers these records too
	}
	return nil
}

// encode returns the records as what is to be written, one part unless there are big lines. The parts are valid until
// the next call.
func (t *TurnLog) encode(recs []fyllo.TurnRecord) (parts [][]byte, err error) {
	buf, from := t.buf[:0], 0
	for i := range recs {
		r := &recs[i]
		buf = append(buf, `{"at":`...)
		buf = strconv.AppendInt(buf, r.At.UnixMilli(), 10)
		switch {
		case r.Answer != nil:
			buf, err = appendField(buf, `,"answer":`, r.Answer)
		case r.End != nil:
			buf, err = appendField(buf, `,"end":`, r.End)
		case !looksLikeObject(r.Line):
			buf = append(buf, `,"line":`...)
			buf, _ = jsontext.AppendQuote(buf, bytes.ToValidUTF8(r.Line, []byte(string(utf8.RuneError))))
		case len(r.Line) > bigLine:
			buf = append(buf, `,"line":`...)
			parts = append(parts, buf[from:], r.Line)
			from = len(buf)
		default:
			buf = append(buf, `,"line":`...)
			buf = append(buf, r.Line...)
		}
		if err != nil {
			return nil, err
		}
		buf = append(buf, '}', '\n')
	}
	if cap(buf) <= 2*bigLine {
		t.buf = buf
	}
	return append(parts, buf[from:]), nil
}

// looksLikeObject reports whether a line can stand in the log as it is. It has been parsed before, as JSON-RPC, so a
// full check would only cost time; what counts is that it cannot end the record's line.
func looksLikeObject(line []byte) bool {
	n := len(line)
	return n >= 2 && line[0] == '{' && line[n-1] == '}' && bytes.IndexByte(line, '\n') < 0
}

func appendField(buf []byte, name string, v any) ([]byte, error) {
	b, err := document.Marshal(v)
	return append(append(buf, name...), b...), err
}

// Sync makes everything appended before durable. It also reports, once, that a sync in the background failed.
func (t *TurnLog) Sync() error {
	t.mu.Lock()
	earlier, closed := t.failed, t.closed
	t.failed = nil
	t.mu.Unlock()
	if closed {
		return nil // Close has synced
	}
	if err := errors.Join(earlier, t.file.Sync()); err != nil {
		return fyllo.Errorf(fyllo.CodeStorageFailed, "the turn cannot be recorded: %w", err)
	}
	return nil
}

// Close syncs and closes the log and leaves it on disk for ReadTurn. Further calls do nothing.
func (t *TurnLog) Close() error {
	return t.stop(t.file.Sync)
}

// Remove closes the log and deletes it: the message of the turn is stored.
func (t *TurnLog) Remove() error {
	err := t.stop(func() error { return nil })
	if err := errors.Join(err, atomicfile.Remove(t.path)); err != nil {
		return fyllo.Errorf(fyllo.CodeStorageFailed, "the record of the turn cannot be removed: %w", err)
	}
	return nil
}

// stop ends the goroutine, runs last and closes the file, once.
func (t *TurnLog) stop(last func() error) error {
	t.mu.Lock()
	closed := t.closed
	t.closed = true
	t.mu.Unlock()
	if closed {
		<-t.done
		return nil
	}
	close(t.quit)
	<-t.done
	return errors.Join(last(), t.file.Close())
}

// DropTurn deletes the log of a turn whose message is stored, and what a Core that was killed meanwhile left half
// written beside it. A log that does not exist is no error.
func (s *Store) DropTurn(w fyllo.WorkspaceID, id fyllo.SessionID) error {
	p, err := s.place(w, id)
	if err != nil {
		return err
	}
	defer s.sessions.Lock(p.meta)()
	s.removeStaleTemps(p.files)
	if err := atomicfile.Remove(p.turn); err != nil {
		return failed("drop the turn of", id, err)
	}
	return nil
}

// ReadTurn returns the log of a turn that a crash or a Close left. Unreadable lines, a torn tail among them, are
// skipped with a warning. It fails with NOT_FOUND when there is no log and STORAGE_DAMAGED when its header is
// unreadable.
func (s *Store) ReadTurn(w fyllo.WorkspaceID, id fyllo.SessionID) (fyllo.TurnHeader, []fyllo.TurnRecord, error) {
	var h fyllo.TurnHeader
	p, err := s.place(w, id)
	if err != nil {
		return h, nil, err
	}
	content, err := os.ReadFile(p.turn)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil, fyllo.Errorf(fyllo.CodeNotFound, "the Session %s has no turn in flight: %w", id, err)
	}
	if err != nil {
		return h, nil, failed("read the turn of", id, err)
	}
	header, rest, _ := bytes.Cut(content, []byte{'\n'})
	if err := document.Unmarshal(header, &h); err != nil {
		return h, nil, fyllo.Errorf(fyllo.CodeStorageDamaged, "the turn of Session %s cannot be read: %s at 0: %w", id, s.relative(p.turn), err)
	}
	recs, damage := parseTurn(rest, int64(len(header))+1)
	for _, d := range damage {
		s.log.Warn("skip a record of a turn", "file", s.relative(p.turn), "offset", d.Offset, "length", d.Length, "torn", d.Torn, "err", d.Err)
	}
	return h, recs, nil
}
