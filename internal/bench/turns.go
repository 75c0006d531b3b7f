package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"fyllocode.dev/fyllo"
)

// chunkSize is the text of a flood's chunk in bytes.
const chunkSize = 24

// lab starts a Core in a new data root with a Project and n Agents.
func (s *suite) lab(ctx context.Context, name string, n int) (*core, []fyllo.AgentID, error) {
	c, err := s.startCore(ctx, filepath.Join(s.dir, name))
	if err != nil {
		return nil, nil, err
	}
	if err := c.open(ctx, filepath.Join(s.dir, "project")); err != nil {
		return c, nil, err
	}
	ids, err := c.add(ctx, s.agent, n)
	if err == nil { // so that no figure holds the start of a process
		for _, id := range ids {
			if err = c.call(ctx, http.MethodPost, "/api/agents/"+string(id)+"/check", nil, nil); err != nil {
				break
			}
		}
	}
	return c, ids, err
}

// flood starts a turn on each Agent and adds up what arrives.
func flood(ctx context.Context, c *core, ids []fyllo.AgentID, words string) (wall time.Duration, texts map[fyllo.SessionID]*strings.Builder, err error) {
	conn, err := c.stream(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = conn.CloseNow() }()
	texts = make(map[fyllo.SessionID]*strings.Builder)
	begin := time.Now()
	failed := make(chan error, len(ids))
	for _, id := range ids {
		go func() { // ends with its answer; all are awaited below
			_, err := c.start(ctx, id, words)
			failed <- err
		}()
	}
	err = follow(ctx, conn, len(ids), func(e event) {
		if e.Type != fyllo.EventDelta {
			return
		}
		var d fyllo.Delta
		if json.Unmarshal(e.Data, &d) != nil {
			return
		}
		if texts[e.Session] == nil {
			texts[e.Session] = &strings.Builder{}
		}
		texts[e.Session].WriteString(d.Text)
	})
	wall = time.Since(begin)
	for range ids {
		if e := <-failed; e != nil && err == nil {
			err = e
		}
	}
	return wall, texts, err
}

// complete checks that every chunk of a flood is there, once and in order, in the window and on disk.
func complete(ctx context.Context, c *core, texts map[fyllo.SessionID]*strings.Builder, n int) error {
	if len(texts) == 0 {
		return fmt.Errorf("no text arrived")
	}
	time.Sleep(time.Second) // the answer moves to the messages file after the time for late content
	for id, window := range texts {
		var page fyllo.MessagePage
		if err := c.call(ctx, http.MethodGet, "/api/sessions/"+string(id)+"/messages?limit=10", nil, &page); err != nil {
			return err
		}
		disk := page.Messages[len(page.Messages)-1].Parts[0].Text
		if disk != window.String() {
			return fmt.Errorf("session %s: the window got %d bytes, the disk has %d", id, window.Len(), len(disk))
		}
		if len(disk) != n*chunkSize {
			return fmt.Errorf("session %s: %d of %d bytes arrived", id, len(disk), n*chunkSize)
		}
		for i := range n {
			if chunk := disk[i*chunkSize:]; !strings.HasPrefix(chunk, strconv.Itoa(i)+" ") {
				return fmt.Errorf("session %s: chunk %d is out of order", id, i)
			}
		}
	}
	return nil
}

func measureFlood(ctx context.Context, s *suite) error {
	c, ids, err := s.lab(ctx, "flood", 1)
	if err != nil {
		return err
	}
	defer c.stop()
	before, err := c.cpu()
	if err != nil {
		return err
	}
	wall, texts, err := flood(ctx, c, ids, fmt.Sprintf("flood %d %d", floodChunks, chunkSize))
	if err != nil {
		return err
	}
	after, err := c.cpu()
	if err != nil {
		return err
	}
	if err := complete(ctx, c, texts, floodChunks); err != nil {
		return err
	}
	rate := floodChunks / wall.Seconds()
	s.print("flood of 100k chunks: stored and delivered", "%10.0f chunks/s, 0 lost", rate)
	s.atLeast("  rate against the floor", rate/s.floor.rate, 1.0/3, "×")
	s.atMost("  CPU of Core per 100k chunks", float64(after-before)/float64(s.floor.jd), 3.5, "jd")
	time.Sleep(2 * time.Second)
	now, _, err := c.memory()
	s.atMost("  resident after the flood", now, 45, "MB")
	return err
}

