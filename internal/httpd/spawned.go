package httpd

import (
	"context"

	"fyllocode.dev/fyllo"
)

// Children are the Sessions that Sessions have spawned. Looking changes nothing (R-SPAWN-115).
type Children interface {
	List(ctx context.Context, o fyllo.SpawnOwner) ([]fyllo.SpawnSummary, error)
	Detail(ctx context.Context, o fyllo.SpawnOwner, id fyllo.SessionID) (fyllo.SpawnDetail, error)
	DetailOf(ctx context.Context, o fyllo.SpawnOwner, id fyllo.SessionID, turn string) (fyllo.SpawnDetail, error)
	Body(ctx context.Context, o fyllo.SpawnOwner, id fyllo.SessionID, q fyllo.BodyQuery) (string, error)
	Media(ctx context.Context, o fyllo.SpawnOwner, id fyllo.SessionID, q fyllo.MediaQuery) (*fyllo.Media, error)
	Telling(o fyllo.SpawnOwner) bool
}

// SpawnedList is what a Session has spawned, in list order (R-SPAWN-119).
type SpawnedList struct {
	Spawned []fyllo.SpawnSummary `json:"spawned"`
	Telling bool                 `json:"telling"` // the Agent is still to be told of the end of some of it
}

// addSpawnedRoutes serves delegated work, read-only. Absent, deleted and foreign look the same (R-SPAWN-078).
func (s *Server) addSpawnedRoutes(a router) {
	add(a, get("listSpawned", "/api/sessions/{id}/spawned", "What a Session has spawned"),
		func(ctx context.Context, c caller, in *SessionPath) (*answer[SpawnedList], error) {
			w, err := s.owner(ctx, c, in.ID)
			if err != nil || s.Children == nil {
				return reply(SpawnedList{Spawned: []fyllo.SpawnSummary{}}), err
			}
			o := fyllo.SpawnOwner{Workspace: w, Parent: in.ID}
			list, err := s.Children.List(ctx, o)
			return reply(SpawnedList{Spawned: list, Telling: s.Children.Telling(o)}), err
		})
	add(a, get("getSpawned", "/api/sessions/{id}/spawned/{child}", "One of them with its turns"),
		func(ctx context.Context, c caller, in *struct {
			SessionPath
			Child fyllo.SessionID `path:"child"`
			Turn  string          `query:"turn" doc:"only what was said in this turn: its id, or latest; absent: in all of them"`
		}) (*answer[fyllo.SpawnDetail], error) {
			o, err := s.parent(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			if in.Turn == "" {
				d, err := s.Children.Detail(ctx, o, in.Child)
				return reply(d), err
			}
			d, err := s.Children.DetailOf(ctx, o, in.Child, in.Turn)
			return reply(d), err
		})
}

// parent is the owner of what a Session has spawned; NOT_FOUND where nothing can be spawned.
func (s *Server) parent(ctx context.Context, c caller, id fyllo.SessionID) (fyllo.SpawnOwner, error) {
	w, err := s.owner(ctx, c, id)
	if err == nil && s.Children == nil {
		err = fyllo.Errorf(fyllo.CodeNotFound, "Session not found")
	}
	return fyllo.SpawnOwner{Workspace: w, Parent: id}, err
}
