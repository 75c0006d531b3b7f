package filechanges_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/filechanges"
)

// content is a whole file, nil when it does not exist.
var content = rapid.Ptr(rapid.StringMatching(`(a|b|a b|b\n|)`), true)

func textOf(s *string) string {
	if s == nil {
		return none
	}
	return *s
}

// whole is the diff of a whole file as an Agent with hints reports it.
func whole(path string, from, to *string) fyllo.Diff {
	kind := "update"
	switch {
	case from == nil:
		kind = "add"
	case to == nil:
		kind = "delete"
	}
	return diff(path, textOf(from), strings.ReplaceAll(textOf(to), none, ""), kind)
}

// TestWholeFileWrites_R_CHAT_101_102: whatever happens to files that are reported whole, the net change of each is from
// its first old text to its last new one.
func TestWholeFileWrites_R_CHAT_101_102(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		paths := []string{"/a", "/b", "/c"}
		first, now := map[string]*string{}, map[string]*string{}
		var order []string
		var diffs []fyllo.Diff
		for range rapid.IntRange(1, 30).Draw(t, "edits") {
			path := rapid.SampledFrom(paths).Draw(t, "path")
			known := slices.Contains(order, path)
			if !known {
				first[path] = content.Draw(t, "original")
				now[path] = first[path]
			}
			next := content.Draw(t, "next")
			if now[path] == nil && next == nil {
				continue
			}
			if !known {
				order = append(order, path)
			}
			diffs = append(diffs, whole(path, now[path], next))
			now[path] = next
		}
		var want []string
		for _, path := range order {
			was, is := first[path], now[path]
			kind := "modified"
			switch {
			case textOf(was) == textOf(is):
				continue
			case was == nil:
				kind = "added"
			case is == nil:
				kind = "deleted"
			}
			want = append(want, strings.ReplaceAll(fmt.Sprintf("%s %s: %s → %s", kind, path, textOf(was), textOf(is)), none, "∅"))
		}
		if d := cmp.Diff(want, show(filechanges.Fold(distribute(t, diffs), false))); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	})
}

// distribute puts diffs into calls at random, with parts between them that count for nothing.
func distribute(t *rapid.T, diffs []fyllo.Diff) []fyllo.Part {
	var parts []fyllo.Part
	for len(diffs) > 0 {
		n := rapid.IntRange(0, len(diffs)).Draw(t, "in one call")
		parts = append(parts, done(diffs[:n]...))
		diffs = diffs[n:]
		parts = append(parts, rapid.SampledFrom([]fyllo.Part{
			{Type: fyllo.PartText, Text: "words"},
			done(),
			tool(fyllo.ToolFailed, edit("x", "y")),
			{Type: fyllo.PartTool, Tool: &fyllo.Tool{Status: fyllo.ToolCompleted, ParentID: "root", Diffs: []fyllo.Diff{edit("x", "y")}}},
			{Type: fyllo.PartTool, Tool: &fyllo.Tool{Status: fyllo.ToolCompleted, Subagent: &fyllo.Subagent{}, Diffs: []fyllo.Diff{edit("x", "y")}}},
		}).Draw(t, "between"))
	}
	return parts
}

// anyDiff draws diffs that fit each other now and then.
var anyDiff = rapid.Custom(func(t *rapid.T) fyllo.Diff {
	text := rapid.OneOf(rapid.StringMatching(`[ab ]{0,4}`), rapid.String())
	d := fyllo.Diff{
		Path: rapid.SampledFrom([]string{"/a", "/a/../a", "/A", `C:\a`, "c:/A", "", "rel", "\xff"}).Draw(t, "path"),
		Kind: rapid.SampledFrom([]string{"", "add", "delete", "update", "modify", "?"}).Draw(t, "kind"),
	}
	if rapid.Bool().Draw(t, "has old") {
		d.Old = body(text.Draw(t, "old"))
	}
	if rapid.IntRange(0, 9).Draw(t, "has new") > 0 {
		d.New = body(text.Draw(t, "new"))
	}
	if d.Old != nil && rapid.IntRange(0, 50).Draw(t, "cut") == 0 {
		d.Old.Ref = &fyllo.BodyRef{}
	}
	return d
})

// sound checks what holds for every result: no file twice, no entry without a change, and nil exactly where the file
// did not exist.
func sound(t interface{ Fatalf(string, ...any) }, files []filechanges.File) {
	seen := map[string]bool{}
	for _, f := range files {
		key := filechanges.Key(f.Path)
		if seen[key] {
			t.Fatalf("%s is listed twice", key)
		}
		seen[key] = true
		if (len(f.Segments) == 0) != f.Broken {
			t.Fatalf("%s: %d segments, broken %v", f.Path, len(f.Segments), f.Broken)
		}
		for _, s := range f.Segments {
			if textOf(s.Old) == textOf(s.New) {
				t.Fatalf("%s: a segment changes nothing: %q", f.Path, textOf(s.Old))
			}
			if (s.Old == nil) != (f.Change == fyllo.FileAdded) || (s.New == nil) != (f.Change == fyllo.FileDeleted) {
				t.Fatalf("%s is %s: %q → %q", f.Path, f.Change, textOf(s.Old), textOf(s.New))
			}
		}
		if sum := f.Summary(); sum.Segments != len(f.Segments) || sum.Version == "" {
			t.Fatalf("summary %+v", sum)
		}
	}
}

