package records

import (
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/atomicfile"
	"fyllocode.dev/fyllo/internal/records/internal/files"
)

// maxAttachment is how many bytes a stored attachment may have. What is longer stays a body.
const maxAttachment = 25 << 20

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
	name := files.HandleOf(messageID, text) + extension(text)
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
	return files.Extension(head[:n])
}

// Attachment opens a stored attachment; the caller closes it. name stood in a transcript, which people can edit, so it
// is believed only as far as it names a regular file in the directory of this Session itself: links are not followed.
// Anything else is NOT_FOUND.
func (s *Store) Attachment(w fyllo.WorkspaceID, id fyllo.SessionID, name string) (fs.File, error) {
	p, err := s.existing(w, id)
	if err != nil {
		return nil, err
	}
	f, err := files.Open(p.dir, p.files, name)
	if err != nil {
		return nil, fyllo.Errorf(fyllo.CodeNotFound, "the file is not there: %w", err)
	}
	return f, nil
}
