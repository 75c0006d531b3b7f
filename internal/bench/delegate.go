package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/mcpcall"
)

// lateTime is how long Core waits for words behind a child's answer; it is no work of Core's.
const lateTime = 500 * time.Millisecond

// parent is a Session whose door for delegating the bench uses itself.
type parent struct {
	core *core
	id   fyllo.SessionID
	door mcpcall.Server
}

// newParent begins a Session with an Agent that tells what it was given.
func newParent(ctx context.Context, c *core, agent fyllo.AgentID) (*parent, error) {
	var got fyllo.StartResult
	err := c.call(ctx, http.MethodPost, "/api/sessions", fyllo.StartRequest{
		RequestID: strconv.FormatInt(time.Now().UnixNano(), 36), AgentID: agent, Mode: fyllo.ModeFyllo, Text: "mcp",
	}, &got)
	p := &parent{core: c, id: got.SessionID}
	for deadline := time.Now().Add(10 * time.Second); err == nil && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var page fyllo.MessagePage
		if err = c.call(ctx, http.MethodGet, "/api/sessions/"+string(p.id)+"/messages?limit=10", nil, &page); err != nil || len(page.Messages) < 2 {
			continue
		}
		var ok bool
		if p.door, ok = mcpcall.Find(json.RawMessage(`{"mcpServers":`+page.Messages[1].Parts[0].Text+`}`), "fyllo-spawn"); ok {
			return p, nil
		}
	}
	return nil, fmt.Errorf("no door for delegating: %w", err)
}

// prompt hands work to an Agent and returns the answer and how long it took.
func (p *parent) prompt(ctx context.Context, child fyllo.AgentID, words string, background bool) (fyllo.SpawnPromptResult, time.Duration, error) {
	args, err := json.Marshal(map[string]any{"agentId": child, "prompt": words, "background": background})
	if err != nil {
		return fyllo.SpawnPromptResult{}, 0, err
	}
	from := time.Now()
	text, err := p.door.Call(ctx, "prompt_to_agent", string(args))
	took := time.Since(from)
	var r fyllo.SpawnPromptResult
	if err == nil {
		err = json.Unmarshal([]byte(text), &r)
	}
	if err == nil && r.Status != "accepted" && r.Status != "completed" {
		err = fmt.Errorf("prompt_to_agent: %s", text)
	}
	return r, took, err
}

