// Command bench measures the budgets of docs/architecture.md §9 against the built binary and prints them as ratios
// of one run: machines are noisy, ratios carry over. It needs bin/fyllo (make build) and runs for about four minutes.
//
// The unit jd is the cost of decoding each chunk once with a flat typed encoding/json decoder. The floor is a
// minimal server that decodes every line, journals it and writes it to a WebSocket.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
)

// suite is one run: where things are and what was measured so far.
type suite struct {
	dir   string // temporary
	fyllo string // the binary under test
	agent string // the scripted Agent
	floor floorFigures
	bad   int // budgets missed

	searchMB int // of messages that are searched
}

type measure struct {
	name string
	run  func(context.Context, *suite) error
}

var measures = []measure{
	{"floor", measureFloor},
	{"flood", measureFlood},
	{"eight", measureEight},
	{"latency", measureLatency},
	{"tools", measureTools},
	{"delegate", measureDelegate},
	{"start", measureStart},
	{"history", measureHistory},
	{"search", measureSearch},
	{"changes", measureChanges},
	{"line", measureLine},
	{"media", measureMedia},
	{"kill", measureKill},
	{"size", measureSize},
}

func main() {
	binary := flag.String("fyllo", "bin/fyllo", "the binary to measure")
	only := flag.String("run", ".", "regular expression of the measures to run")
	searched := flag.Int("search-mb", 1000, "megabytes of messages that are searched")
	flag.Parse()
	if err := run(*binary, *only, *searched); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(binary, only string, searchMB int) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fyllo-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s := &suite{dir: dir, agent: filepath.Join(dir, "testagent"), searchMB: searchMB}
	if s.fyllo, err = filepath.Abs(binary); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", s.agent, "./internal/testagent/cmd/testagent")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build the scripted Agent: %w", err)
	}
	for _, m := range measures {
		if m.name != "floor" && !pattern.MatchString(m.name) {
			continue
		}
		if err := m.run(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	if s.bad > 0 {
		return fmt.Errorf("%d budgets missed", s.bad)
	}
	return nil
}

// print reports a figure without a budget.
func (s *suite) print(what, format string, args ...any) {
	fmt.Printf("%-52s %s\n", what, fmt.Sprintf(format, args...))
}

// atMost reports a figure that must not exceed its budget.
func (s *suite) atMost(what string, got, budget float64, unit string) {
	s.judge(what, got, budget, "≤", unit, got <= budget)
}

// atLeast reports a figure that must reach its budget.
func (s *suite) atLeast(what string, got, budget float64, unit string) {
	s.judge(what, got, budget, "≥", unit, got >= budget)
}

func (s *suite) judge(what string, got, budget float64, sign, unit string, ok bool) {
	mark := "ok"
	if !ok {
		mark = "MISSED"
		s.bad++
	}
	s.print(what, "%10.2f %-10s (must be %s %g)  %s", got, unit, sign, budget, mark)
}
