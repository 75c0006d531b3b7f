package cli

import (
	"context"
	"fmt"
	"net/http"

	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
	"fyllocode.dev/fyllo/internal/httpd"
)

type doctorCmd struct {
	JSON bool `help:"Print JSON."`
}

func (doctorCmd) Help() string { return "Example:\n\n    fyllo doctor --json" }

func (c *doctorCmd) wantsJSON() bool { return c.JSON }

// Run looks for what is wrong on this machine; the exit code is 1 if anything needs attention (R-CLI-010).
func (c *doctorCmd) Run(ctx context.Context, a *app) error {
	var report httpd.DoctorReport
	err := a.withCore(ctx, func(core *coreapi.Client) error {
		return core.Call(ctx, http.MethodGet, "/api/doctor", nil, &report)
	})
	if err != nil {
		return err
	}
	if c.JSON {
		err = a.printJSON(report)
	} else {
		err = a.printFindings(report)
	}
	if err == nil && !report.OK {
		err = errReported
	}
	return err
}

func (a *app) printFindings(r httpd.DoctorReport) error {
	ok, bad := "ok", "ATTENTION"
	if term.Colour(a.stdout, a.getenv) {
		ok, bad = "\x1b[32m"+ok+"\x1b[0m", "\x1b[31m"+bad+"\x1b[0m"
	}
	area := ""
	for _, f := range r.Findings {
		if f.Area != area {
			area = f.Area
			if _, err := fmt.Fprintf(a.stdout, "%s\n", area); err != nil {
				return err
			}
		}
		state := ok
		if !f.OK {
			state = bad
		}
		fmt.Fprintf(a.stdout, "  %s: %s: %s\n", state, term.OneLine(f.Name), term.OneLine(f.Detail))
		if f.Hint != "" {
			fmt.Fprintf(a.stdout, "      %s\n", term.OneLine(f.Hint))
		}
	}
	return nil
}
