package httpd

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/httpd/internal/page"
)

const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src blob:; " +
	"font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store") // replaced for files of the interface
}

// hostsOf lists the Host values under which Core may be reached; any other name was rebound to loopback.
func hostsOf(port uint16) map[string]bool {
	p := strconv.Itoa(int(port))
	return map[string]bool{"127.0.0.1:" + p: true, "localhost:" + p: true, "[::1]:" + p: true}
}

// guard lets a request through that comes from our own pages, from the command line, or from an address bar.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w.Header())
		t := &tracked{ResponseWriter: w}
		defer s.recovered(t, r)
		if err := s.admit(r); err != nil {
			s.refuse(t, r, err)
			return
		}
		next.ServeHTTP(t, r)
	})
}

// admit checks where a request comes from. It says nothing about who sends it.
func (s *Server) admit(r *http.Request) error {
	if !s.hosts[r.Host] {
		return fyllo.Errorf(fyllo.CodeForbidden, "host %q: FylloCode answers only under its own address", r.Host)
	}
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || len(origins) == 1 && origins[0] != "http://"+r.Host {
		return fyllo.Errorf(fyllo.CodeForbidden, "origin: calls from other pages are refused")
	}
	// Browsers send Origin with everything that can change something, and with every WebSocket.
	safe := (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.Header.Get("Upgrade") == ""
	if len(origins) == 0 && !safe && !s.isBearer(r) {
		return fyllo.Errorf(fyllo.CodeForbidden, "origin: a call that can change something must name where it comes from")
	}
	// SameSite does not tell ports of one host apart, this header does.
	if site := r.Header.Get("Sec-Fetch-Site"); isAPI(r.URL.Path) && site != "" && site != "same-origin" && site != "none" {
		return fyllo.Errorf(fyllo.CodeForbidden, "origin: calls from other pages are refused")
	}
	return nil
}

// refuse answers a request that gets no further, in the form that its sender can read.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if isAPI(r.URL.Path) {
		writeError(w, err)
		return
	}
	e := failed(err)
	page.Write(w, e.status, "FylloCode", e.Failure.Message+".")
}

// recovered turns a panic into an answer; the log gets where it happened, the client only that it did.
func (s *Server) recovered(w *tracked, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it the same way
		panic(v)
	}
	if r.Context().Err() == nil { // else the client is gone and writing failed
		s.log.Error("panic in a handler", "method", r.Method, "route", r.Pattern, "kind", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
	}
	if !w.wrote {
		s.refuse(w, r, fyllo.Errorf(fyllo.CodeInternal, "FylloCode failed: an error inside Core"))
	}
}

// tracked remembers whether an answer has begun.
type tracked struct {
	http.ResponseWriter
	wrote bool
}

// WriteHeader implements http.ResponseWriter.
func (t *tracked) WriteHeader(status int) {
	t.wrote = true
	t.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (t *tracked) Write(p []byte) (int, error) {
	t.wrote = true
	return t.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController and the WebSocket upgrade reach the connection.
func (t *tracked) Unwrap() http.ResponseWriter { return t.ResponseWriter }
