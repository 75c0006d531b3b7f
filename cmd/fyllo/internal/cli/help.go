package cli

import (
	"errors"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

// printHelp prints kong's help, without the name of the hidden command that opens directories.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if selected := ctx.Selected(); selected != nil && selected.Name == openCommand {
		ctx.Path = ctx.Path[:1]
	}
	return kong.DefaultHelpPrinter(options, ctx)
}

// wrongUsage turns an error of the parser into one for people, with the help that belongs to it.
func wrongUsage(err error) error {
	hint := "Run 'fyllo --help' to see what there is."
	if p, ok := errors.AsType[*kong.ParseError](err); ok {
		if node := p.Context.Selected(); node != nil && node.Name != openCommand {
			hint = "Run '" + node.FullPath() + " --help' to see how it is used."
		}
	}
	text := missingValue.ReplaceAllString(err.Error(), "a value is missing")
	text = otherCommand.ReplaceAllString(text, `$1 does not go with "$2"`)
	text = strings.Replace(text, `,"" but got`, " but got", 1) // the empty default is no choice
	return usagef(hint, "usage: %s", text)
}

// What the parser says of its own terms.
var (
	missingValue = regexp.MustCompile(`expected .*value but got "EOL" \(<EOL>\)`)
	otherCommand = regexp.MustCompile(`^flag (\S+) applies to the default command "` + openCommand + `", not "(.*)"$`)
)
