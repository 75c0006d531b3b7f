package cli

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
	"fyllocode.dev/fyllo/internal/httpd"
)

type agentsListCmd struct {
	JSON    bool `help:"Print JSON."`
	All     bool `help:"Also Agents of the registry that are not installed."`
	Refresh bool `help:"First fetch the registry and look at what is installed."`
}

func (agentsListCmd) Help() string {
	return "Agents of the registry that are not installed are left out. Without --refresh nothing goes out: the list is the last " +
		"one that was fetched.\n\nExample:\n\n    fyllo agents list --all --refresh"
}

func (c *agentsListCmd) wantsJSON() bool { return c.JSON }

// agentRow is one entry of `agents list --json`.
type agentRow struct {
	ID        fyllo.AgentID     `json:"id"`
	Name      string            `json:"name"`
	Source    fyllo.AgentSource `json:"source"`
	Kind      string            `json:"kind"`
	Installed bool              `json:"installed"`
	Version   string            `json:"version,omitempty"`

	// Of registry Agents only (R-AGT-030).
	LatestVersion   string              `json:"latestVersion,omitempty"`
	UpdateAvailable bool                `json:"updateAvailable,omitempty"`
	InstallMethod   fyllo.InstallMethod `json:"installMethod,omitempty"`
	ManagedBy       fyllo.ManagedBy     `json:"managedBy,omitempty"`
	InstallWays     []fyllo.InstallWay  `json:"installWays,omitempty"`
}

// lookLimit bounds the wait for a look, which has limits of its own.
const lookLimit = 2 * time.Minute

// Run lists the catalogue.
func (c *agentsListCmd) Run(ctx context.Context, a *app) error {
	var list httpd.AgentList
	err := a.withCore(ctx, func(core *coreapi.Client) (err error) {
		if c.Refresh {
			list, err = core.Look(ctx, lookLimit)
			return err
		}
		list, err = core.Agents(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if c.Refresh && list.Registry == nil {
		a.notice("there is no registry: FYLLO_REGISTRY_URL is empty")
	}
	if list.Registry != nil && list.Registry.Problem != nil {
		reportFailure(a.stderr, list.Registry.Problem)
	}
	if list.Problem != nil { // the list is right as far as it goes, so this is a notice
		reportFailure(a.stderr, list.Problem)
	}
	rows := []agentRow{}
	for _, g := range list.Agents {
		if g.Source == fyllo.SourceRegistry && !g.Installed && !c.All {
			continue
		}
		rows = append(rows, agentRow{
			g.ID, g.Name, g.Source, g.Kind, g.Installed, g.Version,
			g.LatestVersion, g.UpdateAvailable, g.InstallMethod, g.ManagedBy, g.InstallWays,
		})
	}
	if c.JSON {
		return a.printJSON(rows)
	}
	return a.printAgents(rows)
}

func (a *app) printAgents(rows []agentRow) error {
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tSOURCE\tINSTALLED\tVERSION\tUPDATE")
	for _, r := range rows {
		installed := "no"
		if r.Installed {
			installed = "yes"
		}
		update := ""
		if r.UpdateAvailable {
			update = r.LatestVersion
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n",
			term.OneLine(string(r.ID)), term.OneLine(r.Name), r.Source, installed, term.OneLine(r.Version), term.OneLine(update))
	}
	return w.Flush()
}
