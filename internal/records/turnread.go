package records

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/journal"
	"fyllocode.dev/fyllo/internal/records/internal/document"
)

// parseTurn reads the records behind the header. Their lines share the memory of content, whose first byte stands at
// base in the file.
func parseTurn(content []byte, base int64) (recs []fyllo.TurnRecord, damage []journal.Damage) {
	for at := 0; at < len(content); {
		end, whole := len(content), false
		if i := bytes.IndexByte(content[at:], '\n'); i >= 0 {
			end, whole = at+i, true
		}
		line := content[at:end]
		next := end
		if whole {
			next++
		}
		if len(line) > 0 {
			r, err := parseRecord(line)
			if err == nil {
				recs = append(recs, r)
			} else {
				damage = append(damage, journal.Damage{Offset: base + int64(at), Length: int64(next - at), Torn: !whole, Err: err})
			}
		}
		at = next
	}
	return recs, damage
}

// parseLine reads a record as encode writes it for a line of the Agent, which is nearly all of them, with one look at
// its bytes.
func parseLine(line []byte) (fyllo.TurnRecord, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"at":`))
	if !ok {
		return fyllo.TurnRecord{}, false
	}
	digits, raw, ok := bytes.Cut(rest, []byte(`,"line":`))
	at, err := strconv.ParseInt(string(digits), 10, 64)
	if !ok || err != nil || !bytes.HasPrefix(raw, []byte{'{'}) || !bytes.HasSuffix(raw, []byte{'}'}) {
		return fyllo.TurnRecord{}, false
	}
	raw = raw[:len(raw)-1]
	return fyllo.TurnRecord{At: time.UnixMilli(at).UTC(), Line: raw}, stdjson.Valid(raw)
}

// parseRecord reads one record. A line of the Agent comes back byte for byte.
func parseRecord(line []byte) (fyllo.TurnRecord, error) {
	if r, ok := parseLine(line); ok {
		return r, nil
	}
	if !stdjson.Valid(line) { // as tolerant as what the Agent's lines were read with
		return fyllo.TurnRecord{}, errors.New("not a JSON value")
	}
	var r struct {
		At     int64                 `json:"at"`
		Line   jsontext.Value        `json:"line"`
		Answer *fyllo.PermissionNote `json:"answer"`
		End    *fyllo.TurnEnd        `json:"end"`
	}
	if err := document.Unmarshal(line, &r); err != nil {
		return fyllo.TurnRecord{}, err
	}
	rec := fyllo.TurnRecord{At: time.UnixMilli(r.At).UTC(), Answer: r.Answer, End: r.End}
	switch {
	case len(r.Line) > 0 && r.Line[0] == '"':
		text, err := jsontext.AppendUnquote(nil, []byte(r.Line))
		if err != nil {
			return fyllo.TurnRecord{}, err
		}
		rec.Line = text
	case len(r.Line) > 0:
		rec.Line = r.Line
	case r.Answer == nil && r.End == nil:
		return fyllo.TurnRecord{}, errors.New("a record without content")
	}
	return rec, nil
}
