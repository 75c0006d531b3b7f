package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
)

// crash is one round of the test: what was acknowledged before the kill, and what the window had shown by then.
type crash struct {
	c     *served
	round int
	mu    sync.Mutex
	acked map[fyllo.SessionID][]string // texts of user messages, in order
	shown map[string]string            // by message id
}

// A word floods at full speed and then goes on slowly, so that no turn is over before the kill.
const goesOn = ";slow 100000 1ms"

// floodWords are the prompts of the rounds.
var floodWords = []string{
	"flood 6000 64" + goesOn, "flood 100 5000" + goesOn, "flood 0 0" + goesOn, "think one two three;flood 4000 20" + goesOn,
}

// sentBy returns the first n bytes of text that a flood word makes its Agent send.
func sentBy(word string, n int) string {
	var count, size int
	_, flood, _ := strings.Cut(word, "flood ")
	if _, err := fmt.Sscan(strings.TrimSuffix(flood, goesOn), &count, &size); err != nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(floodText(count, size))
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%d ", i)
	}
	return b.String()
}

// submit starts Sessions and goes on in those that exist, until Core is gone.
func (k *crash) submit(agents []fyllo.AgentID, known []fyllo.SessionID) {
	var all sync.WaitGroup
	for i, word := range floodWords {
		all.Go(func() { // ends with its one request
			var out fyllo.StartResult
			err := k.c.call(http.MethodPost, "/api/sessions", fyllo.StartRequest{
				RequestID: fmt.Sprintf("%d-%d", k.round, i), AgentID: agents[i%len(agents)], Mode: fyllo.ModeFyllo, Text: word,
			}, &out)
			if err == nil {
				k.ack(out.SessionID, word)
			}
		})
	}
	for i, s := range known {
		all.Go(func() { // likewise
			word := floodWords[i%len(floodWords)]
			if k.c.call(http.MethodPost, sessionPath(s, "/prompts"), fyllo.PromptRequest{Text: word}, nil) == nil {
				k.ack(s, word)
			}
		})
	}
	all.Wait()
}

func (k *crash) ack(s fyllo.SessionID, text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.acked[s] = append(k.acked[s], text)
}

