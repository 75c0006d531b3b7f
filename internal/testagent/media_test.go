package testagent_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"strings"
	"testing"
)

// block is a content block of a result.
type block struct{ Type, MimeType, Data, Text string }

// results returns the content of the last update before the answer.
func (c *client) results(sid, prompt string) []block {
	c.t.Helper()
	id := c.send("session/prompt", map[string]any{"sessionId": sid, "prompt": []any{map[string]any{"type": "text", "text": prompt}}})
	var blocks []block
	for c.out.Scan() {
		var l line
		var items []struct{ Content block }
		if err := json.Unmarshal(c.out.Bytes(), &l); err != nil {
			c.t.Fatal(err)
		}
		if l.Method == "" && string(l.ID) == id {
			return blocks
		}
		if json.Unmarshal(l.Params.Update.Content, &items) == nil && len(items) > 0 {
			blocks = nil
			for _, item := range items {
				blocks = append(blocks, item.Content)
			}
		}
	}
	c.t.Fatal("no answer")
	return nil
}

func TestResultsHoldMedia(t *testing.T) {
	c, _ := start(t, "default", "")
	sid := c.open()
	bytesOf := func(b block) []byte {
		data, err := base64.StdEncoding.DecodeString(b.Data)
		if err != nil {
			t.Error(err)
		}
		return data
	}
	pictures := c.results(sid, "picture 3")
	if len(pictures) != 4 || pictures[0].Type != "text" {
		t.Fatalf("picture 3: %d blocks", len(pictures))
	}
	for i, b := range pictures[1:] {
		cfg, err := png.DecodeConfig(bytes.NewReader(bytesOf(b)))
		if err != nil || b.MimeType != "image/png" || cfg.Width != 320+40*i || cfg.Height != 200 {
			t.Errorf("picture %d: %s %+v %v", i, b.MimeType, cfg, err)
		}
	}
	if b := c.results(sid, "sound"); len(b) != 1 || b[0].Type != "audio" || http.DetectContentType(bytesOf(b[0])) != "audio/wave" {
		t.Errorf("sound: %.80v", fmt.Sprint(b))
	}
	if b := c.results(sid, "svg"); len(b) != 2 || b[0].MimeType != "image/svg+xml" || b[1].MimeType != "image/png" || !strings.Contains(string(bytesOf(b[1])), "<script>") {
		t.Errorf("svg: %.80v", fmt.Sprint(b))
	}
	if b := c.results(sid, "hugeimage 3000001"); len(b) != 1 || len(bytesOf(b[0])) != 3_000_001 {
		t.Errorf("hugeimage: %.80v", fmt.Sprint(b))
	} else if _, err := png.Decode(bytes.NewReader(bytesOf(b[0]))); err != nil {
		t.Error(err)
	}
	if b := c.results(sid, "file a.pdf"); len(b) != 3 || b[0].Type != "resource" || b[2].Type != "resource_link" {
		t.Errorf("file: %.80v", fmt.Sprint(b))
	}
	for _, b := range c.results(sid, "badimage") {
		data, err := base64.StdEncoding.DecodeString(b.Data)
		if _, broken := png.Decode(bytes.NewReader(data)); err == nil && broken == nil {
			t.Error("badimage: a good picture")
		}
	}
}
