package agents

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// process is one that was started with the rig's HOME: Core, an Agent or a child of one.
type process struct {
	pid  int
	args string
}

func (p process) kill() error {
	proc, err := os.FindProcess(p.pid)
	if err != nil {
		return err
	}
	return proc.Kill()
}

// processes finds them by their environment, which follows children into other sessions and process groups too. Where
// there is no /proc it finds none.
func (r *rig) processes(t *testing.T) []process {
	t.Helper()
	mark := []byte("HOME=" + r.home + "\x00")
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var found []process
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(env, mark) {
			continue // another user's, or gone
		}
		args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		pid, _ := strconv.Atoi(filepath.Base(dir))
		found = append(found, process{pid, string(bytes.ReplaceAll(args, []byte{0}, []byte(" ")))})
	}
	return found
}
