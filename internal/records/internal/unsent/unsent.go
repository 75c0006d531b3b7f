// Package unsent keeps the files of one Session that were added and not sent yet: their list in unsent.json and the
// files themselves, below the Session's directory. The caller sees to it that changes of one Session do not overlap.
//
// A file is in the list before its first byte is written, so that a crash leaves at most a name without a file, which
// Tidy takes away together with what was half written, or a sent file that is still listed, which Tidy finds in the
// transcript. A file that nothing names is never left.
package unsent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/atomicfile"
	"fyllocode.dev/fyllo/internal/records/internal/files"
)

// Place is where the files of one Session lie.
type Place struct {
	List     string // unsent.json
	Files    string // directory of the files
	Messages string // the transcript
}

// document is unsent.json.
type document struct {
	Attachments []fyllo.KeptAttachment `json:"attachments"`
}

// Name gives a file that is about to be stored its random name, which ends as its first bytes tell. What it returns
// reads the same bytes as from.
func Name(from io.Reader, size int64) (handle, file string, r io.Reader) {
	buffered := bufio.NewReaderSize(from, 64<<10)
	head, _ := buffered.Peek(int(min(size, fyllo.MediaHead))) // Write finds out that something is missing
	handle = files.NewHandle()
	return handle, handle + files.Extension(head), buffered
}

// Write stores exactly size bytes as a synced file, or leaves nothing.
func Write(dir, file string, from io.Reader, size int64) error {
	_, err := atomicfile.WriteFrom(filepath.Join(dir, file), &exact{from: from, left: size}, 0o600)
	return err
}

// exact fails when more or fewer bytes come than were announced.
type exact struct {
	from io.Reader
	left int64
}

// Read implements io.Reader.
func (e *exact) Read(p []byte) (int, error) {
	if e.left == 0 {
		var one [1]byte
		if n, err := io.ReadFull(e.from, one[:]); n > 0 {
			return 0, fyllo.Errorf(fyllo.CodeInvalidRequest, "attach: more bytes came than were announced")
		} else if !errors.Is(err, io.EOF) {
			return 0, cut(err)
		}
		return 0, io.EOF
	}
	n, err := e.from.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if err != nil && e.left > 0 {
		return n, cut(err)
	}
	return n, nil
}

func cut(err error) error {
	return fyllo.Errorf(fyllo.CodeInvalidRequest, "attach: the bytes did not come whole: %w", err)
}

// Read returns the list. Names without a file, whose upload still runs or was cut, are left out.
func (p Place) Read() ([]fyllo.KeptAttachment, error) {
	all, err := p.read()
	return slices.DeleteFunc(all, func(k fyllo.KeptAttachment) bool { return !p.has(k) }), err
}

// All returns the list with what is on its way.
func (p Place) All() ([]fyllo.KeptAttachment, error) { return p.read() }

func (p Place) read() ([]fyllo.KeptAttachment, error) {
	b, err := os.ReadFile(p.List)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parse(b), nil
}

// parse reads a list; one that is damaged is empty, since it names only what can be added again.
func parse(b []byte) []fyllo.KeptAttachment {
	var d document
	if json.Unmarshal(b, &d) != nil {
		return nil
	}
	return slices.DeleteFunc(d.Attachments, func(k fyllo.KeptAttachment) bool { return !strings.HasPrefix(k.File, k.Handle+".") })
}

func (p Place) has(k fyllo.KeptAttachment) bool {
	info, err := os.Lstat(filepath.Join(p.Files, k.File))
	return err == nil && info.Mode().IsRegular() && info.Size() == k.Size
}

// Edit replaces the list by what change makes of it.
func (p Place) Edit(change func([]fyllo.KeptAttachment) []fyllo.KeptAttachment) error {
	return atomicfile.Update(p.List, 0o600, func(old []byte) ([]byte, error) {
		return json.Marshal(document{Attachments: change(parse(old))})
	})
}

// Without returns the list without some handles.
func Without(handles ...string) func([]fyllo.KeptAttachment) []fyllo.KeptAttachment {
	return func(all []fyllo.KeptAttachment) []fyllo.KeptAttachment {
		return slices.DeleteFunc(all, func(k fyllo.KeptAttachment) bool { return slices.Contains(handles, k.Handle) })
	}
}

// Tidy takes from the list what a killed Core left there: names without a file, and what was sent.
func (p Place) Tidy() error {
	all, err := p.read()
	if err != nil || len(all) == 0 {
		return err
	}
	var gone []string
	for _, k := range all {
		sent := false
		if p.has(k) {
			if sent, err = contains(p.Messages, []byte(`"`+k.File+`"`)); err != nil {
				return err
			}
		}
		if sent || !p.has(k) {
			gone = append(gone, k.Handle)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return p.Edit(Without(gone...))
}

// contains reports whether a file holds some bytes, without reading it as a whole.
func contains(path string, what []byte) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	buf := make([]byte, 0, 256<<10)
	for {
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if bytes.Contains(buf, what) {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		keep := min(len(buf), len(what))
		buf = append(buf[:0], buf[len(buf)-keep:]...)
	}
}
