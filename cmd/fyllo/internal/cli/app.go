package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"fyllocode.dev/fyllo/cmd/fyllo/internal/follow"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
	"github.com/alecthomas/kong"
)

// app is what every command works with: its streams, its environment and the data root.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	getenv func(string) string
	// root is the absolute path of the data root (R-CLI-001); set once the command line is parsed.
	root string
	// start starts a Core for the data root inside the command.
	start     func(context.Context, CoreOptions) (Core, error)
	stopLimit time.Duration
	version   string
}

// grammar is the command line.
type grammar struct {
	Home    string `placeholder:"DIR" help:"Data root. Default: $$FYLLO_HOME, else $$XDG_DATA_HOME/fyllocode, else the platform's usual place."`
	Version bool   `help:"Print the version."`

	Open     openCmd     `cmd:"" name:"__open" default:"withargs" hidden:""`
	Serve    serveCmd    `cmd:"" help:"Run Core in the foreground."`
	Status   statusCmd   `cmd:"" help:"Say whether Core runs, and what it does."`
	Stop     stopCmd     `cmd:"" help:"Stop Core."`
	Prompt   promptCmd   `cmd:"" help:"Run one turn and print what the Agent says."`
	Sessions sessionsCmd `cmd:"" help:"List, show, search and change Sessions."`
	Spawned  spawnedCmd  `cmd:"" help:"See what a Session has delegated to other Agents."`
	Agents   agentsCmd   `cmd:"" help:"List, add, remove and check Agents."`
	Doctor   doctorCmd   `cmd:"" help:"Check the data root, the tool chain and every Agent."`
	VersionC versionCmd  `cmd:"" name:"version" help:"Print the version."`
}

const description = `Work with ACP coding agents.

'fyllo [--no-open] [DIR …]' opens directories as a Workspace in the browser and prints the URL; without a directory, the launcher. A directory with the name of a command is written ./status.

Example:

    fyllo ~/src/site
`

// command is one entry of the grammar.
type command interface {
	Run(ctx context.Context, a *app) error
}

// jsonCommand is a command that can print JSON.
type jsonCommand interface{ wantsJSON() bool }

// run parses and runs one command line and returns its exit code.
func (a *app) run(ctx context.Context, args []string) int {
	cmd, err := a.parse(args)
	if err == nil && cmd == nil {
		return ExitDone // help was printed
	}
	asJSON := cmd == nil && slices.Contains(beforeDashes(args), "--json")
	if j, ok := cmd.(jsonCommand); ok {
		asJSON = j.wantsJSON()
	}
	if err == nil {
		err = cmd.Run(ctx, a)
	}
	return a.report(err, asJSON, isPrompt(cmd, args))
}

// parse returns the command that args name, or nil without an error when help was printed instead.
func (a *app) parse(args []string) (command, error) {
	var cli grammar
	helped := false
	parser, err := kong.New(&cli,
		kong.Name("fyllo"), kong.Description(description), kong.Help(printHelp),
		kong.Writers(a.stdout, a.stderr), kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(args)
	if helped {
		return nil, nil
	}
	if err != nil {
		return nil, wrongUsage(err)
	}
	if a.root, err = dataRoot(cli.Home, a.getenv, runtime.GOOS); err != nil {
		return nil, err
	}
	if cli.Version {
		return &versionCmd{}, nil
	}
	cmd, ok := parsed.Selected().Target.Addr().Interface().(command)
	if !ok {
		return nil, usagef("Run 'fyllo --help' to see what there is.", "usage: %s is incomplete", parsed.Command())
	}
	return cmd, nil
}

// report says how a command ended and returns its exit code. A prompt with --json is different: its last line
// is the outcome already, or becomes it here when the turn never began (R-CLI-007).
func (a *app) report(err error, asJSON, prompt bool) int {
	code := exitCode(err)
	if code == ExitDone || quiet(err) {
		return code
	}
	var told *toldError
	silent := errors.As(err, &told) || !asJSON
	if code == ExitCancelled {
		if prompt && !silent {
			_ = a.printJSON(follow.EndLine{Type: "end", StopReason: follow.StopCancelled}) // the exit code says it too
		}
		fmt.Fprintln(a.stderr, "cancelled")
		return code
	}
	failure := failureOf(err)
	if !silent {
		var line any = map[string]any{"error": failure}
		if prompt {
			line = follow.EndLine{Type: "end", Error: failure}
		}
		if err := a.printJSON(line); quiet(err) {
			return code
		}
	}
	reportFailure(a.stderr, failure)
	return code
}

// toldError is a failure that stdout has already been told about.
type toldError struct{ err error }

func (e *toldError) Error() string { return e.err.Error() }
func (e *toldError) Unwrap() error { return e.err }

// isPrompt reports whether cmd, or the command that args wanted to name, is prompt.
func isPrompt(cmd command, args []string) bool {
	if cmd != nil {
		_, ok := cmd.(*promptCmd)
		return ok
	}
	return slices.Contains(beforeDashes(args), "prompt")
}

func beforeDashes(args []string) []string {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i]
	}
	return args
}

// printJSON writes v as one line on stdout.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(term.JSONWriter(a.stdout))
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// notice tells a person something that is no data.
func (a *app) notice(format string, args ...any) {
	fmt.Fprintln(a.stderr, term.OneLine(fmt.Sprintf(format, args...)))
}
