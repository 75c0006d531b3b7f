package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
)

// Exit codes (R-CLI-011). An error with a method ExitCode() int brings its own.
const (
	ExitDone      = 0
	ExitFailed    = 1
	ExitUsage     = 2
	ExitCancelled = 130
)

// usageError is a command line that says something impossible.
type usageError struct {
	message string
	hint    string
}

func (e *usageError) Error() string { return e.message }

// usagef makes a usageError; hint may be "".
func usagef(hint, format string, args ...any) error {
	return &usageError{message: fmt.Sprintf(format, args...), hint: hint}
}

// errReported is returned by a command that has said everything itself; the exit code is 1.
var errReported = errors.New("already reported")

// exitCode returns the exit code that err stands for.
func exitCode(err error) int {
	var usage *usageError
	var coded interface{ ExitCode() int }
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &usage):
		return ExitUsage
	case errors.As(err, &coded):
		return coded.ExitCode()
	case errors.Is(err, context.Canceled):
		return ExitCancelled
	}
	return ExitFailed
}

// failureOf returns what people and scripts are told about err.
func failureOf(err error) *fyllo.Failure {
	var usage *usageError
	if errors.As(err, &usage) {
		return &fyllo.Failure{Code: fyllo.CodeInvalidRequest, Message: usage.message, Hint: usage.hint}
	}
	return fyllo.FailureOf(err)
}

// quiet reports whether nobody is left or needs to be told about err.
func quiet(err error) bool {
	return errors.Is(err, errReported) || errors.Is(err, syscall.EPIPE)
}

// reportFailure writes the error line of R-CLI-011 and, when there is one, the line that says what to do.
func reportFailure(w io.Writer, f *fyllo.Failure) {
	fmt.Fprintf(w, "fyllo: %s (%s)\n", term.OneLine(f.Message), f.Code)
	if f.Hint != "" {
		fmt.Fprintln(w, term.OneLine(f.Hint))
	}
}
