package export_test

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/export"
)

var update = flag.Bool("update", false, "write the golden files")

func body(text string) *fyllo.Body { return &fyllo.Body{Text: text, Size: len(text)} }

var begun = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func text(s string) fyllo.Part { return fyllo.Part{ID: "p", Type: fyllo.PartText, Text: s} }

// hostile is what a page must show and never do.
const hostile = "</title></style><script>alert(1)</script><img src=x onerror=alert(2)>\u202Eevil\x1b[31m\x00 `x`"

// markdown has what an answer is made of.
const markdown = `# Heading

A *paragraph* with **words**, ~~gone~~, ` + "`code <b>`" + `
and https://example.com/a?b=1&c, <me@example.com>.

> A quote

1. One
   - [x] done
   - [ ] open

| Left | Right |
|:-----|------:|
| a    | ` + "`b|`" + ` |

    indented <i>

---

[A link](https://example.com "title") [a file](src/a%20b.go:12) [script](javascript:alert(4)) [sly](java&#115;cript:alert(5))
![A *picture*](https://example.com/x.png) &lt;b&gt; &#x202E;
`

// picture is what a viewer takes for a picture.
const picture = "\x89PNG\r\n\x1a\n…"

// pictures opens every attachment but that of one part.
func pictures(q fyllo.MediaQuery) (*fyllo.Media, error) {
	kind := "image/png"
	switch {
	case q.PartID == "a":
		return nil, fyllo.Errorf(fyllo.CodeNotFound, "open the attachment: it is only a link")
	case q.Index == 1:
		kind = "audio/wav"
	}
	return &fyllo.Media{Type: kind, Size: int64(len(picture)), Content: io.NopCloser(strings.NewReader(picture))}, nil
}

func summary() fyllo.SessionSummary {
	return fyllo.SessionSummary{
		SessionID: "session-1", Title: "Fix <b>the</b> parser 解析器", AgentID: "custom-a", Mode: fyllo.ModeNative,
		Pinned: true, CreatedAt: begun, UpdatedAt: begun.Add(time.Hour),
	}
}

func messages() []fyllo.Message {
	before := "package a\n\nimport (\n\t\"fmt\"\n)\n\nfunc one() {}\n\nfunc two() {\n\tfmt.Println(1)\n}\n"
	after := "package a\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc one() {}\n\nfunc two() {\n\tfmt.Fprintln(os.Stderr, 1)\n}"
	tool := func(t fyllo.Tool) fyllo.Part { return fyllo.Part{ID: "t", Type: fyllo.PartTool, Tool: &t} }
	parts := []fyllo.Part{
		{ID: "r", Type: fyllo.PartReasoning, Text: "Thinking about **it**."},
		text("Before.\n\n```go\nfunc a() {}\n```\n\nAfter."),
		tool(fyllo.Tool{
			CallID: "1", Title: "Edit a.go", Kind: fyllo.KindEdit, Status: fyllo.ToolCompleted,
			Diffs: []fyllo.Diff{
				{Path: "/p/a.go", Old: body(before), New: body(after)}, {Path: "/p/new.txt", New: body("one\n")},
				{Path: "/p/old.txt", Old: body("gone\n")}, {Path: "/p/same.txt", Old: body("x"), New: body("x")},
			},
			Locations: []fyllo.Location{{Path: "/p/a.go", Line: 5}},
		}),
		tool(fyllo.Tool{CallID: "2", Title: hostile, Kind: fyllo.KindExecute, Status: fyllo.ToolFailed, Input: body("cat x"), Error: body("```\n" + hostile + "\n````\n")}),
		tool(fyllo.Tool{CallID: "3", Kind: fyllo.KindThink, Status: fyllo.ToolInProgress, Interrupted: true, ParentID: "2", Subagent: &fyllo.Subagent{Prompt: body("Look")}}),
		{ID: "s", Type: fyllo.PartText, Text: "A subagent speaks.", ParentID: "2"},
		{ID: "a", Type: fyllo.PartAttachment, Attachment: &fyllo.Attachment{Name: "a.png", MIME: "image/png", URI: "javascript:alert(3)"}},
		{ID: "pic", Type: fyllo.PartAttachment, Attachment: &fyllo.Attachment{Name: `"><script>.png`, MIME: "image/png", File: "x.png"}},
		tool(fyllo.Tool{CallID: "4", Title: "Look", Kind: fyllo.KindRead, Status: fyllo.ToolCompleted, Media: []fyllo.Attachment{{MIME: "image/png", File: "y.png"}, {MIME: "audio/wav", Name: "beep"}}}),
		text(markdown),
		{ID: "h", Type: fyllo.PartReminder, Text: "hidden words"},
		text(hostile + "\n\n```\nnever closed"),
	}
	return []fyllo.Message{
		{ID: "m1", Role: fyllo.RoleUser, CreatedAt: begun, UpdatedAt: begun, Parts: []fyllo.Part{text("Please fix it.\n# not a heading of ours")}},
		{ID: "m0", Role: fyllo.RoleUser, CreatedAt: begun, Parts: []fyllo.Part{{Type: fyllo.PartReminder, Text: "hidden words"}}},
		{ID: "m2", Role: fyllo.RoleAssistant, CreatedAt: begun.Add(time.Minute), UpdatedAt: begun.Add(time.Hour), Parts: parts},
		{ID: "m3", Role: fyllo.RoleUser, CreatedAt: begun.Add(time.Hour), UpdatedAt: begun.Add(time.Hour), Parts: []fyllo.Part{text("Thanks.")}},
	}
}

