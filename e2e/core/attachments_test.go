package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
)

// startWithFiles sends a first submission with n files of size bytes and reports whether it was acknowledged.
func (c *served) startWithFiles(agent fyllo.AgentID, request string, n, size int) (fyllo.SessionID, bool) {
	r := fyllo.StartRequest{RequestID: request, AgentID: agent, Mode: fyllo.ModeFyllo, Text: "blocks"}
	for i := range n {
		r.Attachments = append(r.Attachments, fyllo.NewAttachment{Name: fmt.Sprintf("%d.bin", i), Size: int64(size)})
	}
	object, err := json.Marshal(r)
	if err != nil {
		c.t.Error(err)
	}
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	p, _ := w.CreateFormField("request") // a buffer takes everything
	_, _ = p.Write(object)
	for i := range n {
		p, _ := w.CreateFormField("file")
		_, _ = p.Write(bytes.Repeat([]byte{byte(i)}, size))
	}
	_ = w.Close()
	req, err := http.NewRequest(http.MethodPost, c.base+"/api/sessions", &body)
	if err != nil {
		c.t.Error(err)
		return "", false
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	c.authorise(req.Header)
	resp, err := c.http.Do(req)
	if err != nil {
		return "", false // Core is gone
	}
	defer resp.Body.Close()
	var out fyllo.StartResult
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusCreated || json.Unmarshal(answer, &out) != nil {
		return "", false
	}
	return out.SessionID, true
}

// wholeFiles wants every Session to have its message with all its files, and nothing on disk that belongs to none.
func (c *served) wholeFiles(n, size int) map[fyllo.SessionID]bool {
	c.t.Helper()
	var page fyllo.SessionPage
	c.must(http.MethodGet, "/api/sessions?limit=500", nil, &page)
	found := map[fyllo.SessionID]bool{}
	sessions := filepath.Join(c.l.root, "workspaces", string(c.workspace), "sessions")
	for _, row := range page.Sessions {
		found[row.SessionID] = true
		first := c.messages(row.SessionID)[0]
		if len(first.Parts) != 1+n {
			c.t.Errorf("%s: its message has %d parts", row.SessionID, len(first.Parts))
		}
		for i, p := range first.Parts[1:] {
			b, err := os.ReadFile(filepath.Join(sessions, string(row.SessionID), "attachments", p.Attachment.File))
			if err != nil || !bytes.Equal(b, bytes.Repeat([]byte{byte(i)}, size)) {
				c.t.Errorf("%s: file %d has %d bytes, %v", row.SessionID, i, len(b), err)
			}
		}
	}
	entries, err := os.ReadDir(sessions)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !found[fyllo.SessionID(e.Name())] {
			c.t.Errorf("%s was left of a submission that was never acknowledged", e.Name())
		}
	}
	return found
}

// Core is killed at random points of first submissions with files: each of them is there with all of its files, or has
// left nothing (R-CHAT-053, 054).
func TestKilledCoreLeavesFirstSubmissionsWholeOrNothing_R_CHAT_054(t *testing.T) {
	const rounds, n, size = 10, 3, 300 << 10
	l := newLab(t)
	c := l.serve()
	agent := c.agent("default")
	acked := map[fyllo.SessionID]bool{}
	cut := 0
	if s, ok := c.startWithFiles(agent, "the first", n, size); !ok {
		t.Fatal("a first submission failed")
	} else {
		acked[s] = true
	}
	for round := range rounds {
		var all sync.WaitGroup
		var mu sync.Mutex
		for i := range 4 {
			all.Go(func() { // ends with its one request
				s, ok := c.startWithFiles(agent, fmt.Sprintf("%d-%d", round, i), n, size)
				mu.Lock()
				defer mu.Unlock()
				if ok {
					acked[s] = true
				} else {
					cut++
				}
			})
		}
		time.Sleep(time.Duration(rand.IntN(40*(round+1))) * time.Millisecond) // the random point of the kill is the test itself
		c.kill()
		all.Wait()
		c = l.serve()
		found := c.wholeFiles(n, size)
		for s := range acked {
			if !found[s] {
				t.Errorf("round %d: the acknowledged %s is gone", round, s)
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d acknowledged, %d cut", len(acked), cut)
	if cut == 0 {
		t.Error("no kill hit a submission")
	}
}
