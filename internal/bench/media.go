package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"fyllocode.dev/fyllo"
)

// measureMedia lets an Agent send one picture in one line: the largest that becomes a file, and one whose base64 has
// 50 MB, which stays a body. Each is stored and then read.
func measureMedia(ctx context.Context, s *suite) error {
	for _, m := range []struct {
		lab, name string
		bytes     int
		file      bool
	}{
		{"media-file", "picture of 25 MiB, kept as a file", 25 << 20, true},
		{"media-body", "picture as one 50 MB line", 37_500_000, false},
	} {
		c, ids, err := s.lab(ctx, m.lab, 1)
		if err != nil {
			return err
		}
		err = c.picture(ctx, s, ids[0], m.name, m.bytes, m.file)
		c.stop()
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *core) picture(ctx context.Context, s *suite, agent fyllo.AgentID, name string, bytes int, file bool) error {
	id, err := c.start(ctx, agent, fmt.Sprintf("hugeimage %d", bytes))
	if err != nil {
		return err
	}
	path := "/api/sessions/" + string(id)
	var page fyllo.MessagePage
	for len(page.Messages) < 2 { // until the answer is stored
		time.Sleep(50 * time.Millisecond)
		if err := c.call(ctx, http.MethodGet, path+"/messages", nil, &page); err != nil {
			return err
		}
	}
	part := page.Messages[1].Parts[0]
	if (part.Tool.Media[0].File != "") != file {
		return fmt.Errorf("%s: stored as %+v", name, part.Tool.Media[0])
	}
	_, stored, err := c.memory()
	if err != nil {
		return err
	}
	n, took, err := c.get(ctx, path+"/media?index=0&part="+part.ID)
	if err != nil {
		return err
	}
	if n != int64(bytes) {
		return fmt.Errorf("%s: %d of %d bytes arrived", name, n, bytes)
	}
	_, read, err := c.memory()
	s.atMost(name+", peak resident", max(stored, read), 300, "MB")
	s.print("  when stored, and the time to read it", "%10.1f MB, %.0f ms", stored, ms(took))
	return err
}

// get reads an answer to its end and throws it away.
func (c *core) get(ctx context.Context, path string) (int64, time.Duration, error) {
	begin := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return 0, 0, err
	}
	req.Header = c.header()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, 0, fmt.Errorf("%s: status %d", path, resp.StatusCode)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	return n, time.Since(begin), err
}
