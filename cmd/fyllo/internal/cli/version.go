package cli

import (
	"context"
	"fmt"
)

type versionCmd struct {
	JSON bool `help:"Print JSON."`
}

func (versionCmd) Help() string { return "Example:\n\n    fyllo version" }

func (c *versionCmd) wantsJSON() bool { return c.JSON }

// Run prints the version.
func (c *versionCmd) Run(_ context.Context, a *app) error {
	if c.JSON {
		return a.printJSON(map[string]string{"version": a.version})
	}
	_, err := fmt.Fprintln(a.stdout, "fyllo", a.version)
	return err
}
