package jsonrpc

import (
	"fmt"
	"time"
)

// brokenGrace is how long the peer may still talk after it closed its input.
const brokenGrace = 5 * time.Second

// enqueue adds a line to be written. The caller holds mu and gives the line away.
func (c *Conn) enqueue(line []byte) error {
	if c.failure != nil {
		return c.failure
	}
	if c.queued > 0 && c.queued+len(line) > c.opts.MaxQueue {
		c.failure = fmt.Errorf("%w: %d bytes are waiting for it", ErrStuck, c.queued)
		go c.fail(c.failure) // needs mu; ends at once
		return c.failure
	}
	c.queue = append(c.queue, line)
	c.queued += len(line)
	c.signal()
	return nil
}

func (c *Conn) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// write is the writer goroutine.
func (c *Conn) write() {
	defer close(c.writerDone)
	defer c.endOutput()
	for range c.wake {
		for {
			line, more := c.take()
			if !more {
				return
			}
			if line == nil {
				break
			}
			c.writeStart.Store(time.Now())
			c.watch.Reset(c.opts.WriteTime)
			_, err := c.out.Write(line)
			c.watch.Stop()
			c.writeStart.Store(time.Time{})
			if err != nil {
				c.broken(fmt.Errorf("%w: write: %w", ErrClosed, err))
				return
			}
		}
	}
}

// take returns the next line to write: nil when there is none now, false when there will be none any more.
func (c *Conn) take() (line []byte, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		c.queue = nil
		return nil, !c.closing
	}
	line = c.queue[0]
	c.queue[0] = nil
	c.queue = c.queue[1:]
	c.queued -= len(line)
	return line, true
}

// overdue runs when a write may have taken too long. While our own side does not read, the peer may be waiting
// for us: the time starts anew after a look that finds a handler at work.
func (c *Conn) overdue() {
	start, _ := c.writeStart.Load().(time.Time)
	switch {
	case start.IsZero(): // it ended just now
	case c.busy.Load():
		c.writeStart.CompareAndSwap(start, time.Now().Add(c.opts.WriteTime))
		c.watch.Reset(c.opts.WriteTime)
	case time.Since(start) < c.opts.WriteTime:
		c.watch.Reset(c.opts.WriteTime - time.Since(start))
	default:
		c.fail(fmt.Errorf("%w: a write took more than %v", ErrStuck, c.opts.WriteTime))
	}
}

// broken notes that the peer closed its input. It is most likely gone; what it still said is read first, so open
// calls stay open until its output ends too.
func (c *Conn) broken(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure == nil {
		c.failure = err
	}
	c.queue, c.queued, c.closing = nil, 0, true
	c.grace = time.AfterFunc(brokenGrace, c.giveUp)
}

// giveUp ends the reading after broken, but not in front of a handler that is still at work.
func (c *Conn) giveUp() {
	if c.busy.Load() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.grace.Reset(brokenGrace)
		return
	}
	c.fail(ErrClosed)
}
