package tags_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	markdown "github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/tags"
)

//go:embed testdata/cases.txt
var cases string

const (
	open   = `<fyllo-signal type="show.time">`
	body   = `{"label":"x"}`
	ending = `</fyllo-signal>`
	signal = open + "\n" + body + "\n" + ending
	action = `<fyllo-action type="task.create">{"title":"a"}</fyllo-action>`
)

var (
	macros = strings.NewReplacer("{O}", open, "{B}", body, "{C}", ending, "{S}", signal, "{A}", action,
		"⏎", "\n", "␍", "\r", "→", "\t", "·", " ", `\|`, "|")
	repeat = regexp.MustCompile(`‹(\d+)\*([^›]*)›`)
	char   = regexp.MustCompile(`‹([0-9A-F]+)›`)
)

type testCase struct {
	name, source, want string
}

func readCases(t testing.TB) (all []testCase) {
	for line := range strings.Lines(cases) {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "{") {
			continue
		}
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " | ")
		at := strings.LastIndex(rest, " | ")
		if at < 0 {
			t.Fatalf("bad case %q", line)
		}
		source := char.ReplaceAllStringFunc(macros.Replace(rest[:at]), func(s string) string {
			n, err := strconv.ParseUint(char.FindStringSubmatch(s)[1], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			return string(rune(n))
		})
		source = repeat.ReplaceAllStringFunc(source, func(s string) string {
			m := repeat.FindStringSubmatch(s)
			n, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			return strings.Repeat(m[2], n)
		})
		all = append(all, testCase{name, source, rest[at+3:]})
	}
	if len(all) < 140 {
		t.Fatalf("only %d cases", len(all))
	}
	return all
}

func outcome(found []fyllo.Tag) string {
	var out []string
	for _, f := range found {
		if f.Verdict == fyllo.TagAccepted {
			out = append(out, "A")
		} else {
			out = append(out, "I:"+string(f.Reason))
		}
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, " ")
}

// inChunks analyses source in the chunks that cut makes of what is left.
func inChunks(source string, cut func(left int) int) (found []fyllo.Tag) {
	var a tags.Analyser
	for n := 0; n < len(source); {
		n += cut(len(source) - n)
		found = append(found, a.Read(source[:n])...)
	}
	return append(found, a.End(source)...)
}

// check reports what is wrong with tags found in source, whatever they are.
func check(source string, found []fyllo.Tag) error {
	units := utf16.Encode([]rune(source))
	end := 0
	for _, f := range found {
		if f.Start < end || f.End <= f.Start || f.End > len(units) {
			return fmt.Errorf("range %d–%d behind %d of %d", f.Start, f.End, end, len(units))
		}
		end = f.End
		tag := string(utf16.Decode(units[f.Start:f.End]))
		if !strings.HasPrefix(tag, "<"+string(f.Tag)) || !strings.HasSuffix(tag, "</"+string(f.Tag)+">") {
			return fmt.Errorf("the range holds %q", tag)
		}
		accepted := f.Verdict == fyllo.TagAccepted
		if accepted != (f.Reason == "") || accepted != json.Valid(f.Payload) {
			return fmt.Errorf("%+v contradicts itself", f)
		}
	}
	return nil
}

// R-TAG-004…020, 024, 025, 029, 030, and the cases of §5.
func TestCases(t *testing.T) {
	for _, c := range readCases(t) {
		t.Run(c.name, func(t *testing.T) {
			found := tags.Of(c.source)
			if got := outcome(found); got != c.want {
				t.Errorf("%q\n got %s\nwant %s", c.source, got, c.want)
			}
			if err := check(c.source, found); err != nil {
				t.Error(err)
			}
			r := rand.New(rand.NewPCG(1, uint64(len(c.source))))
			for i := range 20 {
				cut := func(left int) int { return 1 + r.IntN(min(left, 12)) }
				if i == 0 {
					cut = func(int) int { return 1 }
				}
				if diff := cmp.Diff(found, inChunks(c.source, cut)); diff != "" {
					t.Fatalf("%q in chunks: %s", c.source, diff)
				}
			}
		})
	}
}

