package gitignore_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"fyllocode.dev/fyllo/internal/files/internal/gitignore"
)

func TestRules(t *testing.T) {
	for _, c := range []struct {
		rules, path string
		want        string // "" says nothing, "-" ignored, "+" taken back; of a path with "/" at its end as a directory
	}{
		{"*.log", "a.log", "-"},
		{"*.log", "deep/a.log", "-"},
		{"*.log", "a.logs", ""},
		{"*.log\n!keep.log", "keep.log", "+"},
		{"!keep.log\n*.log", "keep.log", "-"},
		{"build/", "build/", "-"},
		{"build/", "build", ""},
		{"build/", "a/build/", "-"},
		{"/build", "build", "-"},
		{"/build", "a/build", ""},
		{"doc/*.txt", "doc/a.txt", "-"},
		{"doc/*.txt", "doc/b/a.txt", ""},
		{"doc/*.txt", "x/doc/a.txt", ""},
		{"**/doc/*.txt", "x/doc/a.txt", "-"},
		{"**/doc/*.txt", "doc/a.txt", "-"},
		{"a/**/b", "a/b", "-"},
		{"a/**/b", "a/x/y/b", "-"},
		{"a/**/b", "a/x/b/y", ""},
		{"a/**", "a/x/y", "-"},
		{"a/**", "a/", ""},
		{"**", "a/b", "-"},
		{"a**b", "axxb", "-"},
		{"# no\n\\#yes", "#yes", "-"},
		{"\\!yes", "!yes", "-"},
		{"blank \t\nend  ", "end", "-"},
		{"end\\  ", "end ", "-"},
		{"windows\r\n", "windows", "-"},
		{"\ufeffmark", "mark", "-"},
		{"[!a]x", "bx", "-"},
		{"[^a]x", "ax", ""},
		{"[]a]x", "]x", "-"},
		{"[a-]x", "-x", "-"},
		{"[[:digit:]]x", "7x", "-"},
		{"[[:none:]]x", "7x", ""},
		{"open[", "open[", ""},
		{"end\\", "end\\", ""},
		{"计?.md", "计划.md", "-"},
		{"/", "a", ""},
		{"!", "a", ""},
	} {
		path, dir := strings.CutSuffix(c.path, "/")
		ignored, decided := gitignore.Parse(c.rules).Judge(path, dir)
		got := map[[2]bool]string{{true, true}: "-", {false, true}: "+"}[[2]bool{ignored, decided}]
		if got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.path, c.rules, got, c.want)
		}
	}
}

var glued = regexp.MustCompile(`[^/*\n]\*\*`)

// Git itself is asked, where there is one.
func TestRulesAreThoseOfGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), git, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+dir)
		out, _ := cmd.Output() // check-ignore fails when nothing is ignored
		return string(out)
	}
	run("init", "-q")
	atom := rapid.SampledFrom([]string{"a", "b", "ab", "*", "?", "**", "/", "/", "[ab]", "[!a]", "[]a]", "[a-", "\\a", "\\*", "!", "#", " ", ".", "-"})
	name := rapid.SampledFrom([]string{"a", "b", "ab", "ba", ".a", "]", "a-", "a b", "-", "*", "bab"})
	rapid.Check(t, func(t *rapid.T) {
		rules := strings.Join(rapid.SliceOfN(rapid.Map(rapid.SliceOfN(atom, 1, 5), func(s []string) string { return strings.Join(s, "") }), 1, 4).Draw(t, "rules"), "\n")
		if glued.MatchString(rules) {
			t.Skip("Git cuts the words in front of stars off first, and then takes a** for a/**")
		}
		names := rapid.SliceOfN(name, 1, 4).Draw(t, "path")
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(rules+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		got := false
		for i := range names { // what lies in an ignored directory is ignored
			ignored, _ := gitignore.Parse(rules).Judge(strings.Join(names[:i+1], "/"), i < len(names)-1)
			got = got || ignored
		}
		p := strings.Join(names, "/")
		if want := run("check-ignore", "--no-index", "--", "./"+p) != ""; got != want {
			t.Errorf("%q of %q: ignored %v, Git says %v", p, rules, got, want)
		}
	})
}

func TestNoPatternTakesLong(t *testing.T) {
	rules := gitignore.Parse(strings.Repeat("**/a*/", 200) + "z\n" + strings.Repeat("*a", 200) + "z")
	path := strings.Repeat("aaaa/", 500) + strings.Repeat("a", 255)
	began := time.Now()
	if ignored, _ := rules.Judge(path, false); ignored {
		t.Error("it fits")
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}
