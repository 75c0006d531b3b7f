package search_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/search"
)

// alphabet holds what is special to JSON, to UTF-8, to white space or to case, and what escape sequences are made of.
var alphabet = []rune("aAkKsSiI\u212Aſİıßẞééxu0031\\\\\"/<& \n\t\u00a0\u2028\u0007\ufffdσςΣДд中文😀")

var words = rapid.Map(rapid.SliceOfN(rapid.SampledFrom(alphabet), 1, 6), func(r []rune) string { return string(r) })

// quoted writes a JSON string in one of the ways in which it can be written.
func quoted(t *rapid.T, s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		how := rapid.IntRange(0, 9).Draw(t, "how")
		switch {
		case how == 0 || r < ' ':
			for _, u := range utf16.Encode([]rune{r}) {
				digits := fmt.Sprintf("%04x", u)
				if how%2 == 1 {
					digits = strings.ToUpper(digits)
				}
				b.WriteString(`\u` + digits)
			}
		case r == '"' || r == '\\' || r == '/' && how < 5:
			b.WriteString(`\` + string(r))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

var partTypes = []string{"text", "text", "text", "text", "reasoning", "tool", "reminder"}

// line writes a message whose texts are made of pieces.
func line(t *rapid.T, pieces *rapid.Generator[string]) string {
	var parts []string
	for range rapid.IntRange(0, 3).Draw(t, "parts") {
		text := strings.Join(rapid.SliceOfN(pieces, 0, 4).Draw(t, "text"), "")
		typ := rapid.SampledFrom(partTypes).Draw(t, "type")
		members := []string{`"type":"` + typ + `"`, `"text":` + quoted(t, text), `"x":[{"text":` + quoted(t, text) + `}]`}
		if rapid.IntRange(0, 5).Draw(t, "child") == 0 {
			members = append(members, `"parentToolCallId":"call"`)
		}
		parts = append(parts, "{"+strings.Join(rapid.Permutation(members).Draw(t, "members"), ",")+"}")
	}
	role := rapid.SampledFrom([]string{"user", "assistant", "system"}).Draw(t, "role")
	rev := rapid.IntRange(0, 2).Draw(t, "rev")
	out := fmt.Sprintf(`{"id":"m%d","role":%q,"parts":[%s],"rev":%d}`,
		rapid.IntRange(0, 4).Draw(t, "id"), role, strings.Join(parts, ","), rev)
	at := rapid.IntRange(0, len(out)).Draw(t, "at")
	switch rapid.IntRange(0, 19).Draw(t, "damage") {
	case 0:
		return out[:at]
	case 1:
		return out[:at] + `"` + out[at:]
	case 2:
		return out[:at] + "\x01" + out[at:]
	}
	return out
}

// A search finds what a search by the rules alone finds, which decodes every line: looking for bytes first loses
// nothing, wherever a line lies in what is read at a time.
func TestSearchIsDecodingEverything_R_CHAT_018_019_023(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		query := words.Draw(t, "query")
		upper := rapid.Just(strings.ToUpper(query))
		pieces := rapid.OneOf(words, rapid.Just(query), upper, rapid.Just(query[:len(query)/2]), rapid.SampledFrom([]string{
			"<system-reminder>", "</system-reminder>", " ", "\n",
		}))
		var file strings.Builder
		for range rapid.IntRange(0, 6).Draw(t, "lines") {
			if rapid.IntRange(0, 9).Draw(t, "pad") == 0 {
				// So that what follows lies across the end of what is read at a time.
				rest := 256<<10 - file.Len()%(256<<10) - rapid.IntRange(0, 120).Draw(t, "short")
				file.WriteString(`{"x":"` + strings.Repeat("x", max(rest-9, 0)) + "\"}\n")
			}
			file.WriteString(line(t, pieces) + "\n")
		}
		check(t, file.String(), query)
	})
}

// testingT is what a test and a property have in common.
type testingT interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Context() context.Context
}

// check compares a search with the reference, and looks at the snippet.
func check(t testingT, file, query string) {
	t.Helper()
	w := &world{}
	w.add("session-q", "", file)
	hits, err := search.New(w, w).Find(t.Context(), workspace, query, 50)
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	if strings.TrimFunc(query, unicode.IsSpace) != "" {
		want = reference(file, query)
	}
	got := ""
	for _, h := range hits {
		got = h.MessageID
		checkSnippet(t, h, query)
	}
	if got != want {
		t.Fatalf("query %q found %q, want %q, in\n%q", query, got, want, file)
	}
}

