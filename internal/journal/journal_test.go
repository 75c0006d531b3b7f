package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fyllocode.dev/fyllo/internal/journal"
)

var errNoJSON = errors.New("no JSON")

func replay(t testing.TB, path string) (lines []string, damage []journal.Damage) {
	t.Helper()
	damage, err := journal.Replay(path, func(_ int64, line []byte) error {
		if !json.Valid(line) {
			return errNoJSON
		}
		lines = append(lines, string(line))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines, damage
}

func open(t testing.TB, path string) (*journal.File, *journal.Torn) {
	t.Helper()
	j, torn, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return j, torn
}

func appendLines(t testing.TB, path string, lines ...string) {
	t.Helper()
	j, _ := open(t, path)
	defer j.Close()
	if _, err := j.Append([]byte(strings.Join(lines, "\n") + "\n")); err != nil {
		t.Fatal(err)
	}
	if err := j.Sync(); err != nil {
		t.Fatal(err)
	}
}

func TestAppendAndReplay_R_WS_136(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	appendLines(t, path, `{"a":1}`)
	appendLines(t, path, `{"a":2}`, `{"a":3}`)
	lines, damage := replay(t, path)
	if want := []string{`{"a":1}`, `{"a":2}`, `{"a":3}`}; !slices.Equal(lines, want) || damage != nil {
		t.Fatalf("lines %q, damage %v", lines, damage)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// Cutting the file at any byte loses at most the last line, the rest of which is kept in a copy.
func TestTornTailIsCutAfterACopy_R_WS_131(t *testing.T) {
	whole := "{\"a\":1}\n{\"b\":\"é\"}\n"
	for cut := range len(whole) + 1 {
		path := filepath.Join(t.TempDir(), "j")
		if err := os.WriteFile(path, []byte(whole[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		j, torn := open(t, path)
		if _, err := j.Append([]byte("{\"c\":3}\n")); err != nil {
			t.Fatal(err)
		}
		j.Close()
		lines, damage := replay(t, path)
		if len(damage) > 0 || lines[len(lines)-1] != `{"c":3}` {
			t.Fatalf("cut %d: lines %q, damage %v", cut, lines, damage)
		}
		// A line that lacks only its newline is whole.
		complete := strings.Count(whole[:cut], "\n")
		tail := whole[:cut][strings.LastIndexByte(whole[:cut], '\n')+1:]
		if strings.HasSuffix(tail, "}") {
			complete, tail = complete+1, ""
		}
		if len(lines) != complete+1 {
			t.Fatalf("cut %d: lines %q, want %d and the new one", cut, lines, complete)
		}
		if (torn != nil) != (tail != "") {
			t.Fatalf("cut %d: torn %+v, tail %q", cut, torn, tail)
		}
		if torn != nil {
			saved, err := os.ReadFile(torn.Copy)
			if err != nil || string(saved) != tail || torn.Length != int64(len(tail)) {
				t.Fatalf("cut %d: copy %q, %v; want %q", cut, saved, err, tail)
			}
		}
	}
}

func TestUnreadableLastLineIsTorn_R_WS_131(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	for n := 1; n <= 2; n++ {
		if err := os.WriteFile(path, []byte("{\"a\":1}\n{\"b\":\x00\x00\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		j, torn := open(t, path)
		j.Close()
		if torn == nil || torn.Copy != fmt.Sprintf("%s.torn-%d", path, n) || torn.Offset != 8 {
			t.Fatalf("torn %+v", torn)
		}
		if lines, _ := replay(t, path); len(lines) != 1 {
			t.Fatalf("lines %q", lines)
		}
	}
}

func TestOtherDamageIsReportedAndKept_R_WS_131(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	text := "{\"a\":1}\n\x00\x00garbage\n{\"a\":2}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	appendLines(t, path, `{"a":3}`)
	lines, damage := replay(t, path)
	if want := []string{`{"a":1}`, `{"a":2}`, `{"a":3}`}; !slices.Equal(lines, want) {
		t.Fatalf("lines %q", lines)
	}
	want := []journal.Damage{{Offset: 8, Length: 10, Err: errNoJSON}}
	if !slices.Equal(damage, want) {
		t.Fatalf("damage %+v, want %+v", damage, want)
	}
}

// Each operation of open, repair, append and sync fails once or for good; then everything acknowledged is readable
// and appending works again.
func TestEveryFailingOperation(t *testing.T) {
	for _, forGood := range []bool{false, true} {
		for n := 1; ; n++ {
			path := filepath.Join(t.TempDir(), "j")
			if err := os.WriteFile(path, []byte("{\"a\":0}\n{\"to"), 0o600); err != nil {
				t.Fatal(err)
			}
			acked, hit := scenario(path, n, forGood)
			appendLines(t, path, `{"after":true}`)
			lines, damage := replay(t, path)
			want := append(append([]string{`{"a":0}`}, acked...), `{"after":true}`)
			if len(damage) > 0 || !slices.Equal(lines, want) {
				t.Fatalf("operation %d (%v): lines %q, damage %v, want %q", n, forGood, lines, damage, want)
			}
			if !hit {
				if n < 8 {
					t.Fatalf("only %d operations seen", n-1)
				}
				break
			}
		}
	}
}

// scenario opens the file and appends three lines; it returns those that were acknowledged.
func scenario(path string, n int, forGood bool) (acked []string, hit bool) {
	seen := 0
	restore := journal.SetFault(func(journal.Op, string) error {
		if seen++; seen == n || forGood && seen > n {
			hit = true
			return errors.New("injected")
		}
		return nil
	})
	defer restore()
	j, _, err := journal.Open(path)
	if err != nil {
		return nil, hit
	}
	defer j.Close()
	for i := range 3 {
		line := fmt.Sprintf(`{"line":%d}`, i)
		at, err := j.Append([]byte(line[:4]), []byte(line[4:]+"\n"))
		if err != nil {
			continue
		}
		if err := j.Sync(); err != nil {
			if j.Rollback(at) != nil && forGood {
				// Nothing can be undone on such a disk: the line stays, though nobody was told so.
				acked = append(acked, line)
				break
			}
			continue
		}
		acked = append(acked, line)
	}
	return acked, hit
}

func TestBackwardEqualsForward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOf(rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(60_000, 200_000))).Draw(t, "sizes")
		var text strings.Builder
		var want []journal.Line
		for i, n := range sizes {
			data := strings.Repeat(string(rune('a'+i%26)), n)
			want = append(want, journal.Line{Offset: int64(text.Len()), Data: []byte(data), Whole: true})
			text.WriteString(data + "\n")
		}
		if tail := rapid.StringMatching(`[a-z]{0,3}`).Draw(t, "tail"); tail != "" {
			want = append(want, journal.Line{Offset: int64(text.Len()), Data: []byte(tail)})
			text.WriteString(tail)
		}
		var got []journal.Line
		b := journal.NewBackward(strings.NewReader(text.String()), int64(text.Len()))
		for {
			l, err := b.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, l)
		}
		slices.Reverse(got)
		if d := cmp.Diff(len(want), len(got)); d != "" {
			t.Fatal(d)
		}
		for i := range want {
			w, g := want[i], got[i]
			if w.Offset != g.Offset || w.Whole != g.Whole || string(w.Data) != string(g.Data) {
				t.Fatalf("line %d: offset %d whole %v len %d; want %d %v %d", i, g.Offset, g.Whole, len(g.Data), w.Offset, w.Whole, len(w.Data))
			}
		}
	})
}

func TestLongLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	long := `"` + strings.Repeat("x", 5<<20) + `"`
	appendLines(t, path, `{"a":1}`, long, `{"a":2}`)
	lines, _ := replay(t, path)
	if len(lines) != 3 || lines[1] != long {
		t.Fatalf("%d lines", len(lines))
	}
}
