package cli

import (
	"context"
	"net/http"
	"net/url"

	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
)

type agentsRemoveCmd struct {
	Agent string `arg:"" name:"id|name" help:"Id or name of a custom Agent."`
}

func (agentsRemoveCmd) Help() string { return "Example:\n\n    fyllo agents remove Gemini" }

// Run removes a custom Agent; its Sessions stay readable (R-AGT-113).
func (c *agentsRemoveCmd) Run(ctx context.Context, a *app) error {
	return a.withCore(ctx, func(core *coreapi.Client) error {
		return core.Call(ctx, http.MethodDelete, "/api/agents/"+url.PathEscape(c.Agent), nil, nil)
	})
}
