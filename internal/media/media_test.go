package media_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/media"
)

const (
	png = "\x89PNG\r\n\x1a\n a picture"
	svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`
)

// world is one part, and what is stored for it.
type world struct {
	part   fyllo.Part
	files  fstest.MapFS
	bodies []string
	fail   error
}

func (w *world) Part(_ context.Context, _ fyllo.WorkspaceID, _ fyllo.SessionID, id string) (fyllo.Part, error) {
	if id != w.part.ID {
		return fyllo.Part{}, fyllo.Errorf(fyllo.CodeNotFound, "no such part")
	}
	return w.part, nil
}

func (w *world) Attachment(_ fyllo.WorkspaceID, _ fyllo.SessionID, name string) (fs.File, error) {
	f, err := w.files.Open(name)
	if err != nil {
		return nil, fyllo.Errorf(fyllo.CodeNotFound, "no such file: %w", err)
	}
	return faulty{f, w.fail}, nil
}

func (w *world) Body(_ fyllo.WorkspaceID, _ fyllo.SessionID, ref fyllo.BodyRef) ([]byte, error) {
	return []byte(w.bodies[ref.Offset]), nil
}

// faulty is a file that cannot be read.
type faulty struct {
	fs.File
	err error
}

func (f faulty) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.File.Read(p)
}

func (w *world) read(part string, index int) (kind, data string, err error) {
	m, err := media.New(w, w).Media(context.Background(), "w", "s", fyllo.MediaQuery{PartID: part, Index: index})
	if err != nil {
		return "", "", err
	}
	b, err := io.ReadAll(m.Content)
	if err == nil && int64(len(b)) != m.Size {
		err = errors.New("the size is wrong")
	}
	return m.Type, string(b), errors.Join(err, m.Content.Close())
}

func body(text string) *fyllo.Body { return &fyllo.Body{Text: text, Size: len(text)} }

func encoded(data string) string { return base64.StdEncoding.EncodeToString([]byte(data)) }

// A picture in memory, in a file and among the bodies is the same one, and its type is what its bytes say.
func TestContentIsTheSameWhereverItLies_R_CHAT_096(t *testing.T) {
	large := png + strings.Repeat("\x00\x01\x02", 100_000)
	cut := body(encoded(large)[:2048])
	cut.Ref = &fyllo.BodyRef{Offset: 0, Length: 9}
	w := &world{
		files:  fstest.MapFS{"a.png": {Data: []byte(png)}, "b.bin": {Data: []byte(svg)}, "empty.bin": {}},
		bodies: []string{encoded(large)},
	}
	for _, c := range []struct {
		name       string
		a          fyllo.Attachment
		kind, data string
	}{
		{"in memory", fyllo.Attachment{MIME: "image/jpeg", Data: body(encoded(png))}, "image/png", png},
		{"in a file", fyllo.Attachment{MIME: "image/jpeg", File: "a.png"}, "image/png", png},
		{"among the bodies", fyllo.Attachment{MIME: "image/jpeg", Data: cut}, "image/png", large},
		{"SVG in memory", fyllo.Attachment{MIME: "image/svg+xml", Data: body(encoded(svg))}, "", svg},
		{"SVG in a file", fyllo.Attachment{MIME: "image/png", File: "b.bin"}, "", svg},
		{"empty", fyllo.Attachment{MIME: "image/png", File: "empty.bin"}, "", ""},
		{"text", fyllo.Attachment{MIME: "image/png", IsText: true, Data: body("abcd")}, "", "abcd"},
	} {
		w.part = fyllo.Part{ID: "m.1", Attachment: &c.a}
		if kind, data, err := w.read("m.1", -1); err != nil || kind != c.kind || data != c.data {
			t.Errorf("%s: %q, %d bytes, %v", c.name, kind, len(data), err)
		}
		w.part = fyllo.Part{ID: "m.1", Tool: &fyllo.Tool{Media: []fyllo.Attachment{{}, c.a}}}
		if kind, data, err := w.read("m.1", 1); err != nil || kind != c.kind || data != c.data {
			t.Errorf("%s in a result: %q, %d bytes, %v", c.name, kind, len(data), err)
		}
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	w := &world{files: fstest.MapFS{"a.png": {Data: []byte(png)}}}
	for name, a := range map[string]fyllo.Attachment{
		"a link": {URI: "https://example.com/a.png"}, "no base64": {Data: body("!!! no base64 !!!")}, "a lost file": {File: "b.png"},
		"torn at its end": {Data: body(encoded(png) + "A")},
	} {
		w.part = fyllo.Part{ID: "m.1", Attachment: &a, Tool: &fyllo.Tool{}}
		if _, _, err := w.read("m.1", -1); fyllo.CodeOf(err) != fyllo.CodeNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	for part, indexes := range map[string][]int{"m.1": {0, 7}, "m.2": {-1, 0}} {
		for _, index := range indexes {
			if _, _, err := w.read(part, index); fyllo.CodeOf(err) != fyllo.CodeNotFound {
				t.Errorf("%s %d: %v", part, index, err)
			}
		}
	}
	w.part = fyllo.Part{ID: "m.1", Attachment: &fyllo.Attachment{File: "a.png"}}
	w.fail = errors.New("injected")
	if _, _, err := w.read("m.1", -1); fyllo.CodeOf(err) != fyllo.CodeStorageDamaged {
		t.Errorf("a file that cannot be read: %v", err)
	}
}
