// Package files knows how stored attachments are named, and opens them safely.
package files

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"fyllocode.dev/fyllo"
)

// extensions of stored attachments, by what their bytes are. Everything else is a .bin, whatever an Agent called it, so
// that opening such a file by mistake starts nothing.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/avif": ".avif",
	"audio/wav": ".wav", "audio/ogg": ".ogg", "audio/flac": ".flac", "audio/mp4": ".m4a", "audio/mpeg": ".mp3",
}

// Extension is how the name of a file ends that begins so.
func Extension(head []byte) string {
	if ext := extensions[fyllo.MediaType(head)]; ext != "" {
		return ext
	}
	return ".bin"
}

// NewHandle makes a random UUID (version 4, RFC 9562).
func NewHandle() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return uuid(b[:])
}

func uuid(b []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// HandleOf makes a UUID (version 8, RFC 9562) from what a file belongs to and holds.
func HandleOf(messageID, text string) string {
	h := sha256.New()
	_, _ = io.WriteString(h, messageID+"\x00")
	_, _ = io.Copy(h, onlyReader{strings.NewReader(text)}) // in pieces, not as one copy; a hash takes everything
	b := h.Sum(nil)
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return uuid(b)
}

// onlyReader hides that a reader could write itself in one go.
type onlyReader struct{ io.Reader }

// Open opens the regular file with that name in the directory files, which lies in dir. name may be anything: links are
// not followed, and nothing elsewhere is reached.
func Open(dir, files, name string) (*os.File, error) {
	if !fyllo.PathSafe(name) || filepath.Base(name) != name || strings.HasPrefix(name, ".") || strings.Contains(name, ":") {
		return nil, errors.New("its name is not one of a stored attachment")
	}
	for _, d := range []string{dir, files} {
		if info, err := os.Lstat(d); err != nil || !info.IsDir() {
			return nil, errors.New("there are no stored attachments")
		}
	}
	root, err := os.OpenRoot(files)
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
