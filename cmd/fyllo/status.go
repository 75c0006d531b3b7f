package main

import (
	"context"
	"fmt"
	"net/http"
	"text/tabwriter"
	"time"

	"fyllocode.dev/fyllo"
)

// statusReport is what `status --json` prints (R-CLI-004).
type statusReport struct {
	Running       bool          `json:"running"`
	PID           int           `json:"pid,omitempty"`
	URL           string        `json:"url,omitempty"`
	Version       string        `json:"version"`
	UptimeSeconds *int64        `json:"uptimeSeconds,omitempty"` // nil when not running
	Sessions      sessionCounts `json:"sessions"`
	Spawned       spawnedCounts `json:"spawned"`
	Agents        []agentStatus `json:"agents"`
}

type sessionCounts struct {
	Total   int `json:"total"`
	Running int `json:"running"`
}

type spawnedCounts struct {
	Running int `json:"running"`
}

type agentStatus struct {
	ID         fyllo.AgentID    `json:"id"`
	State      fyllo.AgentState `json:"state"`
	PID        int              `json:"pid,omitempty"`
	Generation uint64           `json:"generation,omitempty"`
}

func (c *client) status(ctx context.Context) (statusReport, error) {
	var out statusReport
	err := c.call(ctx, http.MethodGet, "/api/status", nil, &out)
	return out, err
}

type statusCmd struct {
	JSON bool `help:"Print JSON."`
}

func (statusCmd) Help() string { return "Example:\n\n    fyllo status --json" }

func (c *statusCmd) wantsJSON() bool { return c.JSON }

// Run says what the Core of the data root does; that none runs is no failure.
func (c *statusCmd) Run(ctx context.Context, a *app) error {
	report := statusReport{Version: programVersion(), Agents: []agentStatus{}}
	core, err := a.find(ctx)
	if err != nil {
		return err
	}
	if core != nil {
		defer core.close()
		if report, err = core.status(ctx); err != nil {
			return err
		}
		if report.Agents == nil {
			report.Agents = []agentStatus{} // a list, also when it is empty
		}
	}
	if c.JSON {
		return a.printJSON(report)
	}
	return a.printStatus(report)
}

func (a *app) printStatus(r statusReport) error {
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
		fmt.Fprintf(w, "Agent %s\t%s%s\n", oneLine(string(agent.ID)), agent.State, pid)
	}
	return w.Flush()
}
