package httpd

import (
	"context"

	"fyllocode.dev/fyllo"
)

// Files finds files below directories by a part of their path. It gives up when ctx ends.
type Files interface {
	Find(ctx context.Context, dirs []fyllo.ScopeFolder, query string) (fyllo.FoundFiles, error)
}

type filesQuery struct {
	Query   string          `query:"q" maxLength:"200" doc:"a part of a path; \"\" for what lies near the top"`
	Session fyllo.SessionID `query:"sessionId" doc:"whose directories; absent: those of the Workspace"`
}

// addFilesRoute adds the search for files to mention. Where to look is never the caller's to say (R-CHAT-130).
func (s *Server) addFilesRoute(a router) {
	add(a, get("findFiles", "/api/files", "Files of this Workspace, or of a Session's directories, by a part of their path"),
		func(ctx context.Context, c caller, in *filesQuery) (*answer[fyllo.FoundFiles], error) {
			dirs, err := s.directories(ctx, c, in.Session)
			if err != nil {
				return nil, err
			}
			found, err := s.Files.Find(ctx, dirs, in.Query)
			return reply(found), err
		})
}

// directories returns the directories of a Session's fixed scope, or those of the caller's Workspace that are there.
func (s *Server) directories(ctx context.Context, c caller, id fyllo.SessionID) ([]fyllo.ScopeFolder, error) {
	if id != "" {
		w, err := s.owner(ctx, c, id)
		if err != nil {
			return nil, err
		}
		d, err := s.Sessions.Detail(ctx, w, id)
		if err != nil || d.Scope == nil {
			return nil, err
		}
		return d.Scope.Folders, nil
	}
	bound, err := c.bound()
	if err != nil {
		return nil, err
	}
	w, err := s.Workspaces.Get(bound)
	var dirs []fyllo.ScopeFolder
	for _, f := range w.Folders {
		if !f.PathMissing {
			dirs = append(dirs, f.ScopeFolder)
		}
	}
	return dirs, err
}
