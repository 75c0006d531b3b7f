// Package docs_test holds the documentation to what the repository cites.
package docs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	register = "requirements.md"
	maxLines = 3 // of an entry
)

// citing are the kinds of files that cite, sorted.
var citing = []string{".go", ".md", ".ts", ".txtar", ".vue"}

var (
	// A number as it is cited: R-CHAT-053, or in a name R_CHAT_053.
	head = regexp.MustCompile(`(?:^|[^A-Za-z0-9])R[-_]([A-Z]{2,})[-_](\d{3})`)
	// What may follow directly: the end of a range, or another number of the same area.
	rangeTail = regexp.MustCompile(`^(?:…|\.\.\.|–)(?:R[-_][A-Z]+[-_])?(\d{3})`)
	listTail  = regexp.MustCompile(`^(?:_|, | and | or )(\d{3})(?:[^0-9]|$)`)

	hint     = regexp.MustCompile(`R[-_]|ecision`)
	decision = regexp.MustCompile(`(?i)\bdecisions? (\d+)`)
	entry    = regexp.MustCompile(`^- \*\*([^*]+)\*\* +\S`)
)

// cited returns what text cites, sorted: "Decision 12", "R-CHAT-053". A range is every number in it.
func cited(text string) []string {
	var out []string
	for _, m := range head.FindAllStringSubmatchIndex(text, -1) {
		area, last := text[m[2]:m[3]], number(text[m[4]:m[5]])
		out = append(out, id(area, last))
		for rest := text[m[1]:]; ; {
			if t := rangeTail.FindStringSubmatchIndex(rest); t != nil {
				for end := number(rest[t[2]:t[3]]); last < end; {
					last++
					out = append(out, id(area, last))
				}
				rest = rest[t[1]:]
			} else if t := listTail.FindStringSubmatchIndex(rest); t != nil {
				last = number(rest[t[2]:t[3]])
				out = append(out, id(area, last))
				rest = rest[t[3]:]
			} else {
				break
			}
		}
	}
	for _, m := range decision.FindAllStringSubmatch(text, -1) {
		out = append(out, "Decision "+m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func id(area string, n int) string { return fmt.Sprintf("R-%s-%03d", area, n) }

// number reads digits that an expression has matched.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

func TestCitedFormsAreFound(t *testing.T) {
	for text, want := range map[string][]string{
		"// keeps order (R-CHAT-053…055).":        {"R-CHAT-053", "R-CHAT-054", "R-CHAT-055"},
		"R-CHAT-053…R-CHAT-055":                   {"R-CHAT-053", "R-CHAT-054", "R-CHAT-055"},
		"(R-WS-023, 060), R-AGT-056… and 100 ms":  {"R-AGT-056", "R-WS-023", "R-WS-060"},
		"func TestOrder_R_CHAT_053_096(t":         {"R-CHAT-053", "R-CHAT-096"},
		"TestOpen_R_WS_002_022_R_CLI_002":         {"R-CLI-002", "R-WS-002", "R-WS-022"},
		"open_R_CLI_002.txtar":                    {"R-CLI-002"},
		"it('is one R-CHAT-005 R-CHAT-031'":       {"R-CHAT-005", "R-CHAT-031"},
		"prompts do not overlap (decision 14)":    {"Decision 14"},
		"R-CHAT-5 ERROR-CODE-123 VAR_NAME_404 R1": nil,
	} {
		if diff := cmp.Diff(want, cited(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestEveryCitedNumberIsExplained(t *testing.T) {
	explained := entries(t)
	places := map[string]string{} // cited and not explained → where first
	kinds := map[string]bool{}
	note := func(place, text string) {
		for _, c := range cited(text) {
			kinds[filepath.Ext(strings.Split(place, ":")[0])] = true
			if _, known := places[c]; !known && !explained[c] {
				places[c] = place
			}
		}
	}
	walk(t, func(path string, content []byte) {
		note(path, path)
		n := 0
		for line := range bytes.Lines(content) {
			n++
			if hint.Match(line) { // few lines cite, and the expressions are slow
				note(fmt.Sprintf("%s:%d", path, n), string(line))
			}
		}
	})
	if !slices.Equal(slices.Sorted(maps.Keys(kinds)), citing) {
		t.Errorf("only the files of kinds %v cite anything; is this the whole repository?", slices.Sorted(maps.Keys(kinds)))
	}
	for _, c := range slices.Sorted(maps.Keys(places)) {
		t.Errorf("%s cites %s, which docs/%s does not explain: add an entry or correct the number", places[c], c, register)
	}
}

// entries reads the register: the names that it explains, each once and briefly.
func entries(t *testing.T) map[string]bool {
	t.Helper()
	data, err := os.ReadFile(register)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	name, lines := "", 0
	for line := range strings.Lines(string(data)) {
		m := entry.FindStringSubmatch(line)
		switch {
		case m != nil:
			if name, lines = m[1], 1; out[name] {
				t.Errorf("%s explains %s twice", register, name)
			}
			out[name] = true
		case strings.HasPrefix(line, "  "):
			if lines++; lines == maxLines+1 {
				t.Errorf("%s: %s takes more than %d lines", register, name, maxLines)
			}
		}
	}
	return out
}

// walk visits the files that may cite, with paths relative to the root of the repository.
func walk(t *testing.T, visit func(path string, content []byte)) {
	t.Helper()
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // another test's file that went away meanwhile
			return nil
		case err != nil:
			return err
		case d.IsDir():
			return skip(path)
		case !slices.Contains(citing, filepath.Ext(path)):
			return nil
		}
		content, err := fs.ReadFile(root, path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		visit(path, content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// skip leaves out what is not ours: hidden directories, packages of others, what is built.
func skip(dir string) error {
	base := filepath.Base(dir)
	if base != "." && strings.HasPrefix(base, ".") || slices.Contains([]string{"node_modules", "dist", "bin"}, base) {
		return fs.SkipDir
	}
	return nil
}