// settled waits until nothing that the parent delegated runs, and returns all of it.
func (p *parent) settled(ctx context.Context) ([]fyllo.SpawnSummary, error) {
	for {
		var list struct {
			Spawned []fyllo.SpawnSummary `json:"spawned"`
		}
		if err := p.core.call(ctx, http.MethodGet, "/api/sessions/"+string(p.id)+"/spawned", nil, &list); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list.Spawned, func(s fyllo.SpawnSummary) bool { return s.CurrentTurnID != "" }) {
			return list.Spawned, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func measureDelegate(ctx context.Context, s *suite) error {
	c, ids, err := s.lab(ctx, "delegate", 4)
	if err != nil {
		return err
	}
	defer c.stop()
	one, err := newParent(ctx, c, ids[0])
	if err != nil {
		return err
	}
	if err := overhead(ctx, s, one, ids[1]); err != nil {
		return err
	}
	two, err := newParent(ctx, c, ids[2])
	if err != nil {
		return err
	}
	return eightChildren(ctx, s, []*parent{one, two}, ids)
}

// overhead is what delegating costs beyond the child's own time, which is next to nothing here.
func overhead(ctx context.Context, s *suite, p *parent, child fyllo.AgentID) error {
	const calls = 60
	var bare, accepted, completed []time.Duration
	for range calls {
		from := time.Now()
		if _, err := p.door.Call(ctx, "check_session_status", `{"sessionId":"nobody"}`); err != nil {
			return err
		}
		bare = append(bare, time.Since(from))
		_, took, err := p.prompt(ctx, child, "echo x", true)
		if err != nil {
			return err
		}
		accepted = append(accepted, took)
		if _, err := p.settled(ctx); err != nil {
			return err
		}
	}
	for range calls {
		_, took, err := p.prompt(ctx, child, "echo x", false)
		if err != nil {
			return err
		}
		completed = append(completed, took-lateTime)
	}
	for _, all := range [][]time.Duration{bare, accepted, completed} {
		slices.Sort(all)
	}
	p99 := calls * 99 / 100
	s.print("a call of a tool that does nothing", "p50 %6.2f ms, p99 %6.2f ms", ms(bare[calls/2]), ms(bare[p99]))
	s.print("prompt_to_agent in the background, until accepted", "p50 %6.2f ms, p99 %6.2f ms", ms(accepted[calls/2]), ms(accepted[p99]))
	s.print("  p50 in such calls", "%10.2f ×", ms(accepted[calls/2])/ms(bare[calls/2]))
	s.print("prompt_to_agent, until answered, less 500 ms", "p50 %6.2f ms, p99 %6.2f ms", ms(completed[calls/2]), ms(completed[p99]))
	s.print("  p50 in such calls", "%10.2f ×", ms(completed[calls/2])/ms(bare[calls/2]))
	return nil
}

// begin hands the same words to as many children as there may be.
func begin(ctx context.Context, parents []*parent, ids []fyllo.AgentID, words string) (children []*parent, err error) {
	for i := range fyllo.SpawnPerCore {
		p := parents[i%len(parents)]
		r, _, err := p.prompt(ctx, ids[1+2*(i%2)], words, true)
		if err != nil {
			return nil, err
		}
		children = append(children, &parent{core: p.core, id: r.SessionID})
	}
	return children, nil
}

// eightChildren has as many children as there may be stream at once: at full speed, and paced beside a conversation.
func eightChildren(ctx context.Context, s *suite, parents []*parent, ids []fyllo.AgentID) error {
	c := parents[0].core
	from := time.Now()
	children, err := begin(ctx, parents, ids, fmt.Sprintf("flood %d %d", floodChunks, chunkSize))
	if err != nil {
		return err
	}
	if err := settled(ctx, parents); err != nil {
		return err
	}
	wall := time.Since(from) - lateTime
	for i, child := range children {
		if err := child.whole(ctx, parents[i%len(parents)].id); err != nil {
			return err
		}
	}
	_, peak, err := c.memory()
	if err != nil {
		return err
	}
	s.print("8 children × 100k chunks", "%10.0f chunks/s, 0 lost", fyllo.SpawnPerCore*floodChunks/wall.Seconds())
	s.atMost("  peak resident", peak, 96, "MB")
	if _, err := begin(ctx, parents, ids, "slow 5000 1ms"); err != nil {
		return err
	}
	late, err := delaysOf(ctx, c, ids[0], "clock 4000 1ms")
	if err != nil {
		return err
	}
	s.print("a conversation beside 8 children, each 1,000 chunks/s", "p50 %6.2f ms over %d chunks", ms(late[len(late)/2]), len(late))
	s.atMost("  p99", ms(late[len(late)*99/100]), 25, "ms")
	return settled(ctx, parents)
}

func settled(ctx context.Context, parents []*parent) error {
	for _, p := range parents {
		if _, err := p.settled(ctx); err != nil {
			return err
		}
	}
	return nil
}

// delaysOf is delays for one Agent, beside others whose turns end as well.
func delaysOf(ctx context.Context, c *core, agent fyllo.AgentID, words string) ([]time.Duration, error) {
	conn, err := c.stream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.CloseNow() }()
	id, err := c.start(ctx, agent, words)
	if err != nil {
		return nil, err
	}
	var late []time.Duration
	for over := false; !over; {
		err := follow(ctx, conn, 1, func(e event) {
			at := time.Now().UnixNano()
			var d fyllo.Delta
			switch {
			case e.Session != id:
			case e.Type == fyllo.EventTurnEnd:
				over = true
			case e.Type == fyllo.EventDelta && json.Unmarshal(e.Data, &d) == nil:
				for _, stamp := range stamps(d.Text) {
					late = append(late, time.Duration(at-stamp))
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(late)
	if len(late) == 0 {
		return nil, fmt.Errorf("no stamp arrived")
	}
	return late, nil
}

// whole checks that every chunk of a child's flood is there, once and in order.
func (p *parent) whole(ctx context.Context, of fyllo.SessionID) error {
	var d fyllo.SpawnDetail
	if err := p.core.call(ctx, http.MethodGet, "/api/sessions/"+string(of)+"/spawned/"+string(p.id), nil, &d); err != nil {
		return err
	}
	text := d.Turns[0].Messages[1].Parts[0].Text
	if len(text) != floodChunks*chunkSize {
		return fmt.Errorf("child %s: %d of %d bytes arrived", p.id, len(text), floodChunks*chunkSize)
	}
	for i := range floodChunks {
		if !strings.HasPrefix(text[i*chunkSize:], strconv.Itoa(i)+" ") {
			return fmt.Errorf("child %s: chunk %d is out of order", p.id, i)
		}
	}
	return nil
}
