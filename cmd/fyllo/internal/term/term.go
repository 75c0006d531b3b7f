// Package term knows terminals: what may be written to them, and whether a stream is one.
package term

import (
	"os"
	"strings"

	xterm "golang.org/x/term"
)

// OneLine makes text safe as one line on a terminal: it may hold what an Agent said.
func OneLine(text string) string {
	return strings.Join(strings.Fields(Printable(text)), " ")
}

// Printable replaces the control characters of text by spaces, except newline and tab. Agents are not trusted to
// move the cursor or to change the title of somebody's terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < 0x20 || r >= 0x7f && r < 0xa0) {
			return ' '
		}
		return r
	}, text)
}

// Is reports whether stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && xterm.IsTerminal(int(f.Fd()))
}

// Colour reports whether stream may get colour: a terminal, and nobody asked for none (NO_COLOR).
func Colour(stream any, getenv func(string) string) bool {
	return getenv("NO_COLOR") == "" && getenv("TERM") != "dumb" && Is(stream)
}
