package filechanges_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/filechanges"
)

// none stands for a text that is not there.
const none = "\x00none"

const p = "/project/a.txt"

func body(text string) *fyllo.Body {
	if text == none {
		return nil
	}
	return &fyllo.Body{Text: text, Size: len(text)}
}

func diff(path, from, to, kind string) fyllo.Diff {
	return fyllo.Diff{Path: path, Old: body(from), New: body(to), Kind: kind}
}

// edit is a diff of p without a hint.
func edit(from, to string) fyllo.Diff { return diff(p, from, to, "") }

// create and remove are diffs of p as Agents with hints send them.
func create(text string) fyllo.Diff { return diff(p, none, text, "add") }
func remove(text string) fyllo.Diff { return diff(p, text, "", "delete") }

func tool(status fyllo.ToolStatus, diffs ...fyllo.Diff) fyllo.Part {
	return fyllo.Part{Type: fyllo.PartTool, Tool: &fyllo.Tool{Kind: fyllo.KindEdit, Status: status, Diffs: diffs}}
}

// done is a completed call.
func done(diffs ...fyllo.Diff) fyllo.Part { return tool(fyllo.ToolCompleted, diffs...) }

// each makes a completed call of each diff.
func each(diffs ...fyllo.Diff) []fyllo.Part {
	var parts []fyllo.Part
	for _, d := range diffs {
		parts = append(parts, done(d))
	}
	return parts
}

// show writes files as "kind path: old → new | old → new", with ∅ for a file that does not exist.
func show(files []filechanges.File) []string {
	text := func(s *string) string {
		if s == nil {
			return "∅"
		}
		return *s
	}
	var out []string
	for _, f := range files {
		var segments []string
		for _, s := range f.Segments {
			segments = append(segments, text(s.Old)+" → "+text(s.New))
		}
		line := string(f.Change) + " " + f.Path + ": " + strings.Join(segments, " | ")
		if f.Broken {
			line += "broken"
		}
		out = append(out, line)
	}
	return out
}

type tester interface {
	Helper()
	Errorf(string, ...any)
}

func check(t tester, parts []fyllo.Part, streaming bool, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, show(filechanges.Fold(parts, streaming))); d != "" {
		t.Errorf("fold (-want +got):\n%s", d)
	}
}

// TestCases_R_CHAT_101_102 is the table of sequences on one path that the rules were made for, by its numbers. 14, 15
// and 20 also depend on how calls are folded and are proved again through the Agent in e2e/core.
func TestCases_R_CHAT_101_102(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts []fyllo.Part
		want  []string
	}{
		{"1 add x", each(create("x")), []string{"added " + p + ": ∅ → x"}},
		{"1 add x without hint", each(edit(none, "x")), []string{"added " + p + ": ∅ → x"}},
		{"2 add x, edit x to y", each(create("x"), edit("x", "y")), []string{"added " + p + ": ∅ → y"}},
		{"3 add x, delete", each(create("x"), remove("x")), nil},
		{"4 edit a to b, b to c", each(edit("a", "b"), edit("b", "c")), []string{"modified " + p + ": a → c"}},
		{"5 edit a to b, b to a", each(edit("a", "b"), edit("b", "a")), nil},
		{"6 edit a to b, delete", each(edit("a", "b"), remove("b")), []string{"deleted " + p + ": a → ∅"}},
		{"7 delete a, add a", each(remove("a"), create("a")), nil},
		{"8 delete a, add b", each(remove("a"), create("b")), []string{"modified " + p + ": a → b"}},
		{"9 add empty file", each(create("")), []string{"added " + p + ": ∅ → "}},
		{"9 add empty file without hint", each(edit(none, "")), []string{"added " + p + ": ∅ → "}},
		{"10 edit a to empty without hint", each(edit("a", "")), []string{"deleted " + p + ": a → ∅"}},
		{"10 edit a to empty with hint", each(diff(p, "a", "", "update")), []string{"modified " + p + ": a → "}},
		{"11 fragments apart", each(edit("p", "q"), edit("r", "s")), []string{"modified " + p + ": p → q | r → s"}},
		{"12 a fragment around an earlier one", each(edit("p", "q"), edit("x q y", "z")), []string{"modified " + p + ": x p y → z"}},
		{"13 full, then a fragment inside", each(edit("a", "1 2 3"), edit("2", "two")), []string{"modified " + p + ": a → 1 two 3"}},
		{"14 only the last set counts", []fyllo.Part{done(edit("2", "two"))}, []string{"modified " + p + ": 2 → two"}},
		{"15 a cleared diff", []fyllo.Part{done()}, nil},
		{"16 the second edit fails", []fyllo.Part{done(edit("a", "b")), tool(fyllo.ToolFailed, edit("b", "c"))}, []string{"modified " + p + ": a → b"}},
		{"17 move without diff", []fyllo.Part{{Type: fyllo.PartTool, Tool: &fyllo.Tool{Kind: fyllo.KindMove, Status: fyllo.ToolCompleted}}}, nil},
		{"18 move as delete and add", each(diff("/P", "a", "", "delete"), diff("/Q", none, "a", "add")), []string{"deleted /P: a → ∅", "added /Q: ∅ → a"}},
		{"19 case differs", each(diff("/a.txt", "a", "b", ""), diff("/A.txt", "a", "c", "")), []string{"modified /a.txt: a → b", "modified /A.txt: a → c"}},
		{"20 order of parts", each(edit("a", "b"), edit("b", "c")), []string{"modified " + p + ": a → c"}},
		{"21 write without old text", each(edit("a", "b"), edit(none, "c")), []string{"modified " + p + ": a → c"}},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.parts, false, c.want...) })
	}
}
