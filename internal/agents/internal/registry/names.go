package registry

import "strings"

// Platform is the key of Agent.Binary for a system in the words of Go, "" when the registry has no word for it.
// That of Windows is windows-*, not win32-* (R-AGT-003).
func Platform(goos, goarch string) string {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[goarch]
	switch goos {
	case "darwin", "linux", "windows":
		if arch != "" {
			return goos + "-" + arch
		}
	}
	return ""
}

// BareNPM takes the version or tag off a package: @scope/name@1.2.3 → @scope/name.
func BareNPM(pkg string) string {
	if at := strings.LastIndexByte(pkg, '@'); at > 0 {
		return pkg[:at]
	}
	return pkg
}

// BarePyPI takes the version and the extras off a package, as `uv tool list` names it: name[x]==1.2 → name.
func BarePyPI(pkg string) string {
	if at := strings.IndexAny(pkg, "@=[<>~!"); at > 0 {
		return pkg[:at]
	}
	return pkg
}

// Newer reports whether offered is a higher version than installed, compared numerically segment by segment; a
// segment that is not there counts as 0. A version that is unknown or not dotted numeric is never newer nor older
// (R-AGT-033).
func Newer(offered, installed string) bool {
	a, b := segments(offered), segments(installed)
	if a == nil || b == nil {
		return false
	}
	for i := range max(len(a), len(b)) {
		x, y := "", ""
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if len(x) != len(y) {
			return len(x) > len(y)
		}
		if x != y {
			return x > y
		}
	}
	return false
}

// segments are digits without leading zeros, so that the longer one is the greater number however long it is.
func segments(version string) []string {
	parts := strings.Split(version, ".")
	for i, p := range parts {
		if p == "" || strings.Trim(p, "0123456789") != "" {
			return nil
		}
		parts[i] = strings.TrimLeft(p, "0")
	}
	return parts
}
