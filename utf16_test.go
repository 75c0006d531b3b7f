package fyllo_test

import (
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"fyllocode.dev/fyllo"
)

func TestUTF16PositionsMatchThoseOfScripts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		head, tail := rapid.String().Draw(t, "head"), rapid.String().Draw(t, "tail")
		want := len(utf16.Encode([]rune(head)))
		if got := fyllo.UTF16Len(head); got != want {
			t.Fatalf("%q has %d units, want %d", head, got, want)
		}
		if got := fyllo.SkipUTF16(head+tail, want); got != tail {
			t.Fatalf("skipping %d units of %q leaves %q, want %q", want, head+tail, got, tail)
		}
	})
}
