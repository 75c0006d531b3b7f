package cli

import (
	"context"
	"net/http"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/records"
)

type stopCmd struct{}

func (stopCmd) Help() string { return "Example:\n\n    fyllo stop" }

// Run stops the Core of the data root in order and waits until it is gone (R-CLI-004).
func (c *stopCmd) Run(ctx context.Context, a *app) error {
	core, err := a.find(ctx)
	if err != nil {
		return err
	}
	if core == nil {
		a.notice("FylloCode does not run for %s", a.root)
		return nil
	}
	defer core.Close()
	if err := core.Call(ctx, http.MethodPost, "/api/stop", struct{}{}, nil); err != nil {
		return err
	}
	deadline := time.Now().Add(a.stopLimit)
	for {
		info, held := records.ReadLock(a.root)
		if !held {
			return nil
		}
		if time.Now().After(deadline) {
			return fyllo.Errorf(fyllo.CodeInternal, "Core: process %d did not end within %s", info.PID, a.stopLimit)
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}
