package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// marker is an environment variable by which a script finds the processes it began.
const marker = "FYLLO_SCRIPT_MARK"

// TestScripts runs the real binary against a scripted Agent. Each script has its own data root and ends with no
// process left.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_DATA_HOME", "")
			env.Setenv("FYLLO_HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("FYLLO_TESTAGENT_LOG", filepath.Join(env.WorkDir, "agent.log"))
			env.Setenv("FYLLO_REGISTRY_URL", "") // no test goes out
			env.Setenv("BROWSER", "true")
			env.Setenv("SHELL", "/bin/sh")
			env.Setenv(marker, env.WorkDir)
			env.Defer(func() { endLeftovers(env.WorkDir) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": cmdExits, "setvar": cmdSetvar, "signalled": cmdSignalled, "noprocess": cmdNoProcess, "waitfor": cmdWaitFor,
			"httpget": cmdHTTPGet,
		},
	})
}

// exits CODE COMMAND…: runs it and wants this exit code.
func cmdExits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	if got := codeOf(err); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func codeOf(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	default:
		return -1
	}
}

// setvar NAME REGEXP: sets a variable to the first group of REGEXP in stdout.
func cmdSetvar(ts *testscript.TestScript, _ bool, args []string) {
	m := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if m == nil {
		ts.Fatalf("no match for %s in stdout", args[1])
	}
	ts.Setenv(args[0], m[1])
}

// signalled SIGNAL CODE REGEXP COMMAND…: starts it, waits until REGEXP is in its stdout, sends the signal, and wants
// the exit code. The output is in the files out and err.
func cmdSignalled(ts *testscript.TestScript, _ bool, args []string) {
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "HUP": syscall.SIGHUP, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	out, err := os.Create(ts.MkAbs("out"))
	ts.Check(err)
	defer out.Close()
	stderr, err := os.Create(ts.MkAbs("err"))
	ts.Check(err)
	defer stderr.Close()
	cmd := exec.Command(lookPath(ts, args[3]), args[4:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), environ(ts), out, stderr
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	pattern := regexp.MustCompile("(?m)" + args[2])
	for start := time.Now(); !pattern.MatchString(ts.ReadFile("out")); time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > 30*time.Second {
			_ = cmd.Process.Kill()
			ts.Fatalf("%s did not appear; stdout %q, stderr %q", args[2], ts.ReadFile("out"), ts.ReadFile("err"))
		}
	}
	ts.Check(cmd.Process.Signal(signals[args[0]]))
	select {
	case err := <-ended:
		if got := codeOf(err); got != want {
			ts.Fatalf("exit code %d, want %d; stdout %q, stderr %q", got, want, ts.ReadFile("out"), ts.ReadFile("err"))
		}
	case <-time.After(30 * time.Second):
		_ = cmd.Process.Kill()
		ts.Fatalf("it did not end; stderr %q", ts.ReadFile("err"))
	}
}

func lookPath(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	ts.Fatalf("%s is not on PATH", name)
	return ""
}

// environ is the environment of the script.
func environ(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{
		"PATH", "HOME", "TMPDIR", "FYLLO_HOME", "FYLLO_REGISTRY_URL", "XDG_DATA_HOME", "FYLLO_TESTAGENT_LOG", "FYLLO_TESTAGENT", "BROWSER", "SHELL", marker,
	} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}

// waitfor FILE REGEXP: waits until REGEXP is in FILE.
func cmdWaitFor(ts *testscript.TestScript, _ bool, args []string) {
	pattern := regexp.MustCompile("(?m)" + args[1])
	var text []byte
	for start := time.Now(); time.Since(start) < 30*time.Second; time.Sleep(10 * time.Millisecond) {
		text, _ = os.ReadFile(ts.MkAbs(args[0]))
		if pattern.Match(text) {
			return
		}
	}
	ts.Fatalf("%s did not appear in %s: %q", args[1], args[0], text)
}

// noprocess: nothing that the script began runs any more, after a moment for what is just ending.
func cmdNoProcess(ts *testscript.TestScript, _ bool, _ []string) {
	if runtime.GOOS != "linux" {
		return
	}
	var left []int
	for start := time.Now(); time.Since(start) < 10*time.Second; time.Sleep(20 * time.Millisecond) {
		if left = processesOf(ts.Getenv(marker)); len(left) == 0 {
			return
		}
	}
	for _, pid := range left {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		ts.Logf("process %d: %q", pid, line)
	}
	ts.Fatalf("processes are left: %v", left)
}

// processesOf returns the processes whose environment has the mark.
func processesOf(mark string) (found []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err == nil && bytes.Contains(env, []byte(marker+"="+mark+"\x00")) {
			if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
				found = append(found, pid)
			}
		}
	}
	return found
}

// endLeftovers ends what a failed script left.
func endLeftovers(mark string) {
	for _, pid := range processesOf(mark) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// httpget URL CODE: fetches a page with curl-like plainness and wants the status.
func cmdHTTPGet(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	got, err := statusOf(args[0])
	ts.Check(err)
	if got != want {
		ts.Fatalf("%s answered %d, want %d", args[0], got, want)
	}
}

// statusOf returns the status of a page, without following redirects.
func statusOf(url string) (int, error) {
	transport := &http.Transport{DisableKeepAlives: true}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	resp, err := client.Get(url)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	return resp.StatusCode, nil
}