// TestKilledCoreKeepsEveryAcknowledgedMessage_R_CHAT_149 kills Core 50 times at random points of floods. Every
// acknowledged user message must be there afterwards; a partial answer is a prefix of what its Agent sent, holds at
// least what a window has shown, and is marked as interrupted; and no process of any Agent survives.
func TestKilledCoreKeepsEveryAcknowledgedMessage_R_CHAT_149(t *testing.T) {
	const rounds = 50
	l := newLab(t)
	c := l.serve()
	usual, unruly := []fyllo.AgentID{c.agent("default"), c.agent("default")}, c.withChildren()
	texts := map[fyllo.SessionID][]string{} // acknowledged so far
	var partial, unheard int
	var parsed time.Time
	for round := range rounds {
		k := &crash{c: c, round: round, acked: map[fyllo.SessionID][]string{}}
		w := c.window()
		agents := usual
		if round%5 == 0 {
			agents = []fyllo.AgentID{unruly} // its children ignore signals, which takes the guard a second
		}
		known := c.someOf(agents, 2)
		sent := make(chan struct{})
		go func() { // ends with Core, which is killed below
			defer close(sent)
			k.submit(agents, known)
		}()
		time.Sleep(time.Duration(5+rand.IntN(296)) * time.Millisecond) // the random point of the kill is the test itself
		c.kill()
		<-sent
		<-w.done
		k.shown = w.texts()
		w.sound()
		l.noAgentProcess(3 * time.Second)
		if round%5 == 4 {
			parsed = l.parse(parsed)
		}
		c = l.serve()
		for s, words := range k.acked {
			texts[s] = append(texts[s], words...)
		}
		for s := range k.acked {
			p, u := k.check(c, s, texts[s])
			partial, unheard = partial+p, unheard+u
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	l.checkAll(c, texts)
	t.Logf("%d Sessions, %d partial answers, %d turns without any content", len(texts), partial, unheard)
	if partial < rounds/5 {
		t.Errorf("only %d of the kills hit a turn that had content", partial)
	}
}

// someOf returns up to n Sessions of the Agents.
func (c *served) someOf(agents []fyllo.AgentID, n int) []fyllo.SessionID {
	c.t.Helper()
	var page fyllo.SessionPage
	c.must(http.MethodGet, "/api/sessions?limit=500", nil, &page)
	rand.Shuffle(len(page.Sessions), func(i, j int) { page.Sessions[i], page.Sessions[j] = page.Sessions[j], page.Sessions[i] })
	var out []fyllo.SessionID
	for _, row := range page.Sessions {
		if len(out) < n && slices.Contains(agents, row.AgentID) {
			out = append(out, row.SessionID)
		}
	}
	return out
}

// check looks at one Session after the restart.
func (k *crash) check(c *served, s fyllo.SessionID, want []string) (partial, unheard int) {
	t := c.t
	t.Helper()
	if d := c.detail(s); d.Running || d.Turn.State != fyllo.TurnIdle || d.Live != nil {
		t.Errorf("%s: still running after the restart: %+v", s, d.Turn)
	}
	var users []string
	for _, m := range c.messages(s) {
		if m.Role == fyllo.RoleUser {
			users = append(users, textOf(m))
			if m.End != nil {
				unheard++
			}
			continue
		}
		partial++
		text, word := textOf(m), users[len(users)-1]
		if sent := sentBy(word, len(text)); !strings.HasPrefix(sent, text) {
			sameText(t, fmt.Sprintf("%s: the answer to %q is no prefix", s, word), text, sent[:min(len(sent), len(text))])
		}
		if shown := k.shown[m.ID]; !strings.HasPrefix(text, shown) {
			t.Errorf("%s: a window had shown %d bytes, %d are left", s, len(shown), len(text))
		}
		whole := m.End != nil && m.End.StopReason == "end_turn"
		if !whole && (m.End == nil || m.End.Error == nil || m.End.Error.Code != fyllo.CodeTurnInterrupted) {
			t.Errorf("%s: the partial answer is not marked: %+v", s, m.End)
		}
	}
	if !containsInOrder(users, want) {
		t.Errorf("%s: user messages %q, acknowledged %q", s, users, want)
	}
	return partial, unheard
}

// containsInOrder reports whether all of want stand in got in their order; what was not acknowledged may be there too.
func containsInOrder(got, want []string) bool {
	for _, g := range got {
		if len(want) > 0 && g == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// checkAll wants every Session of all rounds in the list, with its messages.
func (l *lab) checkAll(c *served, texts map[fyllo.SessionID][]string) {
	l.t.Helper()
	var page fyllo.SessionPage
	c.must(http.MethodGet, "/api/sessions?limit=500", nil, &page)
	listed := map[fyllo.SessionID]bool{}
	for _, row := range page.Sessions {
		listed[row.SessionID] = !row.Running
	}
	for s, want := range texts {
		var users []string
		for _, m := range c.messages(s) {
			if m.Role == fyllo.RoleUser {
				users = append(users, textOf(m))
			}
		}
		if !listed[s] || !containsInOrder(users, want) {
			l.t.Errorf("%s: listed as idle %v, user messages %q, acknowledged %q", s, listed[s], users, want)
		}
	}
}

// parse reads the files of the data root that changed since then as a stranger would: whole JSON, and whole lines but
// for a torn last one. It returns the since of the next call.
func (l *lab) parse(since time.Time) time.Time {
	l.t.Helper()
	now := time.Now().Add(-time.Second) // clocks of file systems are coarse
	old := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.ModTime().Before(since)
	}
	for _, path := range l.files("*.json") {
		if old(path) {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil || !json.Valid(content) {
			l.t.Errorf("%s: no JSON (%v): %.100q", filepath.Base(path), err, content)
		}
	}
	for _, path := range l.files("*.jsonl") {
		if old(path) {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			l.t.Error(err)
		}
		for line := range bytes.Lines(content) {
			if bytes.HasSuffix(line, []byte("\n")) && filepath.Base(path) != "bodies.jsonl" && !json.Valid(line) {
				l.t.Errorf("%s: a line is no JSON: %.100q", filepath.Base(path), line)
			}
		}
	}
	return now
}
