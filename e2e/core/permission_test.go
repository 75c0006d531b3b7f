package core

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
)

// answerAs answers a permission request; option "" cancels it.
func (c *served) answerAs(p fyllo.Permission, request, option string) (fyllo.PermissionNote, error) {
	in := map[string]any{"requestId": request}
	if option != "" {
		in["optionId"] = option
	}
	var note fyllo.PermissionNote
	err := c.call(http.MethodPost, sessionPath(p.SessionID, "/permissions/"+url.PathEscape(p.ID)), in, &note)
	return note, err
}

// TestPermissionIsAnsweredOnceForAllWindows_R_CHAT_140: two clients see the request; one of them decides.
func TestPermissionIsAnsweredOnceForAllWindows_R_CHAT_140(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	one, two := c.window(), c.window()
	s := c.start(c.agent("default"), "permission")
	p, same := one.asked(0), two.asked(0)
	if p.ID != same.ID || len(p.Options) != 3 || p.Options[0].OptionID != "allow-always" || p.Title != "Run rm -rf build" {
		t.Errorf("%+v and %+v", p, same)
	}
	d := c.detail(s)
	if len(d.Permissions) != 1 || d.Attention != 1 || !d.Running {
		t.Errorf("%d permissions, attention %d", len(d.Permissions), d.Attention)
	}
	if _, err := c.answerAs(p, "r0", "no-such-option"); codeOf(err) != fyllo.CodeInvalidRequest {
		t.Errorf("an option that was not offered: %v", err)
	}

	const n = 8
	errs, notes := make([]error, n), make([]fyllo.PermissionNote, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { // ends with the call
			option := p.Options[1+i%2].OptionID // allow and reject
			notes[i], errs[i] = c.answerAs(p, fmt.Sprint("r", i+1), option)
		})
	}
	all.Wait()
	winner := slices.Index(errs, nil)
	if winner < 0 {
		t.Fatalf("nobody won: %v", errs)
	}
	for i, err := range errs {
		if i != winner && codeOf(err) != fyllo.CodePermissionGone {
			t.Errorf("answer %d beside %d: %v", i, winner, err)
		}
	}
	if got, want := c.answer(s), "permission: selected "+notes[winner].OptionID; got != want {
		t.Errorf("the Agent got %q, want %q", got, want)
	}
	if note, err := c.answerAs(p, fmt.Sprint("r", winner+1), "reject"); err != nil || note.OptionID != notes[winner].OptionID {
		t.Errorf("the repeated answer: %+v, %v", note, err)
	}
	for _, w := range []*window{one, two} {
		w.turnEnd(0)
		w.mu.Lock()
		if len(w.asks) != 1 || len(w.closed) != 1 || w.closed[0].Note.OptionID != notes[winner].OptionID {
			t.Errorf("a window saw %+v and %+v", w.asks, w.closed)
		}
		w.mu.Unlock()
		w.sound()
	}
	c.stored(s)
	c.kill()
	c = l.serve()
	all2 := c.messages(s)
	tool := all2[len(all2)-1].Parts[0].Tool
	if len(tool.Permissions) != 1 || tool.Permissions[0].OptionID != notes[winner].OptionID || tool.Permissions[0].By != "user" {
		t.Errorf("after a crash: %+v", tool.Permissions)
	}
}

func TestAnsweredPermissionSurvivesACrashInItsTurn_R_CHAT_142(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	w := c.window()
	s := c.start(c.agent("default"), "permission;slow 100000 5ms")
	if _, err := c.answerAs(w.asked(0), "r", "allow"); err != nil {
		t.Fatal(err)
	}
	w.has("selected allow")
	c.kill()
	c = l.serve()
	f, text := c.failure(s)
	if f.Code != fyllo.CodeTurnInterrupted || !strings.HasPrefix(text, "permission: selected allow") {
		t.Errorf("%+v, %q", f, text)
	}
	all := c.messages(s)
	if notes := all[len(all)-1].Parts[0].Tool.Permissions; len(notes) != 1 || notes[0].OptionID != "allow" {
		t.Errorf("notes %+v", notes)
	}
}

func TestOpenPermissionEndsWithItsTurn_R_CHAT_141(t *testing.T) {
	for name, end := range map[string]func(*served, fyllo.SessionID){
		"cancel": func(c *served, s fyllo.SessionID) {
			c.must(http.MethodPost, sessionPath(s, "/cancel"), struct{}{}, nil)
		},
		"restart": func(c *served, _ fyllo.SessionID) { c.stop() },
		"crash":   func(c *served, _ fyllo.SessionID) { c.kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			c := l.serve()
			w := c.window()
			s := c.start(c.agent("default"), "permission two")
			p := w.asked(1)
			end(c, s)
			if c.ended() {
				c = l.serve()
			}
			c.idle(s)
			d := c.detail(s)
			if len(d.Permissions) != 0 || d.Attention != 0 {
				t.Errorf("still open: %+v", d.Permissions)
			}
			if _, err := c.answerAs(p, "r", "allow"); codeOf(err) != fyllo.CodePermissionGone {
				t.Errorf("a late answer: %v", err)
			}
			all := c.messages(s)
			for _, part := range all[len(all)-1].Parts {
				if part.Tool != nil && !part.Tool.Interrupted && !part.Tool.Status.Final() {
					t.Errorf("a tool still seems to work: %+v", part.Tool)
				}
			}
			c.send(s, "echo on we go")
			if got := c.answer(s); got != "on we go" {
				t.Errorf("answer %q", got)
			}
		})
	}
}

func TestPolicyAllowsOnceAndNeverAlways_R_AGT_054(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	agent := c.agent("default")
	for text, want := range map[string]string{
		"permission":       "permission: selected allow",
		"permission none":  "permission: cancelled",
		"permission empty": "permission: cancelled",
		"permission bare":  "permission: selected allow",
		"permission two":   "permission: selected allow\npermission: selected allow",
		"permission many":  strings.Repeat("permission: selected allow\n", 3),
	} {
		s := c.startAs(fyllo.StartRequest{AgentID: agent, Text: text, Policy: fyllo.PolicyAllowOnce})
		if got := c.answer(s); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestAllowOfTheCommandLine_R_CLI_006(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	agent := string(c.agent("default"))
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"permission"}, "permission: cancelled"}, // no terminal
		{[]string{"--allow", "never", "permission"}, "permission: cancelled"},
		{[]string{"--allow", "once", "permission"}, "permission: selected allow"},
		{[]string{"--allow", "once", "permission none"}, "permission: cancelled"},
		{[]string{"--allow", "once", "permission two"}, "permission: selected allow\npermission: selected allow"},
	} {
		r := l.fyllo(append([]string{"prompt", "--agent", agent}, tc.args...)...)
		if r.code != 0 || strings.TrimSpace(r.stdout) != tc.want {
			t.Errorf("%v: %+v", tc.args, r)
		}
	}
	// The same without a running Core.
	c.stop()
	if r := l.fyllo("prompt", "--agent", agent, "--allow", "once", "permission"); strings.TrimSpace(r.stdout) != "permission: selected allow" {
		t.Errorf("without a Core: %+v", r)
	}
	l.noProcess(3 * time.Second)
}
