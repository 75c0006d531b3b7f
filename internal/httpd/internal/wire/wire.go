// Package wire writes the JSON that leaves Core: answers, and frames of events.
package wire

import (
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/stream"
)

// jsonForm is that of encoding/json, except that an absent list is an empty one, as the description promises.
var jsonForm = json.JoinOptions(jsonv1.DefaultOptionsV1(), json.FormatNilSliceAsNull(false), jsontext.EscapeForHTML(false))

// Encode writes an answer.
func Encode(w io.Writer, v any) error { return json.MarshalWrite(w, v, jsonForm) }

// AppendFrame appends entries to dst as one JSON array of events. Neighbouring deltas of one part become one event
// with the number of the last of them, so that a window which fell behind catches up with less.
//
// An event that cannot be encoded is a bug of its publisher; it goes out as a reset, so that the window fetches what
// it would have told, and is reported through the returned error.
func AppendFrame(dst []byte, entries []stream.Entry) ([]byte, error) {
	var failure error
	dst = append(dst, '[')
	for i := 0; i < len(entries); {
		if i > 0 {
			dst = append(dst, ',')
		}
		if d, ok := entries[i].Data.(fyllo.Delta); ok {
			n := deltaRun(entries[i:], &d)
			dst = appendDelta(dst, entries[i:i+n], &d)
			i += n
			continue
		}
		var err error
		if dst, err = appendEvent(dst, &entries[i]); err != nil {
			failure = err
		}
		i++
	}
	return append(dst, ']'), failure
}

func appendEvent(dst []byte, e *stream.Entry) ([]byte, error) {
	data, err := json.Marshal(e.Data, jsonForm)
	if err != nil {
		return appendReset(dst, e.Seq), err
	}
	if e.Data == nil {
		data = append(data[:0], "{}"...)
	}
	dst = appendHead(dst, e.Seq, e.Session, e.Type)
	dst = append(dst, data...)
	return append(dst, '}'), nil
}

// ResetFrame returns a frame that tells a window to fetch everything anew, and that seq is the last event it has then.
func ResetFrame(seq uint64) []byte { return append(appendReset([]byte{'['}, seq), ']') }

func appendReset(dst []byte, seq uint64) []byte {
	return append(appendHead(dst, seq, "", string(fyllo.EventReset)), "{}}"...)
}

func appendHead(dst []byte, seq uint64, session, typ string) []byte {
	dst = append(dst, `{"seq":`...)
	dst = strconv.AppendUint(dst, seq, 10)
	if session != "" {
		dst = appendString(append(dst, `,"sessionId":`...), session)
	}
	dst = appendString(append(dst, `,"type":`...), typ)
	return append(dst, `,"data":`...)
}

// deltaRun counts the entries at the head of entries that continue the first one, whose data is d.
func deltaRun(entries []stream.Entry, d *fyllo.Delta) int {
	n := 1
	for n < len(entries) {
		next, ok := entries[n].Data.(fyllo.Delta)
		if !ok || next.PartID != d.PartID || next.MessageID != d.MessageID || entries[n].Session != entries[0].Session {
			break
		}
		n++
	}
	return n
}

func appendDelta(dst []byte, run []stream.Entry, d *fyllo.Delta) []byte {
	dst = appendHead(dst, run[len(run)-1].Seq, run[0].Session, run[0].Type)
	dst = appendString(append(dst, `{"messageId":`...), d.MessageID)
	dst = appendString(append(dst, `,"partId":`...), d.PartID)
	dst = strconv.AppendInt(append(dst, `,"index":`...), int64(d.Index), 10)
	dst = appendString(append(dst, `,"kind":`...), string(d.Kind))
	dst = strconv.AppendInt(append(dst, `,"at":`...), int64(d.At), 10)
	dst = append(dst, `,"text":`...)
	dst = appendString(dst, d.Text)
	for i := range run[1:] {
		next, _ := run[1+i].Data.(fyllo.Delta)
		at := len(dst) - 1 // of the closing quote, which the opening quote of the next text replaces
		dst = appendString(dst[:at], next.Text)
		dst = append(dst[:at], dst[at+1:]...)
	}
	return append(dst, "}}"...)
}

// appendString appends s as a JSON string. Bytes that are no UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	out, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		out, _ = jsontext.AppendQuote(dst, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return out
}
