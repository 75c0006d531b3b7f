package term_test

import (
	"encoding/json"
	"strings"
	"testing"

	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
)

// hostile is what an Agent may say to take over a terminal, or to make a line read as another one.
const hostile = "\x1b]0;title\x07\x1b[2J\u009b31mred\x00\x7f\r \u202etxt.exe\u202c \u2066x\u2069 \u05d0\u200f\nfyllo: forged\tline"

func TestAgentsDoNotSteerTerminals_R_CLI_006(t *testing.T) {
	if got, want := term.Printable(hostile), " ]0;title  [2J 31mred    txt.exe x \u05d0\u200f\nfyllo: forged\tline"; got != want {
		t.Errorf("text\n got %q\nwant %q", got, want)
	}
	if got, want := term.OneLine(hostile), "]0;title [2J 31mred txt.exe x \u05d0\u200f fyllo: forged line"; got != want {
		t.Errorf("line\n got %q\nwant %q", got, want)
	}
}

func TestJSONIsSafeOnTerminals_R_CLI_007(t *testing.T) {
	var out strings.Builder
	for _, text := range []string{hostile, "plain \u4e2d\u6587 <b> \U0001f600"} {
		out.Reset()
		enc := json.NewEncoder(term.JSONWriter(&out))
		enc.SetEscapeHTML(false)
		if err := enc.Encode(text); err != nil {
			t.Fatal(err)
		}
		line := strings.TrimSuffix(out.String(), "\n")
		if term.Printable(line) != line {
			t.Errorf("a terminal would obey %q", line)
		}
		var back string
		if err := json.Unmarshal([]byte(line), &back); err != nil || back != text {
			t.Errorf("%q reads as %q, %v", line, back, err)
		}
	}
}
