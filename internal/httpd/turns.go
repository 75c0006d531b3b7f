package httpd

import (
	"context"

	"fyllocode.dev/fyllo"
)

// Turns starts and steers turns. A repeated RequestID gets the first answer; the life of a turn does not depend on
// the call's context.
type Turns interface {
	Start(ctx context.Context, w fyllo.WorkspaceID, r fyllo.StartRequest) (fyllo.StartResult, error)
	Prompt(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, r fyllo.PromptRequest) (fyllo.PromptResult, error)
	Cancel(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) error
	Enqueue(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, r fyllo.QueueRequest) (fyllo.Queue, error)
	ChangeQueued(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, id string, c fyllo.QueueChange) (fyllo.Queue, error)
	DropQueued(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, id string) (fyllo.Queue, error)
	ReleaseQueue(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) (fyllo.Queue, error)
	Answer(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, r fyllo.AnswerRequest) (fyllo.PermissionNote, error)
}

func (s *Server) addTurnRoutes(a router) {
	add(a, withText(created(post("startSession", "/api/sessions", "Makes a Session with its first message"))),
		func(ctx context.Context, c caller, in *struct{ Body fyllo.StartRequest }) (*answer[fyllo.StartResult], error) {
			w, err := c.bound()
			if err == nil {
				err = checkText(in.Body.Text)
			}
			if err != nil {
				return nil, err
			}
			in.Body.Window = c.window
			out, err := s.Sessions.Start(ctx, w, in.Body)
			return reply(out), err
		})
	add(a, withText(post("prompt", "/api/sessions/{id}/prompts", "Sends one more message")),
		func(ctx context.Context, c caller, in *struct {
			SessionPath
			Body fyllo.PromptRequest
		}) (*answer[fyllo.PromptResult], error) {
			w, err := s.owner(ctx, c, in.ID)
			if err == nil {
				err = checkText(in.Body.Text)
			}
			if err != nil {
				return nil, err
			}
			out, err := s.Sessions.Prompt(ctx, w, in.ID, in.Body)
			return reply(out), err
		})
	add(a, post("cancelTurn", "/api/sessions/{id}/cancel", "Asks the Agent to stop"),
		func(ctx context.Context, c caller, in *SessionPath) (*nothing, error) {
			w, err := s.owner(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			return nil, s.Sessions.Cancel(ctx, w, in.ID)
		})
	add(a, post("answerPermission", "/api/sessions/{id}/permissions/{permission}", "Answers a permission request"),
		func(ctx context.Context, c caller, in *struct {
			SessionPath
			Permission string `path:"permission"`
			Body       fyllo.AnswerRequest
		}) (*answer[fyllo.PermissionNote], error) {
			w, err := s.owner(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			in.Body.PermissionID = in.Permission
			note, err := s.Sessions.Answer(ctx, w, in.ID, in.Body)
			return reply(note), err
		})
}
