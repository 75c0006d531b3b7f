package jsonrpc

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
)

// Request is a request of the peer. It must be answered once, from any goroutine; further answers are ignored.
type Request struct {
	ID     json.RawMessage // as sent: a number, also 0, or a string
	Method string
	Params []byte // nil when absent; only valid while the handler runs
	Line   []byte // the whole message; only valid while the handler runs
	Tag    any    // set by the Request handler for the Cancel handler

	conn     *Conn
	answered atomic.Bool
}

// Reply answers with a result. It never blocks. A connection that is gone makes it a no-op.
func (r *Request) Reply(result any) {
	raw, err := encode(result)
	if err != nil {
		r.Fail(CodeInternal, "cannot encode the result")
		return
	}
	r.answer("result", raw)
}

// Fail answers with an error.
func (r *Request) Fail(code int, message string) {
	raw, err := encode(Error{Code: code, Message: message})
	if err != nil {
		raw = fmt.Appendf(nil, `{"code":%d,"message":"error"}`, code)
	}
	r.answer("error", raw)
}

func (r *Request) answer(member string, raw []byte) {
	if r.answered.Swap(true) {
		return
	}
	c := r.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests[string(r.ID)] == r {
		delete(c.requests, string(r.ID))
	}
	_ = c.enqueue(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,%q:%s}`+"\n", r.ID, member, raw)) // see Reply
}
