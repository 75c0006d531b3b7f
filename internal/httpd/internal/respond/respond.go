// Package respond holds what all HTTP answers have in common.
package respond

import "net/http"

const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src blob:; " +
	"font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// SetSecurity sets the headers that every answer carries: nothing but the page's own files runs or loads.
func SetSecurity(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store") // replaced for files of the interface
}

// Tracked remembers whether an answer has begun.
type Tracked struct {
	http.ResponseWriter
	Begun bool
}

// WriteHeader implements http.ResponseWriter.
func (t *Tracked) WriteHeader(status int) {
	t.Begun = true
	t.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (t *Tracked) Write(p []byte) (int, error) {
	t.Begun = true
	return t.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController and the WebSocket upgrade reach the connection.
func (t *Tracked) Unwrap() http.ResponseWriter { return t.ResponseWriter }
