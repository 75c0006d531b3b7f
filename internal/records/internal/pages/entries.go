package pages

import (
	"errors"
	"runtime"
	"sync"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/journal"
	"fyllocode.dev/fyllo/internal/records/internal/document"
)

// batch is how many lines of a transcript are read before they are decoded.
const batch = 256

// entry is one line of a transcript as far as it could be read.
type entry struct {
	line    journal.Line
	message fyllo.Message
	err     error // the line is damaged
}

// nextEntries reads up to want lines, newest first, and decodes them; many of them on all processors, since decoding
// is what the opening of a long Session costs. The error is that of the reader and comes with what was read before.
func nextEntries(lines *journal.Backward, want int) ([]entry, error) {
	entries := make([]entry, 0, want)
	var err error
	for len(entries) < want {
		line, e := lines.Next()
		if e != nil {
			err = e
			break
		}
		if len(line.Data) > 0 {
			entries = append(entries, entry{line: line})
		}
	}
	workers := min(runtime.GOMAXPROCS(0), len(entries)/64)
	if workers < 2 {
		decode(entries)
		return entries, err
	}
	var wg sync.WaitGroup
	for i := range workers {
		part := entries[i*len(entries)/workers : (i+1)*len(entries)/workers]
		wg.Go(func() { decode(part) }) // ends with its part
	}
	wg.Wait()
	return entries, err
}

func decode(entries []entry) {
	for i := range entries {
		e := &entries[i]
		e.message, e.err = parse(e.line.Data)
	}
}

// parse reads one line of a transcript.
func parse(line []byte) (fyllo.Message, error) {
	var m fyllo.Message
	if err := document.Unmarshal(line, &m); err != nil {
		return m, err
	}
	if m.ID == "" {
		return m, errors.New("a message without id")
	}
	return m, nil
}
