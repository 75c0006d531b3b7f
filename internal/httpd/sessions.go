package httpd

import (
	"context"
	"io"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"fyllocode.dev/fyllo"
)

// Sessions is the use case of Sessions. Its errors carry codes; a Session of another Workspace is not found.
type Sessions interface {
	SessionReader
	ChangeReader
	WholeReader
	SessionEditor
	Turns
	Drafts
}

// SessionReader answers queries.
type SessionReader interface {
	List(ctx context.Context, w fyllo.WorkspaceID, cursor string, limit int) (fyllo.SessionPage, error)
	Find(ctx context.Context, s fyllo.SessionID) (fyllo.WorkspaceID, error) // which Workspace owns it
	Counts(ctx context.Context) (total, running int, err error)
	Detail(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) (fyllo.SessionDetail, error)
	Messages(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, before string, limit int) (fyllo.MessagePage, error)
	Body(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, q fyllo.BodyQuery) (string, error)
}

// SessionEditor changes Sessions outside of their turns.
type SessionEditor interface {
	Update(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, p fyllo.Patch) (fyllo.SessionSummary, error)
	Delete(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) error
	SetConfig(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, id string, v fyllo.ConfigValue) ([]fyllo.ConfigOption, error)
}

// Page sizes of lists.
const (
	defaultPage = 100
	largePage   = 500
)

// SessionPath names a Session in the path of a route. huma fills embedded structs only if they are exported.
type SessionPath struct {
	ID fyllo.SessionID `path:"id"`
}

type listQuery struct {
	Cursor string `query:"cursor"`
	Limit  int    `query:"limit" minimum:"1" maximum:"500"`
}

type messagesQuery struct {
	SessionPath
	Before string `query:"before"`
	Limit  int    `query:"limit" minimum:"0" maximum:"100000" doc:"absent or 0: all"`
}

type bodyQuery struct {
	SessionPath
	Part  string `query:"part" required:"true"`
	Field string `query:"field" required:"true" enum:"input,output,error,old,new,attachment,media,prompt,text"`
	Index int    `query:"index" minimum:"0"`

	Spawned fyllo.SessionID `query:"spawned" doc:"the part is one of this Session, which the other has spawned"`
}

// configSet sets one option; the value is a string or a boolean.
type configSet struct {
	ID    string            `json:"id"`
	Value fyllo.ConfigValue `json:"value"`
}

// owner returns the Workspace in which a call looks for a Session. Only the command line may leave it open.
func (s *Server) owner(ctx context.Context, c caller, id fyllo.SessionID) (fyllo.WorkspaceID, error) {
	if !c.bearer || c.workspace != "" {
		return c.bound()
	}
	return s.Sessions.Find(ctx, id)
}

