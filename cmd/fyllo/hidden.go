package main

import (
	"fmt"
	"os"

	"fyllocode.dev/fyllo/cmd/fyllo/internal/cli"
	"fyllocode.dev/fyllo/internal/childproc"
	"fyllocode.dev/fyllo/internal/tour"
)

// The subcommands by which the binary starts itself. They are no part of the command line.
const (
	tourCommand  = "__tour"  // the built-in Agent (decision 20)
	guardCommand = "__guard" // stops the children of a Core that was killed (R-AGT-058)
)

// runHidden runs a hidden subcommand and returns its exit code; ok is false when args name none.
func runHidden(args []string) (code int, ok bool) {
	if len(args) == 0 {
		return 0, false
	}
	switch args[0] {
	case tourCommand:
		return tour.Main(), true
	case guardCommand:
		if err := childproc.GuardMain(os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, "fyllo guard:", err)
			return cli.ExitFailed, true
		}
		return cli.ExitDone, true
	}
	return 0, false
}
