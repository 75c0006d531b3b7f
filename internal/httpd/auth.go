package httpd

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/httpd/internal/grants"
	"fyllocode.dev/fyllo/internal/httpd/internal/page"
)

// cookieName carries the port, since a browser sends the cookies of one host to all its ports.
func cookieName(port uint16) string { return "fyllo_" + strconv.Itoa(int(port)) }

// isBearer reports whether the request carries the command line's token.
func (s *Server) isBearer(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && grants.Same(token, s.Token)
}

// hasCookie reports whether the request comes from a browser that redeemed a token of this Core.
func (s *Server) hasCookie(r *http.Request) bool {
	for _, c := range r.CookiesNamed(s.cookie) {
		if grants.Same(c.Value, s.browserSecret) {
			return true
		}
	}
	return false
}

// LaunchURL returns a fresh URL that signs a browser in once and opens the Chat of a Workspace, one of its
// Sessions, or with "" the launcher. It holds a secret: never log it.
func (s *Server) LaunchURL(w fyllo.WorkspaceID, session fyllo.SessionID) string {
	return s.base + "/auth?token=" + s.tokens.Issue(grants.Target{Workspace: w, Session: session})
}

// signIn exchanges a one-time token for the cookie. The page that follows is bound by a ticket, because the cookie
// is shared by all tabs (R-WS-127).
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet { // a link checker that sends HEAD must not use the token up
		w.Header().Set("Allow", http.MethodGet)
		page.Write(w, http.StatusMethodNotAllowed, "FylloCode", "This address can only be opened.")
		return
	}
	t, ok := s.tokens.Redeem(r.URL.Query().Get("token"))
	if !ok {
		page.WriteUsedLink(w)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookie, Value: s.browserSecret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	to := t.Page()
	if t.Workspace != "" {
		to += "?bind=" + s.tickets.Issue(t)
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}

type urlAnswer struct {
	URL string `json:"url"` // opens once
}

func (s *Server) addTokenRoutes(a router) {
	add(a, post("createToken", "/api/tokens", "Makes a one-time URL (command line only)"),
		func(ctx context.Context, c caller, in *struct{ Body grants.Target }) (*answer[urlAnswer], error) {
			if err := c.mustBeBearer(); err != nil {
				return nil, err
			}
			t := in.Body
			if t.Session != "" && t.Workspace == "" {
				w, err := s.Sessions.Find(ctx, t.Session)
				if err != nil {
					return nil, err
				}
				t.Workspace = w
			}
			if t.Workspace != "" {
				if _, err := s.Workspaces.Get(t.Workspace); err != nil {
					return nil, err
				}
			}
			return reply(urlAnswer{URL: s.LaunchURL(t.Workspace, t.Session)}), nil
		})
}
