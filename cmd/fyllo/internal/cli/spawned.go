package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
)

// spawnedCmd looks at delegated work; nothing of it can be changed from here (R-CLI-009, R-SPAWN-076).
type spawnedCmd struct {
	List spawnedListCmd `cmd:"" help:"List what a Session has spawned."`
	Show spawnedShowCmd `cmd:"" help:"Show one of them with its turns."`
}

type spawnedListCmd struct {
	Parent string `arg:"" help:"Id of the Session that spawned."`
	JSON   bool   `help:"Print JSON."`
}

func (spawnedListCmd) Help() string {
	return "Example:\n\n    fyllo spawned list session-4f7c1d2a --json"
}

func (c *spawnedListCmd) wantsJSON() bool { return c.JSON }

// Run prints rows, what is active first (R-SPAWN-119).
func (c *spawnedListCmd) Run(ctx context.Context, a *app) error {
	parent, err := sessionID(c.Parent)
	if err != nil {
		return err
	}
	var list []fyllo.SpawnSummary
	err = a.withCore(ctx, func(core *coreapi.Client) error {
		d, err := core.Detail(ctx, parent)
		if err == nil {
			var spawned coreapi.Spawned
			spawned, err = core.In(d.WorkspaceID).Spawned(ctx, parent)
			list = spawned.Spawned
		}
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return a.printJSON(list)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	for _, s := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", s.SessionID, s.UpdatedAt.Local().Format("2006-01-02 15:04"),
			term.OneLine(string(s.AgentID)), s.Status, s.Mode, term.OneLine(s.PromptPreview))
	}
	return w.Flush()
}

type spawnedShowCmd struct {
	Parent string `arg:"" help:"Id of the Session that spawned."`
	ID     string `arg:"" help:"Id of the spawned Session."`
	Turn   int    `help:"Show this turn only, counted from 1." placeholder:"N"`
	JSON   bool   `help:"Print JSON."`
}

func (spawnedShowCmd) Help() string {
	return "Example:\n\n    fyllo spawned show session-4f7c1d2a 3b1f0c52-7d0e-4c1a-9b62-0f8f5d2f9a11 --turn 1"
}

func (c *spawnedShowCmd) wantsJSON() bool { return c.JSON }

// Run prints a spawned Session turn by turn.
func (c *spawnedShowCmd) Run(ctx context.Context, a *app) error {
	parent, err := sessionID(c.Parent)
	if err != nil {
		return err
	}
	id, err := sessionID(c.ID)
	if err != nil {
		return err
	}
	var d fyllo.SpawnDetail
	err = a.withCore(ctx, func(core *coreapi.Client) error {
		p, err := core.Detail(ctx, parent)
		if err == nil {
			d, err = core.In(p.WorkspaceID).SpawnedDetail(ctx, parent, id)
		}
		return err
	})
	if err != nil {
		return err
	}
	if c.Turn != 0 {
		kept := d.Turns[:0]
		for _, t := range d.Turns {
			if t.Ordinal == c.Turn {
				kept = append(kept, t)
			}
		}
		if d.Turns = kept; len(kept) == 0 {
			return fyllo.Errorf(fyllo.CodeNotFound, "turn %d: the spawned Session has none of that number", c.Turn)
		}
	}
	if c.JSON {
		return a.printJSON(d)
	}
	printSpawned(a.stdout, &d)
	return nil
}

func printSpawned(w io.Writer, d *fyllo.SpawnDetail) {
	s := &d.Summary
	fmt.Fprintf(w, "# %s, %s\n\n%s, %s · %s\n", s.SessionID, term.OneLine(s.AgentName), s.Status, s.Scope.Kind, term.OneLine(s.Scope.Name))
	for _, t := range d.Turns {
		fmt.Fprintf(w, "\n## Turn %d, %s, %s, %s\n", t.Ordinal, t.Mode, t.Phase, t.StartedAt.Local().Format("2006-01-02 15:04"))
		if t.Error != nil {
			fmt.Fprintf(w, "\n%s (%s)\n", term.OneLine(t.Error.Message), t.Error.Code)
		}
		if t.ResponseID != "" {
			fmt.Fprintf(w, "\nResponse %s\n", t.ResponseID)
		}
		for _, m := range t.Messages {
			fmt.Fprintf(w, "\n### %s\n", m.Role)
			for _, p := range m.Parts {
				switch {
				case p.Type == fyllo.PartText && p.Text != "":
					fmt.Fprintf(w, "\n%s\n", term.Printable(p.Text))
				case p.Tool != nil:
					fmt.Fprintf(w, "\n[%s] %s\n", p.Tool.Status, term.OneLine(p.Tool.Title))
				}
			}
		}
	}
}
