package httpd

import (
	"context"
	"strings"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/httpd/internal/windows"
)

// windowRole says what a window is for (R-WS-120).
type windowRole string

const (
	roleLauncher  windowRole = "launcher"
	roleWorkspace windowRole = "workspace"
)

// windowContext is what Core knows about a window (R-WS-120). Run and Seq are where its stream begins.
type windowContext struct {
	WindowID    fyllo.WindowID    `json:"windowId"`
	Role        windowRole        `json:"role"`
	WorkspaceID fyllo.WorkspaceID `json:"workspaceId,omitempty"`
	Workspace   *fyllo.Workspace  `json:"workspace,omitempty"`
	Run         string            `json:"run"`
	Seq         uint64            `json:"seq"`
	Conflict    *windowConflict   `json:"conflict,omitempty"`
}

// windowConflict says that the Workspace this tab was opened for has another window, which may be moved here.
type windowConflict struct {
	WorkspaceID fyllo.WorkspaceID `json:"workspaceId"`
	Name        string            `json:"name"`
}

// registration asks for an identity. Nothing in it is trusted: WindowID counts only while Core knows it, Ticket is a
// secret of Core, Path only selects a Session.
type registration struct {
	WindowID fyllo.WindowID `json:"windowId,omitempty"`
	Ticket   string         `json:"ticket,omitempty"`
	Path     string         `json:"path,omitempty"`
}

func (s *Server) addWindowRoutes(a router) {
	add(a, post("registerWindow", "/api/windows", "Gives this tab its identity"),
		func(ctx context.Context, c caller, in *struct{ Body registration }) (*answer[windowContext], error) {
			if c.bearer {
				return nil, fyllo.Errorf(fyllo.CodeForbidden, "window: only a browser has one")
			}
			return s.registerWindow(ctx, in.Body)
		})
	add(a, post("claimWorkspace", "/api/windows/claim", "Moves the Workspace of the conflict to this window"),
		func(_ context.Context, c caller, _ *nothing) (*answer[windowContext], error) {
			state, _ := s.windows.Lookup(c.window)
			if state.Wanted == "" {
				return nil, fyllo.Errorf(fyllo.CodeInvalidRequest, "window: no other window holds a Workspace that belongs here")
			}
			return s.bindWindow(c.window, state.Wanted, true)
		})
}

func (s *Server) registerWindow(ctx context.Context, in registration) (*answer[windowContext], error) {
	state := s.windows.Register(ctx, in.WindowID)
	to, err := s.destination(ctx, state, in)
	if err != nil {
		return nil, err
	}
	if to == "" || to == state.Workspace {
		return s.contextOf(state)
	}
	if _, err := s.Workspaces.Get(to); err != nil {
		return s.contextOf(state) // it is gone: the tab becomes a launcher
	}
	return s.bindWindow(state.ID, to, false)
}

// destination finds out which Workspace a window is opened for: that of its ticket; else, for a window that has none
// yet, that of the Session in its path (R-WS-127), or the one it waits for.
func (s *Server) destination(ctx context.Context, state windows.State, in registration) (fyllo.WorkspaceID, error) {
	if in.Ticket != "" {
		if t, ok := s.tickets.Redeem(in.Ticket); ok {
			return t.Workspace, nil
		}
	}
	if state.Workspace != "" {
		return state.Workspace, nil
	}
	rest, inChat := strings.CutPrefix(in.Path, "/chat")
	if id := fyllo.SessionID(strings.TrimPrefix(rest, "/")); inChat && id.Valid() {
		w, err := s.Sessions.Find(ctx, id)
		if err == nil || fyllo.CodeOf(err) != fyllo.CodeSessionNotFound {
			return w, err
		}
	}
	if inChat {
		return state.Wanted, nil
	}
	return "", nil
}

// bindWindow binds a window and answers with what came of it.
func (s *Server) bindWindow(id fyllo.WindowID, to fyllo.WorkspaceID, force bool) (*answer[windowContext], error) {
	if _, err := s.Workspaces.Get(to); err != nil {
		return nil, err
	}
	state, err := s.windows.Bind(id, to, force)
	if err != nil {
		return nil, err
	}
	if state.Workspace == to {
		if err := s.Workspaces.Touch(to); err != nil {
			return nil, err
		}
	}
	return s.contextOf(state)
}

func (s *Server) contextOf(state windows.State) (*answer[windowContext], error) {
	out := windowContext{
		WindowID: state.ID, Role: roleLauncher,
		Run: s.Feed.RunOf(state.Workspace), Seq: s.Feed.Seq(state.Workspace),
	}
	if state.Workspace != "" {
		w, err := s.Workspaces.Get(state.Workspace)
		if err != nil {
			return nil, err
		}
		out.Role, out.WorkspaceID, out.Workspace = roleWorkspace, w.ID, &w
	}
	if state.Wanted != "" {
		if w, err := s.Workspaces.Get(state.Wanted); err == nil {
			out.Conflict = &windowConflict{WorkspaceID: w.ID, Name: w.Name}
		}
	}
	return reply(out), nil
}
