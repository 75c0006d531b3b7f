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

const version = "2025-11-25"

// Call calls a tool of the server named in the mcpServers of session/new, which params are, and returns the text of its
// result, or what went wrong in brackets.
func Call(ctx context.Context, params json.RawMessage, server, tool, arguments string) string {
	s, err := find(params, server)
	if err == nil {
		var text string
		if text, err = s.call(ctx, tool, arguments); err == nil {
			return text
		}
	}
	return "[" + err.Error() + "]"
}

type client struct {
	url     string
	headers map[string]string
	session string
}

func find(params json.RawMessage, name string) (*client, error) {
	var p struct {
		MCPServers []struct {
			Name, URL string
			Headers   []struct{ Name, Value string }
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	for _, s := range p.MCPServers {
		if s.Name == name {
			c := &client{url: s.URL, headers: map[string]string{}}
			for _, h := range s.Headers {
				c.headers[h.Name] = h.Value
			}
			return c, nil
		}
	}
	return nil, errors.New("no server " + name)
}

func (c *client) call(ctx context.Context, tool, arguments string) (string, error) {
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	_, err := c.send(ctx, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"testagent","version":"1"}}}`)
	if err != nil {
		return "", err
	}
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
		Error json.RawMessage
	}
	if err := json.Unmarshal(answer, &r); err != nil || len(r.Result.Content) == 0 {
		return "", fmt.Errorf("answer %s: %w", answer, err)
	}
	return r.Result.Content[0].Text, nil
}

// send posts one message and returns its answer, nil for a notification.
func (c *client) send(ctx context.Context, body string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for k, v := range c.headers {
		r.Header.Set(k, v)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", version)
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	if res.StatusCode/100 != 2 {
		return nil, fmt.Errorf("status %d", res.StatusCode)
	}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return io.ReadAll(res.Body)
	}
	lines := bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && bytes.Contains(data, []byte(`"id":`)) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
