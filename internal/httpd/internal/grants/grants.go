// Package grants holds the secrets that sign a browser in: made here, kept as hashes, compared in constant time (R-WS-127).
package grants

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/url"
	"sync"
	"time"

	"fyllocode.dev/fyllo"
)

// grantLife is how long a one-time token or ticket may wait for its use.
const grantLife = 10 * time.Minute

// Target is what a one-time token leads to; the zero value is the launcher.
type Target struct {
	Workspace fyllo.WorkspaceID `json:"workspaceId,omitempty"`
	Session   fyllo.SessionID   `json:"sessionId,omitempty"`
}

// Page is the path of the target.
func (t Target) Page() string {
	switch {
	case t.Workspace == "":
		return "/"
	case t.Session == "":
		return "/chat"
	default:
		return "/chat/" + url.PathEscape(string(t.Session))
	}
}

// Grants are secrets that work once. Only their hashes are kept. The zero value has none.
type Grants struct {
	mu   sync.Mutex
	open map[[sha256.Size]byte]grant
}

type grant struct {
	target  Target
	expires time.Time
}

// NewSecret returns 256 random bits as text.
func NewSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Issue returns a new secret that leads to t for ten minutes.
func (g *Grants) Issue(t Target) string {
	secret := NewSecret()
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

// Redeem ends a grant and returns what it was for.
func (g *Grants) Redeem(secret string) (Target, bool) {
	h := sha256.Sum256([]byte(secret))
	g.mu.Lock()
	defer g.mu.Unlock()
	found, ok := g.open[h]
	delete(g.open, h)
	return found.target, ok && time.Now().Before(found.expires)
}

// Same compares in a time that tells nothing about the secret.
func Same(got, secret string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(secret))
	return secret != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