// R-TAG-010: cases 84…87, where the moment counts.
func TestCommit(t *testing.T) {
	var a tags.Analyser
	text := ""
	write := func(more string) []fyllo.Tag {
		text += more
		return a.Read(text)
	}
	if got := write("Now:\n\n" + signal); got != nil {
		t.Errorf("found before its block is over: %v", got)
	}
	if got := write("\n"); got != nil {
		t.Errorf("found before its block is over: %v", got)
	}
	if got := write(" \r"); len(got) != 1 {
		t.Errorf("not found behind a blank line: %v", got)
	}
	if got := write("\n\n" + signal + "\n"); got != nil {
		t.Errorf("found before its block is over: %v", got)
	}
	if got := write("tail"); got != nil {
		t.Errorf("found in front of text: %v", got)
	}
	if got := a.End(text); got != nil {
		t.Errorf("found in front of text: %v", got)
	}
}

// R-TAG-002, 003, 017, 032
func TestWhatIsTold(t *testing.T) {
	source := "\uFEFF😀\r\n\r\n `" + action + "`\n\n ```\n" + action + "\n```\n\n" +
		"  <fyllo-action\r\n type='task.create' >\r\n{ \"description\": \"\\u003cd\", \"title\":\"a\", \"title\" : \"b\" }\r\n</fyllo-action> \t"
	start := fyllo.UTF16Len(source[:strings.LastIndex(source, "<fyllo-action")])
	want := []fyllo.Tag{{
		Start: start, End: fyllo.UTF16Len(strings.TrimRight(source, " \t")), Tag: fyllo.TagAction, Type: "task.create",
		Verdict: fyllo.TagAccepted, Payload: json.RawMessage(`{"title":"b","description":"\u003cd"}`), Ordinal: 2,
	}}
	if diff := cmp.Diff(want, tags.Of(source)); diff != "" {
		t.Error(diff)
	}
}

// R-TAG-015: the limits of a body and of what is kept of it.
func TestLimits(t *testing.T) {
	label := func(s string) string { return open + s + ending }
	for source, want := range map[string]string{
		label(`{"label":"x"` + strings.Repeat(" ", 64<<10-13) + "}"):               "A",
		label(`{"label":"x"` + strings.Repeat(" ", 64<<10-12) + "}"):               "I:invalid_json",
		label(strings.Repeat(" \n", 40<<10) + body + strings.Repeat("\n", 80<<10)): "A",
		label(strings.Repeat("[", 32) + strings.Repeat("]", 32)):                   "I:invalid_payload",
		label(strings.Repeat("[", 33) + strings.Repeat("]", 33)):                   "I:invalid_json",
		label(`{"label":"` + strings.Repeat("[", 40) + `\"{"}`):                    "A",
		"<fyllo-signal" + strings.Repeat(" ", 80<<10) + open[13:] + body + ending:  "A",
		"<fyllo-signal a" + strings.Repeat(" x", 80<<10) + ">" + body + ending:     "I:unexpected_attribute",
	} {
		if got := outcome(tags.Of(source)); got != want {
			t.Errorf("%.60q… (%d bytes): got %s, want %s", source, len(source), got, want)
		}
	}
}

// pieces are what hostile and honest texts are made of.
var pieces = []string{
	open, body, ending, signal, signal + "\n\n", action, "</fyllo-action>", "<fyllo-action ", "<fyllo-signal\n", "/>", ">", `"`, "'",
	"\n", "\n\n", "\r\n", "\r", " ", "  ", "    ", "\t", "- ", "* a\n", "1. ", "2) b\n", "> ", ">", "```", "````\n", "~~~\n", "`", "# h\n",
	"===\n", "---\n", "***\n", "<pre>", "</pre>", "<!--", "-->", "<?", "?>", "<!X", "<![CDATA[", "]]>", "<div>\n", "<b>\n", "</b>\n", "text", "😀", "é",
	`{"label":"`, `\ud800`, "\uFEFF", "$$\n", "\\",
}

func document(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "")
}

// R-TAG-010: every chunking gives the same, and nothing that was told is taken back by later text.
func TestChunksAndPrefixes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := document(t)
		whole := tags.Of(source)
		if err := check(source, whole); err != nil {
			t.Fatal(err)
		}
		cut := func(left int) int { return rapid.IntRange(1, left).Draw(t, "chunk") }
		if diff := cmp.Diff(whole, inChunks(source, cut)); diff != "" {
			t.Fatal(diff)
		}
		var a tags.Analyser
		early := a.Read(source[:rapid.IntRange(0, len(source)).Draw(t, "prefix")])
		if len(early) > len(whole) || !sameTags(early, whole) {
			t.Fatalf("told early %v, in the end %v", early, whole)
		}
	})
}

