package spawn

import (
	"time"

	"fyllocode.dev/fyllo"
)

// Slept makes the last activity of a turn look as if the machine had slept for d since: the clock on the wall has moved and
// the monotonic one has not.
func (e *Engine) Slept(o fyllo.SpawnOwner, id fyllo.SessionID, d time.Duration) {
	e.mu.Lock()
	c := e.children[id]
	e.mu.Unlock()
	c.do(func() { c.turn.lastWall = c.turn.lastWall.Add(-d) })
}
