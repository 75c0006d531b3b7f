// Package upload takes a request apart that carries a JSON object and files: multipart/form-data whose first part is the
// object, named "request", and whose other parts are the bytes of one file each, named "file", in the order in which the
// object describes them. What a part's own headers say beyond its name counts for nothing. Nothing is held in memory
// but the object.
package upload

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"

	"fyllocode.dev/fyllo"
)

// Is reports whether a request is one of this form.
func Is(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "multipart/form-data"
}

// Reader reads the parts one after another.
type Reader struct {
	body  io.Reader
	parts *multipart.Reader
}

// New begins to read a request of at most limit bytes.
func New(w http.ResponseWriter, r *http.Request, limit int64) (*Reader, error) {
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, invalid(err)
	}
	return &Reader{body: r.Body, parts: parts}, nil
}

// Object returns the first part; it is TOO_LARGE beyond limit bytes.
func (u *Reader) Object(limit int64) ([]byte, error) {
	part, err := u.next("request")
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(part, limit+1))
	switch {
	case err != nil:
		return nil, invalid(err)
	case int64(len(b)) > limit:
		return nil, fyllo.Errorf(fyllo.CodeTooLarge, "the request is not valid: its description is too long")
	}
	return b, nil
}

// File returns the bytes of the next file, which are valid until the next call, and io.EOF behind the last.
func (u *Reader) File() (io.Reader, error) { return u.next("file") }

func (u *Reader) next(name string) (io.Reader, error) {
	part, err := u.parts.NextRawPart()
	if errors.Is(err, io.EOF) && name == "file" {
		return nil, io.EOF
	}
	if err != nil {
		return nil, invalid(err)
	}
	if part.FormName() != name {
		return nil, fyllo.Errorf(fyllo.CodeInvalidRequest, "the request is not valid: a part is not in its place, which is that of a %q", name)
	}
	return part, nil
}

// Drain reads what is left, so that a client which is still sending gets to see the answer.
func (u *Reader) Drain() { _, _ = io.Copy(io.Discard, u.body) }

func invalid(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fyllo.Errorf(fyllo.CodeTooLarge, "the request is too large: %w", err)
	}
	return fyllo.Errorf(fyllo.CodeInvalidRequest, "the request is not valid: its parts cannot be read: %w", err)
}
