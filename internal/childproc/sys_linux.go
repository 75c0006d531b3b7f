package childproc

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// childAttr puts a child into a group of its own and lets the kernel kill it when the forking thread ends.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// waitExit blocks until the process has ended and leaves it unreaped, so that its pid stays taken.
func waitExit(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
