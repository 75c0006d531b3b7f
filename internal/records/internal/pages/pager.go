// Package pages reads a transcript backwards, page by page: superseding lines in the place of what they replace, damaged
// lines listed (R-WS-131).
package pages

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/journal"
)

// cursor is the place before which a page ends. The zero cursor is the end of the transcript.
type cursor struct {
	Offset int64  `json:"o"` // of the line of message ID, the oldest of the page after this one
	End    int64  `json:"e"` // lines before this were looked through for superseding ones that concern older messages
	ID     string `json:"i"`
}

func (c cursor) String() string {
	b, _ := json.Marshal(c) // two numbers and a string
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(text string) (cursor, error) {
	var c cursor
	if text == "" {
		return c, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.ID == "" || c.Offset < 0 || c.End < c.Offset {
		return cursor{}, badCursor()
	}
	return c, nil
}

func badCursor() error {
	return fyllo.Errorf(fyllo.CodeInvalidRequest, "the cursor is not valid: no message stands at its place")
}

// Read returns up to limit messages of the transcript at path that stand before the cursor, in transcript order; before ""
// means its end, limit 0 all of it. file names the transcript in the list of damage. No file is an empty page.
func Read(path, file, before string, limit int) (fyllo.MessagePage, error) {
	empty := fyllo.MessagePage{Messages: []fyllo.Message{}}
	at, err := parseCursor(before)
	if err != nil {
		return empty, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return empty, err
	}
	defer f.Close()
	r, err := newPager(f, file)
	if err != nil {
		return empty, err
	}
	return r.page(at, limit)
}

// pager walks a transcript backwards. A superseding line waits in pending for the line with rev 0 of its id, whose
// place it takes.
type pager struct {
	f    *os.File
	file string // for reports
	size int64

	pending map[string]fyllo.Message
	origin  map[string]int64 // by id: where its pending line stands
	met     map[string]bool  // ids that have their place already; an earlier line of the same id is a repetition
	out     []fyllo.Message  // newest first
	damage  []fyllo.Damage   // likewise
}

func newPager(f *os.File, file string) (*pager, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &pager{
		f: f, file: file, size: info.Size(),
		pending: map[string]fyllo.Message{}, origin: map[string]int64{}, met: map[string]bool{},
	}, nil
}

// page reads the page before the cursor.
func (r *pager) page(at cursor, limit int) (fyllo.MessagePage, error) {
	end := r.size
	if at.ID != "" {
		var err error
		if at, err = r.locate(at); err != nil {
			return fyllo.MessagePage{}, err
		}
		if err := r.lookAhead(at.End); err != nil {
			return fyllo.MessagePage{}, err
		}
		r.met[at.ID] = true
		end = at.Offset
	}
	next, err := r.walk(end, limit)
	if err != nil {
		return fyllo.MessagePage{}, err
	}
	page := fyllo.MessagePage{Messages: r.out, Damage: r.damage}
	if next.Offset > 0 {
		page.Before = next.String()
	} else if err := r.placeOrphans(end); err != nil {
		return fyllo.MessagePage{}, err
	} else {
		page.Messages = r.out
	}
	if page.Messages == nil {
		page.Messages = []fyllo.Message{}
	}
	slices.Reverse(page.Messages)
	slices.Reverse(page.Damage)
	return page, nil
}

// walk reads backwards from end until limit messages are found. It returns the zero cursor at the beginning.
func (r *pager) walk(end int64, limit int) (cursor, error) {
	lines := journal.NewBackward(r.f, end)
	for {
		want := batch
		if limit > 0 {
			want = min(batch, limit-len(r.out)) // so that the last message of a batch is the last that is needed
		}
		entries, err := nextEntries(lines, want)
		for _, e := range entries {
			if e.err != nil {
				r.damaged(e.line, e.err)
			} else if r.take(e.message, e.line.Offset) && limit > 0 && len(r.out) >= limit {
				return r.cursorAt(e), nil
			}
		}
		if errors.Is(err, io.EOF) {
			return cursor{}, nil
		}
		if err != nil {
			return cursor{}, err
		}
	}
}

// cursorAt is the place before the message of e, which has got its place.
func (r *pager) cursorAt(e entry) cursor {
	c := cursor{Offset: e.line.Offset, End: r.size, ID: e.message.ID}
	if len(r.pending) > 0 {
		c.End = c.Offset // their originals are older: look again
	}
	return c
}

// take sorts one message in and reports whether it has its place now.
func (r *pager) take(m fyllo.Message, offset int64) bool {
	if r.met[m.ID] {
		return false
	}
	newer, superseded := r.pending[m.ID]
	if m.Rev > 0 {
		if !superseded {
			r.pending[m.ID], r.origin[m.ID] = m, offset
		}
		return false
	}
	if superseded {
		m = newer
	}
	r.put(m)
	return true
}

func (r *pager) put(m fyllo.Message) {
	r.out = append(r.out, m)
	r.met[m.ID] = true
	delete(r.pending, m.ID)
}

// damaged notes a line that cannot be read. If it was the original of a superseded message, its id is often still
// legible; then the newer version takes its place.
func (r *pager) damaged(line journal.Line, err error) {
	r.damage = append(r.damage, fyllo.Damage{File: r.file, Offset: line.Offset, Length: line.Length(), Reason: err.Error()})
	for id, m := range r.pending {
		if bytes.Contains(line.Data, []byte(`{"id":`+strconv.Quote(id)+`,`)) {
			r.put(m)
			return
		}
	}
}

// placeOrphans runs at the beginning of the transcript: superseding lines whose original is lost go first, so that
// they are not lost too. Those whose original stands at or behind end belong to later pages.
func (r *pager) placeOrphans(end int64) error {
	if len(r.pending) == 0 {
		return nil
	}
	if end < r.size {
		_, err := journal.ReplayFrom(io.NewSectionReader(r.f, end, r.size-end), end, func(_ int64, line []byte) error {
			if m, err := parse(line); err == nil && m.Rev == 0 {
				delete(r.pending, m.ID)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	ids := slices.Collect(maps.Keys(r.pending))
	slices.SortFunc(ids, func(a, b string) int { return int(r.origin[b] - r.origin[a]) })
	for _, id := range ids {
		r.put(r.pending[id])
	}
	return nil
}

// lookAhead finds superseding lines at and behind from.
func (r *pager) lookAhead(from int64) error {
	if from >= r.size {
		return nil
	}
	_, err := journal.ReplayFrom(io.NewSectionReader(r.f, from, r.size-from), from, func(at int64, line []byte) error {
		if !bytes.Contains(line, []byte(`"rev":`)) {
			return nil
		}
		if m, err := parse(line); err == nil && m.Rev > 0 {
			r.pending[m.ID], r.origin[m.ID] = m, at // the last one counts
		}
		return nil
	})
	return err
}

// locate finds the place of a cursor again, after a compaction too.
func (r *pager) locate(c cursor) (cursor, error) {
	if c.End <= r.size && c.Offset < r.size && r.idAt(c.Offset) == c.ID {
		return c, nil
	}
	lines := journal.NewBackward(r.f, r.size)
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return c, badCursor()
		}
		if err != nil {
			return c, err
		}
		if m, err := parse(line.Data); err == nil && m.ID == c.ID && m.Rev == 0 {
			return cursor{Offset: line.Offset, End: line.Offset, ID: c.ID}, nil
		}
	}
}

// idAt returns the id of the message whose line begins at offset, "" if none does.
func (r *pager) idAt(offset int64) string {
	var id string
	stop := errors.New("stop")
	first := io.NewSectionReader(r.f, offset, r.size-offset)
	// Only the first line counts; the reader ends behind it.
	_, err := journal.ReplayFrom(&oneLine{r: first}, offset, func(_ int64, line []byte) error {
		if m, err := parse(line); err == nil && m.Rev == 0 {
			id = m.ID
		}
		return stop
	})
	if err != nil {
		return ""
	}
	return id
}

// oneLine ends behind the first newline.
type oneLine struct {
	r    io.Reader
	done bool
}

func (o *oneLine) Read(p []byte) (int, error) {
	if o.done {
		return 0, io.EOF
	}
	n, err := o.r.Read(p)
	if i := bytes.IndexByte(p[:n], '\n'); i >= 0 {
		o.done = true
		return i + 1, nil
	}
	return n, err
}
