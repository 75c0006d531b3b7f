package core

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"fyllocode.dev/fyllo"
)

// TestRequestIDIsAnsweredOnce_R_CHAT_053 repeats submissions at the same moment, afterwards, and after a crash: one
// Session, one message, one prompt, and the same answer every time.
func TestRequestIDIsAnsweredOnce_R_CHAT_053(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	agent := c.agent("default")
	begin := func() (string, error) {
		var out fyllo.StartResult
		err := c.call(http.MethodPost, "/api/sessions", fyllo.StartRequest{
			RequestID: "start-1", AgentID: agent, Mode: fyllo.ModeFyllo, Text: "echo one",
		}, &out)
		return string(out.SessionID) + " " + out.Message.ID, err
	}
	first := sameAnswer(t, 16, begin)
	var s fyllo.SessionID
	if _, err := fmt.Sscan(first, &s); err != nil {
		t.Fatal(err)
	}
	c.stored(s)
	again := func() (string, error) {
		var out fyllo.PromptResult
		err := c.call(http.MethodPost, sessionPath(s, "/prompts"), fyllo.PromptRequest{RequestID: "prompt-1", Text: "slow 30 10ms"}, &out)
		return out.Message.ID, err
	}
	second := sameAnswer(t, 16, again)
	c.idle(s)
	for _, restart := range []func(){func() {}, c.stop, func() { c.kill() }} {
		if restart(); c.ended() {
			c = l.serve()
		}
		if got := sameAnswer(t, 4, begin); got != first {
			t.Errorf("the start was answered with %s, first with %s", got, first)
		}
		if got := sameAnswer(t, 4, again); got != second {
			t.Errorf("the prompt was answered with %s, first with %s", got, second)
		}
	}
	if all := c.stored(s); len(all) != 4 {
		t.Errorf("%d messages", len(all))
	}
	var page fyllo.SessionPage
	c.must(http.MethodGet, "/api/sessions", nil, &page)
	if page.Total != 1 {
		t.Errorf("%d Sessions", page.Total)
	}
	if n := l.prompts(`"text":"echo one"`) + l.prompts("slow 30"); n != 2 {
		t.Errorf("%d prompts were sent", n)
	}
	l.noOverlap()
}

// sameAnswer makes n calls at once and returns their one answer.
func sameAnswer(t *testing.T, n int, call func() (string, error)) string {
	t.Helper()
	answers, errs := make([]string, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { answers[i], errs[i] = call() }) // ends with the call
	}
	all.Wait()
	for i := range n {
		if errs[i] != nil || answers[i] != answers[0] {
			t.Fatalf("call %d: %q, %v; the first %q", i, answers[i], errs[i], answers[0])
		}
	}
	return answers[0]
}

// TestOneOfManyPromptsWins_R_CHAT_052: different submissions at the same moment; one runs, the others are told.
func TestOneOfManyPromptsWins_R_CHAT_052(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	s := c.start(c.agent("default"), "echo one")
	c.stored(s)
	const n = 12
	codes := make([]fyllo.Code, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { // ends with the call
			err := c.call(http.MethodPost, sessionPath(s, "/prompts"), fyllo.PromptRequest{
				RequestID: fmt.Sprint(i), Text: fmt.Sprintf("echo number %d;sleep 1s", i),
			}, nil)
			codes[i] = codeOf(err)
			if err != nil && codes[i] == "" {
				t.Error(err)
			}
		})
	}
	all.Wait()
	slices.Sort(codes)
	if codes[0] != "" || codes[1] != fyllo.CodeSessionBusy || codes[n-1] != fyllo.CodeSessionBusy {
		t.Errorf("codes %q", codes)
	}
	if c.idle(s); len(c.messages(s)) != 4 || l.prompts("echo number") != 1 {
		t.Errorf("%d messages, %d prompts", len(c.messages(s)), l.prompts("echo number"))
	}
	l.noOverlap()
}