func write(t *testing.T, f export.Format, all []fyllo.Message) string {
	t.Helper()
	var b strings.Builder
	w, err := export.NewWriter(&b, f, summary(), pictures)
	for _, m := range all {
		if err == nil {
			err = w.Message(m)
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden_R_CLI_008(t *testing.T) {
	for _, f := range []export.Format{export.Markdown, export.JSON, export.HTML} {
		got := write(t, f, messages())
		path := filepath.Join("testdata", "session."+string(f))
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: %s", f, diff)
		}
		if strings.Contains(got, "hidden words") || strings.Contains(got, `"m0"`) {
			t.Errorf("%s shows what is hidden", f)
		}
	}
}

func TestJSONHasTheShape_R_CLI_008(t *testing.T) {
	var got struct {
		Session  map[string]any
		Messages []struct {
			ID    string
			Parts []map[string]any
		}
	}
	if err := json.Unmarshal([]byte(write(t, export.JSON, messages())), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Messages) != 3 || len(got.Messages[1].Parts) != 11 || got.Session["sessionId"] != "session-1" {
		t.Fatalf("%+v", got)
	}
	if e := got.Messages[1].Parts[3]["error"]; e != "```\n"+hostile+"\n````\n" {
		t.Errorf("JSON keeps texts as they are, got %q", e)
	}
	if s := write(t, export.JSON, nil); !strings.HasSuffix(s, "\"messages\":[]}\n") {
		t.Errorf("no messages: %s", s)
	}
}

// tag is whatever a browser takes for one.
var tag = regexp.MustCompile(`<[/!?a-zA-Z][^>]*>`)

// allowed are the tags that a page has.
var allowed = regexp.MustCompile(`^<(!doctype html|html lang="en"|meta [^>]*|(/?(title|style|main|h[1-6]|article|p|pre|code|em|strong|del|blockquote|ul|ol|li|hr|br|table|thead|tbody|tr|th|td|figure|figcaption|details|summary|span|div|a|html))` +
	`|(article|p|span|div) class="[a-z]+"( dir="auto")?|(h1|span) dir="auto"|pre data-language="[^"]*"|ol start="\d+"|t[hd] align="[a-z]+"` +
	`|div class="table" role="group" aria-label="Table" tabindex="0"|a href="([hH][tT][tT][pP][sS]?://|[mM][aA][iI][lL][tT][oO]:)[^"]*" rel="noopener noreferrer"` +
	`|img alt="[^"]*" src="data:image/png;base64,[A-Za-z0-9+/=]*")>$`)

func checkTags(t *testing.T, page string) {
	t.Helper()
	for _, found := range tag.FindAllString(page, -1) {
		if !allowed.MatchString(found) {
			t.Errorf("%s stands in the page", found)
		}
	}
	if at := strings.IndexFunc(page, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
	}); at >= 0 {
		t.Errorf("a control character stands in the page: %q", page[max(at-20, 0):at+4])
	}
}

func TestHTMLRunsAndLoadsNothing_R_CLI_008(t *testing.T) {
	got := write(t, export.HTML, messages())
	checkTags(t, got)
	for _, bad := range []string{"url(", "@import", `href="j`, `src="http`} {
		if at := strings.Index(got, bad); at >= 0 {
			t.Errorf("%q stands in the page: …%q", bad, got[at:min(len(got), at+60)])
		}
	}
	if !strings.Contains(got, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the words are not shown")
	}
	if n := strings.Count(got, `src="data:image/png;base64,`+base64.StdEncoding.EncodeToString([]byte(picture))+`">`); n != 2 {
		t.Errorf("%d pictures", n)
	}
}

func FuzzHTMLHasOnlyItsOwnTags_R_CLI_008(f *testing.F) {
	for _, s := range []string{hostile, markdown, "[a](<java\nscript:x>)", "```\"><script>\n", "<a onclick=x>\n<!-- -->", "[x]: javascript:y 'z'\n\n[x]", "![![a](b)](c)", "<https://a\" onclick=x>", "# a {#id onclick=x}", "|a|\n|-|\n|<b>|"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkTags(t, write(t, export.HTML, []fyllo.Message{{ID: "m", Role: fyllo.RoleAssistant, Parts: []fyllo.Part{text(s)}}}))
	})
}

