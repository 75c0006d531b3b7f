package records

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/atomicfile"
)

// A line of bodies.jsonl is one JSON string, the text of one body, or, for a text that is not valid UTF-8 and that a
// JSON string therefore cannot hold, {"base64":"…"}. A BodyRef is offset and length of the line without its newline.
const (
	base64Prefix = `{"base64":"`
	base64Suffix = `"}`
)

// spiller collects the long bodies of one message. Their refs count from the first of them.
type spiller struct {
	lines []byte
	err   error // a body was not whole
}

// message returns m in light form; m itself is not changed.
func (s *spiller) message(m fyllo.Message) fyllo.Message {
	m.Parts = slices.Clone(m.Parts)
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Attachment != nil {
			a := *p.Attachment
			a.Data = s.body(a.Data)
			p.Attachment = &a
		}
		if p.Tool != nil {
			t := *p.Tool
			t.Input, t.Output, t.Error = s.body(t.Input), s.body(t.Output), s.body(t.Error)
			t.Diffs = slices.Clone(t.Diffs)
			for j := range t.Diffs {
				t.Diffs[j].Old, t.Diffs[j].New = s.body(t.Diffs[j].Old), s.body(t.Diffs[j].New)
			}
			p.Tool = &t
		}
	}
	return m
}

// body returns b in light form. One that lies in the file already stays as it is.
func (s *spiller) body(b *fyllo.Body) *fyllo.Body {
	if b == nil {
		return nil
	}
	light := *b
	switch {
	case b.Ref != nil && b.Ref.Length > 0:
	case b.Ref != nil:
		s.err = errors.New("a body is only a preview whose rest is nowhere")
	case len(b.Text) > fyllo.BodyPreview:
		start := len(s.lines)
		s.lines = appendBody(s.lines, b.Text)
		light.Size = len(b.Text)
		light.Text = fyllo.Preview(b.Text)
		if !utf8.ValidString(light.Text) { // which the line of the message cannot hold
			light.Text = fyllo.Preview(strings.ToValidUTF8(light.Text, "\uFFFD"))
		}
		light.Ref = &fyllo.BodyRef{Offset: int64(start), Length: int64(len(s.lines) - start)}
		s.lines = append(s.lines, '\n')
	default:
		light.Size = len(b.Text)
	}
	return &light
}

func appendBody(dst []byte, text string) []byte {
	if utf8.ValidString(text) {
		dst, _ = jsontext.AppendQuote(dst, text) // fails for invalid UTF-8 only
		return dst
	}
	dst = append(dst, base64Prefix...)
	dst = base64.StdEncoding.AppendEncode(dst, []byte(text))
	return append(dst, base64Suffix...)
}

// spill moves the long bodies of m to bodies.jsonl, synced, and returns m in light form.
func (s *Store) spill(p place, m fyllo.Message) (fyllo.Message, error) {
	var probe spiller
	light := probe.message(m)
	if probe.err != nil || len(probe.lines) == 0 {
		return light, probe.err
	}
	if err := atomicfile.MkdirAll(p.dir, 0o700); err != nil {
		return fyllo.Message{}, err
	}
	at, err := s.appendSynced(p.bodies, probe.lines)
	if err != nil {
		return fyllo.Message{}, err
	}
	shift(light, m, at)
	return light, nil
}

// shift moves the refs that light has and full has not by the place where the bodies were appended.
func shift(light, full fyllo.Message, by int64) {
	move := func(b, was *fyllo.Body) {
		if b != nil && b.Ref != nil && was.Ref == nil {
			b.Ref.Offset += by
		}
	}
	for i, p := range light.Parts {
		if p.Attachment != nil {
			move(p.Attachment.Data, full.Parts[i].Attachment.Data)
		}
		if p.Tool != nil {
			was := full.Parts[i].Tool
			move(p.Tool.Input, was.Input)
			move(p.Tool.Output, was.Output)
			move(p.Tool.Error, was.Error)
			for j, d := range p.Tool.Diffs {
				move(d.Old, was.Diffs[j].Old)
				move(d.New, was.Diffs[j].New)
			}
		}
	}
}

// Body returns the whole text of a stored body. A ref of length 0, whose body is in memory only, is NOT_FOUND.
func (s *Store) Body(w fyllo.WorkspaceID, id fyllo.SessionID, ref fyllo.BodyRef) ([]byte, error) {
	p, err := s.existing(w, id)
	if err != nil {
		return nil, err
	}
	text, err := readBody(p.bodies, ref)
	switch {
	case err == nil:
		return text, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fyllo.Errorf(fyllo.CodeNotFound, "the text is not stored: %w", err)
	default:
		return nil, fyllo.Errorf(fyllo.CodeStorageDamaged, "the stored text cannot be read: %s at %d: %w", s.relative(p.bodies), ref.Offset, err)
	}
}

func readBody(path string, ref fyllo.BodyRef) ([]byte, error) {
	if ref.Length <= 0 || ref.Offset < 0 {
		return nil, fs.ErrNotExist
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if ref.Length >= info.Size() || ref.Offset > info.Size()-ref.Length-1 {
		return nil, errors.New("the place lies behind the end of the file")
	}
	line := make([]byte, ref.Length+1)
	if _, err := f.ReadAt(line, ref.Offset); err != nil {
		return nil, err
	}
	if line[ref.Length] != '\n' {
		return nil, errors.New("the place is not a line")
	}
	return parseBody(line[:ref.Length])
}

func parseBody(line []byte) ([]byte, error) {
	if n := len(line) - len(base64Suffix); n >= len(base64Prefix) && string(line[:len(base64Prefix)]) == base64Prefix {
		return base64.StdEncoding.AppendDecode(nil, line[len(base64Prefix):n])
	}
	text, err := jsontext.AppendUnquote(make([]byte, 0, len(line)), line)
	if err != nil {
		return nil, fmt.Errorf("not a JSON string: %w", err)
	}
	return text, nil
}
