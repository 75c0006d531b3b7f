package cli

import (
	"context"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
)

type sessionsRenameCmd struct {
	Session string `arg:"" name:"id" help:"Session id."`
	Title   string `arg:"" help:"New title; white space around it is left out."`
}

func (sessionsRenameCmd) Help() string {
	return "Example:\n\n    fyllo sessions rename session-4f7c1d2a 'Build on Windows'"
}

// Run renames a Session. An empty or equal title changes nothing (R-CHAT-014).
func (c *sessionsRenameCmd) Run(ctx context.Context, a *app) error {
	return a.updateSession(ctx, c.Session, fyllo.Patch{Title: &c.Title})
}

// updateSession changes what people edit of a Session.
func (a *app) updateSession(ctx context.Context, typed string, p fyllo.Patch) error {
	id, err := sessionID(typed)
	if err != nil {
		return err
	}
	return a.withCore(ctx, func(core *coreapi.Client) error { return core.UpdateSession(ctx, id, p) })
}
