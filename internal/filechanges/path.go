package filechanges

import (
	"path"
	"strings"
)

// Key returns what tells files apart: the path, cleaned up without asking the disk. Where the path has the form of
// Windows, drive, separators and case make no difference (R-CHAT-100). A key is for comparing and no path to open.
func Key(p string) string {
	p = strings.TrimPrefix(p, `\\?\`) // the long form of a Windows path
	switch {
	case len(p) >= 2 && isLetter(p[0]) && p[1] == ':':
		return strings.ToLower(p[:2] + path.Clean("/"+slashes(p[2:])))
	case strings.HasPrefix(p, `\\`):
		return strings.ToLower("/" + path.Clean(slashes(p[1:]))) // a share: //server/share/…
	default:
		return path.Clean(p)
	}
}

func slashes(p string) string { return strings.ReplaceAll(p, `\`, "/") }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
