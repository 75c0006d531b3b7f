package export

import (
	"fmt"
	"slices"
	"strings"

	"fyllocode.dev/fyllo"
)

const (
	around   = 3   // unchanged lines around a change
	maxEdits = 400 // changed lines up to which the smallest difference is looked for; its cost is their square
)

// line is a line of a diff: ' ', '-' or '+', and its text with the end of the line if it had one.
type line struct {
	mark byte
	text string
}

// unified returns a diff as text, hunk by hunk, "" when nothing is different.
func unified(d fyllo.Diff) string {
	return hunks(compare(linesOf(d.Old), linesOf(d.New)))
}

func linesOf(b *fyllo.Body) []string {
	if b == nil || b.Text == "" {
		return nil
	}
	lines := strings.SplitAfter(b.Text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}

// compare lists all lines of both texts. What begins and ends alike is unchanged; between, the smallest difference, or
// all old lines and all new ones when it is too large to be looked for.
func compare(before, after []string) []line {
	head := 0
	for head < len(before) && head < len(after) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < len(before)-head && tail < len(after)-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	var out []line
	out = mark(out, ' ', before[:head])
	out = append(out, middle(before[head:len(before)-tail], after[head:len(after)-tail])...)
	return mark(out, ' ', before[len(before)-tail:])
}

func mark(out []line, as byte, lines []string) []line {
	for _, l := range lines {
		out = append(out, line{as, l})
	}
	return out
}

// middle is the greedy algorithm of Myers: best[k] is how far along the old lines the diagonal k (old minus new) is
// reached with d edits; trace keeps it for each d, to walk back.
func middle(before, after []string) []line {
	n, m := len(before), len(after)
	limit := min(n+m, maxEdits)
	best := make([]int, 2*limit+2)
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, slices.Clone(best))
		for k := -d; k <= d; k += 2 {
			x := step(best, limit, d, k)
			for x < n && x-k < m && before[x] == after[x-k] {
				x++
			}
			best[limit+k] = x
			if x >= n && x-k >= m {
				return walkBack(trace, limit, before, after)
			}
		}
	}
	return mark(mark(nil, '-', before), '+', after)
}

// step returns where the diagonal k begins with edit d: below a new line or behind an old one.
func step(best []int, limit, d, k int) int {
	if d == 0 {
		return 0
	}
	if k == -d || k != d && best[limit+k-1] < best[limit+k+1] {
		return best[limit+k+1]
	}
	return best[limit+k-1] + 1
}

func walkBack(trace [][]int, limit int, before, after []string) []line {
	var out []line
	x, y := len(before), len(after)
	for d := len(trace) - 1; d >= 0; d-- {
		k := x - y
		from := step(trace[d], limit, d, k)
		for x > from && y > from-k {
			x, y = x-1, y-1
			out = append(out, line{' ', before[x]})
		}
		switch {
		case d == 0:
		case k == -d || k != d && trace[d][limit+k-1] < trace[d][limit+k+1]:
			y--
			out = append(out, line{'+', after[y]})
		default:
			x--
			out = append(out, line{'-', before[x]})
		}
	}
	slices.Reverse(out)
	return out
}

// hunks writes the changed lines with what stands around them.
func hunks(lines []line) string {
	var b strings.Builder
	oldAt, newAt := 1, 1
	for i := 0; i < len(lines); {
		if lines[i].mark == ' ' && !near(lines, i) {
			i, oldAt, newAt = i+1, oldAt+1, newAt+1
			continue
		}
		end, olds, news := i, 0, 0
		for end < len(lines) && (lines[end].mark != ' ' || near(lines, end)) {
			if lines[end].mark != '+' {
				olds++
			}
			if lines[end].mark != '-' {
				news++
			}
			end++
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", start(oldAt, olds), olds, start(newAt, news), news)
		for _, l := range lines[i:end] {
			b.WriteByte(l.mark)
			b.WriteString(l.text)
			if !strings.HasSuffix(l.text, "\n") {
				b.WriteString("\n\\ No newline at end of file\n")
			}
		}
		i, oldAt, newAt = end, oldAt+olds, newAt+news
	}
	return b.String()
}

// start is the first line of a side of a hunk; a side without lines names the one before.
func start(at, count int) int {
	if count == 0 {
		return at - 1
	}
	return at
}

// near reports whether a change stands within reach of line i.
func near(lines []line, i int) bool {
	for _, l := range lines[max(0, i-around):min(len(lines), i+around+1)] {
		if l.mark != ' ' {
			return true
		}
	}
	return false
}
