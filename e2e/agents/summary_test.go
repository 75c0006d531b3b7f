//go:build agents

package agents

import (
	"fmt"
	"os"
	"text/tabwriter"
	"time"
)

// summary is the table at the end of a run: Agents down, steps across.
type summary struct{ rows []*row }

type row struct {
	name  string
	cells map[string]string
}

func (s *summary) add(name string) *row {
	r := &row{name, map[string]string{}}
	s.rows = append(s.rows, r)
	return r
}

func (r *row) note(step, text string, took time.Duration, ok bool) {
	switch {
	case !ok:
		text = "FAILED"
	case text == "":
		text = fmt.Sprintf("ok %.1fs", took.Seconds())
	}
	r.cells[step] = text
}

func (s *summary) print() {
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprint(w, "\nAgent")
	for _, step := range steps {
		fmt.Fprintf(w, "\t%s", step.name)
	}
	fmt.Fprintln(w)
	for _, r := range s.rows {
		fmt.Fprint(w, r.name)
		for _, step := range steps {
			cell, ok := r.cells[step.name]
			if !ok {
				cell = "not run"
			}
			fmt.Fprintf(w, "\t%s", cell)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
}
