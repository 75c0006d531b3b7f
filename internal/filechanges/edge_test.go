package filechanges_test

import (
	"fmt"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/filechanges"
)

// TestRules_R_CHAT_101_102_105 goes through what the table of sequences leaves open.
func TestRules_R_CHAT_101_102_105(t *testing.T) {
	for _, c := range []struct {
		name  string
		diffs []fyllo.Diff
		want  []string
	}{
		// Texts are compared exactly.
		{"line ends count", []fyllo.Diff{edit("a\r\n", "b\r\n"), edit("b\n", "c\n")}, []string{"modified " + p + ": a\r\n → b\r\n | b\n → c\n"}},
		{"line ends as the only change", []fyllo.Diff{edit("a\r\n", "a\n")}, []string{"modified " + p + ": a\r\n → a\n"}},
		{"nothing changed", []fyllo.Diff{edit("a", "a")}, nil},

		// Existence.
		{"an empty old text is a file", []fyllo.Diff{edit("", "x")}, []string{"modified " + p + ":  → x"}},
		{"add with an empty old text", []fyllo.Diff{diff(p, "", "x", "add")}, []string{"added " + p + ": ∅ → x"}},
		{"add with an old text", []fyllo.Diff{diff(p, "a", "x", "add")}, []string{"added " + p + ": ∅ → x"}},
		{"add of what is there", []fyllo.Diff{edit("a", "b"), create("c")}, []string{"modified " + p + ": a → c"}},
		{"add twice", []fyllo.Diff{create("a"), create("b")}, []string{"added " + p + ": ∅ → b"}},
		{"update without old text", []fyllo.Diff{diff(p, none, "b", "update")}, []string{"modified " + p + ":  → b"}},
		{"update without old text, later", []fyllo.Diff{edit("a", "b"), diff(p, none, "c", "modify")}, []string{"modified " + p + ": a → c"}},
		{"an unknown hint is none", []fyllo.Diff{diff(p, "a", "", "rename")}, []string{"deleted " + p + ": a → ∅"}},
		{"no text at all", []fyllo.Diff{diff(p, none, none, "")}, nil},
		{"delete without texts", []fyllo.Diff{diff(p, none, none, "delete")}, []string{"deleted " + p + ":  → ∅"}},
		{"delete without old text", []fyllo.Diff{edit("a", "b"), diff(p, none, "", "delete")}, []string{"deleted " + p + ": a → ∅"}},
		{"delete twice", []fyllo.Diff{remove("a"), remove("a")}, []string{"deleted " + p + ": a → ∅"}},
		{"add, delete, add", []fyllo.Diff{create("a"), remove("a"), create("b")}, []string{"added " + p + ": ∅ → b"}},
		{"add, delete, add with empty old text", []fyllo.Diff{create("a"), remove("a"), edit("", "b")}, []string{"added " + p + ": ∅ → b"}},
		{"added and emptied is an empty file", []fyllo.Diff{create("x"), edit("x", "")}, []string{"added " + p + ": ∅ → "}},
		{"emptied without hint, then written", []fyllo.Diff{edit("a", ""), edit("", "b")}, []string{"modified " + p + ": a → b"}},
		{"emptied without hint, then added again", []fyllo.Diff{edit("a", ""), edit(none, "a")}, nil},
		{"emptied by a write without old text", []fyllo.Diff{edit("a", "b"), edit(none, "")}, []string{"modified " + p + ": a → "}},
		{"deleted, then added empty", []fyllo.Diff{remove("a"), create("")}, []string{"modified " + p + ": a → "}},
		{"a fragment removed from a known file", []fyllo.Diff{edit("a", "1 2"), edit(" 2", "")}, []string{"modified " + p + ": a → 1"}},
		{"two fragments removed leave a file", []fyllo.Diff{edit("p", ""), edit("r", "")}, []string{"modified " + p + ": p →  | r → "}},
		{"a fragment removed beside one that came back", []fyllo.Diff{edit("p", "q"), edit("r", ""), edit("q", "p")}, []string{"modified " + p + ": r → "}},

		// What no diff told of brought the file back.
		{"delete, then edit what was there", []fyllo.Diff{remove("a"), edit("a", "b")}, []string{"modified " + p + ": a → b"}},
		{"delete, then edit a part of it", []fyllo.Diff{remove("1 2 3"), edit("2", "two")}, []string{"modified " + p + ": 1 2 3 → 1 two 3"}},
		{"delete, then edit it back", []fyllo.Diff{edit("a", "b"), remove("b"), edit("b", "c")}, []string{"modified " + p + ": a → c"}},
		{"fragments, delete, then edit one", []fyllo.Diff{edit("p", "q"), edit("r", "s"), diff(p, none, "", "delete"), edit("s", "t")}, []string{"modified " + p + ": p → q | r → t"}},
		{"delete, then edit something else", []fyllo.Diff{remove("a"), edit("x", "y")}, []string{"modified " + p + ": a →  | x → y"}},
		{"add, delete, then edit", []fyllo.Diff{create("a"), remove("a"), edit("x", "y")}, []string{"added " + p + ": ∅ → y"}},

		// Fragments.
		{"a text that stands twice", []fyllo.Diff{edit("a", "1 1"), edit("1", "2")}, []string{"modified " + p + ": a → 1 1 | 1 → 2"}},
		{"a text that overlaps itself", []fyllo.Diff{edit("x", "aaa"), edit("aa", "b")}, []string{"modified " + p + ": x → aaa | aa → b"}},
		{"a text that stands in two segments", []fyllo.Diff{edit("p", "1 q"), edit("r", "2 q"), edit("q", "s")}, []string{"modified " + p + ": p → 1 q | r → 2 q | q → s"}},
		{"an earlier text that stands twice in a later one", []fyllo.Diff{edit("p", "q"), edit("q q", "z")}, []string{"modified " + p + ": p → q | q q → z"}},
		{"the hunks of one change, equal ones too", []fyllo.Diff{edit("a", "b"), edit("a", "b"), edit("b", "c"), edit("b", "d")}, []string{"modified " + p + ": a → c | a → d"}},
		{"equal hunks taken back", []fyllo.Diff{edit("a", "b"), edit("c", "b"), edit("b", "a"), edit("b", "c")}, nil},
		{"fragments that touch", []fyllo.Diff{edit("1", "one"), edit("2", "two"), edit("onetwo", "1 2")}, []string{"modified " + p + ": 12 → 1 2"}},
		{"fragments that overlap", []fyllo.Diff{edit("1\n2\n3\n", "1\nB\n3\n"), edit("3\n4\n", "3\nD\n"), edit("1\nB\n3\nD\n5\n", "end")}, []string{"modified " + p + ": 1\n2\n3\n4\n5\n → end"}},
		{"fragments of which the later changed the earlier", []fyllo.Diff{edit("1\n2\n", "1\nB\n"), edit("B\n3\n", "b\nC\n"), edit("1\nb\nC\n", "end")}, []string{"modified " + p + ": 1\n2\n3\n → end"}},
		{"several fragments, then all of the file", []fyllo.Diff{edit("p", "q"), edit("r", "s"), edit("t", "u"), edit("0 s 1 q 2", "new")}, []string{"modified " + p + ": 0 r 1 p 2 → new | t → u"}},
		{"several fragments, then all of it taken back", []fyllo.Diff{edit("p", "q"), edit("r", "s"), edit("q s", "p r")}, nil},
		{"a widened segment is edited inside", []fyllo.Diff{edit("p", "q"), edit("1 q 2", "1 z 2"), edit("z", "y")}, []string{"modified " + p + ": 1 p 2 → 1 y 2"}},
		{"a widened new file stays new", []fyllo.Diff{create("b"), edit("a b c", "d")}, []string{"added " + p + ": ∅ → d"}},
		{"a fragment that fits nowhere in a new file", []fyllo.Diff{create("a"), edit("x", "y")}, []string{"added " + p + ": ∅ → a | ∅ → y"}},
		{"fragments, then deleted", []fyllo.Diff{edit("p", "q"), edit("r", "s"), diff(p, none, "", "delete")}, []string{"deleted " + p + ": p → ∅ | r → ∅"}},
		{"fragments, then deleted with its text", []fyllo.Diff{edit("p", "q"), edit("r", "s"), remove("0 q 1 s 2")}, []string{"deleted " + p + ": 0 p 1 r 2 → ∅"}},
		{"a fragment, then deleted with another text", []fyllo.Diff{edit("p", "q"), remove("x")}, []string{"deleted " + p + ": p → ∅ | x → ∅"}},
		{"fragments, then written whole", []fyllo.Diff{edit("p", "q"), edit("r", "s"), edit(none, "n"), edit("n", "m")}, []string{"modified " + p + ": p → m | r → "}},
		{"fragments, then deleted and added", []fyllo.Diff{edit("p", "q"), edit("r", "s"), diff(p, none, "", "delete"), create("n")}, []string{"modified " + p + ": p → n | r → "}},
		{"fragments, written whole, deleted, added", []fyllo.Diff{edit("p", "q"), edit("r", "s"), edit(none, "n"), remove("n"), create("m")}, []string{"modified " + p + ": p → m | r → "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, each(c.diffs...), false, c.want...)
			check(t, []fyllo.Part{done(c.diffs...)}, false, c.want...)
		})
	}
}

