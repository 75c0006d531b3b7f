package httpd

import (
	"context"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/httpd/internal/grants"
)

// Workspaces knows all Workspaces. Its errors carry codes.
type Workspaces interface {
	// Open finds or makes the Workspace of absolute paths, the first being its primary (R-CLI-002).
	Open(paths []string) (fyllo.Workspace, error)
	Get(id fyllo.WorkspaceID) (fyllo.Workspace, error)
	Touch(id fyllo.WorkspaceID) error // it was opened now
	Recents(n int) []fyllo.Workspace  // newest first
	IDs() []fyllo.WorkspaceID
	Complete(prefix string) []string // directories whose path begins so
}

// recentWorkspaces is how many the launcher shows.
const recentWorkspaces = 10

type workspaceRow struct {
	fyllo.Workspace
	Open bool `json:"open"` // it has a window
}

type workspaceList struct {
	Workspaces []workspaceRow `json:"workspaces"`
}

// openRequest names a Workspace by the absolute paths of its directories or by its id.
type openRequest struct {
	Paths       []string          `json:"paths,omitempty"`
	WorkspaceID fyllo.WorkspaceID `json:"workspaceId,omitempty"`
}

// openStatus says where a Workspace was opened (R-WS-121).
type openStatus string

const (
	openBoundCurrent    openStatus = "bound-current"    // in this window, which registers again
	openFocusedExisting openStatus = "focused-existing" // its window was asked to come forward
	openCreated         openStatus = "created"          // at URL, to be opened by the caller
)

type openResult struct {
	Status    openStatus      `json:"status"`
	Workspace fyllo.Workspace `json:"workspace"`
	URL       string          `json:"url,omitempty"` // opens once; set when created
}

type directoryList struct {
	Home        string   `json:"home"`
	Directories []string `json:"directories"`
}

func (s *Server) addWorkspaceRoutes(a router) {
	add(a, get("listWorkspaces", "/api/workspaces", "Recent Workspaces, newest first"),
		func(context.Context, caller, *nothing) (*answer[workspaceList], error) {
			out := workspaceList{}
			for _, w := range s.Workspaces.Recents(recentWorkspaces) {
				out.Workspaces = append(out.Workspaces, workspaceRow{Workspace: w, Open: s.windows.Holder(w.ID) != ""})
			}
			return reply(out), nil
		})
	add(a, post("openWorkspace", "/api/workspaces/open", "Opens directories, or a known Workspace"),
		func(_ context.Context, c caller, in *struct{ Body openRequest }) (*answer[openResult], error) {
			return s.openWorkspace(c, in.Body)
		})
	add(a, get("getWorkspace", "/api/workspace", "The Workspace of this window"),
		func(_ context.Context, c caller, _ *nothing) (*answer[fyllo.Workspace], error) {
			id, err := c.bound()
			if err != nil {
				return nil, err
			}
			w, err := s.Workspaces.Get(id)
			return reply(w), err
		})
	add(a, get("listDirectories", "/api/directories", "Completes the path of a directory"),
		func(_ context.Context, _ caller, in *struct {
			Prefix string `query:"prefix" maxLength:"4096"`
		}) (*answer[directoryList], error) {
			return reply(directoryList{Home: s.Home, Directories: s.Workspaces.Complete(in.Prefix)}), nil
		})
}

func (s *Server) openWorkspace(c caller, in openRequest) (*answer[openResult], error) {
	w, err := s.findWorkspace(in)
	if err != nil {
		return nil, err
	}
	out := openResult{Workspace: w}
	holder := s.windows.Holder(w.ID)
	switch {
	case holder != "":
		out.Status = openFocusedExisting
		if holder != c.window {
			s.Feed.Publish(fyllo.Event{Workspace: w.ID, Type: fyllo.EventFocus, Data: struct{}{}})
		}
	case c.bearer:
		out.Status, out.URL = openCreated, s.LaunchURL(w.ID, "")
	case c.workspace != "": // this window is another Workspace's and stays so
		t := grants.Target{Workspace: w.ID}
		out.Status, out.URL = openCreated, t.Page()+"?bind="+s.tickets.Issue(t)
	default:
		bound, err := s.bindWindow(c.window, w.ID, false)
		if err != nil {
			return nil, err
		}
		out.Status = openBoundCurrent
		if bound.Body.WorkspaceID != w.ID { // another window was faster
			out.Status = openFocusedExisting
		}
	}
	return reply(out), nil
}

func (s *Server) findWorkspace(in openRequest) (fyllo.Workspace, error) {
	switch {
	case len(in.Paths) > 0 && in.WorkspaceID != "", len(in.Paths) == 0 && in.WorkspaceID == "":
		return fyllo.Workspace{}, fyllo.Errorf(fyllo.CodeInvalidRequest, "open: name either directories or a Workspace")
	case in.WorkspaceID != "":
		return s.Workspaces.Get(in.WorkspaceID)
	default:
		return s.Workspaces.Open(in.Paths)
	}
}
