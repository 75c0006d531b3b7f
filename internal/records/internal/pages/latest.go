package pages

import (
	"bytes"
	"os"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/journal"
)

// Latest returns the last line of a transcript that is a version of the message: a superseding line stands behind what
// it replaces. The error is io.EOF when there is none.
func Latest(path, id string) (fyllo.Message, error) {
	f, err := os.Open(path)
	if err != nil {
		return fyllo.Message{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fyllo.Message{}, err
	}
	lines := journal.NewBackward(f, info.Size())
	for {
		line, err := lines.Next()
		if err != nil {
			return fyllo.Message{}, err
		}
		if !bytes.Contains(line.Data, []byte(id)) { // most lines need no decoding
			continue
		}
		if m, err := parse(line.Data); err == nil && m.ID == id {
			return m, nil
		}
	}
}
