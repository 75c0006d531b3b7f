package mcphost

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// requestHeader tells a tool which HTTP request it answers; what a client sends under this name is overwritten.
const requestHeader = "X-Fyllo-Request"

// response is the answer to one request while it is open. The SDK and the sign of life write to it by turns.
type response struct {
	mu     sync.Mutex
	w      http.ResponseWriter
	closed bool
	ctx    context.Context //nolint:containedctx // of the request: its end means that the caller hung up
}

// Header implements http.ResponseWriter.
func (r *response) Header() http.Header { return r.w.Header() }

// WriteHeader implements http.ResponseWriter.
func (r *response) WriteHeader(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.w.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *response) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.w.Write(b)
}

// Flush implements http.Flusher.
func (r *response) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = http.NewResponseController(r.w).Flush() // a failure shows at the next write
}

// beat sends a comment, which every client of event streams skips; with the first one the headers go out.
func (r *response) beat() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	_, _ = r.w.Write([]byte(": keep-alive\n\n")) // a caller that is gone ends ctx
	_ = http.NewResponseController(r.w).Flush()
}

// track makes the open answer of each request known to the tool that it calls.
func (h *Host) track(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := rand.Text()
		r.Header.Set(requestHeader, id)
		answer := &response{w: w, ctx: r.Context()}
		h.live.Store(id, answer)
		defer func() {
			h.live.Delete(id)
			answer.mu.Lock()
			answer.closed = true
			answer.mu.Unlock()
		}()
		next.ServeHTTP(answer, r)
	})
}

// attend gives a call the context that ends with any of the three signs that nobody waits for it: the HTTP request is over,
// notifications/cancelled came (which ends ctx), or the lease has ended. Until stop is called the caller of a
// tool that may block gets a sign of life at once and then regularly: progress if it asked for that, else a comment
// (R-AGT-107).
func (h *Host) attend(ctx context.Context, req *mcp.CallToolRequest, l *Lease, blocks bool) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	unhook := []func() bool{context.AfterFunc(l.ctx, cancel)}
	var answer *response
	if v, ok := h.live.Load(req.Extra.Header.Get(requestHeader)); ok {
		answer = v.(*response)
		unhook = append(unhook, context.AfterFunc(answer.ctx, cancel))
	}
	var beating sync.WaitGroup
	if blocks && answer != nil {
		beating.Go(func() { h.beat(ctx, req, answer) }) // ends with ctx
	}
	return ctx, func() {
		cancel()
		beating.Wait()
		for _, f := range unhook {
			f()
		}
	}
}

func (h *Host) beat(ctx context.Context, req *mcp.CallToolRequest, answer *response) {
	token := req.Params.GetProgressToken() // 0 is one too
	tick := time.NewTicker(h.Beat)
	defer tick.Stop()
	for n := 0; ; n++ {
		switch {
		case n > 0 && token != nil:
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(n)})
		default: // the first one also sends the headers, which some clients wait for no longer than five minutes
			answer.beat()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
