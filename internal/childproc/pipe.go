package childproc

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Limits of reading what a dead child left in a pipe.
const (
	drainDelay = 100 * time.Millisecond // how long a pipe may stay open after the group is dead
	drainBytes = 1 << 20                // the most a pipe can hold
)

// pipeReader reads one output pipe of a child. After finish it returns everything that is in the pipe and then
// io.EOF, even if a process outside the group still holds the other end.
type pipeReader struct {
	f    *os.File
	left int // bytes that may still be read past the deadline; used by the one reader only
}

func newPipeReader(f *os.File) *pipeReader { return &pipeReader{f: f, left: drainBytes} }

// Read may be called by one goroutine at a time. At the end it closes the pipe.
func (r *pipeReader) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, err := r.f.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		n, err = r.readNow(b)
	}
	if errors.Is(err, os.ErrClosed) {
		err = io.EOF
	}
	if err != nil {
		r.f.Close()
	}
	return n, err
}

// readNow reads without waiting, past the deadline that finish has set.
func (r *pipeReader) readNow(b []byte) (n int, err error) {
	raw, err := r.f.SyscallConn()
	if err != nil {
		return 0, err
	}
	b = b[:min(len(b), r.left)]
	if len(b) == 0 {
		return 0, io.EOF
	}
	var readErr error
	err = raw.Control(func(fd uintptr) {
		for {
			n, readErr = unix.Read(int(fd), b)
			if !errors.Is(readErr, unix.EINTR) {
				return
			}
		}
	})
	if err != nil {
		return 0, err
	}
	if n <= 0 || readErr != nil { // end of file, or empty and held open by a stranger
		return 0, io.EOF
	}
	r.left -= n
	return n, nil
}

// finish says that nobody of the group can write any more. Safe to call from any goroutine.
func (r *pipeReader) finish() {
	// A pipe that is closed already needs no deadline, so the error does not matter.
	_ = r.f.SetReadDeadline(time.Now().Add(drainDelay))
}

// Close releases the pipe; a Read in progress returns io.EOF.
func (r *pipeReader) Close() error { return r.f.Close() }
