package httpd

import (
	"context"

	"fyllocode.dev/fyllo"
)

// ChangeReader tells what an answer changed on disk.
type ChangeReader interface {
	Changes(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, message string) (fyllo.FileChanges, error)
	FileText(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, message, path string) (fyllo.FileText, error)
}

// MessagePath names a message of a Session in the path of a route.
type MessagePath struct {
	SessionPath
	Message string `path:"message"`
}

func (s *Server) addChangeRoutes(a router) {
	add(a, get("listChanges", "/api/sessions/{id}/messages/{message}/changes", "The net file changes of an answer"),
		func(ctx context.Context, c caller, in *MessagePath) (*answer[fyllo.FileChanges], error) {
			w, err := s.owner(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			out, err := s.Sessions.Changes(ctx, w, in.ID, in.Message)
			return reply(out), err
		})
	add(a, get("getFileText", "/api/sessions/{id}/messages/{message}/changes/file", "One net file change with its texts"),
		func(ctx context.Context, c caller, in *struct {
			MessagePath
			Path string `query:"path" required:"true"`
		}) (*answer[fyllo.FileText], error) {
			w, err := s.owner(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			out, err := s.Sessions.FileText(ctx, w, in.ID, in.Message, in.Path)
			return reply(out), err
		})
}
