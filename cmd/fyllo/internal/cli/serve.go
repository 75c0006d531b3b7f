package cli

import (
	"context"
	"fmt"
	"log/slog"
)

type serveCmd struct {
	Port   int      `placeholder:"N" help:"Port on 127.0.0.1; 0 or absent: chosen by the system."`
	NoOpen bool     `name:"no-open" help:"Open no browser."`
	Dirs   []string `arg:"" optional:"" name:"dir" help:"Directories to open as one Workspace; the first is the primary."`
}

func (serveCmd) Help() string { return "Example:\n\n    fyllo serve --port 8123 --no-open ~/src/site" }

// Run runs Core in the foreground until a signal or `fyllo stop` (R-CLI-003).
func (c *serveCmd) Run(ctx context.Context, a *app) error {
	if c.Port < 0 || c.Port > 65535 {
		return usagef("Run 'fyllo serve --help' to see how it is used.", "usage: --port %d is not a port", c.Port)
	}
	for _, dir := range c.Dirs {
		if err := checkDir(dir); err != nil {
			return err
		}
	}
	core, err := a.start(ctx, CoreOptions{
		Root: a.root, Port: c.Port, Log: slog.New(slog.NewTextHandler(a.stderr, nil)), Warm: true,
	})
	if err != nil {
		return err
	}
	if err := c.announce(ctx, a); err != nil {
		_ = core.Close() // the first failure is the one to tell
		return err
	}
	select {
	case <-ctx.Done():
	case <-core.Done():
	}
	return core.Close()
}

// announce prints the ready line and opens the browser.
func (c *serveCmd) announce(ctx context.Context, a *app) error {
	core, err := a.running(ctx)
	if err != nil || core == nil {
		return err
	}
	defer core.Close()
	url, err := core.OpenPage(ctx, c.Dirs)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(a.stdout, "FylloCode ready at %s\n", url); err != nil {
		return err
	}
	if !c.NoOpen {
		a.openBrowser(ctx, url)
	}
	return nil
}
