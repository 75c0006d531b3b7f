package files

import (
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"fyllocode.dev/fyllo/internal/files/internal/gitignore"
)

// maxRules is how much of a file of rules is read, in bytes.
const maxRules = 256 << 10

// ruled are the rules that one directory sets for what lies below it.
type ruled struct {
	dir   string // "." for the root
	rules gitignore.Rules
}

// ruledBy returns the rules with those of one more file of a directory, if there is one. A link is not read, as in Git.
func ruledBy(rules []ruled, root *os.Root, dir, file string) []ruled {
	name := path.Join(dir, file)
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return rules
	}
	f, err := root.Open(name)
	if err != nil {
		return rules // not ours to read
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRules))
	if err != nil {
		return rules
	}
	return append(slices.Clip(rules), ruled{dir, gitignore.Parse(string(text))})
}

// judged asks the innermost rules first.
func judged(rules []ruled, below string, dir bool) (ignored, decided bool) {
	for _, r := range slices.Backward(rules) {
		name := below
		if r.dir != "." {
			name = strings.TrimPrefix(below, r.dir+"/")
		}
		if ignored, decided = r.rules.Judge(name, dir); decided {
			return ignored, true
		}
	}
	return false, false
}
