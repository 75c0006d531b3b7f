package wire

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"syscall"

	"github.com/danielgtaylor/huma/v2"

	"fyllocode.dev/fyllo"
)

// APIError is the form of every error answer.
type APIError struct {
	Failure fyllo.Failure `json:"error"`
	Status  int           `json:"-"` // of HTTP
}

// Error implements huma.StatusError.
func (e *APIError) Error() string { return e.Failure.Message }

// GetStatus implements huma.StatusError.
func (e *APIError) GetStatus() int { return e.Status }

// Failed gives err the form of an answer. An error that no use case gave a code keeps its text to itself.
func Failed(err error) *APIError {
	var e *APIError
	if errors.As(err, &e) {
		return e
	}
	f := *fyllo.FailureOf(err)
	switch {
	case errors.Is(err, context.Canceled) && f.Code == fyllo.CodeInternal:
		f = fyllo.Failure{Code: fyllo.CodeShuttingDown, Message: "the request was given up"}
	case f.Code == fyllo.CodeInternal && !Coded(err):
		f.Message = "FylloCode failed: an error inside Core"
	}
	status, ok := StatusOf[f.Code]
	if !ok {
		status = http.StatusInternalServerError
	}
	return &APIError{Failure: f, Status: status}
}

// Coded reports whether a use case gave err its code, so that it is no surprise.
func Coded(err error) bool {
	_, ok := errors.AsType[*fyllo.Error](err)
	return ok
}

// KindOf says for the log what went wrong, without the text of the error, which may quote a conversation.
func KindOf(err error) string {
	var kinds []string
	for e := err; e != nil; e = errors.Unwrap(e) {
		kinds = append(kinds, fmt.Sprintf("%T", e))
		if p, ok := e.(*fs.PathError); ok { //nolint:errorlint // the chain is walked here
			kinds = append(kinds, p.Op)
		}
		if n, ok := e.(syscall.Errno); ok { //nolint:errorlint // likewise
			kinds = append(kinds, n.Error())
		}
	}
	return strings.Join(kinds, ", ")
}

// problem is one thing wrong with a request; the value that was sent is not repeated.
type problem struct {
	Where string `json:"where"`
	What  string `json:"what"`
}

// refusal turns what huma finds wrong with a request into our form.
func refusal(status int, msg string, errs ...error) huma.StatusError {
	code := fyllo.CodeInvalidRequest
	switch status {
	case http.StatusRequestEntityTooLarge:
		code = fyllo.CodeTooLarge
	case http.StatusUnprocessableEntity:
		status = http.StatusBadRequest
	case http.StatusNotFound:
		code = fyllo.CodeNotFound
	case http.StatusInternalServerError:
		code = fyllo.CodeInternal
	}
	e := &APIError{Status: status, Failure: fyllo.Failure{Code: code, Message: "the request is not valid: " + msg}}
	var problems []problem
	for _, err := range errs {
		if d, ok := err.(huma.ErrorDetailer); ok {
			x := d.ErrorDetail()
			problems = append(problems, problem{Where: x.Location, What: x.Message})
		}
	}
	if len(problems) > 0 {
		e.Failure.Details = problems
		e.Failure.Message = fmt.Sprintf("the request is not valid: %s: %s", problems[0].Where, problems[0].What)
	}
	return e
}

// ConfigureHuma sets what huma keeps in globals: the form of errors, and that arrays are never null, which Encode
// sees to.
var ConfigureHuma = sync.OnceFunc(func() {
	huma.NewError = refusal
	huma.DefaultArrayNullable = false
})

// WriteError answers outside of huma.
func WriteError(w http.ResponseWriter, err error) {
	e := Failed(err)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.Status)
	if Encode(w, e) != nil {
		return // the client is gone
	}
}
