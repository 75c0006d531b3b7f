package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
	"fyllocode.dev/fyllo/internal/httpd"
)

type agentsListCmd struct {
	JSON bool `help:"Print JSON."`
}

func (agentsListCmd) Help() string { return "Example:\n\n    fyllo agents list --json" }

func (c *agentsListCmd) wantsJSON() bool { return c.JSON }

// agentRow is one entry of `agents list --json`.
type agentRow struct {
	ID        fyllo.AgentID     `json:"id"`
	Name      string            `json:"name"`
	Source    fyllo.AgentSource `json:"source"`
	Kind      string            `json:"kind"`
	Installed bool              `json:"installed"`
	Version   string            `json:"version,omitempty"`
}

// Run lists the catalogue.
func (c *agentsListCmd) Run(ctx context.Context, a *app) error {
	var list httpd.AgentList
	err := a.withCore(ctx, func(core *coreapi.Client) (err error) {
		list, err = core.Agents(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if list.Problem != nil { // the list is right as far as it goes, so this is a notice
		reportFailure(a.stderr, list.Problem)
	}
	rows := make([]agentRow, len(list.Agents))
	for i, g := range list.Agents {
		rows[i] = agentRow{g.ID, g.Name, g.Source, g.Kind, g.Installed, g.Version}
	}
	if c.JSON {
		return a.printJSON(rows)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tSOURCE\tINSTALLED\tVERSION")
	for _, r := range rows {
		installed := "no"
		if r.Installed {
			installed = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", term.OneLine(string(r.ID)), term.OneLine(r.Name), r.Source, installed, term.OneLine(r.Version))
	}
	return w.Flush()
}
