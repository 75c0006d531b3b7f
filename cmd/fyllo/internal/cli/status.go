package cli

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
)

type statusCmd struct {
	JSON bool `help:"Print JSON."`
}

func (statusCmd) Help() string { return "Example:\n\n    fyllo status --json" }

func (c *statusCmd) wantsJSON() bool { return c.JSON }

// Run says what the Core of the data root does; that none runs is no failure.
func (c *statusCmd) Run(ctx context.Context, a *app) error {
	report := fyllo.Status{Version: a.version, Agents: []fyllo.AgentStatus{}}
	core, err := a.find(ctx)
	if err != nil {
		return err
	}
	if core != nil {
		defer core.Close()
		if report, err = core.Status(ctx); err != nil {
			return err
		}
		if report.Agents == nil {
			report.Agents = []fyllo.AgentStatus{} // a list, also when it is empty
		}
	}
	if c.JSON {
		return a.printJSON(report)
	}
	return a.printStatus(report)
}

func (a *app) printStatus(r fyllo.Status) error {
	if !r.Running {
		_, err := fmt.Fprintf(a.stdout, "FylloCode does not run for %s\n", a.root)
		return err
	}
	up := "?"
	if r.UptimeSeconds != nil {
		up = (time.Duration(*r.UptimeSeconds) * time.Second).String()
	}
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "FylloCode %s\tpid %d, up %s\n", r.Version, r.PID, up)
	fmt.Fprintf(w, "URL\t%s\n", r.URL)
	fmt.Fprintf(w, "Sessions\t%d, %d running\n", r.Sessions.Total, r.Sessions.Running)
	fmt.Fprintf(w, "Spawned\t%d running\n", r.Spawned.Running)
	for _, agent := range r.Agents {
		pid := ""
		if agent.PID != 0 {
			pid = fmt.Sprintf(", pid %d", agent.PID)
		}
		fmt.Fprintf(w, "Agent %s\t%s%s\n", term.OneLine(string(agent.ID)), agent.State, pid)
	}
	return w.Flush()
}