// TestAnyDiffs_R_CHAT_099_101_102: arbitrary diffs give a sound result, which does not depend on the calls they came
// in.
func TestAnyDiffs_R_CHAT_099_101_102(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		diffs := rapid.SliceOfN(anyDiff, 0, 30).Draw(t, "diffs")
		files := filechanges.Fold(distribute(t, diffs), false)
		sound(t, files)
		if d := cmp.Diff(files, filechanges.Fold([]fyllo.Part{done(diffs...)}, false)); d != "" {
			t.Fatalf("in other calls (-want +got):\n%s", d)
		}
		var order []string
		for _, d := range diffs {
			if d.Path != "" && !slices.Contains(order, filechanges.Key(d.Path)) {
				order = append(order, filechanges.Key(d.Path))
			}
		}
		for _, f := range files {
			i := slices.Index(order, filechanges.Key(f.Path))
			if i < 0 {
				t.Fatalf("%s stands out of order in %v", f.Path, order)
			}
			order = order[i+1:]
		}
	})
}

// TestFragments_R_CHAT_101_105 changes runs of lines of a file, each reported as a fragment only; two runs are apart, or
// one holds the other. As soon as the file is seen whole, its true original is known, and before that the segments
// lead from it to what is there now.
func TestFragments_R_CHAT_101_105(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 16
		lines := make([]string, size)
		serial := 0
		fresh := func(i int) string {
			serial++
			return fmt.Sprintf("<%d:%d>\n", i, serial)
		}
		for i := range lines {
			lines[i] = fresh(i)
		}
		original := strings.Join(lines, "")
		var diffs []fyllo.Diff
		if rapid.Bool().Draw(t, "seen whole at first") {
			diffs = append(diffs, edit("before", original))
			original = "before"
		}
		for range rapid.IntRange(1, 20).Draw(t, "edits") {
			n := rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "lines")
			from := n * rapid.IntRange(0, size/n-1).Draw(t, "place")
			old := strings.Join(lines[from:from+n], "")
			for i := from; i < from+n; i++ {
				if rapid.Bool().Draw(t, "change") {
					lines[i] = fresh(i)
				}
			}
			diffs = append(diffs, edit(old, strings.Join(lines[from:from+n], "")))
		}
		final := strings.Join(lines, "")

		undone := final
		for _, f := range filechanges.Fold(distribute(t, diffs), false) {
			for _, s := range f.Segments {
				if strings.Count(undone, *s.New) != 1 {
					t.Fatalf("%q does not stand once in %q", *s.New, undone)
				}
				undone = strings.Replace(undone, *s.New, *s.Old, 1)
			}
		}
		if undone != original {
			t.Fatalf("undoing the segments gives %q, want %q", undone, original)
		}
		diffs = append(diffs, edit(final, final+"."))
		check(t, distribute(t, diffs), false, "modified "+p+": "+original+" → "+final+".")
	})
}

// FuzzFold looks for diffs that make the fold fail or give an unsound result. The input is a list of diffs, parted by
// bytes 0: path, kind, old and new, of which one that is "-" is missing.
func FuzzFold(f *testing.F) {
	f.Add([]byte("/a\x00\x00a\x00b\x00/a\x00\x00b\x00c"))
	f.Add([]byte("/a\x00add\x00-\x00x\x00/a\x00delete\x00x\x00-\x00/a\x00\x00x y\x00z"))
	f.Add([]byte("/a\x00\x00p\x00q\x00/a\x00update\x00r\x00s\x00/a\x00\x00q s\x00\x00/a\x00\x00-\x00n"))
	f.Add([]byte("C:\\a\x00\x00p\x00q\x00c:/A/\x00delete\x00-\x00-\x00\\\\h\\s\x00modify\x00-\x00"))
	f.Fuzz(func(t *testing.T, input []byte) {
		fields := strings.Split(string(input), "\x00")
		var diffs []fyllo.Diff
		for ; len(fields) >= 4; fields = fields[4:] {
			d := fyllo.Diff{Path: fields[0], Kind: fields[1]}
			if fields[2] != "-" {
				d.Old = body(fields[2])
			}
			if fields[3] != "-" {
				d.New = body(fields[3])
			}
			diffs = append(diffs, d)
		}
		sound(t, filechanges.Fold([]fyllo.Part{done(diffs...)}, false))
	})
}