func checkSnippet(t testingT, h fyllo.SearchHit, query string) {
	t.Helper()
	if n := fyllo.UTF16Len(h.Snippet); n > 160 || !utf8.ValidString(h.Snippet) || strings.ContainsFunc(h.Snippet, func(r rune) bool { return r != ' ' && unicode.IsSpace(r) }) {
		t.Fatalf("snippet of %d units: %q", n, h.Snippet)
	}
	fold := func(s string) string { return strings.TrimSpace(plain(s, true)) }
	if got := fold(marked(h.Snippet, h.Mark)); got == "" || !strings.HasPrefix(fold(query), got) || fyllo.UTF16Len(query) < 150 && got != fold(query) {
		t.Fatalf("%q marks %q, want %q", h.Snippet, got, query)
	}
}

func TestSnippet_R_CHAT_022(t *testing.T) {
	fill := func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			b.WriteString("word" + strconv.Itoa(i) + " ")
		}
		return b.String()
	}
	for _, c := range []struct{ name, text, query, want string }{
		{"whole", "a  short\ntext ", "short", "a short text"},
		{"end", fill(1000) + "the needle", "needle", "…word121 word122 word123 word124 word125 word126 word127 word128 word129 word130 word131 word132 word133 word134 word135 word136 word137 word138 the needle"},
		{"beginning", "the needle " + fill(1000), "needle", "the needle word0 word1 word2 word3 word4 word5 word6 word7 word8 word9 word10 word11 word12 word13 word14 word15 word16 word17 word18 word19 word20 word21…"},
		{"middle", fill(1000) + "needle " + fill(1000), "needle", "…word134 word135 word136 word137 word138 needle word0 word1 word2 word3 word4 word5 word6 word7 word8 word9 word10 word11 word12 word13 word14 word15 word16…"},
		{"no words", strings.Repeat("长", 200) + "针" + strings.Repeat("长", 200), "针", "…" + strings.Repeat("长", 40) + "针" + strings.Repeat("长", 117) + "…"},
		{"emoji stay whole", strings.Repeat("👩‍💻", 100) + "x" + strings.Repeat("👍🏽", 100), "x", "…" + strings.Repeat("👩‍💻", 8) + "x" + strings.Repeat("👍🏽", 29) + "…"},
		{"a long hit", "a " + strings.Repeat("x", 190) + " b", strings.Repeat("x", 190), "…" + strings.Repeat("x", 158) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{}
			w.add("session-1", "", lines(said("m", c.text)))
			hits := w.find(t, c.query)
			if len(hits) != 1 || hits[0].Snippet != c.want {
				t.Fatalf("got  %q\nwant %q", hits[0].Snippet, c.want)
			}
			checkSnippet(t, hits[0], c.query)
		})
	}
}

func FuzzSearch(f *testing.F) {
	f.Add(`{"id":"m","role":"user","parts":[{"type":"text","text":"a needle"}]}`, "needle")
	f.Add(`{"id":"m","role":"user","parts":[{"type":"text","text":"\u212A\/\\\"\ud83d\ude00"}]}`, `k/\"😀`)
	f.Add("{\"id\":\"m\",\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"text\":\"ſİ\xff\"}]}\n{\"id\":\"m\",\"rev\":1}", "si\ufffd")
	f.Fuzz(func(t *testing.T, file, query string) {
		if !utf8.ValidString(query) || fyllo.UTF16Len(strings.TrimFunc(query, unicode.IsSpace)) > 200 {
			return
		}
		w := &world{}
		w.add("session-1", "", file)
		hits, err := search.New(w, w).Find(t.Context(), workspace, query, 50)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			if h.Match == fyllo.MatchMessage {
				checkSnippet(t, h, query)
			}
		}
		for line := range strings.Lines(file) {
			// A member of another type is damage to those who decode it; a search reads only what it needs.
			if _, err := decode(line); err != nil && jsontext.Value(line).IsValid(lenient) {
				return
			}
		}
		if want := reference(file, query); want != "" && len(hits) == 0 && strings.TrimFunc(query, unicode.IsSpace) != "" {
			t.Fatalf("query %q did not find %q in\n%q", query, want, file)
		}
	})
}