// Each of these takes a parser of Markdown seconds to minutes; the test would not end.
func TestHTMLOfWhatNoParserLikes_R_CLI_008(t *testing.T) {
	const n = 200_000
	for _, s := range []string{
		strings.Repeat(">", n), strings.Repeat("- ", n) + "a", strings.Repeat("1. ", n), strings.Repeat("- > ", n) + "a", strings.Repeat("*a_ ", n),
		strings.Repeat("[a](", n), strings.Repeat("[", n) + strings.Repeat("]", n), strings.Repeat("~~a ", n),
		strings.Repeat("a|", n/10) + "\n" + strings.Repeat("-|", n/10) + "\n" + strings.Repeat("|\n", n), strings.Repeat("a\n", 3_000_000),
	} {
		got := write(t, export.HTML, []fyllo.Message{{ID: "m", Role: fyllo.RoleAssistant, Parts: []fyllo.Part{text(s)}}})
		if !strings.Contains(got, `<div class="text" dir="auto">`) || len(got) > len(s)*4+10_000 {
			t.Errorf("%.12q… became %d bytes", s, len(got))
		}
	}
}

// What looks like much to a parser and is ordinary stays Markdown.
func TestHTMLOfLongAnswers_R_CLI_008(t *testing.T) {
	for name, s := range map[string]string{
		"code":       "```c\n" + strings.Repeat("int **a_b = &x[i];\n", 20_000) + "```\n",
		"table":      "| a | b |\n|---|---|\n" + strings.Repeat("| `a_b` | **c** |\n", 500),
		"paragraphs": strings.Repeat("Some **words** and [a link](https://example.com).\n\n", 10_000),
		"list":       strings.Repeat("- one\n  - two\n    - three\n", 5000),
	} {
		if got := write(t, export.HTML, []fyllo.Message{{ID: "m", Role: fyllo.RoleAssistant, Parts: []fyllo.Part{text(s)}}}); !strings.Contains(got, `<div class="md">`) {
			t.Errorf("%s: it is plain text", name)
		}
	}
}

func TestMarkdownKeepsMessagesApart_R_CLI_008(t *testing.T) {
	got := write(t, export.Markdown, messages())
	if !strings.Contains(got, "never closed\n```\n\n## User") {
		t.Error("an open fence takes in the next message")
	}
	if !strings.Contains(got, "`````\n```\n") {
		t.Error("an output can close its fence")
	}
}

func TestDiffs_R_CLI_008(t *testing.T) {
	lines := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			b.WriteString("line " + string(rune('a'+i%26)) + strings.Repeat("x", i/26) + "\n")
		}
		return b.String()
	}
	many := lines(0, 1000)
	for _, c := range []struct{ name, before, after, want string }{
		{"one line", "a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"two hunks", lines(0, 20), strings.Replace(strings.Replace(lines(0, 20), "line c\n", "", 1), "line s\n", "line S\n", 1),
			"@@ -1,6 +1,5 @@\n line a\n line b\n-line c\n line d\n line e\n line f\n@@ -16,5 +15,5 @@\n line p\n line q\n line r\n-line s\n+line S\n line t\n"},
		{"the end of the last line", "a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"from nothing", "", "a\n", "@@ -0,0 +1,1 @@\n+a\n"},
		{"moved", "a\nb\nc\n", "b\nc\na\n", "@@ -1,3 +1,3 @@\n-a\n b\n c\n+a\n"},
		{"too different", many, strings.ReplaceAll(many, "line", "row"), ""},
	} {
		tool := fyllo.Tool{Title: "t", Status: fyllo.ToolCompleted, Diffs: []fyllo.Diff{{Path: "f", Old: body(c.before), New: body(c.after)}}}
		got := write(t, export.Markdown, []fyllo.Message{{Parts: []fyllo.Part{{Type: fyllo.PartTool, Tool: &tool}}}})
		want := "```\n" + strings.TrimSuffix(c.want, "\n") + "\n```"
		if c.want == "" {
			want = "@@ -1,1000 +1,1000 @@\n-line a\n"
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s\nwant %s", c.name, got[:min(len(got), 900)], want)
		}
	}
}