func (s *Server) addSessionRoutes(a router) {
	add(a, get("listSessions", "/api/sessions", "The Sessions of this Workspace, in list order"),
		func(ctx context.Context, c caller, in *listQuery) (*answer[fyllo.SessionPage], error) {
			return s.listSessions(ctx, c, in)
		})
	add(a, get("getSession", "/api/sessions/{id}", "Everything about a Session except its stored messages"),
		func(ctx context.Context, c caller, in *SessionPath) (*answer[fyllo.SessionDetail], error) {
			w, err := s.owner(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			d, err := s.Sessions.Detail(ctx, w, in.ID)
			return reply(d), err
		})
	add(a, patch("updateSession", "/api/sessions/{id}", "Renames, pins, or sets how permissions are answered"),
		func(ctx context.Context, c caller, in *struct {
			SessionPath
			Body fyllo.Patch
		}) (*answer[fyllo.SessionSummary], error) {
			w, err := s.owner(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			sum, err := s.Sessions.Update(ctx, w, in.ID, in.Body)
			return reply(sum), err
		})
	add(a, remove("deleteSession", "/api/sessions/{id}", "Deletes a Session and everything of it"),
		func(ctx context.Context, c caller, in *SessionPath) (*nothing, error) {
			w, err := s.owner(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			return nil, s.Sessions.Delete(ctx, w, in.ID)
		})
	add(a, get("listMessages", "/api/sessions/{id}/messages", "Stored messages, the newest page first"),
		func(ctx context.Context, c caller, in *messagesQuery) (*answer[fyllo.MessagePage], error) {
			w, err := s.owner(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			page, err := s.Sessions.Messages(ctx, w, in.ID, in.Before, in.Limit)
			return reply(page), err
		})
	add(a, post("setConfig", "/api/sessions/{id}/config", "Sets an option of the Agent's session"),
		func(ctx context.Context, c caller, in *struct {
			SessionPath
			Body configSet
		}) (*answer[fyllo.ConfigEvent], error) {
			w, err := s.owner(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			options, err := s.Sessions.SetConfig(ctx, w, in.ID, in.Body.ID, in.Body.Value)
			return reply(fyllo.ConfigEvent{Options: options}), err
		})
	s.addBodyRoute(a)
	s.addExportRoute(a)
}

func (s *Server) listSessions(ctx context.Context, c caller, in *listQuery) (*answer[fyllo.SessionPage], error) {
	if c.bearer && c.workspace == "" {
		page, err := s.listAll(ctx)
		return reply(page), err
	}
	w, err := c.bound()
	if err != nil {
		return nil, err
	}
	limit := in.Limit
	if limit == 0 {
		limit = defaultPage
	}
	page, err := s.Sessions.List(ctx, w, in.Cursor, limit)
	return reply(page), err
}

// listAll returns the Sessions of all Workspaces as one page, for the command line. Seq means nothing in it.
func (s *Server) listAll(ctx context.Context) (fyllo.SessionPage, error) {
	var out fyllo.SessionPage
	for _, w := range s.Workspaces.IDs() {
		cursor := ""
		for {
			page, err := s.Sessions.List(ctx, w, cursor, largePage)
			if err != nil {
				return fyllo.SessionPage{}, err
			}
			out.Sessions = append(out.Sessions, page.Sessions...)
			if cursor = page.Next; cursor == "" {
				break
			}
		}
	}
	slices.SortFunc(out.Sessions, func(a, b fyllo.SessionSummary) int { return fyllo.CompareSessions(&a, &b) })
	out.Total = len(out.Sessions)
	return out, nil
}

// textAnswer is a whole body. The headers keep a browser from ever running it.
type textAnswer struct {
	Body func(huma.Context)
}

func (s *Server) addBodyRoute(a router) {
	op := get("getBody", "/api/sessions/{id}/body", "One long text of a part, whole")
	op.Responses = map[string]*huma.Response{"200": {
		Description: "OK",
		Content:     map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	add(a, op, func(ctx context.Context, c caller, in *bodyQuery) (*textAnswer, error) {
		text, err := s.body(ctx, c, in)
		if err != nil {
			return nil, err
		}
		return &textAnswer{Body: func(h huma.Context) {
			h.SetHeader("Content-Type", "text/plain; charset=utf-8")
			h.SetHeader("Content-Disposition", `attachment; filename="body.txt"`)
			h.SetStatus(http.StatusOK)
			if _, err := io.WriteString(h.BodyWriter(), text); err != nil {
				return // the client is gone
			}
		}}, nil
	})
}

func (s *Server) body(ctx context.Context, c caller, in *bodyQuery) (string, error) {
	q := fyllo.BodyQuery{PartID: in.Part, Field: in.Field, Index: in.Index}
	if in.Spawned != "" {
		o, err := s.parent(ctx, c, in.ID)
		if err != nil {
			return "", err
		}
		return s.Children.Body(ctx, o, in.Spawned, q)
	}
	w, err := s.owner(ctx, c, in.ID)
	if err != nil {
		return "", err
	}
	return s.Sessions.Body(ctx, w, in.ID, q)
}
