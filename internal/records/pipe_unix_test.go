//go:build unix

package records_test

import (
	"syscall"
	"testing"
)

// makePipe makes a named pipe, whose opening waits for a writer.
func makePipe(t testing.TB, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}
