package cli

import (
	"context"
	"fmt"
)

// openCommand is the name under which the grammar holds `fyllo [DIR…]`.
const openCommand = "__open"

type openCmd struct {
	NoOpen bool     `name:"no-open" help:"Only print the URL."`
	Dirs   []string `arg:"" optional:"" name:"dir" help:"Directories to open as one Workspace; the first is the primary."`
}

// Run opens directories as a Workspace, or the launcher, in the Core of the data root, which it starts in the
// background if none runs (R-CLI-002).
func (c *openCmd) Run(ctx context.Context, a *app) error {
	core, err := a.background(ctx, c.Dirs)
	if err != nil {
		return err
	}
	defer core.Close()
	url, err := core.OpenPage(ctx, c.Dirs)
	if err != nil {
		return err
	}
	if !c.NoOpen {
		a.openBrowser(ctx, url)
	}
	_, err = fmt.Fprintln(a.stdout, url)
	return err
}
