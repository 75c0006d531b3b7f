package httpd

import (
	"context"

	"fyllocode.dev/fyllo"
)

// Drafts prepares the Session that a window may start (R-CHAT-030). CloseDraft is also called when the window is
// gone or loses its Workspace.
type Drafts interface {
	OpenDraft(ctx context.Context, w fyllo.WorkspaceID, window fyllo.WindowID, agent fyllo.AgentID, mode fyllo.Mode) (fyllo.Draft, error)
	Draft(w fyllo.WorkspaceID, window fyllo.WindowID) (fyllo.Draft, bool)
	CloseDraft(w fyllo.WorkspaceID, window fyllo.WindowID)
	SetDraftConfig(ctx context.Context, w fyllo.WorkspaceID, window fyllo.WindowID, id string, v fyllo.ConfigValue) (fyllo.Draft, error)
}

type draftRequest struct {
	AgentID fyllo.AgentID `json:"agentId"`
	Mode    fyllo.Mode    `json:"mode"`
}

func (s *Server) addDraftRoutes(a router) {
	add(a, get("getDraft", "/api/draft", "The draft of this window"),
		func(_ context.Context, c caller, _ *nothing) (*answer[fyllo.Draft], error) {
			id, w, err := c.boundWindow()
			if err != nil {
				return nil, err
			}
			d, ok := s.Sessions.Draft(w, id)
			if !ok {
				return nil, fyllo.Errorf(fyllo.CodeNotFound, "draft: this window has none")
			}
			return replyDraft(d, nil)
		})
	add(a, put("openDraft", "/api/draft", "Connects to an Agent for a Session to come"),
		func(ctx context.Context, c caller, in *struct{ Body draftRequest }) (*answer[fyllo.Draft], error) {
			id, w, err := c.boundWindow()
			if err != nil {
				return nil, err
			}
			return replyDraft(s.Sessions.OpenDraft(ctx, w, id, in.Body.AgentID, in.Body.Mode))
		})
	add(a, remove("closeDraft", "/api/draft", "Ends the draft of this window"),
		func(_ context.Context, c caller, _ *nothing) (*nothing, error) {
			id, w, err := c.boundWindow()
			if err == nil {
				s.Sessions.CloseDraft(w, id)
			}
			return nil, err
		})
	add(a, post("setDraftConfig", "/api/draft/config", "Sets an option of the draft"),
		func(ctx context.Context, c caller, in *struct{ Body configSet }) (*answer[fyllo.Draft], error) {
			id, w, err := c.boundWindow()
			if err != nil {
				return nil, err
			}
			return replyDraft(s.Sessions.SetDraftConfig(ctx, w, id, in.Body.ID, in.Body.Value))
		})
}

func replyDraft(d fyllo.Draft, err error) (*answer[fyllo.Draft], error) { return reply(d), err }