func measureEight(ctx context.Context, s *suite) error {
	c, ids, err := s.lab(ctx, "eight", 8)
	if err != nil {
		return err
	}
	defer c.stop()
	wall, texts, err := flood(ctx, c, ids, fmt.Sprintf("flood %d %d", floodChunks, chunkSize))
	if err != nil {
		return err
	}
	if len(texts) != len(ids) {
		return fmt.Errorf("%d of %d sessions gave text", len(texts), len(ids))
	}
	if err := complete(ctx, c, texts, floodChunks); err != nil {
		return err
	}
	_, peak, err := c.memory()
	s.print("8 Agents × 100k chunks", "%10.0f chunks/s, 0 lost", 8*floodChunks/wall.Seconds())
	s.atMost("  peak resident", peak, 96, "MB")
	return err
}

func measureLatency(ctx context.Context, s *suite) error {
	c, ids, err := s.lab(ctx, "latency", 8)
	if err != nil {
		return err
	}
	defer c.stop()
	for _, load := range []struct {
		name, words string
		agents      int
		p99         float64
	}{
		{"1 Session at 1,000 chunks/s", "clock 4000 1ms", 1, 20},
		{"8 Sessions at 1,000 chunks/s", "clock 4000 1ms", 8, 25},
		{"1 Session at 50 chunks/s", "clock 500 20ms", 1, 20},
	} {
		late, err := delays(ctx, c, ids[:load.agents], load.words)
		if err != nil {
			return err
		}
		s.print("added latency, "+load.name, "p50 %6.2f ms over %d chunks", ms(late[len(late)/2]), len(late))
		s.atMost("  p99", ms(late[len(late)*99/100]), load.p99, "ms")
	}
	return nil
}

// delays returns how long each stamp took from the Agent's write to the window, ascending.
func delays(ctx context.Context, c *core, ids []fyllo.AgentID, words string) ([]time.Duration, error) {
	conn, err := c.stream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.CloseNow() }()
	for _, id := range ids {
		if _, err := c.start(ctx, id, words); err != nil {
			return nil, err
		}
	}
	var late []time.Duration
	err = follow(ctx, conn, len(ids), func(e event) {
		at := time.Now().UnixNano()
		var d fyllo.Delta
		if e.Type != fyllo.EventDelta || json.Unmarshal(e.Data, &d) != nil {
			return
		}
		for _, stamp := range stamps(d.Text) {
			late = append(late, time.Duration(at-stamp))
		}
	})
	slices.Sort(late)
	if err == nil && len(late) == 0 {
		err = fmt.Errorf("no stamp arrived")
	}
	return late, err
}

// stamps reads the text of the word clock: Unix times in nanoseconds, 19 digits each. What is cut at the end is left
// out.
func stamps(text string) []int64 {
	const digits = 19
	var out []int64
	for ; len(text) >= digits; text = text[digits:] {
		stamp, err := strconv.ParseInt(text[:digits], 10, 64)
		if err != nil {
			return out
		}
		out = append(out, stamp)
	}
	return out
}

func measureTools(ctx context.Context, s *suite) error {
	c, ids, err := s.lab(ctx, "tools", 1)
	if err != nil {
		return err
	}
	defer c.stop()
	wall, _, err := flood(ctx, c, ids, "tools 2000 4096")
	if err != nil {
		return err
	}
	s.atLeast("2,000 tools with 4 KiB output, all stored", 2000/wall.Seconds(), 4000, "pairs/s")
	return nil
}

func measureLine(ctx context.Context, s *suite) error {
	c, ids, err := s.lab(ctx, "line", 1)
	if err != nil {
		return err
	}
	defer c.stop()
	_, texts, err := flood(ctx, c, ids, "big 50000000")
	if err != nil {
		return err
	}
	for _, t := range texts {
		if t.Len() < 50_000_000 {
			return fmt.Errorf("%d of 50,000,000 bytes arrived", t.Len())
		}
	}
	_, peak, err := c.memory()
	s.atMost("one 50 MB line: peak resident", peak, 300, "MB")
	return err
}
