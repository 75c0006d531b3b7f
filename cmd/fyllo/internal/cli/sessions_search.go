package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
)

type sessionsSearchCmd struct {
	Text  string   `arg:"" help:"What to look for in titles, Session ids and messages."`
	Dir   []string `sep:"none" placeholder:"DIR" help:"Directory of the Workspace; may be repeated, the first is the primary. Default: the current directory."`
	Limit int      `default:"50" placeholder:"N" help:"Print at most N Sessions, 1 to 50. Default: 50."`
	JSON  bool     `help:"Print JSON."`
}

func (sessionsSearchCmd) Help() string {
	return "Case does not matter, and neither does how much white space stands between two words.\n\nExample:\n\n    fyllo sessions search 'flaky test' --limit 5"
}

func (c *sessionsSearchCmd) wantsJSON() bool { return c.JSON }

// searchRow is one entry of `sessions search --json`. Snippet is that of a message hit.
type searchRow struct {
	SessionID fyllo.SessionID   `json:"sessionId"`
	Title     string            `json:"title"`
	Match     fyllo.SearchMatch `json:"match"`
	UpdatedAt time.Time         `json:"updatedAt"`
	Snippet   string            `json:"snippet,omitempty"`
}

// Run searches the Sessions of a Workspace (R-CLI-008, R-CHAT-018…022).
func (c *sessionsSearchCmd) Run(ctx context.Context, a *app) error {
	const help = "Run 'fyllo sessions search --help' to see how it is used."
	if strings.TrimSpace(c.Text) == "" {
		return usagef(help, "usage: there is nothing to search for")
	}
	if c.Limit < 1 || c.Limit > fyllo.SearchLimit {
		return usagef(help, "usage: --limit is %d, and must be from 1 to %d", c.Limit, fyllo.SearchLimit)
	}
	rows := []searchRow{}
	err := a.withCore(ctx, func(core *coreapi.Client) error {
		opened, err := core.OpenDirs(ctx, orCurrent(c.Dir))
		if err != nil {
			return err
		}
		hits, err := core.In(opened.Workspace.ID).Search(ctx, c.Text, c.Limit)
		for _, h := range hits {
			rows = append(rows, searchRow{h.SessionID, h.Title, h.Match, h.UpdatedAt, h.Snippet})
		}
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return a.printJSON(rows)
	}
	if len(rows) == 0 {
		a.notice("No Session matches.")
	}
	for _, r := range rows {
		when := r.UpdatedAt.Local().Format("2006-01-02 15:04")
		if _, err := fmt.Fprintf(a.stdout, "%s  %s  %s\n", r.SessionID, when, term.OneLine(r.Title)); err != nil {
			return err
		}
		if r.Snippet == "" {
			continue
		}
		if _, err := fmt.Fprintf(a.stdout, "    %s\n", term.OneLine(r.Snippet)); err != nil {
			return err
		}
	}
	return nil
}
