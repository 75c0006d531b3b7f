package cli

import "github.com/alecthomas/kong"

// printHelp prints kong's help, without the name of the hidden command that opens directories.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if selected := ctx.Selected(); selected != nil && selected.Name == openCommand {
		ctx.Path = ctx.Path[:1]
	}
	return kong.DefaultHelpPrinter(options, ctx)
}
