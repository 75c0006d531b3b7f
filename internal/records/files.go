package records

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/atomicfile"
)

// maxAttachment is how many bytes a stored attachment may have. What is longer stays a body.
const maxAttachment = 25 << 20

// extensions of stored attachments, by what their bytes are. Everything else is a .bin, whatever an Agent called it, so
// that opening such a file by mistake starts nothing.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/avif": ".avif",
	"audio/wav": ".wav", "audio/ogg": ".ogg", "audio/flac": ".flac", "audio/mp4": ".m4a", "audio/mpeg": ".mp3",
}

// keepFiles writes what m, which is nobody else's, holds as base64 to attachments/, one synced file each, and puts
// File and Size in the place of Data. Data that is no base64, is too long, or lies in bodies.jsonl already stays.
//
// The name of a file is made from the message's id and the content, so whoever stores the same message again, after a
// failure or a crash, names the same files: none is written twice or left without a line that names it.
func (p place) keepFiles(m *fyllo.Message) error {
	for i := range m.Parts {
		for a := range m.Parts[i].Attachments {
			if err := p.keepFile(m.ID, a); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p place) keepFile(messageID string, a *fyllo.Attachment) error {
	if a.File != "" || a.IsText || a.Data == nil || a.Data.Ref != nil || a.Data.Text == "" {
		return nil
	}
	text := a.Data.Text
	size := fyllo.Base64Len(text)
	if size == 0 || size > maxAttachment {
		return nil
	}
	name := handleOf(messageID, text) + extension(text)
	path := filepath.Join(p.files, name)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == int64(size) {
		// It is whole, but whoever wrote it may have failed before its name was safe.
		if err := atomicfile.SyncDir(p.files); err != nil {
			return err
		}
	} else if isBase64, err := p.writeFile(path, text); err != nil || !isBase64 {
		return err
	}
	a.File, a.Size, a.Data = name, int64(size), nil
	return nil
}

// writeFile decodes text into the file at path; false when it is not base64.
func (p place) writeFile(path, text string) (bool, error) {
	if err := atomicfile.MkdirAll(p.files, 0o700); err != nil {
		return false, err
	}
	_, err := atomicfile.WriteFrom(path, fyllo.Base64(text), 0o600)
	if _, ok := errors.AsType[base64.CorruptInputError](err); ok {
		return false, nil
	}
	return err == nil, err
}

// extension tells from its first bytes how the name of a file ends.
func extension(text string) string {
	head := make([]byte, fyllo.MediaHead)
	n, _ := io.ReadFull(fyllo.Base64(text), head) // what is torn or no base64 is of no known type
	if ext := extensions[fyllo.MediaType(head[:n])]; ext != "" {
		return ext
	}
	return ".bin"
}

// handleOf makes a UUID (version 8, RFC 9562) from what a file belongs to and holds.
func handleOf(messageID, text string) string {
	h := sha256.New()
	_, _ = io.WriteString(h, messageID+"\x00")
	_, _ = io.Copy(h, onlyReader{strings.NewReader(text)}) // in pieces, not as one copy; a hash takes everything
	b := h.Sum(nil)
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// onlyReader hides that a reader could write itself in one go.
type onlyReader struct{ io.Reader }

// Attachment opens a stored attachment; the caller closes it. name stood in a transcript, which people can edit, so it
// is believed only as far as it names a regular file in the directory of this Session itself: links are not followed.
// Anything else is NOT_FOUND.
func (s *Store) Attachment(w fyllo.WorkspaceID, id fyllo.SessionID, name string) (fs.File, error) {
	p, err := s.existing(w, id)
	if err != nil {
		return nil, err
	}
	f, err := openPlain(p, name)
	if err != nil {
		return nil, fyllo.Errorf(fyllo.CodeNotFound, "the file is not there: %w", err)
	}
	return f, nil
}

func openPlain(p place, name string) (*os.File, error) {
	if !fyllo.PathSafe(name) || filepath.Base(name) != name || strings.HasPrefix(name, ".") || strings.Contains(name, ":") {
		return nil, errors.New("its name is not one of a stored attachment")
	}
	for _, dir := range []string{p.dir, p.files} {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			return nil, errors.New("there are no stored attachments")
		}
	}
	root, err := os.OpenRoot(p.files)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // also not a pipe, whose opening would wait
		return nil, errors.New("it is not a regular file")
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, errors.Join(errors.New("it was replaced while it was opened"), f.Close())
	}
	return f, nil
}
