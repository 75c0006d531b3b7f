package httpd

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"

	"fyllocode.dev/fyllo"
)

// Config is what a Server needs. Fields are required unless they say what nil or "" means.
type Config struct {
	Addr    netip.AddrPort // of the listener that Serve will get; must be loopback
	Token   string         // the command line's bearer, as in core.token
	Version string         // of the product
	Home    string         // the user's home directory, shown by the launcher
	UI      fs.FS          // the built interface, index.html at its root

	Feed        *Feed
	Sessions    Sessions
	Media       Media
	Attachments Attachments
	Files       Files
	Search      Searcher
	Workspaces  Workspaces
	Agents      Agents
	Store       Store

	Children Children // nil: no Session has spawned any

	MCP http.Handler // answers below /mcp/, with checks of its own; nil: there is nothing

	Stop       func()                                      // asks the process to end; returns at once
	Doctor     func(context.Context) (DoctorReport, error) // nil: this Core has no doctor
	Spawned    func() int                                  // running spawned turns; nil: there are none
	OnSettings func(fyllo.Settings)                        // told after a change; nil: nobody is
	Log        *slog.Logger                                // nil: no log
}

// check returns what is missing, as a bug of the caller.
func (c *Config) check() error {
	var missing string
	switch {
	case !c.Addr.IsValid() || !c.Addr.Addr().IsLoopback():
		missing = "Addr on loopback"
	case c.Token == "":
		missing = "Token"
	case c.UI == nil:
		missing = "UI"
	case c.Feed == nil || c.Sessions == nil || c.Media == nil || c.Attachments == nil || c.Search == nil || c.Files == nil || c.Workspaces == nil || c.Agents == nil || c.Store == nil:
		missing = "use cases"
	case c.Stop == nil:
		missing = "Stop"
	default:
		return nil
	}
	return fyllo.Errorf(fyllo.CodeInternal, "http server: it cannot start without %s", missing)
}
