package httpd

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/httpd/internal/page"
)

// grantLife is how long a one-time token or ticket may wait for its use.
const grantLife = 10 * time.Minute

// target is what a one-time token leads to; the zero value is the launcher.
type target struct {
	Workspace fyllo.WorkspaceID `json:"workspaceId,omitempty"`
	Session   fyllo.SessionID   `json:"sessionId,omitempty"`
}

// page is the path of the target.
func (t target) page() string {
	switch {
	case t.Workspace == "":
		return "/"
	case t.Session == "":
		return "/chat"
	default:
		return "/chat/" + url.PathEscape(string(t.Session))
	}
}

// grants are secrets that work once. Only their hashes are kept.
type grants struct {
	mu   sync.Mutex
	open map[[sha256.Size]byte]grant
}

type grant struct {
	target  target
	expires time.Time
}

func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func (g *grants) issue(t target) string {
	secret := newSecret()
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = make(map[[sha256.Size]byte]grant)
	}
	for h, old := range g.open {
		if now.After(old.expires) {
			delete(g.open, h)
		}
	}
	g.open[sha256.Sum256([]byte(secret))] = grant{target: t, expires: now.Add(grantLife)}
	return secret
}

// redeem ends a grant and returns what it was for.
func (g *grants) redeem(secret string) (target, bool) {
	h := sha256.Sum256([]byte(secret))
	g.mu.Lock()
	defer g.mu.Unlock()
	found, ok := g.open[h]
	delete(g.open, h)
	return found.target, ok && time.Now().Before(found.expires)
}

// cookieName carries the port, since a browser sends the cookies of one host to all its ports.
func cookieName(port uint16) string { return "fyllo_" + strconv.Itoa(int(port)) }

// isBearer reports whether the request carries the command line's token.
func (s *Server) isBearer(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && same(token, s.Token)
}

// hasCookie reports whether the request comes from a browser that redeemed a token of this Core.
func (s *Server) hasCookie(r *http.Request) bool {
	for _, c := range r.CookiesNamed(s.cookie) {
		if same(c.Value, s.browserSecret) {
			return true
		}
	}
	return false
}

// same compares in a time that tells nothing about the secret.
func same(got, secret string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(secret))
	return secret != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// LaunchURL returns a fresh URL that signs a browser in once and opens the Chat of a Workspace, one of its
// Sessions, or with "" the launcher. It holds a secret: never log it.
func (s *Server) LaunchURL(w fyllo.WorkspaceID, session fyllo.SessionID) string {
	return s.base + "/auth?token=" + s.tokens.issue(target{Workspace: w, Session: session})
}

// signIn exchanges a one-time token for the cookie. The page that follows is bound by a ticket, because the cookie
// is shared by all tabs (R-WS-127).
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet { // a link checker that sends HEAD must not use the token up
		w.Header().Set("Allow", http.MethodGet)
		page.Write(w, http.StatusMethodNotAllowed, "FylloCode", "This address can only be opened.")
		return
	}
	t, ok := s.tokens.redeem(r.URL.Query().Get("token"))
	if !ok {
		page.WriteUsedLink(w)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookie, Value: s.browserSecret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	to := t.page()
	if t.Workspace != "" {
		to += "?bind=" + s.tickets.issue(t)
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}

type urlAnswer struct {
	URL string `json:"url"` // opens once
}

func (s *Server) addTokenRoutes(a router) {
	add(a, post("createToken", "/api/tokens", "Makes a one-time URL (command line only)"),
		func(ctx context.Context, c caller, in *struct{ Body target }) (*answer[urlAnswer], error) {
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
