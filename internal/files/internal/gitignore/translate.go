package gitignore

import (
	"strings"
	"unicode/utf8"
)

// classes are the named ones of a bracket, as path.Match writes them.
var classes = map[string]string{
	"alnum": "0-9A-Za-z", "alpha": "A-Za-z", "digit": "0-9", "lower": "a-z", "upper": "A-Z", "xdigit": "0-9A-Fa-f",
	"blank": " \t", "space": " \t\n\v\f\r", "punct": "!-/:-@\\[-`{-~", "cntrl": "\x00-\x1f\x7f", "print": " -~", "graph": "!-~",
}

// translate turns one segment of a pattern into one of path.Match, whose brackets are stricter. It reports false for
// one that fits nothing: an open bracket, or a backslash at the end.
func translate(segment string) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(segment); {
		switch segment[i] {
		case '[':
			n, ok := bracket(&out, segment[i:])
			if !ok {
				return "", false
			}
			i += n
		case '\\':
			if i+1 == len(segment) {
				return "", false
			}
			_, n := utf8.DecodeRuneInString(segment[i+1:])
			out.WriteString(segment[i : i+1+n])
			i += 1 + n
		default:
			out.WriteByte(segment[i])
			i++
		}
	}
	return out.String(), true
}

// bracket translates the bracket that s begins with and returns its length.
func bracket(out *strings.Builder, s string) (n int, ok bool) {
	out.WriteByte('[')
	n = 1
	if n < len(s) && (s[n] == '!' || s[n] == '^') {
		out.WriteByte('^')
		n++
	}
	for first := true; n < len(s); first = false {
		if s[n] == ']' && !first {
			out.WriteByte(']')
			return n + 1, true
		}
		if name, _, found := strings.Cut(s[n:], ":]"); found && strings.HasPrefix(name, "[:") {
			class, known := classes[name[2:]]
			if !known {
				return 0, false
			}
			out.WriteString(class)
			n += len(name) + 2
			continue
		}
		if n = member(out, s, n); n < len(s) && s[n] == '-' && n+1 < len(s) && s[n+1] != ']' {
			out.WriteByte('-')
			n = member(out, s, n+1)
		}
	}
	return 0, false
}

// member writes the character of a bracket at n, escaped, and returns the place behind it.
func member(out *strings.Builder, s string, n int) int {
	if s[n] == '\\' && n+1 < len(s) {
		n++
	}
	_, size := utf8.DecodeRuneInString(s[n:])
	out.WriteString(`\` + s[n:n+size])
	return n + size
}
