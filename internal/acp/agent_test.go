package acp

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/testagent"
)

// connect runs the scripted Agent and initialises.
func connect(t *testing.T, script, logFile string) (*Conn, *testagent.Running) {
	t.Helper()
	r, err := testagent.Pipe(script, logFile)
	if err != nil {
		t.Fatal(err)
	}
	c := NewConn(r.Stdin, r.Stdout, Options{})
	t.Cleanup(func() {
		r.Kill(0)
		r.Wait()
		<-c.Done()
		_ = r.Stdout.Close()
	})
	if _, err := c.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c, r
}

func open(t *testing.T, c *Conn, l *log) fyllo.SessionOpened {
	t.Helper()
	o, err := c.NewSession(t.Context(), fyllo.SessionParams{Cwd: "/"}, l.sink)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func prompt(t *testing.T, c *Conn, id fyllo.ACPSessionID, text string) {
	t.Helper()
	if err := c.Prompt(id, 1, []fyllo.PromptBlock{{Type: "text", Text: text}}); err != nil {
		t.Fatal(err)
	}
}

func TestFloodIsComplete(t *testing.T) {
	c, _ := connect(t, "default", "")
	const n = 100_000
	next, wrong := 0, ""
	done := make(chan struct{})
	o, err := c.NewSession(t.Context(), fyllo.SessionParams{Cwd: "/"}, func(ev fyllo.AgentEvent) {
		switch {
		case ev.PromptDone != nil:
			close(done)
		case ev.Update != nil && ev.Update.Kind == fyllo.UpdateText:
			if !strings.HasPrefix(ev.Update.Text, fmt.Sprint(next, " ")) || len(ev.Update.Text) != 24 {
				wrong = ev.Update.Text
			}
			next++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	prompt(t, c, o.ID, fmt.Sprintf("flood %d 24", n))
	<-done
	if next != n || wrong != "" {
		t.Errorf("%d of %d chunks, wrong one: %q", next, n, wrong)
	}
}

// defaultConfig is how the log writes the snapshot that the default Agent answers session/new with.
const defaultConfig = "config mode=ask model=m1 effort=low fast=false"

func TestHugeLine_R_ACP_024(t *testing.T) {
	c, _ := connect(t, "default", "")
	l := newLog()
	o := open(t, c, l)
	prompt(t, c, o.ID, "big 50000000; echo after")
	l.until(t, "done")
	if got := l.all(); len(got) != 5 || len(got[2]) != 50_000_000 || got[3] != "after" {
		t.Errorf("%d events", len(got))
	}
}

func TestNoiseOfAnAgent_R_ACP_024(t *testing.T) {
	c, _ := connect(t, "default", "")
	l := newLog()
	o := open(t, c, l)
	prompt(t, c, o.ID, "noise; split; unknown")
	l.until(t, "done")
	l.want(t, defaultConfig, fmt.Sprint("kind", fyllo.UpdateCommands), "bad \xff\xfe utf-8 ", "noise done", "face: \xed\xa0\xbd", "\xed\xb8\x80 done",
		"kind0", fmt.Sprint("kind", fyllo.UpdateNotice), "kind0", "", "known again", "done 1 end_turn ")
}

func TestAgentThatStopsReading(t *testing.T) {
	c, _ := connect(t, "default", "")
	l := newLog()
	o := open(t, c, l)
	prompt(t, c, o.ID, "stopreading; slow 2 1ms")
	l.until(t, "done")
	begin := time.Now()
	var err error
	for err == nil && time.Since(begin) < 20*time.Second { // 1 MB at a time, until the bound
		err = c.Prompt(o.ID, 2, []fyllo.PromptBlock{{Type: "text", Text: strings.Repeat("x", 1<<20)}})
	}
	if fyllo.CodeOf(err) != fyllo.CodeAgentExited || !strings.Contains(err.Error(), "does not read") {
		t.Fatalf("error %v", err)
	}
	<-c.Done()
	if got := l.all(); got[len(got)-1] != "closed AGENT_EXITED" || got[len(got)-2] != "done 2  AGENT_EXITED" {
		t.Errorf("last events %q", got[len(got)-2:])
	}
}

func TestCancelReachesTheAgent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	c, _ := connect(t, "string-ids", file)
	l := newLog()
	o := open(t, c, l)
	prompt(t, c, o.ID, "permission")
	l.until(t, "ask")
	if err := c.Cancel(o.ID); err != nil {
		t.Fatal(err)
	}
	l.asks[0].Answer("")
	l.until(t, "done 1 cancelled")
	recs, err := testagent.ReadLog(file)
	if err != nil || !slices.ContainsFunc(recs, func(r testagent.Received) bool { return r.Method == "session/cancel" }) {
		t.Errorf("%v %+v", err, recs)
	}
}

func TestCrashInATurn(t *testing.T) {
	c, _ := connect(t, "default", "")
	l := newLog()
	o := open(t, c, l)
	prompt(t, c, o.ID, "echo partial; exit 3")
	<-c.Done()
	l.want(t, defaultConfig, fmt.Sprint("kind", fyllo.UpdateCommands), "partial", "done 1  AGENT_EXITED", "closed AGENT_EXITED")
}

func TestReplayOfALoad(t *testing.T) {
	c, _ := connect(t, "history-trail", "")
	l := newLog()
	o, err := c.LoadSession(t.Context(), "acp-1", fyllo.SessionParams{Cwd: "/"}, l.sink)
	if err != nil || current(o.ConfigOptions) != "mode=ask model=m1 effort=low fast=false" {
		t.Fatal(err, current(o.ConfigOptions))
	}
	l.until(t, "answer 2")
	if got := l.all(); !slices.Equal(got[:7], []string{"kind3", "answer 0", "kind3", "answer 1", defaultConfig, "kind3", "answer 2"}) {
		t.Errorf("events %q", got)
	}
}

func BenchmarkFloodConn(b *testing.B) {
	r, err := testagent.Pipe("default", "")
	if err != nil {
		b.Fatal(err)
	}
	c := NewConn(r.Stdin, r.Stdout, Options{})
	if _, err := c.Initialize(b.Context()); err != nil {
		b.Fatal(err)
	}
	n, done := 0, make(chan struct{})
	o, err := c.NewSession(b.Context(), fyllo.SessionParams{Cwd: "/"}, func(ev fyllo.AgentEvent) {
		if n++; ev.PromptDone != nil {
			close(done)
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := c.Prompt(o.ID, 1, []fyllo.PromptBlock{{Type: "text", Text: fmt.Sprintf("flood %d 24", b.N)}}); err != nil {
		b.Fatal(err)
	}
	<-done
	b.StopTimer()
	_ = c.Close()
	<-c.Done()
	r.Wait()
	_ = r.Stdout.Close()
}
