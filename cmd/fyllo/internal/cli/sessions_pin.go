package cli

import (
	"context"

	"fyllocode.dev/fyllo"
)

type sessionsPinCmd struct {
	Session string `arg:"" name:"id" help:"Session id."`
}

func (sessionsPinCmd) Help() string { return "Example:\n\n    fyllo sessions pin session-4f7c1d2a" }

// Run pins a Session (R-CHAT-009).
func (c *sessionsPinCmd) Run(ctx context.Context, a *app) error {
	pinned := true
	return a.updateSession(ctx, c.Session, fyllo.Patch{Pinned: &pinned})
}

type sessionsUnpinCmd struct {
	Session string `arg:"" name:"id" help:"Session id."`
}

func (sessionsUnpinCmd) Help() string { return "Example:\n\n    fyllo sessions unpin session-4f7c1d2a" }

// Run unpins a Session (R-CHAT-009).
func (c *sessionsUnpinCmd) Run(ctx context.Context, a *app) error {
	pinned := false
	return a.updateSession(ctx, c.Session, fyllo.Patch{Pinned: &pinned})
}
