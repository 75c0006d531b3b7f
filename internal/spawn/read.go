package spawn

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"

	"fyllocode.dev/fyllo"
)

// cursor is where a read goes on (R-SPAWN-085). Callers get it as an opaque string.
type cursor struct {
	Version    int    `json:"version"`
	ResponseID string `json:"responseId"`
	Offset     int64  `json:"offset"`
}

func (c cursor) String() string {
	b, _ := json.Marshal(c) // two numbers and a string
	return base64.RawURLEncoding.EncodeToString(b)
}

// maxSafe is the largest offset that every client can hold.
const maxSafe = 1<<53 - 1

// parseCursor accepts only what String writes.
func parseCursor(text, response string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	var c cursor
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.Version != 1 || c.ResponseID != response || c.Offset < 0 || c.Offset > maxSafe || c.String() != text {
		return 0, badCursor()
	}
	return c.Offset, nil
}

func badCursor() error {
	return invalid("cursor: it is not one that read_response returned for this responseId. Leave it out to read from the beginning.")
}

// Read returns a part of a stored answer (R-SPAWN §12). It reads no more than it returns.
func (e *Engine) Read(_ context.Context, o fyllo.SpawnOwner, r fyllo.SpawnRead) (fyllo.SpawnChunk, error) {
	if r.MaxBytes == 0 {
		r.MaxBytes = fyllo.SpawnInline
	}
	if r.MaxBytes < fyllo.SpawnReadMin || r.MaxBytes > fyllo.SpawnReadMax {
		return fyllo.SpawnChunk{}, invalid("maxBytes: it must be between %d and %d.", fyllo.SpawnReadMin, fyllo.SpawnReadMax)
	}
	at, bad := parseCursor(r.Cursor, r.ResponseID)
	if bad != nil { // a response that is not there counts more
		if _, _, err := e.Store.ReadResponse(o, fyllo.SessionID(r.SessionID), r.ResponseID, 0, 0); err != nil {
			return fyllo.SpawnChunk{}, readError(err)
		}
		return fyllo.SpawnChunk{}, bad
	}
	return e.chunk(o, fyllo.SessionID(r.SessionID), r.ResponseID, at, r.MaxBytes)
}

func readError(err error) error {
	if isNotFound(err) {
		return fyllo.Errorf(fyllo.CodeSpawnNotFound, "There is no such response. Use the sessionId and responseId that this Session was given.")
	}
	return fyllo.Errorf(fyllo.CodeSpawnInternal, "The response could not be read.")
}

// chunk is the longest run of at most limit bytes from at that ends with a whole character (R-SPAWN-086).
func (e *Engine) chunk(o fyllo.SpawnOwner, id fyllo.SessionID, response string, at int64, limit int) (fyllo.SpawnChunk, error) {
	b, size, err := e.Store.ReadResponse(o, id, response, at, limit)
	switch {
	case err != nil:
		return fyllo.SpawnChunk{}, readError(err)
	case at > size || len(b) > 0 && !utf8.RuneStart(b[0]):
		return fyllo.SpawnChunk{}, badCursor()
	}
	next := at + int64(len(b))
	if next < size {
		n := len(b)
		for i := n - 1; i >= max(0, n-utf8.UTFMax); i-- {
			if utf8.RuneStart(b[i]) {
				if !utf8.FullRune(b[i:]) {
					n = i
				}
				break
			}
		}
		b, next = b[:n], at+int64(n)
	}
	c := fyllo.SpawnChunk{Content: string(b), Done: next >= size}
	if !c.Done {
		c.NextCursor = cursor{Version: 1, ResponseID: response, Offset: next}.String()
	}
	return c, nil
}
