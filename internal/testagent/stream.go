package testagent

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// shapes are the kinds of long Markdown that stream sends; each returns piece i of a text without end. A long list,
// table, line or block is one that never ends.
var shapes = map[string]func(i int) string{
	"prose": func(i int) string {
		return fmt.Sprintf("Paragraph %d says **why** the `reader` waits for the [queue](https://example.com/%d) and what "+
			"the writer does in the meantime, in a sentence that is as long as sentences are.\n\n", i, i)
	},
	"list": func(i int) string {
		return fmt.Sprintf("- Item %d of a list with `code`, **weight** and a [link](https://example.com/%d)\n", i, i)
	},
	"table": func(i int) string {
		row := fmt.Sprintf("| %d | `file%d.go` | what stands **here** | %d |\n", i, i, i*7%1000)
		if i == 0 {
			return "| No. | File | What | Value |\n|---|---|---|---:|\n" + row
		}
		return row
	},
	"code": func(i int) string {
		if i == 0 {
			return "```go\n"
		}
		return fmt.Sprintf("func step%d(in []byte) error { return write(in, %q, %d) } // line %d\n", i, "a text", i, i)
	},
	"quote": func(i int) string {
		return fmt.Sprintf("> Line %d of a quote that does not end, with `code` and **weight**.\n", i)
	},
	"line": func(i int) string {
		return fmt.Sprintf("Sentence %d of one paragraph that has no end, with `code` and **weight**. ", i)
	},
}

// mixed is what answers usually are.
func mixed(i int) string {
	switch i % 5 {
	case 0:
		return fmt.Sprintf("## Part %d\n\n", i) + shapes["prose"](i)
	case 1:
		var b strings.Builder
		for k := range 8 {
			b.WriteString(shapes["list"](i + k))
		}
		return b.String() + "\n"
	case 2:
		var b strings.Builder
		for k := range 8 {
			b.WriteString(shapes["table"](k))
		}
		return b.String() + "\n"
	case 3:
		var b strings.Builder
		for k := range 12 {
			b.WriteString(shapes["code"](k))
		}
		return b.String() + "```\n\n"
	default:
		return shapes["prose"](i) + shapes["quote"](i) + "\n"
	}
}

// streamText returns the text of a shape, size bytes of ASCII or a few more, since a piece is never cut. Its last line is
// "End of the stream.".
func streamText(shape string, size int) string {
	piece, ok := shapes[shape]
	if !ok {
		piece = mixed
	}
	const end = "\n\nEnd of the stream."
	var b strings.Builder
	for i := 0; b.Len() < size-len(end); i++ {
		b.WriteString(piece(i))
	}
	if shape == "code" {
		b.WriteString("```")
	}
	return b.String() + end
}

// stream sends a long Markdown text in n chunks of the same size, chunk i not before i intervals are over. What comes
// late is made up for, so that the rate is what was asked for.
func (t *turn) stream(args string) {
	f := append(strings.Fields(args), "", "", "", "")
	size, _ := strconv.Atoi(f[0])
	n, _ := strconv.Atoi(f[1])
	text, n := streamText(f[2], size), max(n, 1)
	interval, begin := pause(f[3]), time.Now()
	for i := range n {
		if wait := time.Until(begin.Add(time.Duration(i) * interval)); wait > 0 && !t.sleep(wait) || t.ctx.Err() != nil {
			return
		}
		if chunk := text[i*len(text)/n : (i+1)*len(text)/n]; chunk != "" {
			t.say(chunk)
		}
	}
}
