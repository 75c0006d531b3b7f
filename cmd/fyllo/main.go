package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"fyllocode.dev/fyllo/cmd/fyllo/internal/cli"
)

// version is set by the release build (-ldflags -X main.version=…).
var version = ""

func main() {
	os.Exit(Main())
}

// Main runs the command line of the process and returns its exit code.
func Main() int {
	if code, ok := runHidden(os.Args[1:]); ok {
		return code
	}
	// Without a handler the runtime ends the process at the first write to a closed stdout, before it could
	// cancel the turn and stop the Agents. Ignoring the signal instead would be inherited by all children.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := cancelOnSignal(context.Background())
	defer stop()
	return cli.Run(ctx, cli.Config{
		Version: programVersion(), StopLimit: shutdownLimit(),
		Start: func(_ context.Context, o cli.CoreOptions) (cli.Core, error) {
			c, err := startCore(o)
			if err != nil {
				return nil, err // not a nil *core in an interface
			}
			return c, nil
		},
	}, os.Args[1:])
}

// cancelOnSignal returns a context that the first SIGINT, SIGTERM or SIGHUP cancels; a second one ends the process at
// once, and the guard of the children ends what it leaves behind.
func cancelOnSignal(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup wants the command to outlive its terminal
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() { // ends with the process: a signal may come at any time
		<-signals
		cancel()
		<-signals
		fmt.Fprintln(os.Stderr, "fyllo: ended at once")
		os.Exit(cli.ExitCancelled)
	}()
	return ctx, cancel
}

// programVersion returns the release version, else the one that the go command recorded.
func programVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	return info.Main.Version
}
