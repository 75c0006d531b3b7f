package httpd

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
	"fyllocode.dev/fyllo/internal/httpd/internal/wire"
)

// apiError is the form of every error answer.
type apiError struct {
	Failure fyllo.Failure `json:"error"`
	status  int
}

// Error implements huma.StatusError.
func (e *apiError) Error() string { return e.Failure.Message }

// GetStatus implements huma.StatusError.
func (e *apiError) GetStatus() int { return e.status }

// failed gives err the form of an answer. An error that no use case gave a code keeps its text to itself.
func failed(err error) *apiError {
	var e *apiError
	if errors.As(err, &e) {
		return e
	}
	f := *fyllo.FailureOf(err)
	switch {
	case errors.Is(err, context.Canceled) && f.Code == fyllo.CodeInternal:
		f = fyllo.Failure{Code: fyllo.CodeShuttingDown, Message: "the request was given up"}
	case f.Code == fyllo.CodeInternal && !isCoded(err):
		f.Message = "FylloCode failed: an error inside Core"
	}
	status, ok := wire.StatusOf[f.Code]
	if !ok {
		status = http.StatusInternalServerError
	}
	return &apiError{Failure: f, status: status}
}

func isCoded(err error) bool {
	_, ok := errors.AsType[*fyllo.Error](err)
	return ok
}

// kindOf says for the log what went wrong, without the text of the error, which may quote a conversation.
func kindOf(err error) string {
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
	e := &apiError{status: status, Failure: fyllo.Failure{Code: code, Message: "the request is not valid: " + msg}}
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

// configureHuma sets what huma keeps in globals: the form of errors, and that arrays are never null, which wire.Encode
// sees to.
var configureHuma = sync.OnceFunc(func() {
	huma.NewError = refusal
	huma.DefaultArrayNullable = false
})

// writeError answers outside of huma.
func writeError(w http.ResponseWriter, err error) {
	e := failed(err)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.status)
	if wire.Encode(w, e) != nil {
		return // the client is gone
	}
}

// isAPI tells calls, which get JSON errors, from pages, which get a page.
func isAPI(path string) bool { return path == "/api" || strings.HasPrefix(path, "/api/") }
