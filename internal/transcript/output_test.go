package transcript

import (
	"strings"
	"testing"
)

// R-CHAT-082: a value is shown indented, unless that would make it many times as long.
func TestIndentNeverExplodes(t *testing.T) {
	for name, c := range map[string]struct {
		raw    string
		intact bool // it stays as it came
	}{
		"plain":           {`{"a":[1,2,{"b":"c"}]}`, false},
		"usual nesting":   {strings.Repeat(`{"key":`, 20) + `"value"` + strings.Repeat(`}`, 20), false},
		"deep":            {strings.Repeat("[", 5000) + strings.Repeat("]", 5000), true},
		"deep list":       {strings.Repeat("[", 500) + strings.Repeat("1,", 50_000) + "1" + strings.Repeat("]", 500), true},
		"brackets quoted": {`{"a":"` + strings.Repeat("[", 5000) + `\"` + strings.Repeat("{", 5000) + `"}`, false},
		"no JSON":         {"}}}]],,", true},
	} {
		got := indent([]byte(c.raw))
		if (got == c.raw) != c.intact {
			t.Errorf("%s: as it came %v, want %v", name, got == c.raw, c.intact)
		}
		if len(got) > 6*len(c.raw)+4096 {
			t.Errorf("%s: %d bytes became %d", name, len(c.raw), len(got))
		}
	}
}
