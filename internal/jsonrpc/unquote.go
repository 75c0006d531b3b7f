package jsonrpc

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unquote returns the text of a checked string, quotes included in raw.
func unquote(raw []byte) string {
	raw = raw[1 : len(raw)-1]
	at := bytes.IndexByte(raw, '\\')
	if at < 0 {
		return string(raw)
	}
	var out strings.Builder
	out.Grow(len(raw))
	for at >= 0 {
		out.Write(raw[:at])
		raw = raw[at+unescape(&out, raw[at:]):]
		at = bytes.IndexByte(raw, '\\')
	}
	out.Write(raw)
	return out.String()
}

// unescape writes what the escape sequence at the beginning of b stands for, and returns its length. A pair of
// surrogates is one sequence; a lone one is written in WTF-8.
func unescape(out *strings.Builder, b []byte) int {
	switch b[1] {
	case 'b':
		out.WriteByte('\b')
	case 'f':
		out.WriteByte('\f')
	case 'n':
		out.WriteByte('\n')
	case 'r':
		out.WriteByte('\r')
	case 't':
		out.WriteByte('\t')
	case 'u':
		r, _ := hex4(b)
		if !utf16.IsSurrogate(r) {
			out.WriteRune(r)
			return 6
		}
		if low, ok := hex4(b[6:]); ok {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				out.WriteRune(both)
				return 12
			}
		}
		out.Write([]byte{0xE0 | byte(r>>12), 0x80 | byte(r>>6)&0x3F, 0x80 | byte(r)&0x3F})
		return 6
	default: // a quote, a backslash or a slash
		out.WriteByte(b[1])
	}
	return 2
}
