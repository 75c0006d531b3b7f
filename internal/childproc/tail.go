package childproc

import (
	"strings"
	"sync"
)

// tail keeps the last limit bytes written to it.
type tail struct {
	limit int

	mu      sync.Mutex
	buf     []byte
	dropped bool // something was cut off at the front
}

// Write never fails. The buffer grows to twice the limit before it is cut, so that the copying is amortised.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(b)
	if len(b) > t.limit {
		b, t.dropped = b[len(b)-t.limit:], true
	}
	t.buf = append(t.buf, b...)
	if len(t.buf) > 2*t.limit {
		t.cut()
	}
	return n, nil
}

func (t *tail) cut() {
	if over := len(t.buf) - t.limit; over > 0 {
		t.buf = t.buf[:copy(t.buf, t.buf[over:])]
		t.dropped = true
	}
}

// String returns what is kept, beginning with a whole line when something was dropped.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cut()
	s := string(t.buf)
	if t.dropped {
		if _, rest, ok := strings.Cut(s, "\n"); ok {
			s = rest
		}
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
