//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// detach makes cmd survive the terminal and its signals.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}
