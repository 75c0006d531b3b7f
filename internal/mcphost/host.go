// Package mcphost serves FylloCode's own MCP servers to Agents over HTTP, on Core's loopback address (R-SPAWN-001…012,
// R-AGT-100…107). Today that is fyllo-spawn with its five tools.
//
// A caller is known by its bearer and nothing else. Each activation of a Session has a lease: 32 random bytes, of which
// only the SHA-256 is kept here, bound to a Workspace and, as soon as there is one, a Session. The end of a lease ends the
// calls that were made with it. Nothing about a call lives in the MCP session, so requests of one Agent, and of several
// parents in one Agent's process, do not meet.
//
// Both generations of the protocol are spoken: requests that name version 2026-07-28 go to a stateless handler, all others
// to one with sessions. Around both stands what the SDK does not do: the checks of Host and Origin, a sign of life on
// blocked calls, and cancellation when the caller hangs up.
package mcphost

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fyllocode.dev/fyllo"
)

// SpawnName is the name of the server and of its path.
const SpawnName = "fyllo-spawn"

const (
	prefix      = "/mcp/"
	maxBody     = 8 << 20          // bytes of a request (R-SPAWN §2)
	readyTime   = 3 * time.Second  // that an activation waits for the backend (R-SPAWN-003)
	beatEvery   = 10 * time.Second // at most 15 s may pass without a sign of life (R-SPAWN-011)
	sessionTime = time.Hour        // of an idle MCP session of the older protocol
	modern      = "2026-07-28"     // the protocol version without sessions
)

// Spawner is the engine behind the tools. The end of a context means that the caller is gone.
type Spawner interface {
	AvailableAgents(ctx context.Context) ([]fyllo.SpawnAgent, error)
	Prompt(ctx context.Context, o fyllo.SpawnOwner, p fyllo.SpawnPrompt) (fyllo.SpawnPromptResult, error)
	Status(ctx context.Context, o fyllo.SpawnOwner, session string) (fyllo.SpawnStatusResult, error)
	Read(ctx context.Context, o fyllo.SpawnOwner, r fyllo.SpawnRead) (fyllo.SpawnChunk, error)
	Cancel(ctx context.Context, o fyllo.SpawnOwner, session string) (fyllo.SpawnCancelResult, error)
}

// Config says what a Host serves. Address, Spawner and Ready are needed.
type Config struct {
	Address  string // host:port of Core's listener
	Spawner  Spawner
	Ready    <-chan struct{} // closed when the engine answers
	Version  string
	Disabled bool          // FYLLO_DISABLE_BUNDLED_MCP=1
	Beat     time.Duration // 0 = 10 s
	Log      *slog.Logger
}

// Host answers Agents. Its methods may be called from any goroutine.
type Host struct {
	Config
	handler http.Handler
	live    sync.Map // request id → *response, of requests in flight

	mu     sync.Mutex
	leases map[[sha256.Size]byte]*Lease
	closed bool
}

// New returns a Host that has no lease yet.
func New(c Config) *Host {
	if c.Beat == 0 {
		c.Beat = beatEvery
	}
	h := &Host{Config: c, leases: map[[sha256.Size]byte]*Lease{}}
	server := h.spawnServer()
	get := func(*http.Request) *mcp.Server { return server }
	sessions := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{SessionTimeout: sessionTime, MaxRequestBodyBytes: maxBody})
	stateless := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: maxBody})
	versions := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") == modern {
			stateless.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	})
	bearer := auth.RequireBearerToken(h.verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})
	h.handler = h.admit(bearer(stripped(h.track(versions))))
	return h
}

// ServeHTTP answers everything below /mcp/.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.handler.ServeHTTP(w, r) }

