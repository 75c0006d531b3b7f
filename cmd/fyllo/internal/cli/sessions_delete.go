package cli

import (
	"context"

	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
)

type sessionsDeleteCmd struct {
	Session string `arg:"" name:"id" help:"Session id."`
	Yes     bool   `help:"Really delete it; there is no way back."`
}

func (sessionsDeleteCmd) Help() string {
	return "Example:\n\n    fyllo sessions delete session-4f7c1d2a --yes"
}

// Run deletes a Session (R-WS-134). A running turn of it is stopped first.
func (c *sessionsDeleteCmd) Run(ctx context.Context, a *app) error {
	if !c.Yes {
		return usagef("Add --yes to delete it with everything stored with it. This cannot be undone.",
			"usage: a Session is deleted with --yes only")
	}
	id, err := sessionID(c.Session)
	if err != nil {
		return err
	}
	return a.withCore(ctx, func(core *coreapi.Client) error { return core.DeleteSession(ctx, id) })
}
