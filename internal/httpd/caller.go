package httpd

import (
	"context"
	"net/http"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/httpd/internal/windows"
)

// caller is who sends a call, as Core knows it.
type caller struct {
	bearer    bool              // the command line
	window    fyllo.WindowID    // browsers only
	workspace fyllo.WorkspaceID // of the window, or as the command line named it; "" if none
}

type callerKey struct{}

func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// bound returns the caller's Workspace (R-CHAT-130).
func (c caller) bound() (fyllo.WorkspaceID, error) {
	if c.workspace == "" {
		return "", fyllo.Errorf(fyllo.CodeWindowUnbound, "Workspace: this window has none").WithHint("Open a Workspace first.")
	}
	return c.workspace, nil
}

// boundWindow returns the caller's window and Workspace; the command line has no window.
func (c caller) boundWindow() (fyllo.WindowID, fyllo.WorkspaceID, error) {
	w, err := c.bound()
	if err == nil && c.window == "" {
		err = fyllo.Errorf(fyllo.CodeForbidden, "window: only a browser window can do this")
	}
	return c.window, w, err
}

func (c caller) mustBeBearer() error {
	if !c.bearer {
		return fyllo.Errorf(fyllo.CodeForbidden, "command line: only the owner of the data root can do this")
	}
	return nil
}

// identify finds out who sends a call under /api.
func (s *Server) identify(r *http.Request) (caller, error) {
	if s.isBearer(r) {
		w := r.Header.Get("X-Fyllo-Workspace")
		if w != "" && !fyllo.PathSafe(w) {
			return caller{}, fyllo.Errorf(fyllo.CodeInvalidRequest, "X-Fyllo-Workspace: it is not the id of a Workspace")
		}
		return caller{bearer: true, workspace: fyllo.WorkspaceID(w)}, nil
	}
	if !s.hasCookie(r) {
		return caller{}, fyllo.Errorf(fyllo.CodeUnauthorized, "FylloCode: this browser is not signed in").
			WithHint("Run fyllo in a terminal: it opens a fresh link.")
	}
	if r.URL.Path == "/api/windows" || r.URL.Path == "/api/stream" {
		return caller{}, nil // one makes the window, the other names it in its query
	}
	id := fyllo.WindowID(r.Header.Get("X-Fyllo-Window"))
	w, ok := s.windows.Lookup(id)
	if !ok {
		return caller{}, windows.Unknown()
	}
	return caller{window: id, workspace: w.Workspace}, nil
}
