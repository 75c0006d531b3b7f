package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

var words = strings.Fields(`the a of to and in is that for it with as on this by from session message agent window
	stream frame block list table value order error queue actor event reader writer journal snapshot index file path
	scope folder socket token cursor limit batch delta part call result option prompt answer request permission turn
	keeps reads writes sends takes gives holds waits ends starts moves folds splits joins draws shows follows checks
	small large first last next older newer whole empty pure exact bounded stable safe late early quick slow`)

func word(rng *rand.Rand) string { return words[rng.IntN(len(words))] }

func sentence(rng *rand.Rand) string {
	n := 6 + rng.IntN(12)
	out := make([]string, n)
	for i := range out {
		out[i] = word(rng)
		switch rng.IntN(30) {
		case 0:
			out[i] = "`" + out[i] + "`"
		case 1:
			out[i] = "**" + out[i] + "**"
		}
	}
	text := strings.Join(out, " ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func sentences(rng *rand.Rand, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = sentence(rng)
	}
	return strings.Join(out, " ")
}

func path(rng *rand.Rand) string { return word(rng) + "/" + word(rng) + ".go" }

// lines returns n lines as commands print them.
func lines(rng *rand.Rand, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%05d %s %s %s\n", i, path(rng), word(rng), word(rng))
	}
	return b.String()
}

// goCode returns n lines of something like Go.
func goCode(rng *rand.Rand, n int) string {
	var b strings.Builder
	for i := range n {
		switch rng.IntN(6) {
		case 0:
			fmt.Fprintf(&b, "func %s%d(%s int) error {\n", word(rng), i, word(rng))
		case 1:
			b.WriteString("}\n")
		case 2:
			fmt.Fprintf(&b, "\tif %s := %s(%d); %s != nil {\n", word(rng), word(rng), rng.IntN(100), word(rng))
		case 3:
			fmt.Fprintf(&b, "\t// %s\n", sentence(rng))
		default:
			fmt.Fprintf(&b, "\t%s.%s = \"%s %s\"\n", word(rng), word(rng), word(rng), word(rng))
		}
	}
	return b.String()
}

// markdown returns at least size bytes of Markdown with everything that answers have.
func markdown(rng *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		switch rng.IntN(8) {
		case 0:
			fmt.Fprintf(&b, "## %s %s\n\n", word(rng), word(rng))
		case 1:
			fmt.Fprintf(&b, "```go\n%s```\n\n", goCode(rng, 4+rng.IntN(20)))
		case 2:
			for range 3 + rng.IntN(6) {
				fmt.Fprintf(&b, "- %s\n", sentence(rng))
			}
			b.WriteString("\n")
		case 3:
			b.WriteString("| What | Where | Value |\n|---|---|---:|\n")
			for range 2 + rng.IntN(6) {
				fmt.Fprintf(&b, "| %s | `%s` | %d |\n", word(rng), path(rng), rng.IntN(1000))
			}
			b.WriteString("\n")
		default:
			fmt.Fprintf(&b, "%s\n\n", sentences(rng, 2+rng.IntN(4)))
		}
	}
	return b.String()
}
