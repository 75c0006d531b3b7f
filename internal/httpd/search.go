package httpd

import (
	"context"

	"fyllocode.dev/fyllo"
)

// Searcher finds Sessions by words. It gives up when ctx ends. A text that is too long is INVALID_REQUEST.
type Searcher interface {
	Find(ctx context.Context, w fyllo.WorkspaceID, text string, limit int) ([]fyllo.SearchHit, error)
}

type searchQuery struct {
	Text  string `query:"q" doc:"at most 200 UTF-16 units; nothing is found for a blank text"`
	Limit int    `query:"limit" minimum:"1" maximum:"50" doc:"absent: 50"`
}

// addSearchRoute adds the search. Who ends the call ends the scan (R-CHAT-023).
func (s *Server) addSearchRoute(a router) {
	add(a, get("searchSessions", "/api/search", "The Sessions of this Workspace that hold some words, the best first"),
		func(ctx context.Context, c caller, in *searchQuery) (*answer[fyllo.SearchResult], error) {
			w, err := c.bound()
			if err != nil {
				return nil, err
			}
			limit := in.Limit
			if limit == 0 {
				limit = fyllo.SearchLimit
			}
			hits, err := s.Search.Find(ctx, w, in.Text, limit)
			return reply(fyllo.SearchResult{Hits: hits}), err
		})
}
