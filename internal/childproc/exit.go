package childproc

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Exit says how a process ended.
type Exit struct {
	Status int            // exit status; meaningless when Signal is set
	Signal syscall.Signal // the signal that killed it; 0 = it exited by itself
}

// String completes the sentence "the process …".
func (e Exit) String() string {
	if e.Signal == 0 {
		return fmt.Sprintf("exited with status %d", e.Status)
	}
	if name := unix.SignalName(e.Signal); name != "" {
		return "was killed by " + name
	}
	return fmt.Sprintf("was killed by signal %d", int(e.Signal))
}

func exitOf(state *os.ProcessState) Exit {
	if state == nil {
		return Exit{Status: -1}
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return Exit{Status: -1, Signal: ws.Signal()}
	}
	return Exit{Status: state.ExitCode()}
}