// admit checks what can be checked before the bearer (R-SPAWN-004, 008; decision 21). No answer says more than its status.
func (h *Host) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := 0
		switch {
		case !h.ours(r.Host) || len(r.Header.Values("Origin")) > 0:
			status = http.StatusForbidden
		case r.URL.Path != prefix+SpawnName:
			status = http.StatusNotFound
		case h.Disabled || !h.isReady():
			w.Header().Set("Retry-After", "1")
			status = http.StatusServiceUnavailable
		case r.ContentLength > maxBody:
			status = http.StatusRequestEntityTooLarge
		}
		if status != 0 {
			http.Error(w, http.StatusText(status), status)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ours reports whether a Host header names Core's own address.
func (h *Host) ours(host string) bool {
	_, port, _ := strings.Cut(h.Address, ":")
	return host == h.Address || host == "localhost:"+port || host == "[::1]:"+port
}

func (h *Host) isReady() bool {
	select {
	case <-h.Ready:
		h.mu.Lock()
		defer h.mu.Unlock()
		return !h.closed
	default:
		return false
	}
}

const leaseKey = "lease"

// verify finds the lease of a bearer, in a time that does not depend on how near a wrong one is.
func (h *Host) verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	sum := sha256.Sum256([]byte(token))
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.leases[sum]
	if l == nil || subtle.ConstantTimeCompare(l.sum[:], sum[:]) != 1 {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: l.id, Extra: map[string]any{leaseKey: l}}, nil
}

// stripped takes away what must not reach a tool: the bearer and every identity that a client claims (R-SPAWN-007).
func stripped(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if lower := strings.ToLower(name); lower == "authorization" || strings.HasPrefix(lower, "x-fyllo-") || hopByHop[lower] {
				delete(r.Header, name)
			}
		}
		next.ServeHTTP(w, r)
	})
}

var hopByHop = map[string]bool{
	"connection": true, "keep-alive": true, "proxy-authenticate": true, "proxy-authorization": true, "te": true, "trailer": true,
	"transfer-encoding": true, "upgrade": true,
}

// Lease is the right of one activation to call the tools (R-SPAWN-005, 009).
type Lease struct {
	host  *Host
	sum   [sha256.Size]byte
	id    string // not secret
	token string
	ctx   context.Context //nolint:containedctx // the lease owns this lifetime: its end ends the calls made with it
	end   context.CancelFunc

	mu    sync.Mutex
	owner fyllo.SpawnOwner // Parent "" until it is known
}

// Lease gives an activation in Workspace w a bearer, or nil when the tools are not there: switched off, not ready within
// 3 s, or at the end of Core. Session may be "" and be bound later.
func (h *Host) Lease(ctx context.Context, w fyllo.WorkspaceID, session fyllo.SessionID) *Lease {
	if h.Disabled {
		return nil
	}
	limit := time.NewTimer(readyTime)
	defer limit.Stop()
	select {
	case <-h.Ready:
	case <-limit.C:
		return nil
	case <-ctx.Done():
		return nil
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	l := &Lease{
		host: h, id: rand.Text(), token: base64.RawURLEncoding.EncodeToString(secret[:]),
		owner: fyllo.SpawnOwner{Workspace: w, Parent: session},
	}
	l.sum = sha256.Sum256([]byte(l.token))
	l.ctx, l.end = context.WithCancel(context.Background())
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		l.end()
		return nil
	}
	h.leases[l.sum] = l
	return l
}

// Servers are the servers for session/new, load or resume. It may be asked once; the bearer is not kept.
func (l *Lease) Servers() []fyllo.MCPServer {
	token := l.token
	l.token = ""
	return []fyllo.MCPServer{{
		Name: SpawnName, URL: "http://" + l.host.Address + prefix + SpawnName, Headers: map[string]string{"Authorization": "Bearer " + token},
	}}
}

// Bind names the Session that a draft's lease is for from now on.
func (l *Lease) Bind(session fyllo.SessionID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owner.Parent = session
}

// End takes the right away and ends the calls made with it. It may be called often.
func (l *Lease) End() {
	l.end()
	l.host.mu.Lock()
	defer l.host.mu.Unlock()
	delete(l.host.leases, l.sum)
}

func (l *Lease) caller() fyllo.SpawnOwner {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.owner
}

// Close ends all leases; nothing is served after it.
func (h *Host) Close() {
	h.mu.Lock()
	h.closed = true
	leases := h.leases
	h.leases = map[[sha256.Size]byte]*Lease{}
	h.mu.Unlock()
	for _, l := range leases {
		l.end()
	}
}
