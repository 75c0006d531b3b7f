package testagent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Received is one line of the log: a message from the client, or an event of the Agent's own life.
type Received struct {
	At     int64           `json:"at"`               // Unix milliseconds
	PID    int             `json:"pid"`              // of the Agent
	Event  string          `json:"event,omitempty"`  // start, eof or overlap (a prompt while another one ran); "" for messages
	Method string          `json:"method,omitempty"` // "" for answers
	ID     json.RawMessage `json:"id,omitempty"`     // nil for notifications
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"` // answers only
	Error  json.RawMessage `json:"error,omitempty"`
}

// ReadLog returns what Agents wrote to the log file so far, in order; a missing file is an empty log.
func ReadLog(path string) ([]Received, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Received
	for line := range bytes.Lines(b) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // being written
		}
		var r Received
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("read log %s: %w", path, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// recorder appends to the log file. A nil file records nothing.
type recorder struct {
	mu   sync.Mutex
	file *os.File
}

func openRecorder(path string) (*recorder, error) {
	if path == "" {
		return &recorder{}, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &recorder{file: f}, nil
}

// write appends one record with one write, so that several processes may share the file.
func (r *recorder) write(rec Received) {
	if r.file == nil {
		return
	}
	rec.At, rec.PID = time.Now().UnixMilli(), os.Getpid()
	b, err := json.Marshal(rec)
	if err != nil {
		panic(err) // raw messages came out of a JSON decoder
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.file.Write(append(b, '\n')); err != nil {
		fmt.Fprintln(os.Stderr, "testagent: log:", err)
	}
}

// starts counts the starts in the log, this one included.
func starts(path string) int {
	recs, err := ReadLog(path)
	if err != nil {
		return 0
	}
	n := 0
	for _, r := range recs {
		if r.Event == "start" {
			n++
		}
	}
	return n
}
