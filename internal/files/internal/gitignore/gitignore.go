// Package gitignore reads files of ignore rules as Git does (gitignore(5)) and judges paths by them. It is pure: who calls
// it finds and reads the files. Kept here, since no maintained library for it is small.
package gitignore

import (
	"path"
	"strings"
)

// Rules are those of one file. The zero value says nothing.
type Rules struct{ patterns []pattern }

// pattern is one line.
type pattern struct {
	segments []string // of path.Match; "**" stands for any number of directories
	include  bool     // "!": what an earlier rule ignored is taken back
	dirs     bool     // fits directories only
	anywhere bool     // fits a name at any depth, segments being that name alone
}

// Parse reads the rules of a file. A line that is no pattern says nothing, as in Git.
func Parse(text string) (r Rules) {
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		if p, ok := parse(trim(line)); ok {
			r.patterns = append(r.patterns, p)
		}
	}
	return r
}

// trim takes the end of a line off, and blanks in front of it unless a backslash keeps them.
func trim(line string) string {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	short := strings.TrimRight(line, " ")
	escapes := len(short) - len(strings.TrimRight(short, `\`))
	if escapes%2 == 1 && len(short) < len(line) {
		short += " "
	}
	return short
}

func parse(line string) (p pattern, ok bool) {
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	line, p.include = strings.CutPrefix(line, "!")
	line, p.dirs = strings.CutSuffix(line, "/")
	p.anywhere = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return p, false
	}
	for s := range strings.SplitSeq(line, "/") {
		if s != "**" {
			if s, ok = translate(s); !ok {
				return p, false
			}
		} else if n := len(p.segments); n > 0 && p.segments[n-1] == "**" {
			continue // the same again, which would only cost time
		}
		p.segments = append(p.segments, s)
	}
	return p, true
}

// Judge says what the last rule that fits a path makes of it; decided is false when none fits. The path is relative to the
// directory of the file, with slashes. What lies in an ignored directory is ignored, whatever the rules say of it; that
// is for the caller, who does not go there.
func (r Rules) Judge(name string, dir bool) (ignored, decided bool) {
	for i := len(r.patterns) - 1; i >= 0; i-- {
		p := r.patterns[i]
		if p.dirs && !dir {
			continue
		}
		if p.anywhere && matchOne(p.segments[0], path.Base(name)) || !p.anywhere && matchAll(p.segments, strings.Split(name, "/")) {
			return !p.include, true
		}
	}
	return false, false
}

func matchOne(segment, name string) bool {
	if segment == "**" {
		return true
	}
	ok, err := path.Match(segment, name)
	return ok && err == nil
}

// matchAll matches names against segments. It comes back only to the last "**", as with the stars of a name, so that no
// pattern takes long.
func matchAll(segments, names []string) bool {
	s, n := 0, 0
	back, from := -1, 0 // the last "**", and the first name that it does not cover
	for n < len(names) {
		switch {
		case s < len(segments) && segments[s] == "**":
			if s == len(segments)-1 {
				return true // "a/**" is what lies in a, and there is something
			}
			back, from = s, n
			s++
		case s < len(segments) && matchOne(segments[s], names[n]):
			s, n = s+1, n+1
		case back >= 0:
			from++
			s, n = back+1, from
		default:
			return false
		}
	}
	return s == len(segments)
}
