package httpd

import (
	"context"

	"fyllocode.dev/fyllo"
)

// QueuedPath names one message that waits.
type QueuedPath struct {
	SessionPath
	Entry string `path:"entry"`
}

// addQueueRoutes serves the messages that wait for the end of a turn (R-CHAT-052). Every answer is the whole queue.
func (s *Server) addQueueRoutes(a router) {
	add(a, withText(post("enqueue", "/api/sessions/{id}/queue", "Has a message sent when the turn has ended")),
		func(ctx context.Context, c caller, in *struct {
			SessionPath
			Body fyllo.QueueRequest
		}) (*answer[fyllo.Queue], error) {
			w, err := s.owner(ctx, c, in.ID)
			if err == nil {
				err = checkText(in.Body.Text)
			}
			if err != nil {
				return nil, err
			}
			out, err := s.Sessions.Enqueue(ctx, w, in.ID, in.Body)
			return reply(out), err
		})
	add(a, withText(patch("changeQueued", "/api/sessions/{id}/queue/{entry}", "Edits or moves a message that waits, or sends it next")),
		func(ctx context.Context, c caller, in *struct {
			QueuedPath
			Body fyllo.QueueChange
		}) (*answer[fyllo.Queue], error) {
			w, err := s.owner(ctx, c, in.ID)
			if err == nil && in.Body.Text != nil {
				err = checkText(*in.Body.Text)
			}
			if err != nil {
				return nil, err
			}
			out, err := s.Sessions.ChangeQueued(ctx, w, in.ID, in.Entry, in.Body)
			return reply(out), err
		})
	add(a, remove("dropQueued", "/api/sessions/{id}/queue/{entry}", "Takes a message out of the queue"),
		func(ctx context.Context, c caller, in *QueuedPath) (*answer[fyllo.Queue], error) {
			w, err := s.owner(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			out, err := s.Sessions.DropQueued(ctx, w, in.ID, in.Entry)
			return reply(out), err
		})
	add(a, post("releaseQueue", "/api/sessions/{id}/queue/release", "Lets a queue that is held go on"),
		func(ctx context.Context, c caller, in *SessionPath) (*answer[fyllo.Queue], error) {
			w, err := s.owner(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			out, err := s.Sessions.ReleaseQueue(ctx, w, in.ID)
			return reply(out), err
		})
}
