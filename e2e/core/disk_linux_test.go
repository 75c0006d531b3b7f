package core

import (
	"math"
	"testing"

	"golang.org/x/sys/unix"
)

const unlimited = math.MaxUint64

// full lets no file of Core grow beyond the limit, which a write notices as it would notice a full disk.
func full(t *testing.T, c *served, limit uint64) {
	t.Helper()
	rlimit := unix.Rlimit{Cur: limit, Max: unlimited}
	if err := unix.Prlimit(c.cmd.Process.Pid, unix.RLIMIT_FSIZE, &rlimit, nil); err != nil {
		t.Skipf("cannot limit the size of files: %v", err)
	}
}
