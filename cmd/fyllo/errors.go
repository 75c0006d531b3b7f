package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"fyllocode.dev/fyllo"
)

// Exit codes (R-CLI-011).
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2
	exitCancelled = 130
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
	var slow *stepError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &slow):
		return slow.exitCode()
	case errors.Is(err, context.Canceled):
		return exitCancelled
	}
	return exitFailed
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
	fmt.Fprintf(w, "fyllo: %s (%s)\n", oneLine(f.Message), f.Code)
	if f.Hint != "" {
		fmt.Fprintln(w, oneLine(f.Hint))
	}
}

// oneLine makes text safe as one line on a terminal: it may hold what an Agent said.
func oneLine(text string) string {
	return strings.Join(strings.Fields(printable(text)), " ")
}

// printable replaces the control characters of text by spaces, except newline and tab. Agents are not trusted
// to move the cursor or to change the title of somebody's terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < 0x20 || r >= 0x7f && r < 0xa0) {
			return ' '
		}
		return r
	}, text)
}

// errorOf turns a Failure back into the error it describes.
func errorOf(f *fyllo.Failure) error {
	return &fyllo.Error{Code: f.Code, Message: f.Message, Hint: f.Hint, Details: f.Details}
}