// TestSources_R_CHAT_097_098 wants only visible, ordinary calls to count, and unfinished ones only while the message
// streams.
func TestSources_R_CHAT_097_098(t *testing.T) {
	part := func(change func(*fyllo.Tool)) fyllo.Part {
		one := done(edit("a", "b"))
		change(one.Tool)
		return one
	}
	for _, c := range []struct {
		name           string
		part           fyllo.Part
		streams, ended bool // whether it counts
	}{
		{"completed", done(edit("a", "b")), true, true},
		{"failed", tool(fyllo.ToolFailed, edit("a", "b")), false, false},
		{"pending", tool(fyllo.ToolPending, edit("a", "b")), true, false},
		{"in progress", tool(fyllo.ToolInProgress, edit("a", "b")), true, false},
		{"interrupted", part(func(t *fyllo.Tool) { t.Status, t.Interrupted = fyllo.ToolInProgress, true }), true, false},
		{"of an old record, without a status", tool("", edit("a", "b")), true, false},
		{"in a subagent", part(func(t *fyllo.Tool) { t.ParentID = "root" }), false, false},
		{"a subagent", part(func(t *fyllo.Tool) { t.Subagent = &fyllo.Subagent{} }), false, false},
		{"without a path", done(diff("", "a", "b", "")), false, false},
		{"no call", fyllo.Part{Type: fyllo.PartText, Text: "a"}, false, false},
		{"a call without its fields", fyllo.Part{Type: fyllo.PartTool}, false, false},
	} {
		if got := len(filechanges.Fold([]fyllo.Part{c.part}, true)) == 1; got != c.streams {
			t.Errorf("%s: counts while streaming: %v", c.name, got)
		}
		if got := len(filechanges.Fold([]fyllo.Part{c.part}, false)) == 1; got != c.ended {
			t.Errorf("%s: counts afterwards: %v", c.name, got)
		}
	}
}

