package jsonrpc

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The error codes of JSON-RPC, and of its cancellation extension.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodMissing  = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeCancelled      = -32800
)

// Why a connection ended, for errors.Is.
var (
	ErrClosed = errors.New("connection closed")
	ErrStuck  = errors.New("peer does not read its input")
)

// Error is an error answer of the peer.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitzero"` // nil when absent
}

// Error returns code and message.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// envelope is a message whose inner values are not decoded yet; they point into the line.
type envelope struct {
	id     []byte // nil when absent or null
	method string
	params []byte // nil when absent
	result []byte // nil when absent
	err    []byte // nil when absent or null
}

// commonMethod is what nearly every line of our peers is; knowing it saves an allocation.
const commonMethod = "session/update"

// parse reads the envelope of a line; false means that the line is not a JSON object.
func parse(line []byte) (m envelope, ok bool) {
	s := NewScanner(line)
	s.Object(func(name []byte) {
		switch string(name) {
		case "id":
			if m.id = nil; !s.Null() {
				m.id = s.Raw()
			}
		case "method":
			m.method, _ = s.Match(commonMethod)
		case "params":
			m.params = s.Raw()
		case "result":
			m.result = s.Raw()
		case "error":
			if m.err = nil; !s.Null() {
				m.err = s.Raw()
			}
		}
	})
	return m, s.Finish() && len(line) > 0
}

// parseError reads an error object tolerantly: a missing code reads as CodeInternal.
func parseError(raw []byte) *Error {
	e := &Error{Code: CodeInternal}
	s := NewScanner(raw)
	s.Object(func(name []byte) {
		switch string(name) {
		case "code":
			if n, ok := s.Int(); ok {
				e.Code = int(n)
			}
		case "message":
			e.Message, _ = s.String()
		case "data":
			e.Data = append(json.RawMessage(nil), s.Raw()...)
		}
	})
	if e.Message == "" {
		e.Message = "error without a message"
	}
	return e
}

// callID reads the id of an answer to one of our calls; we number them from 1.
func callID(raw []byte) (uint64, bool) {
	s := NewScanner(raw)
	n, ok := s.Int()
	return uint64(max(n, 0)), ok && n > 0
}
