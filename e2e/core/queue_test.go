package core

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
)

// TestKilledCoreKeepsTheQueue_R_CHAT_052 kills Core at random points while it works a queue off. After each start what
// waits is held; in the end every message was said once and in order, and no prompt was sent twice.
func TestKilledCoreKeepsTheQueue_R_CHAT_052(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	s := c.start(c.agent("default"), "slow 40 10ms")
	want := []string{"slow 40 10ms"}
	for i := range 12 {
		text := fmt.Sprintf("echo number %d.;sleep 20ms", i)
		c.must(http.MethodPost, sessionPath(s, "/queue"), fyllo.QueueRequest{ID: fmt.Sprint("q", i), Text: text}, nil)
		want = append(want, text)
	}
	lives := 1
	for ; lives < 20; lives++ {
		time.Sleep(time.Duration(100+rand.IntN(1500)) * time.Millisecond) // the random point
		c.kill()
		c = l.serve()
		q := c.detail(s).Queue
		if len(q.Entries) == 0 {
			break
		}
		if q.Held == "" {
			t.Fatalf("life %d: the queue would go on by itself", lives)
		}
		c.must(http.MethodPost, sessionPath(s, "/queue/release"), nil, nil)
	}
	eventually(t, "the queue is empty", func() bool { return len(c.detail(s).Queue.Entries) == 0 })
	c.idle(s)
	var said []string
	for _, m := range c.messages(s) {
		if m.Role == fyllo.RoleUser {
			said = append(said, textOf(m))
		}
	}
	if !slices.Equal(said, want) {
		t.Errorf("after %d lives the user said %q", lives, said)
	}
	sent := 0
	for i := range 12 {
		n := l.prompts(fmt.Sprintf(`"echo number %d.;`, i))
		if sent += n; n > 1 {
			t.Errorf("message %d was sent %d times", i, n)
		}
	}
	if sent == 0 {
		t.Error("nothing was sent")
	}
	t.Logf("%d lives", lives)
}
