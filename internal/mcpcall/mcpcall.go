// Package mcpcall calls a tool of an MCP server over HTTP by hand, in the protocol of 2025-11-25, as an Agent that has no
// SDK would.
package mcpcall

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const (
	version = "2025-11-25"
	maxBody = 1 << 20 // bytes of an answer that is not a stream
)

// Server is an MCP server as an Agent is told about it.
type Server struct {
	url     string
	headers map[string]string
}

// Find returns the HTTP server of that name among the mcpServers of session/new, load or resume, whose parameters params
// are; false when it is not there.
func Find(params json.RawMessage, name string) (Server, bool) {
	var p struct {
		MCPServers []struct {
			Type, Name, URL string
			Headers         []struct{ Name, Value string }
		} `json:"mcpServers"`
	}
	if json.Unmarshal(params, &p) != nil {
		return Server{}, false
	}
	for _, s := range p.MCPServers {
		if s.Name != name || s.URL == "" {
			continue
		}
		found := Server{url: s.URL, headers: map[string]string{}}
		for _, h := range s.Headers {
			found.headers[h.Name] = h.Value
		}
		return found, true
	}
	return Server{}, false
}

// Call calls a tool with arguments that are a JSON object and returns the text of its result, which may tell a failure of
// the tool. The error is that of the connection or of the protocol. It returns when ctx ends, which cancels the call.
func (s Server) Call(ctx context.Context, tool, arguments string) (string, error) {
	c := &session{Server: s}
	_, err := c.send(ctx, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"mcpcall","version":"1"}}}`)
	if err != nil {
		return "", err
	}
	defer c.end(ctx)
	if _, err := c.send(ctx, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
		return "", err
	}
	answer, err := c.send(ctx, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`)
	if err != nil {
		return "", err
	}
	var r struct {
		Result struct {
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(answer, &r); err != nil {
		return "", fmt.Errorf("answer %s: %w", answer, err)
	}
	if len(r.Result.Content) == 0 {
		return "", fmt.Errorf("answer %s", answer)
	}
	return r.Result.Content[0].Text, nil
}

// session is one MCP session, of one call.
type session struct {
	Server
	id string // "" when the server has no sessions
}

// send posts one message and returns its answer, nil for a notification.
func (c *session) send(ctx context.Context, body string) ([]byte, error) {
	r, err := c.request(ctx, http.MethodPost, body)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // only read
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		c.id = id
	}
	if res.StatusCode/100 != 2 {
		return nil, fmt.Errorf("status %d", res.StatusCode)
	}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return io.ReadAll(io.LimitReader(res.Body, maxBody))
	}
	return answer(res.Body)
}

// answer reads a stream up to the answer; what comes before it are notifications and signs of life.
func answer(stream io.Reader) ([]byte, error) {
	lines := bufio.NewReader(stream)
	for {
		line, err := lines.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && bytes.Contains(data, []byte(`"id":`)) {
			return data, nil
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
	}
}

// end lets the server forget the session, also after ctx has ended. What fails is forgotten by the server's own time.
func (c *session) end(ctx context.Context) {
	if c.id == "" {
		return
	}
	r, err := c.request(context.WithoutCancel(ctx), http.MethodDelete, "")
	if err != nil {
		return
	}
	if res, err := http.DefaultClient.Do(r); err == nil {
		_ = res.Body.Close()
	}
}

func (c *session) request(ctx context.Context, method, body string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for k, v := range c.headers {
		r.Header.Set(k, v)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", version)
	if c.id != "" {
		r.Header.Set("Mcp-Session-Id", c.id)
	}
	return r, nil
}