// inDocument asks goldmark, an independent reader of CommonMark, whether a block that begins with the line at offset is a
// child of the document: it puts a word there and looks for the paragraph that it makes.
func inDocument(source string, offset int) bool {
	line := strings.IndexByte(source[offset:]+"\n", '\n')
	indent := len(source[offset:]) - len(strings.TrimLeft(source[offset:], " "))
	changed := []byte(source[:offset+indent] + "word\n\n" + strings.TrimPrefix(source[offset:][line:], "\n"))
	doc := goldmark.DefaultParser().Parse(markdown.NewReader(changed))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == ast.KindParagraph && n.Lines().Len() > 0 && n.Lines().At(0).Start == offset+indent {
			return true
		}
	}
	return false
}

// structure is a document without formulas, whose lines end with LF, and which has no tag yet.
func structure(t *rapid.T) string {
	plain := []string{
		"\n", "\n", "\n\n", " ", "  ", "   ", "\t", "- ", "-", "* a\n", "1. ", "10. x\n", "2) b\n", "> ", ">", "> > a\n", "```", "````\n", "~~~\n",
		"~~~ x\n", "# h\n", "===\n", "---\n", "***\n", "<pre>", "x</pre>\n", "<!--", "-->\n", "<?", "?>\n", "<!X", "<![CDATA[", "]]>\n", "<div>\n", "<b>\n",
		"</b>\n", "text", "text\n", "a\n\n",
	}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(plain), 0, 25).Draw(t, "pieces"), "")
}

// emptyStart are items that begin with nothing: what goldmark puts into those is not always what CommonMark does, such as a
// second block in the outer one of "-\n  * a".
var emptyStart = regexp.MustCompile(`(?m)([-*]|\d+[.)])[ \t>]*$`)

// R-TAG-006 (f), R-TAG-007…009: where a tag may stand is what CommonMark says.
func TestPlacesAreThoseOfCommonMark(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := structure(t) + "\n\n"
		if emptyStart.MatchString(before) {
			t.Skip("goldmark is not a judge of this")
		}
		indent := strings.Repeat(" ", rapid.IntRange(0, 4).Draw(t, "indent"))
		got := len(tags.Of(before+indent+signal)) == 1
		if want := inDocument(before+indent+signal, len(before)); got != want {
			t.Fatalf("%q: found %v, in the document %v", before+indent, got, want)
		}
	})
}

func FuzzAnalyser(f *testing.F) {
	for _, c := range readCases(f) {
		f.Add(c.source, uint(len(c.source)/2), uint(1))
	}
	f.Fuzz(func(t *testing.T, source string, at, step uint) {
		source = strings.ToValidUTF8(source, "?")
		whole := tags.Of(source)
		if err := check(source, whole); err != nil {
			t.Fatal(err)
		}
		first := true
		cut := func(left int) int {
			if first {
				first = false
				return int(at%uint(left)) + 1
			}
			return min(left, int(step%16)+1)
		}
		if got := inChunks(source, cut); len(got) != len(whole) || !sameTags(got, whole) {
			t.Fatalf("whole %+v, in chunks %+v", whole, got)
		}
	})
}

func sameTags(a, b []fyllo.Tag) bool {
	for i := range a {
		x, y := a[i], b[i]
		if !bytes.Equal(x.Payload, y.Payload) {
			return false
		}
		x.Payload, y.Payload = nil, nil
		if fmt.Sprint(x) != fmt.Sprint(y) {
			return false
		}
	}
	return true
}

// R-TAG-011: ns/byte must not depend on the size; compare the two sizes of each text.
func BenchmarkWorstCases(b *testing.B) {
	for name, piece := range map[string]string{
		"prose": strings.Repeat("Some words of an Agent. ", 40) + "\n\n", "openings": "<fyllo-signal ", "unclosed": open, "lines": open + "\n",
		"signals": signal + "\n\n", "quotes": "> ", "items": "- ", "items-then-blank": "- - - - - - - -\n\n", "numbers": "1. 1) ", "tabs": "\t",
		"fences": "```\n", "markup": "<a b=c ", "comments": "<!--\n-->\n", "action-quotes": `<fyllo-action "`, "escapes": `\ud800`,
	} {
		for _, size := range []int{64 << 10, 1 << 20} {
			source := strings.Repeat(piece, size/len(piece))
			b.Run(fmt.Sprintf("%s/%dKiB", name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(source)))
				for b.Loop() {
					var a tags.Analyser
					a.Read(source)
					a.End(source)
				}
			})
		}
	}
}
