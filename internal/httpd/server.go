package httpd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/httpd/internal/grants"
	"fyllocode.dev/fyllo/internal/httpd/internal/page"
	"fyllocode.dev/fyllo/internal/httpd/internal/respond"
	"fyllocode.dev/fyllo/internal/httpd/internal/upload"
	"fyllocode.dev/fyllo/internal/httpd/internal/windows"
	"fyllocode.dev/fyllo/internal/httpd/internal/wire"
)

// Limits of Serve.
const (
	trimEvery    = 30 * time.Second // of the event logs
	socketGrace  = time.Second      // for the closing handshake of a socket at shutdown
	requestGrace = 2 * time.Second  // for requests in flight at shutdown; then their contexts end
	abortGrace   = time.Second      // for handlers to return after that
)

// Server answers browsers and the command line.
type Server struct {
	Config
	log           *slog.Logger
	base          string // http://HOST:PORT
	cookie        string
	browserSecret string // value of the cookie; as long as this Core lives
	hosts         map[string]bool
	tokens        grants.Grants
	tickets       grants.Grants
	windows       *windows.Registry
	ui            *page.Files
	started       time.Time
	handler       http.Handler
	api           http.Handler
	silent        silentConns

	mu      sync.Mutex
	closing bool
	live    map[*socket]struct{}
	sockets sync.WaitGroup // handlers of WebSockets; added to under mu while not closing
}

// New checks the configuration and builds a Server; nothing runs yet.
func New(c Config) (*Server, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		Config:        c,
		log:           c.Log,
		base:          "http://" + c.Addr.String(),
		cookie:        cookieName(c.Addr.Port()),
		browserSecret: grants.NewSecret(),
		hosts:         hostsOf(c.Addr.Port()),
		started:       time.Now(),
		live:          make(map[*socket]struct{}),
		ui: page.NewFiles(c.UI, func() page.Look {
			settings := c.Store.Settings()
			return page.Look{Theme: settings.Theme, Language: settings.Language}
		}),
	}
	s.windows = windows.New(func(id fyllo.WindowID, w fyllo.WorkspaceID) { c.Sessions.CloseDraft(w, id) })
	s.api, _ = s.routes()
	s.handler = s.route(s.guard(http.HandlerFunc(s.dispatch)))
	return s, nil
}

// route parts Agents from people: what is below /mcp/ is no page's, and has its own checks (R-SPAWN-004).
func (s *Server) route(people http.Handler) http.Handler {
	if s.MCP == nil {
		return people
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/mcp/") {
			respond.SetSecurity(w.Header())
			s.MCP.ServeHTTP(w, r)
			return
		}
		people.ServeHTTP(w, r)
	})
}

// Handler answers all requests of the listener.
func (s *Server) Handler() http.Handler { return s.handler }

func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) {
	switch {
	case isAPI(r.URL.Path):
		s.call(w, r)
	case r.URL.Path == "/auth":
		s.signIn(w, r)
	case !s.hasCookie(r):
		page.WriteSignIn(w, r)
	default:
		s.ui.ServeHTTP(w, r)
	}
}

// call answers a call under /api from somebody whom Core knows.
func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	c, err := s.identify(r)
	if err != nil {
		wire.WriteError(w, err)
		return
	}
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
	if r.URL.Path == "/api/stream" {
		s.stream(w, r)
		return
	}
	if r.Method == http.MethodPost && r.URL.Path == "/api/sessions" && upload.Is(r) {
		s.startWithFiles(w, r)
		return
	}
	s.api.ServeHTTP(w, r)
}

// Serve answers on ln until ctx ends, and closes ln. Sockets are told that Core goes away, requests in flight get
// two seconds; it returns within four. The error is nil after an orderly end.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	srv := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		ConnState:         s.silent.watch,
		// net/http would answer "OPTIONS *" by itself, past the guard.
		DisableGeneralOptionsHandler: true,
	}
	failed := make(chan error, 1)
	var running sync.WaitGroup
	running.Go(func() { failed <- srv.Serve(ln) }) // ends when srv is shut down below
	defer running.Wait()

	trim := time.NewTicker(trimEvery)
	defer trim.Stop()
	for {
		select {
		case err := <-failed:
			return errors.Join(err, s.shutdown(srv, cancel))
		case <-trim.C:
			s.Feed.Trim()
		case <-ctx.Done():
			return s.shutdown(srv, cancel)
		}
	}
}

// shutdown ends everything that Serve and its handlers run. cancel ends the contexts of requests.
func (s *Server) shutdown(srv *http.Server, cancel context.CancelFunc) error {
	patience := time.AfterFunc(requestGrace, cancel)
	defer patience.Stop()
	ctx, stop := context.WithTimeout(context.Background(), requestGrace+abortGrace)
	defer stop()
	s.silent.close()
	var sockets sync.WaitGroup
	sockets.Go(s.closeSockets) // ends within little more than socketGrace
	err := srv.Shutdown(ctx)
	if err != nil {
		_ = srv.Close()
		err = fyllo.Errorf(fyllo.CodeInternal, "http server: requests did not end in time: %w", err)
	}
	sockets.Wait()
	s.windows.Stop()
	return err
}

// silentConns are connections that have not sent anything, which browsers open ahead. http.Server.Shutdown would
// wait for them.
type silentConns struct {
	mu    sync.Mutex
	conns map[net.Conn]struct{} // nil before the first
	ended bool
}

func (s *silentConns) watch(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state != http.StateNew {
		delete(s.conns, c)
		return
	}
	if s.ended {
		_ = c.Close()
		return
	}
	if s.conns == nil {
		s.conns = make(map[net.Conn]struct{})
	}
	s.conns[c] = struct{}{}
}

func (s *silentConns) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for c := range s.conns {
		_ = c.Close()
	}
}
