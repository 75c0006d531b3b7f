package spawn

import (
	"regexp"
)

// What an Agent says of its failure may hold secrets and paths of this machine; neither leaves in a result (R-SPAWN-041).
var (
	secrets = regexp.MustCompile(`(?i)\b(sk-|ghp_|gho_|xox[abp]-|AIza|Bearer\s+)[A-Za-z0-9_\-.]{6,}|\b(api[_-]?key|token|password|secret)(["']?\s*[:=]\s*["']?)[^\s"',;]+`)
	paths   = regexp.MustCompile(`(^|[\s"'(=:])(/[^\s"'():,;]+/[^\s"'():,;]*|[A-Za-z]:\\[^\s"'():,;]+|\\\\[^\s"'():,;]+)`)
)

const maxReason = 500 // characters

func scrub(s string) string {
	s = secrets.ReplaceAllString(s, "[removed]")
	s = paths.ReplaceAllString(s, "$1[path]")
	return cut(s, maxReason)
}
