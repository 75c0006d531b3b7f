package jsonrpc

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

var samples = []string{
	`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `1.5e+3`, `1E-2`, `"a"`, `""`, ` [1, {"a" : [ ] } ] `,
	`{"a":1,"a":2}`, `"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"`, `"\ud83d"`, `"\ude00"`, `"\ud83d\ud83d\ude00"`, "\"\xff\"",
	`"\u0000"`, `{"\u0061":1}`,
	``, ` `, `{`, `[`, `"`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[,]`, `01`, `1.`, `.5`, `+1`, `1e`, `-`, `nul`, `truex`,
	`"\x"`, `"\u12g4"`, `"\u123`, "\"\n\"", "\"\x00\"", `{a:1}`, `{"a":1 "b":2}`, `[1 2]`, `1 2`, `{}}`, `'a'`, "\ufeff{}",
}

func check(t *testing.T, b []byte) {
	t.Helper()
	s := NewScanner(b)
	s.Skip()
	if got, want := s.Finish(), json.Valid(b); got != want {
		t.Errorf("%q: valid = %v, encoding/json says %v", b, got, want)
		return
	}
	for _, read := range []func(*Scanner){ // a value of the wrong type is skipped, broken JSON stays broken
		func(s *Scanner) { s.Float() }, func(s *Scanner) { s.Bool() }, func(s *Scanner) { s.Int() }, func(s *Scanner) { s.Raw() },
		func(s *Scanner) { s.Object(func([]byte) {}) }, func(s *Scanner) { s.Array(func() {}) }, func(s *Scanner) { s.Match("a") },
	} {
		s := NewScanner(b)
		read(&s)
		if s.Finish() != json.Valid(b) {
			t.Errorf("%q: a typed read does not end where Skip ends", b)
		}
	}
	var want string
	s = NewScanner(b)
	if got, ok := s.String(); s.Finish() && ok && json.Unmarshal(b, &want) == nil && got != want && !lone(b) {
		t.Errorf("%q: String = %q, want %q", b, got, want)
	} else if !utf8.ValidString(got) {
		t.Errorf("%q: String gives invalid UTF-8", b)
	}
}

// lone reports whether b may hold bytes for which the count of U+FFFD is a matter of taste.
func lone(b []byte) bool { return !utf8.Valid(b) || strings.Contains(string(b), `\u`) }

func TestAcceptsWhatEncodingJSONAccepts(t *testing.T) {
	for _, s := range samples {
		check(t, []byte(s))
	}
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	check(t, []byte(deep))
	check(t, []byte("["+deep+"]"))
}

func FuzzScan(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) { check(t, b) })
}

func TestTextKeepsHalvesOfSurrogatePairs(t *testing.T) {
	for in, want := range map[string]string{
		`"\ud83d\ude00"`: "\U0001F600", `"x\ud83d"`: "x\xed\xa0\xbd", `"\ude00y"`: "\xed\xb8\x80y",
		`"\ud83d\ud83d\ude00"`: "\xed\xa0\xbd\U0001F600", `"\ud83d\u0041"`: "\xed\xa0\xbdA", "\"\xf0\x9f\"": "\xf0\x9f",
		`"a\tb\u00e9\/"`: "a\tbé/",
	} {
		s := NewScanner([]byte(in))
		if got, ok := s.Text(); !ok || got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestNumbersInAnyForm(t *testing.T) {
	for in, want := range map[string]int64{`3`: 3, `3.0`: 3, `1e3`: 1000, `-2.50E1`: -25, `9007199254740992`: 1 << 53} {
		s := NewScanner([]byte(in))
		if got, ok := s.Int(); !ok || got != want {
			t.Errorf("%s: %d %v", in, got, ok)
		}
	}
	for _, in := range []string{`1.5`, `1e300`, `1e999`, `"3"`, `null`, `[3]`} {
		s := NewScanner([]byte(in))
		if got, ok := s.Int(); ok {
			t.Errorf("%s: read as %d", in, got)
		}
		if !s.Finish() {
			t.Errorf("%s: not skipped", in)
		}
	}
	s := NewScanner([]byte(`1.25`))
	if f, ok := s.Float(); !ok || math.Abs(f-1.25) > 1e-9 {
		t.Errorf("Float = %v", f)
	}
}

func TestMembersAndItemsThatNobodyReadsAreSkipped(t *testing.T) {
	s := NewScanner([]byte(`{"a":[1,{"b":2}],"\u0063":"x","d":[true,"y"],"e":null}`))
	var names, texts []string
	ok := s.Object(func(name []byte) {
		names = append(names, string(name))
		if string(name) == "d" {
			s.Array(func() {
				if v, ok := s.String(); ok {
					texts = append(texts, v)
				}
			})
		}
		s.Null()
	})
	if !ok || !s.Finish() || strings.Join(names, "") != "acde" || strings.Join(texts, "") != "y" {
		t.Fatalf("ok %v names %v texts %v", ok, names, texts)
	}
}

func TestMatchAllocatesNothing(t *testing.T) {
	b := []byte(`"session-1"`)
	last := "session-1"
	if n := testing.AllocsPerRun(100, func() {
		s := NewScanner(b)
		if v, ok := s.Match(last); !ok || v != last {
			t.Fatal(v)
		}
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