// TestPaths_R_CHAT_100 tells which paths are one file.
func TestPaths_R_CHAT_100(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"/p/a", "/p//./x/../a/", true},
		{"/p/a", "/../p/a", true},
		{"/p/a", "/p/A", false},
		{`/p/a\b`, "/p/a/b", false}, // a name with a backslash
		{`C:\a`, "c:/A", true},
		{`C:\a\b`, `c:\A\x\..\B\`, true},
		{`C:\..\a`, `c:/a`, true},
		{`C:\a`, `D:\a`, false},
		{`C:\ä`, `c:\Ä`, true},
		{`\\?\C:\a`, `C:\a`, true},
		{`\\server\share\a`, `\\SERVER\share\.\A`, true},
		{`\\server\share\a`, "/server/share/a", false},
		{"C:/a", "/c:/a", false},
		{"/a", "a", false},
	} {
		if got := filechanges.Key(c.a) == filechanges.Key(c.b); got != c.same {
			t.Errorf("%s and %s: one file %v (%s, %s)", c.a, c.b, got, filechanges.Key(c.a), filechanges.Key(c.b))
		}
	}
	check(t, each(diff(`C:\p\a`, "a", "b", ""), diff("c:/p/x/../A", "b", "c", "")), false, `modified C:\p\a: a → c`)
	check(t, each(diff("/b", "1", "2", ""), diff("/a", "1", "2", ""), diff("/b", "2", "3", "")), false,
		"modified /b: 1 → 3", "modified /a: 1 → 2")
}

// TestVersion_R_CHAT_104: a version tells exactly whether the texts are the same.
func TestVersion_R_CHAT_104(t *testing.T) {
	version := func(diffs ...fyllo.Diff) string { return filechanges.Fold(each(diffs...), false)[0].Summary().Version }
	if version(edit("a", "b"), edit("b", "c")) != version(edit("a", "c")) {
		t.Error("the same change has two versions")
	}
	seen := map[string]int{}
	for i, diffs := range [][]fyllo.Diff{
		{edit("a", "b")}, {edit("a", "c")}, {edit("ab", "")}, {diff(p, "ab", "", "update")}, {edit("", "ab")}, {create("ab")},
		{edit("a", "b"), edit("c", "d")}, {edit("ab", "cd")}, {edit("a", "bc"), edit("", "d")}, {create("")},
	} {
		v := version(diffs...)
		if before, ok := seen[v]; ok {
			t.Errorf("%d and %d have the version %s", before, i, v)
		}
		seen[v] = i
	}
	sum := filechanges.Fold(each(edit("p", "qq"), edit("r", "sss")), false)[0].Summary()
	if sum.Segments != 2 || sum.OldSize != 2 || sum.NewSize != 5 || sum.Path != p {
		t.Errorf("summary %+v", sum)
	}
}

// TestATextThatIsNotThere_R_CHAT_097: what is known without the text is said, and other files are folded.
func TestATextThatIsNotThere_R_CHAT_097(t *testing.T) {
	cut := func(d fyllo.Diff) fyllo.Diff {
		d.New.Ref = &fyllo.BodyRef{Offset: 1, Length: 2}
		return d
	}
	check(t, each(cut(edit("a", "b")), diff("/z", "1", "2", "")), false, "modified "+p+": broken", "modified /z: 1 → 2")
	check(t, each(create("a"), cut(edit("a", "b"))), false, "added "+p+": broken")
	check(t, each(cut(edit("a", "b")), remove("b")), false, "deleted "+p+": broken")
	check(t, each(create("a"), cut(edit("a", "b")), remove("b")), false)
}

// TestManyFragments_R_CHAT_101 folds what would cost hours without a bound: fragments that fit nowhere, and edits of a
// large text. Up to the bound the result is exact, and beyond it nothing that was reported is lost.
func TestManyFragments_R_CHAT_101(t *testing.T) {
	fragment := func(word string, i int) string {
		return fmt.Sprintf("%s %d of many %s", word, i, strings.Repeat("·", i%50))
	}
	var apart, inside []fyllo.Diff
	for i := range 10_000 {
		apart = append(apart, edit(fragment("old", i), fragment("new", i)))
	}
	files := filechanges.Fold(each(apart...), false)
	if len(files) != 1 || len(files[0].Segments) != len(apart) {
		t.Fatalf("%d files, %d segments", len(files), len(files[0].Segments))
	}

	var large strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&large, "line %d of a large file, with some words to make it larger\n", i)
	}
	inside = append(inside, edit("before", large.String()))
	want := large.String()
	for i := range 1000 {
		from, to := fmt.Sprintf("line %d of", i), fmt.Sprintf("row %d of", i)
		inside = append(inside, edit(from, to))
		want = strings.Replace(want, from, to, 1)
	}
	check(t, each(inside...), false, "modified "+p+": before → "+want)

	var hostile []fyllo.Diff
	for i := range 5000 {
		hostile = append(hostile, edit(strings.Repeat("a", 1+i%997)+"b", strings.Repeat("a", 1+i%991)), remove("x"), edit(none, fmt.Sprint(i)))
	}
	sound(t, filechanges.Fold(each(hostile...), false))
}
