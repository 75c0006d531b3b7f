package search_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/search"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const workspace = fyllo.WorkspaceID("w")

// start is when the newest Session of a test changed last.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world holds Sessions in list order, and their message files.
type world struct {
	rows   []fyllo.SessionSummary
	files  map[fyllo.SessionID]io.ReaderAt
	opened []fyllo.SessionID
}

// add appends a Session, an hour older than the one before.
func (w *world) add(id, title, lines string) {
	w.addFile(id, title, strings.NewReader(lines))
}

func (w *world) addFile(id, title string, f io.ReaderAt) {
	if w.files == nil {
		w.files = map[fyllo.SessionID]io.ReaderAt{}
	}
	w.rows = append(w.rows, fyllo.SessionSummary{
		SessionID: fyllo.SessionID(id), WorkspaceID: workspace, Title: title,
		UpdatedAt: start.Add(-time.Duration(len(w.rows)) * time.Hour),
	})
	w.files[fyllo.SessionID(id)] = f
}

func (w *world) Rows(_ context.Context, id fyllo.WorkspaceID) ([]fyllo.SessionSummary, error) {
	if id != workspace {
		return nil, nil
	}
	return slices.Clone(w.rows), nil
}

type sized interface{ Size() int64 }

func (w *world) OpenMessages(_ fyllo.WorkspaceID, s fyllo.SessionID) (search.Transcript, int64, error) {
	w.opened = append(w.opened, s)
	f := w.files[s]
	if f == nil {
		return nil, 0, fs.ErrNotExist
	}
	return closer{f}, f.(sized).Size(), nil
}

type closer struct{ io.ReaderAt }

func (closer) Close() error { return nil }

// find searches with the default limit.
func (w *world) find(t testing.TB, query string) []fyllo.SearchHit {
	t.Helper()
	hits, err := search.New(w, w).Find(t.Context(), workspace, query, fyllo.SearchLimit)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// ids lists hits as "id match, …".
func ids(hits []fyllo.SearchHit) string {
	var all []string
	for _, h := range hits {
		all = append(all, fmt.Sprintf("%s %s", h.SessionID, h.Match))
	}
	return strings.Join(all, ", ")
}

// said is a message of one text part.
func said(id, text string) fyllo.Message {
	return fyllo.Message{ID: id, Role: fyllo.RoleUser, Parts: []fyllo.Part{{ID: id + ".0", Type: fyllo.PartText, Text: text}}}
}

// lines writes messages as records do.
func lines(messages ...fyllo.Message) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, m := range messages {
		if err := enc.Encode(m); err != nil {
			panic(err)
		}
	}
	return b.String()
}

// marked returns what a mark marks in a text.
func marked(text string, m fyllo.SearchMark) string {
	rest := fyllo.SkipUTF16(text, m.Start)
	return strings.TrimSuffix(rest, fyllo.SkipUTF16(rest, m.Length))
}

// reference is a search by the rules alone: it decodes every line, and returns the id of the message that is found.
func reference(file, query string) string {
	var order []string
	newest := map[string]fyllo.Message{}
	for line := range strings.Lines(file) {
		if m, err := decode(line); err == nil {
			order = append(order, m.ID)
			newest[m.ID] = m
		}
	}
	for i, id := range order {
		// A message is met where a version that matches stands first.
		if holds(newest[id], query) && holds(versionAt(file, i), query) {
			return id
		}
	}
	return ""
}

// versionAt decodes the i-th message of a file.
func versionAt(file string, i int) fyllo.Message {
	for line := range strings.Lines(file) {
		if m, err := decode(line); err == nil {
			if i--; i < 0 {
				return m
			}
		}
	}
	return fyllo.Message{}
}

// lenient is how records read their files.
var lenient = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func decode(line string) (m fyllo.Message, err error) {
	err = jsonv2.Unmarshal([]byte(line), &m, lenient)
	if err == nil && m.ID == "" {
		err = errors.New("no id")
	}
	return m, err
}

func holds(m fyllo.Message, query string) bool {
	if m.Role != fyllo.RoleUser && m.Role != fyllo.RoleAssistant {
		return false
	}
	for i, p := range m.Parts {
		if p.Type != fyllo.PartText || p.ParentID != "" {
			continue
		}
		text := p.Text
		if i == 0 && m.Role == fyllo.RoleUser && len(m.Parts) > 1 && m.Parts[1].Type == fyllo.PartText {
			text = withoutReminder(text)
		}
		if strings.Contains(plain(text, true), strings.TrimSpace(plain(query, true))) {
			return true
		}
	}
	return false
}

func withoutReminder(text string) string {
	const open, end = "<system-reminder>", "</system-reminder>"
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, open) {
		return text
	}
	_, rest, ok := strings.Cut(trimmed[len(open):], end)
	switch {
	case !ok:
		return text
	case strings.HasSuffix(trimmed, end):
		return ""
	}
	return rest
}

// plain is a text with single spaces and, if asked for, without case.
func plain(text string, caseless bool) string {
	var b strings.Builder
	space := false
	for _, r := range text {
		if unicode.IsSpace(r) {
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		}
		space = false
		if caseless {
			r = caseOf(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// caseOf is one rune for all cases of a letter, by the tables of Unicode.
func caseOf(r rune) rune {
	if r == 'İ' {
		return 'i'
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return unicode.ToLower(least)
}

var errDisk = errors.New("the disk failed")
