package childproc

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	strayWait = 500 * time.Millisecond // for killed strays to be gone
	strayPoll = 5 * time.Millisecond
)

// killStrays kills what a child left in other groups and sessions, such as the shells that many Agents start in a
// session of their own. They are known by the child's private temporary directory in their environment. It is
// called when the child's own group is dead; new ones that a stray starts meanwhile are met in the next round.
func killStrays(temp string) {
	if temp == "" {
		return
	}
	mark := []byte("TMPDIR=" + temp)
	for end := time.Now().Add(strayWait); killMarked(mark) && time.Now().Before(end); {
		time.Sleep(strayPoll)
	}
}

// killMarked kills every process that has the variable in its environment, and reports whether there was any.
func killMarked(variable []byte) bool {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return false
	}
	found := false
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() || !marked(dir, variable) {
			continue
		}
		// The pid may belong to somebody else by now; what is read while the descriptor is open does not.
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		if marked(dir, variable) {
			found = true
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // gone already is fine
		}
		_ = unix.Close(fd) // a descriptor of ours; there is nothing to lose
	}
	return found
}

// marked reports whether the process of a /proc directory has the variable. One that is dead or another user's has
// no environment to read.
func marked(dir string, variable []byte) bool {
	env, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil {
		return false
	}
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(entry, variable) {
			return true
		}
	}
	return false
}
