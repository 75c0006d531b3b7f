package core

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
)

// floodSize is a flood that no test machine finishes before it is stopped.
const endless = "echo begin ;flood 2000000 64"

// withChildren adds an Agent that has children of its own, one of which left the process group's sight by ignoring
// signals.
func (c *served) withChildren() fyllo.AgentID {
	c.t.Helper()
	c.l.agents++
	script := fmt.Sprintf("sleep 1000 & (trap '' TERM INT HUP; sleep 1000) & exec %s default %d", agentBin, c.l.agents)
	return c.agentAs("/bin/sh", "-c", script)
}

// flooding starts endless floods of several Agents and waits until each is heard.
func (c *served) flooding() []fyllo.SessionID {
	c.t.Helper()
	sessions := []fyllo.SessionID{c.start(c.withChildren(), endless), c.start(c.agent("stubborn"), endless)}
	for _, s := range sessions {
		c.heard(s)
	}
	return sessions
}

// heard waits until the running turn has content.
func (c *served) heard(s fyllo.SessionID) {
	c.t.Helper()
	eventually(c.t, "the Agent is heard", func() bool {
		d := c.detail(s)
		return d.Live != nil && len(d.Live.Parts) > 0
	})
}

// isPrefix wants a partial answer of a flood, marked as interrupted.
func (c *served) isPrefix(s fyllo.SessionID) {
	c.t.Helper()
	f, text := c.failure(s)
	if f.Code != fyllo.CodeTurnInterrupted {
		c.t.Errorf("%s: %+v", s, f)
	}
	want := "begin" + floodText(len(text)/64+1, 64)
	if text == "" || !strings.HasPrefix(want, text) {
		c.t.Errorf("%s: %d bytes are no prefix of what was sent: %q", s, len(text), clip(text, len(text)))
	}
}

func TestShutdownDuringAFloodKeepsThePrefixAndLeavesNoProcess_R_CHAT_156(t *testing.T) {
	for _, how := range []struct {
		name  string
		stop  func(*lab, *served)
		code  int
		limit time.Duration
	}{
		{"SIGTERM", func(_ *lab, c *served) { c.signal(syscall.SIGTERM) }, 0, 10 * time.Second},
		{"SIGINT", func(_ *lab, c *served) { c.signal(syscall.SIGINT) }, 0, 10 * time.Second},
		{"twice SIGINT", func(_ *lab, c *served) {
			for !c.ended() { // the second one counts whenever it comes
				_ = c.cmd.Process.Signal(syscall.SIGINT)
				time.Sleep(pollEvery)
			}
		}, 130, 3 * time.Second},
		{"fyllo stop", func(l *lab, _ *served) {
			if r := l.fyllo("stop"); r.code != 0 {
				l.t.Errorf("fyllo stop: %+v", r)
			}
		}, 0, 10 * time.Second},
	} {
		t.Run(how.name, func(t *testing.T) {
			l := newLab(t)
			c := l.serve()
			sessions := c.flooding()
			how.stop(l, c)
			if code := c.exit(how.limit); code != how.code {
				t.Errorf("exit code %d, want %d", code, how.code)
			}
			l.noProcess(3 * time.Second)
			c = l.serve()
			for _, s := range sessions {
				c.isPrefix(s)
			}
		})
	}
}

func TestKilledAgentEndsItsTurnOnlyAndTheNextPromptRecovers_R_AGT_056_R_CHAT_150(t *testing.T) {
	for _, way := range []struct{ script, method, restored string }{
		{"default", "session/resume", "restored true"},
		{"no-resume", "session/load", "restored true"},
		{"no-resume+no-load", "session/new", "restored false"},
	} {
		t.Run(way.method, func(t *testing.T) {
			l := newLab(t)
			c := l.serve()
			w := c.window()
			victim, other := c.agent(way.script), c.agent("default")
			s := c.start(victim, "echo said ;slow 100000 5ms")
			calm := c.start(other, "slow 200 10ms")
			c.heard(s)
			c.heard(calm)
			pid := c.pid(victim)
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			killed := time.Now()
			end := w.turnEnd(0)
			w.mu.Lock()
			took := w.at[fyllo.EventTurnEnd].Sub(killed)
			w.mu.Unlock()
			if end.End.Error == nil || end.End.Error.Code != fyllo.CodeAgentExited || took > time.Second {
				t.Errorf("after %s: %+v", took, end.End)
			}
			if _, text := c.failure(s); !strings.HasPrefix(text, "said0 1 ") {
				t.Errorf("the partial answer is lost: %q", text)
			}
			c.send(s, "meta")
			if got := c.answer(s); !strings.HasSuffix(got, way.restored) || strings.Contains(got, fmt.Sprint(pid)) {
				t.Errorf("answer %q", got)
			}
			if got := c.answer(calm); !strings.HasSuffix(got, "198 199 ") {
				t.Errorf("the other Agent's turn was touched: %q", got)
			}
			if !strings.Contains(strings.Join(l.methods(), " "), way.method) {
				t.Errorf("the Agent got %v", l.methods())
			}
			if n := l.prompts("echo said"); way.method != "session/new" && n != 1 {
				t.Errorf("the prompt was sent %d times", n)
			}
			if n := l.prompts(`"text":"meta"`); n != 1 {
				t.Errorf("the second prompt was sent %d times", n)
			}
			w.sound()
			l.noOverlap()
		})
	}
}

func TestChildrenOfAKilledAgentEndWithIt_R_AGT_058(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	a := c.withChildren()
	s := c.start(a, "echo here;hang")
	c.heard(s)
	old := slices.DeleteFunc(l.processes(), func(pid int) bool {
		return pid == c.cmd.Process.Pid || slices.Contains(l.guardOf(c), pid)
	})
	if len(old) < 3 {
		t.Fatalf("only the processes %v run", old)
	}
	if err := syscall.Kill(c.pid(a), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.failure(s)
	gone := within(3*time.Second, func() bool { // the Agent has been started again meanwhile
		return !slices.ContainsFunc(l.processes(), func(pid int) bool { return slices.Contains(old, pid) })
	})
	if !gone {
		t.Errorf("of %v some are left: %v", old, l.processes())
	}
}

func TestKilledGuardLeavesCoreAndItsTurnsAlone_R_AGT_058(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	s := c.start(c.agent("default"), "slow 100 10ms")
	c.heard(s)
	for _, pid := range l.guardOf(c) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if got := c.answer(s); !strings.HasSuffix(got, "98 99 ") {
		t.Errorf("answer %q", got)
	}
	second := c.start(c.withChildren(), endless)
	c.heard(second)
	c.kill()
	l.noProcess(3 * time.Second)
}
