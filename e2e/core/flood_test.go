package core

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
)

// onDisk returns the text of the last message of the only Session's file, as a reader without Core finds it.
func (l *lab) onDisk() string {
	l.t.Helper()
	paths := l.files("*.messages.jsonl")
	if len(paths) != 1 {
		l.t.Fatalf("messages files: %v", paths)
	}
	content, err := os.ReadFile(paths[0])
	if err != nil {
		l.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	var m fyllo.Message
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &m); err != nil {
		l.t.Fatal(err)
	}
	return textOf(m)
}

func TestHundredThousandChunksArriveCompleteAndInOrder_R_ACP_008(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	w := c.window()
	const n, size = 100_000, 64
	s := c.start(c.agent("default"), fmt.Sprintf("flood %d %d; echo end", n, size))
	want := floodText(n, size) + "end"
	sameText(t, "API", c.answer(s), want)
	e := w.turnEnd(0)
	eventually(t, "the window has all", func() bool { return len(w.text(e.MessageID)) >= len(want) })
	sameText(t, "window", w.text(e.MessageID), want)
	w.sound()
	c.stored(s)
	sameText(t, "disk", l.onDisk(), want)
	c.stop()
	sameText(t, "after a restart", l.serve().answer(s), want)
	l.noOverlap()
}

func TestFiftyMegabytesInOneUpdateArriveWhole_R_AGT_052(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	w := c.window()
	const size = 50 << 20
	a := c.agent("default")
	s := c.start(a, fmt.Sprintf("big %d; echo .end", size))
	got := c.answer(s)
	const letters = "abcdefghijklmnopqrstuvwxyz"
	want := strings.Repeat(letters, size/len(letters)+1)[:size] + ".end"
	sameText(t, "API", got, want)
	e := w.turnEnd(0)
	sameText(t, "window", w.text(e.MessageID), want)
	w.sound()

	s = c.start(a, fmt.Sprintf("bigtool %d; echo done", size))
	if got := c.answer(s); got != "done" {
		t.Errorf("text %q", got)
	}
	for _, m := range [][]fyllo.Message{c.messages(s), c.stored(s)} {
		part := m[len(m)-1].Parts[0]
		if len(part.Tool.Output.Text) > fyllo.BodyPreview || part.Tool.Output.Size != size {
			t.Errorf("the preview has %d bytes of %d", len(part.Tool.Output.Text), part.Tool.Output.Size)
		}
		var body string
		q := url.Values{"part": {part.ID}, "field": {"output"}}
		c.must(http.MethodGet, sessionPath(s, "/body?"+q.Encode()), nil, &body)
		sameText(t, "output", body, strings.Repeat("b", size))
	}
}

func TestNoiseAndSplitCharactersLoseNothing_R_AGT_052(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	w := c.window()
	s := c.start(c.agent("default"), "echo a ;noise;split;echo  z")
	got := c.answer(s)
	want := "abad \ufffd\ufffd utf-8 noise done" + "face: \U0001F600 done" + "z"
	sameText(t, "API", got, want)
	sameText(t, "window", w.text(w.turnEnd(0).MessageID), want)
	w.sound()
	c.stored(s)
	c.kill()
	sameText(t, "after a crash", l.serve().answer(s), want)
}

func TestAgentThatExitsRightAfterItsAnswerLosesNothing_R_AGT_056(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	w := c.window()
	a := c.agent("default")
	const n, size = 20_000, 64
	s := c.start(a, fmt.Sprintf("flood %d %d; bye 3", n, size))
	want := floodText(n, size) + "bye"
	sameText(t, "API", c.answer(s), want)
	sameText(t, "window", w.text(w.turnEnd(0).MessageID), want)
	w.sound()
	// The next prompt finds a new process, which resumes.
	c.send(s, "meta")
	if got := c.answer(s); !strings.HasSuffix(got, "restored true") {
		t.Errorf("answer %q", got)
	}
	l.noOverlap()
}

