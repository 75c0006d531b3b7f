package httpd

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/httpd/internal/page"
	"fyllocode.dev/fyllo/internal/httpd/internal/respond"
	"fyllocode.dev/fyllo/internal/httpd/internal/wire"
)

// hostsOf lists the Host values under which Core may be reached; any other name was rebound to loopback.
func hostsOf(port uint16) map[string]bool {
	p := strconv.Itoa(int(port))
	return map[string]bool{"127.0.0.1:" + p: true, "localhost:" + p: true, "[::1]:" + p: true}
}

// guard lets a request through that comes from our own pages, from the command line, or from an address bar.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		respond.SetSecurity(w.Header())
		t := &respond.Tracked{ResponseWriter: w}
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
		wire.WriteError(w, err)
		return
	}
	e := wire.Failed(err)
	page.Write(w, e.Status, "FylloCode", e.Failure.Message+".")
}

// recovered turns a panic into an answer; the log gets where it happened, the client only that it did.
func (s *Server) recovered(w *respond.Tracked, r *http.Request) {
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
	if !w.Begun {
		s.refuse(w, r, fyllo.Errorf(fyllo.CodeInternal, "FylloCode failed: an error inside Core"))
	}
}

// isAPI tells calls, which get JSON errors, from pages, which get a page.
func isAPI(path string) bool { return path == "/api" || strings.HasPrefix(path, "/api/") }
