// Package term knows terminals: what may be written to them, and whether a stream is one.
package term

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	xterm "golang.org/x/term"
)

// OneLine makes text safe as one line on a terminal: it may hold what an Agent said.
func OneLine(text string) string {
	return strings.Join(strings.Fields(Printable(text)), " ")
}

// Printable replaces the control characters of text by spaces, except newline and tab, and leaves out the characters
// that change the direction of what follows. Agents are not trusted to move the cursor, to change the title of
// somebody's terminal, or to make a command read as another one.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case turns(r):
			return -1
		case control(r):
			return ' '
		}
		return r
	}, text)
}

// control reports whether a terminal may obey r instead of showing it: C0, DEL, and C1, whose U+009B begins a
// sequence like ESC [ does.
func control(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }

// turns reports whether r embeds, overrides or isolates a direction of writing. The marks that only help a
// right-to-left text along are left to it.
func turns(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// JSONWriter writes JSON texts to w so that they are safe on a terminal too: what encoding/json does not escape and
// Printable would not let through becomes an escape, which means the same. A Write must hold whole texts.
func JSONWriter(w io.Writer) io.Writer { return jsonWriter{w} }

type jsonWriter struct{ w io.Writer }

// Write implements io.Writer.
func (j jsonWriter) Write(p []byte) (int, error) {
	unsafe := func(r rune) bool { return r != '\n' && (control(r) || turns(r)) } // outside of strings JSON has but the newline
	if bytes.IndexFunc(p, unsafe) < 0 {
		return j.w.Write(p)
	}
	out := make([]byte, 0, len(p)+64)
	for _, r := range string(p) {
		if unsafe(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	if _, err := j.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
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
