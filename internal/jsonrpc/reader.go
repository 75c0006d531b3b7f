package jsonrpc

import (
	"bytes"
	"encoding/json"
	"io"
)

const (
	readSize = 64 << 10 // a pipe's capacity: one read takes all of it
	keepSize = 1 << 20  // a larger buffer is given back after the line that needed it
)

var bom = []byte("\xef\xbb\xbf")

// read is the reader goroutine.
func (c *Conn) read() {
	defer c.finish()
	f := framer{in: c.in, max: c.opts.MaxLine, oversized: func(n int64) {
		if c.h.Oversized != nil {
			c.guard(func() { c.h.Oversized(n) })
		}
	}}
	for {
		line, err := f.next()
		if len(line) > 0 {
			c.busy.Store(true)
			c.route(line)
			c.busy.Store(false)
		}
		if err != nil {
			return
		}
	}
}

// framer cuts a stream into lines.
type framer struct {
	in        io.Reader
	max       int
	oversized func(int64)

	buf        []byte
	start, end int // unread bytes
	seen       int // bytes behind start known to hold no newline
	err        error
}

// next returns a line without its newline, carriage return, byte order mark and surrounding blanks. It is valid
// until the next call. A line may come together with the error that ended the input.
func (f *framer) next() ([]byte, error) {
	var skipped int64 // > 0: inside a line that is too long
	for {
		if i := bytes.IndexByte(f.buf[f.start+f.seen:f.end], '\n'); i >= 0 {
			line := f.buf[f.start : f.start+f.seen+i]
			f.start, f.seen = f.start+f.seen+i+1, 0
			if skipped == 0 && len(line) <= f.max {
				return clean(line), nil
			}
			f.oversized(skipped + int64(len(line)))
			skipped = 0
			continue
		}
		f.seen = f.end - f.start
		if f.seen > f.max || skipped > 0 {
			skipped += int64(f.seen)
			f.start, f.end, f.seen, f.buf = 0, 0, 0, f.buf[:min(len(f.buf), readSize)]
		}
		if f.err != nil {
			line := f.buf[f.start:f.end]
			f.start, f.seen = f.end, 0
			if skipped > 0 {
				f.oversized(skipped)
				line = nil
			}
			return clean(line), f.err
		}
		f.fill()
	}
}

// fill makes room and reads once. The buffer grows with the line in it and shrinks after it.
func (f *framer) fill() {
	n, room := f.end-f.start, len(f.buf)-f.end
	switch {
	case n < readSize/2 && (cap(f.buf) > keepSize || f.buf == nil):
		f.move(readSize)
	case room < readSize/2 && f.start > 0:
		copy(f.buf, f.buf[f.start:f.end])
		f.start, f.end = 0, n
	case room == 0:
		f.move(min(2*len(f.buf), max(f.max, len(f.buf))+1))
	}
	for range 100 {
		var k int
		k, f.err = f.in.Read(f.buf[f.end:])
		f.end += k
		if k > 0 || f.err != nil {
			return
		}
	}
	f.err = io.ErrNoProgress
}

// move puts the unread bytes at the beginning of a new buffer.
func (f *framer) move(size int) {
	fresh := make([]byte, size)
	f.end = copy(fresh, f.buf[f.start:f.end])
	f.buf, f.start = fresh, 0
}

func clean(line []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(line, bom))
}

// route hands one message to its receiver.
func (c *Conn) route(line []byte) {
	m, ok := parse(line)
	switch {
	case !ok || line[0] != '{':
		c.noise(line)
	case m.method == "$/cancel_request":
		c.cancelled(m.params)
	case m.method != "" && m.id != nil:
		c.request(m, line)
	case m.method != "":
		if c.h.Notify != nil {
			c.guard(func() { c.h.Notify(m.method, m.params, line) })
		}
	default:
		c.response(m, line)
	}
}

func (c *Conn) noise(line []byte) {
	if c.h.Noise != nil {
		c.guard(func() { c.h.Noise(line) })
	}
}

func (c *Conn) request(m envelope, line []byte) {
	r := &Request{ID: bytes.Clone(m.id), Method: m.method, Params: m.params, Line: line, conn: c}
	if c.h.Request == nil {
		r.Fail(CodeMethodMissing, "Method not found")
		return
	}
	c.mu.Lock()
	c.requests[string(r.ID)] = r
	c.mu.Unlock()
	if !c.guard(func() { c.h.Request(r) }) {
		r.Fail(CodeInternal, "Internal error")
	}
	r.Params, r.Line = nil, nil
}

// cancelled passes the peer's $/cancel_request on.
func (c *Conn) cancelled(params []byte) {
	var id []byte
	s := NewScanner(params)
	s.Object(func(name []byte) {
		if string(name) == "requestId" {
			id = s.Raw()
		}
	})
	c.mu.Lock()
	r := c.requests[string(id)]
	c.mu.Unlock()
	if r != nil && c.h.Cancel != nil {
		c.guard(func() { c.h.Cancel(r) })
	}
}

// response completes a call. An answer without result and error is a result: JavaScript drops undefined members.
func (c *Conn) response(m envelope, line []byte) {
	id, ok := callID(m.id)
	c.mu.Lock()
	done := c.calls[id]
	delete(c.calls, id)
	c.mu.Unlock()
	if !ok || done == nil {
		c.noise(line)
		return
	}
	c.guard(func() {
		if m.err != nil {
			done(nil, parseError(m.err))
			return
		}
		done(append(json.RawMessage(nil), m.result...), nil)
	})
}
