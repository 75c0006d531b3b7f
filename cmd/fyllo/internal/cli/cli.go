// Package cli is the command line: one file per command (R-CLI-001…011).
//
// Every command is a client of a Core over its HTTP API: of the one that runs for the data root, or else of one that
// the command starts inside itself (connect.go). Data goes to stdout, progress and notices to stderr.
package cli

import (
	"context"
	"log/slog"
	"os"
	"time"
)

// Config is what the command line needs from the program. All fields are needed.
type Config struct {
	Version   string
	Start     func(context.Context, CoreOptions) (Core, error) // starts a Core and returns when it accepts requests
	StopLimit time.Duration                                    // how long an orderly end of a Core may take
}

// CoreOptions say how to start a Core.
type CoreOptions struct {
	Root string       // data root, absolute
	Port int          // on 127.0.0.1; 0: chosen by the system
	Log  *slog.Logger // never gets content or secrets
	Warm bool         // initialise the installed Agents soon, since a person is about to use one (R-AGT-065)
}

// Core is a Core inside a command.
type Core interface {
	// Close ends the Core in order and returns when nothing of it is left.
	Close() error
	// Done is closed when the Core has ended, by Close or because it was asked to over its API.
	Done() <-chan struct{}
}

// Run runs the command line args with the streams and the environment of the process and returns the exit code. The
// first end of ctx cancels what runs.
func Run(ctx context.Context, c Config, args []string) int {
	a := &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv,
		start: c.Start, stopLimit: c.StopLimit, version: c.Version,
	}
	return a.run(ctx, args)
}
