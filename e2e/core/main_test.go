package core

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The binaries under test, set by TestMain.
var (
	fylloBin string
	agentBin string
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fyllo-core-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if fylloBin, err = build(dir, "FYLLO_E2E_BIN", "./cmd/fyllo"); err == nil {
		agentBin, err = build(dir, "FYLLO_E2E_AGENT_BIN", "./internal/testagent/cmd/testagent")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build returns the binary of a command: the one that a variable names, else a new one in dir.
func build(dir, variable, command string) (string, error) {
	if path := os.Getenv(variable); path != "" {
		return path, nil
	}
	path := filepath.Join(dir, filepath.Base(command))
	cmd := exec.Command("go", "build", "-o", path, command)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", command, err, out)
	}
	return path, nil
}
