package httpd

import (
	"context"

	"fyllocode.dev/fyllo"
)

// Store keeps preferences and unsent text.
type Store interface {
	Settings() fyllo.Settings
	UpdateSettings(change func(*fyllo.Settings)) (fyllo.Settings, error)
	ComposerText(w fyllo.WorkspaceID, s fyllo.SessionID) string // s "" means the draft
	SetComposerText(w fyllo.WorkspaceID, s fyllo.SessionID, text string) error
}

// settingsPatch changes preferences; nil means no change.
type settingsPatch struct {
	Theme                   *string        `json:"theme,omitempty" enum:"light,dark,system"`
	Language                *string        `json:"language,omitempty" enum:",en,zh-CN"`
	RailCollapsed           *bool          `json:"railCollapsed,omitempty"`
	HideTour                *bool          `json:"hideTour,omitempty"`
	DefaultPermissionPolicy *fyllo.Policy  `json:"defaultPermissionPolicy,omitempty" enum:"ask,allow_once"`
	LastAgent               *fyllo.AgentID `json:"lastAgent,omitempty"`
}

func (p *settingsPatch) apply(to *fyllo.Settings) {
	change(&to.Theme, p.Theme)
	change(&to.Language, p.Language)
	change(&to.RailCollapsed, p.RailCollapsed)
	change(&to.HideTour, p.HideTour)
	change(&to.DefaultPermissionPolicy, p.DefaultPermissionPolicy)
	change(&to.LastAgent, p.LastAgent)
}

func change[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func (s *Server) addSettingsRoutes(a router) {
	add(a, get("getSettings", "/api/settings", "The preferences"),
		func(context.Context, caller, *nothing) (*answer[fyllo.Settings], error) {
			return reply(s.Store.Settings()), nil
		})
	add(a, patch("updateSettings", "/api/settings", "Changes preferences"),
		func(_ context.Context, _ caller, in *struct{ Body settingsPatch }) (*answer[fyllo.Settings], error) {
			now, err := s.Store.UpdateSettings(in.Body.apply)
			if err != nil {
				return nil, err
			}
			s.Feed.Publish(fyllo.Event{Type: fyllo.EventSettings, Data: now})
			if s.OnSettings != nil {
				s.OnSettings(now)
			}
			return reply(now), nil
		})
}

type composerText struct {
	Text string `json:"text"`
}

// composerState is all that was not sent. The files of a draft live in its page only (R-CHAT-006).
type composerState struct {
	Text        string                 `json:"text"`
	Attachments []fyllo.KeptAttachment `json:"attachments"`
}

// ComposerQuery names whose text is meant; exported for the same reason as SessionPath.
type ComposerQuery struct {
	Session fyllo.SessionID `query:"sessionId" doc:"absent: the draft"`
}

func (s *Server) addComposerRoutes(a router) {
	add(a, get("getComposer", "/api/composer", "Text that was typed and not sent (R-CHAT-006)"),
		func(ctx context.Context, c caller, in *ComposerQuery) (*answer[composerState], error) {
			w, err := s.composer(c, in.Session)
			if err != nil {
				return nil, err
			}
			out := composerState{Text: s.Store.ComposerText(w, in.Session), Attachments: []fyllo.KeptAttachment{}}
			if in.Session != "" {
				out.Attachments, err = s.Attachments.Kept(ctx, w, in.Session)
				if fyllo.CodeOf(err) == fyllo.CodeSessionNotFound {
					err = nil // nothing is kept for it, as for its text
				}
			}
			return reply(out), err
		})
	add(a, withText(put("setComposer", "/api/composer", "Keeps text that was typed and not sent")),
		func(_ context.Context, c caller, in *struct {
			ComposerQuery
			Body composerText
		}) (*nothing, error) {
			w, err := s.composer(c, in.Session)
			if err == nil {
				err = checkText(in.Body.Text)
			}
			if err != nil {
				return nil, err
			}
			return nil, s.Store.SetComposerText(w, in.Session, in.Body.Text)
		})
}

// composer returns the Workspace of the caller's composer; the Session becomes part of a file name.
func (s *Server) composer(c caller, id fyllo.SessionID) (fyllo.WorkspaceID, error) {
	if id != "" && !id.Valid() {
		return "", fyllo.Errorf(fyllo.CodeSessionNotFound, "Session: there is none with this id")
	}
	return c.bound()
}
