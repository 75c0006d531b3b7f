package attachments

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"fyllocode.dev/fyllo"
)

// nameRunes bounds a name.
const nameRunes = 120

// CleanName makes of a name that a client sent one that can be shown and kept: the last segment of a path, in one line,
// without characters that are invisible or reorder text; "file" when nothing is left.
func CleanName(name string) string {
	if at := strings.LastIndexAny(name, `/\`); at >= 0 {
		name = name[at+1:]
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) || r == utf8.RuneError:
			return -1
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	if runes := []rune(name); len(runes) > nameRunes {
		end := runes[len(runes)-12:] // keeps the ending, by which people and KindOf tell what it is
		name = string(runes[:nameRunes-13]) + "…" + string(end)
	}
	if strings.Trim(name, ". ") == "" {
		return "file"
	}
	return name
}

const octets = "application/octet-stream"

// TypeOf returns the type of a file: what its first bytes tell if they do, else what it was said to be. It never turns
// a file into an image or an image into a file, so that who was accepted as one stays it (R-CHAT-044).
func TypeOf(name, said string, head []byte) string {
	said = cleanType(said)
	sniffed := fyllo.MediaType(head)
	if KindOf(name, said) == Image {
		switch {
		case strings.HasPrefix(sniffed, "image/"):
			return sniffed
		case strings.HasPrefix(said, "image/"):
			return said
		}
		return pictures[ending(name)]
	}
	switch {
	case sniffed != "" && !strings.HasPrefix(sniffed, "image/"):
		return sniffed
	case said != "":
		return said
	}
	return octets
}

// cleanType returns a media type without parameters in lower case, "" if it is none.
func cleanType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	s = strings.ToLower(strings.TrimSpace(s))
	kind, sub, ok := strings.Cut(s, "/")
	if !ok || !isToken(kind) || !isToken(sub) || len(s) > 128 {
		return ""
	}
	return s
}

// isToken reports whether s is one half of a media type (RFC 6838).
func isToken(s string) bool {
	for _, c := range []byte(s) {
		alnum := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !alnum && !strings.ContainsRune("!#$&-^_.+", rune(c)) {
			return false
		}
	}
	return s != ""
}

// IsHandle reports whether s has the form of a handle: a UUID in lower case. A path or a URI never has it.
func IsHandle(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
		if dash != (c == '-') || !dash && !hex {
			return false
		}
	}
	return true
}
