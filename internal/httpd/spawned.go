package httpd

import (
	"context"

	"fyllocode.dev/fyllo"
)

// Children are the Sessions that Sessions have spawned. Looking changes nothing (R-SPAWN-115).
type Children interface {
	List(ctx context.Context, o fyllo.SpawnOwner) ([]fyllo.SpawnSummary, error)
	Detail(ctx context.Context, o fyllo.SpawnOwner, id fyllo.SessionID) (fyllo.SpawnDetail, error)
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
		}) (*answer[fyllo.SpawnDetail], error) {
			w, err := s.owner(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			if s.Children == nil {
				return nil, fyllo.Errorf(fyllo.CodeNotFound, "Session not found")
			}
			d, err := s.Children.Detail(ctx, fyllo.SpawnOwner{Workspace: w, Parent: in.ID}, in.Child)
			return reply(d), err
		})
}
