package childproc

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// childAttr puts a child into a group of its own. There is no parent-death signal here; the guard does it.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// waitExit blocks until the process has ended and leaves it unreaped, so that its pid stays taken. waitid would
// also return for a stopped process on this system, hence kqueue.
func waitExit(pid int) error {
	kq, err := unix.Kqueue()
	if err != nil {
		return err
	}
	defer unix.Close(kq)
	unix.CloseOnExec(kq)
	var ev unix.Kevent_t
	unix.SetKevent(&ev, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	ev.Fflags = unix.NOTE_EXIT
	changes := []unix.Kevent_t{ev}
	out := make([]unix.Kevent_t, 1)
	for {
		_, err := unix.Kevent(kq, changes, out, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ESRCH): // a zombie already
			return nil
		}
		return err
	}
}
