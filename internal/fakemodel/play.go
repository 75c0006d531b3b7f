package fakemodel

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// sink takes a model's answer piece by piece, in the form of one API.
type sink interface {
	text(delta string)
	think(delta string)
	call(c call)
	end()
}

// part is one piece of a whole answer: text, reasoning or a call.
type part struct {
	text, think string
	call        *call
}

// gathered is the sink of answers that are not streamed.
type gathered struct{ parts []part }

func (g *gathered) text(delta string) {
	if n := len(g.parts); n > 0 && g.parts[n-1].text != "" {
		g.parts[n-1].text += delta
		return
	}
	g.parts = append(g.parts, part{text: delta})
}

func (g *gathered) think(delta string) {
	if n := len(g.parts); n > 0 && g.parts[n-1].think != "" {
		g.parts[n-1].think += delta
		return
	}
	g.parts = append(g.parts, part{think: delta})
}

func (g *gathered) call(c call) { g.parts = append(g.parts, part{call: &c}) }
func (g *gathered) end()        {}

// player carries out steps.
type player struct {
	pace  time.Duration // between the chunks of slow
	tools []tool
	out   sink
	calls []string // names of the tools called
}

// play returns ctx's error when the client has gone away.
func (p *player) play(ctx context.Context, steps []step) error {
	for _, s := range steps {
		if err := p.step(ctx, s); err != nil {
			return err
		}
	}
	p.out.end()
	return nil
}

func (p *player) step(ctx context.Context, s step) error {
	switch {
	case s.op == opSay || s.op == opThink:
		for word := range strings.SplitAfterSeq(s.text, " ") {
			if s.op == opSay {
				p.out.text(word)
			} else {
				p.out.think(word)
			}
		}
	case s.op == opJSON:
		p.out.text(s.text)
	case s.op == opSlow:
		return p.slow(ctx, s.count)
	case s.callsTool():
		c, ok := resolve(p.tools, s)
		if !ok {
			p.out.text(fmt.Sprintf("No tool for %q among: %s", s.op, strings.Join(names(p.tools), ", ")))
			break
		}
		p.calls = append(p.calls, c.name)
		p.out.call(c)
	}
	return ctx.Err()
}

func (p *player) slow(ctx context.Context, count int) error {
	tick := time.NewTicker(p.pace)
	defer tick.Stop()
	for i := range count {
		p.out.text(fmt.Sprintf("chunk %d ", i+1))
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func names(tools []tool) []string {
	all := make([]string, len(tools))
	for i, t := range tools {
		all[i] = t.name
	}
	return all
}
