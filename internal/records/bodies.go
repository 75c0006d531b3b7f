package records

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
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

// spiller collects the long bodies of one message.
type spiller struct {
	lines []byte
	refs  []*fyllo.BodyRef // into lines
	err   error            // a body was not whole
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
		s.refs = append(s.refs, light.Ref)
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

// spill moves the long bodies of m, which is nobody else's, to bodies.jsonl, synced.
func (s *Store) spill(p place, m *fyllo.Message) error {
	var long spiller
	for i := range m.Parts {
		for b := range m.Parts[i].Bodies {
			*b = long.body(*b)
		}
	}
	if long.err != nil || len(long.lines) == 0 {
		return long.err
	}
	if err := atomicfile.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	at, err := s.appendSynced(p.bodies, long.lines)
	if err != nil {
		return err
	}
	for _, ref := range long.refs {
		ref.Offset += at
	}
	return nil
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
