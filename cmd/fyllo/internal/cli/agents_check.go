package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
)

type agentsCheckCmd struct {
	ID   string `arg:"" name:"id" help:"Agent id."`
	JSON bool   `help:"Print JSON."`
}

func (agentsCheckCmd) Help() string { return "Example:\n\n    fyllo agents check claude-acp" }

func (c *agentsCheckCmd) wantsJSON() bool { return c.JSON }

// checkReport is what `agents check --json` prints; the problem also stands where every command has its error.
type checkReport struct {
	fyllo.AgentCheck
	Error *fyllo.Failure `json:"error,omitempty"`
}

// Run starts an Agent, initialises it and prints what it said; no session is created (R-CLI-005).
func (c *agentsCheckCmd) Run(ctx context.Context, a *app) error {
	var check fyllo.AgentCheck
	err := a.withCore(ctx, func(core *coreapi.Client) (err error) {
		check, err = core.CheckAgent(ctx, fyllo.AgentID(c.ID))
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		err = a.printJSON(checkReport{check, check.Problem})
	} else if check.OK {
		err = a.printCheck(check)
	}
	if err != nil || check.OK {
		return err
	}
	if tail := strings.TrimSpace(term.Printable(check.StderrTail)); tail != "" {
		fmt.Fprintf(a.stderr, "The Agent wrote:\n%s\n", tail)
	}
	return &toldError{coreapi.ErrorOf(check.Problem)}
}

func (a *app) printCheck(check fyllo.AgentCheck) error {
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "Agent\t%s\n", term.OneLine(string(check.AgentID)))
	fmt.Fprintf(w, "Ready after\t%d ms\n", check.StartMillis)
	if info := check.Info; info != nil {
		fmt.Fprintf(w, "Calls itself\t%s\n", term.OneLine(strings.Join([]string{info.Name, info.Title, info.Version}, " ")))
		fmt.Fprintf(w, "Protocol\t%d\n", info.ProtocolVersion)
		for _, m := range info.AuthMethods {
			fmt.Fprintf(w, "Sign-in\t%s\n", term.OneLine(m.Name+" ("+m.ID+")"))
		}
		for _, line := range capabilityLines(info.Capabilities) {
			fmt.Fprintln(w, line)
		}
	}
	return w.Flush()
}

func capabilityLines(c fyllo.Capabilities) []string {
	has := func(b bool) fyllo.Support {
		if b {
			return fyllo.Supported
		}
		return fyllo.Unsupported
	}
	var lines []string
	for _, l := range []struct {
		name    string
		support fyllo.Support
	}{
		{"Images", c.Image},
		{"Audio", c.Audio},
		{"Embedded context", c.EmbeddedContext},
		{"MCP over HTTP", c.HTTPMCP},
		{"Several directories", c.MultiRoot},
		{"Resume", has(c.Resume)},
		{"Load", has(c.Load)},
		{"Close", has(c.Close)},
	} {
		lines = append(lines, l.name+"\t"+string(l.support))
	}
	return lines
}
