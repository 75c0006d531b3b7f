package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
	"fyllocode.dev/fyllo/internal/export"
)

type sessionsListCmd struct {
	Dir  []string `sep:"none" placeholder:"DIR" help:"Directory of the Workspace; may be repeated, the first is the primary. Default: the current directory."`
	All  bool     `help:"List the Sessions of all Workspaces."`
	JSON bool     `help:"Print JSON."`
}

func (sessionsListCmd) Help() string { return "Example:\n\n    fyllo sessions list --all --json" }

func (c *sessionsListCmd) wantsJSON() bool { return c.JSON }

// Run lists Sessions in list order (R-CLI-008).
func (c *sessionsListCmd) Run(ctx context.Context, a *app) error {
	if c.All && len(c.Dir) > 0 {
		return usagef("Run 'fyllo sessions list --help' to see how it is used.", "usage: --all does not go with --dir")
	}
	rows := []export.Session{}
	err := a.withCore(ctx, func(core *coreapi.Client) error {
		if !c.All {
			opened, err := core.OpenDirs(ctx, orCurrent(c.Dir))
			if err != nil {
				return err
			}
			core = core.In(opened.Workspace.ID)
		}
		return core.EachSession(ctx, func(s fyllo.SessionSummary) { rows = append(rows, export.SessionOf(s)) })
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return a.printJSON(rows)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	for _, r := range rows {
		state := ""
		switch {
		case r.Attention > 0:
			state = "needs attention"
		case r.Running:
			state = "running"
		case r.Pinned:
			state = "pinned"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n",
			r.SessionID, r.UpdatedAt.Local().Format("2006-01-02 15:04"), term.OneLine(string(r.AgentID)), term.OneLine(r.Title), state)
	}
	return w.Flush()
}