func TestAgentThatExitsInsideALineKeepsWhatItSaid_R_AGT_056(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	s := c.start(c.agent("default"), "echo whole;torn 4")
	f, text := c.failure(s)
	if f.Code != fyllo.CodeAgentExited || text != "whole" {
		t.Errorf("%+v, text %q", f, text)
	}
}

func TestAgentThatStopsReadingHarmsNoOther_R_AGT_058(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	deaf, other := c.agent("default"), c.agent("default")
	s := c.start(deaf, "echo now;stopreading;slow 100000 1ms")
	eventually(t, "the Agent speaks", func() bool { d := c.detail(s); return d.Live != nil && len(textOf(*d.Live)) > 10 })

	const n, size = 30_000, 64
	// Prompts to other Sessions of the Agent fill its pipe; a writer must wait there and nowhere else.
	var stuck []fyllo.SessionID
	for range 4 {
		stuck = append(stuck, c.start(deaf, strings.Repeat("long ", 100<<10)))
	}
	start := time.Now()
	flood := c.start(other, fmt.Sprintf("flood %d %d", n, size))
	sameText(t, "other Agent", c.answer(flood), floodText(n, size))
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("the other Agent's turn took %s", took)
	}
	before := len(textOf(*c.detail(s).Live))
	eventually(t, "the deaf Agent is still heard", func() bool { return len(textOf(*c.detail(s).Live)) > before })

	for _, id := range append(stuck, s) {
		c.must(http.MethodPost, sessionPath(id, "/cancel"), struct{}{}, nil)
	}
	for _, id := range append(stuck, s) {
		c.idle(id)
	}
	c.signal(syscall.SIGTERM)
	if code := c.exit(10 * time.Second); code != 0 {
		t.Errorf("exit %d", code)
	}
	l.noProcess(3 * time.Second)
}

func TestEightAgentsFloodAtOnceAndAreComplete_R_ACP_008(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	w := c.window()
	const agents, n, size = 8, 10_000, 64
	sessions := map[fyllo.SessionID]string{}
	for i := range agents {
		sessions[c.start(c.agent("default"), fmt.Sprintf("echo %d ;flood %d %d", i, n, size))] = strconv.Itoa(i) + floodText(n, size)
	}
	for s, want := range sessions {
		sameText(t, "API", c.answer(s), want)
	}
	shown := map[string]bool{}
	eventually(t, "the window has all ends", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.ends) == agents })
	for _, text := range w.texts() {
		shown[text] = true
	}
	for _, want := range sessions {
		if !shown[want] {
			t.Errorf("the window misses the answer that begins %q", clip(want, 0))
		}
	}
	w.sound()
	l.noOverlap()
}

func TestOneSessionFloodsBesideAnotherOfTheSameAgent_R_AGT_059(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	a := c.agent("default")
	const n, size = 20_000, 64
	one := c.start(a, fmt.Sprintf("flood %d %d;echo  one", n, size))
	two := c.start(a, fmt.Sprintf("flood %d %d;echo  two", n, size))
	sameText(t, "one", c.answer(one), floodText(n, size)+"one")
	sameText(t, "two", c.answer(two), floodText(n, size)+"two")
}

func TestLineOverTheBoundIsSkippedAndTheTurnGoesOn_R_AGT_052(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	w := c.window()
	const size = 65 << 20
	s := c.start(c.agent("default"), fmt.Sprintf("echo before;big %d;echo  after", size))
	sameText(t, "API", c.answer(s), "beforeafter")
	sameText(t, "window", w.text(w.turnEnd(0).MessageID), "beforeafter")
	if log := c.errs.String(); !strings.Contains(log, "line") || strings.Contains(log, "abcdefghijklmnopqrstuvwxyz") {
		t.Errorf("the skipped line is not reported, or its content is: %s", lastLines(log, 10))
	}
	w.sound()
}
