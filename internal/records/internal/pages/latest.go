package pages

import (
	"bytes"
	"errors"
	"io"
	"os"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/journal"
)

// Latest returns the last line of a transcript that is a version of the message: a superseding line stands behind what
// it replaces. The error is io.EOF when there is none.
func Latest(path, id string) (found fyllo.Message, err error) {
	err = backward(path, []byte(id), func(m fyllo.Message) bool {
		found = m
		return m.ID == id
	})
	return found, err
}

// Requests returns the ids of the messages of a transcript by the requests that they answered.
func Requests(path string) (map[string]string, error) {
	found := map[string]string{}
	err := backward(path, []byte(`"requestId"`), func(m fyllo.Message) bool {
		if m.RequestID != "" {
			found[m.RequestID] = m.ID
		}
		return false
	})
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return found, err
}

// backward gives the lines of a transcript that hold a text, the last one first, until one is taken. The error is io.EOF
// when none was. Lines that cannot be read are passed over.
func backward(path string, text []byte, take func(fyllo.Message) bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	lines := journal.NewBackward(f, info.Size())
	for {
		line, err := lines.Next()
		if err != nil {
			return err
		}
		if !bytes.Contains(line.Data, text) { // most lines need no decoding
			continue
		}
		if m, err := parse(line.Data); err == nil && take(m) {
			return nil
		}
	}
}
