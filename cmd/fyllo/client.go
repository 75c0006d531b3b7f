package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/records"
)

// client speaks to a Core over HTTP as the owner of the data root.
type client struct {
	base      string // http://HOST:PORT
	token     string // of core.token
	workspace fyllo.WorkspaceID
	http      *http.Client
}

// newClient returns a client of the Core at address, HOST:PORT.
func newClient(address, token string) *client {
	// No proxy: the address is on loopback whatever the environment says.
	transport := &http.Transport{Proxy: nil, MaxIdleConnsPerHost: 4}
	return &client{base: "http://" + address, token: token, http: &http.Client{Transport: transport}}
}

// clientOf returns a client with the token in the data root.
func clientOf(root, address string) (*client, error) {
	token, err := records.ReadToken(root)
	if err != nil {
		return nil, err
	}
	return newClient(address, token), nil
}

// in returns the client for one Workspace; the zero id names none.
func (c *client) in(w fyllo.WorkspaceID) *client {
	scoped := *c
	scoped.workspace = w
	return &scoped
}

// close ends idle connections.
func (c *client) close() { c.http.CloseIdleConnections() }

// call sends in as JSON, if it is not nil, and decodes the answer into out, if it is not nil. An error answer
// comes back as the *fyllo.Error that Core had.
func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	resp, err := c.send(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil || resp.StatusCode == http.StatusNoContent {
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fyllo.Errorf(fyllo.CodeInternal, "Core: %s %s: its answer cannot be read: %w", method, path, err)
	}
	return nil
}

// text returns the answer of a route that gives plain text.
func (c *client) text(ctx context.Context, path string) (string, error) {
	resp, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

// send returns the answer to a request that succeeded; the caller closes its body.
func (c *client) send(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	c.authorise(req.Header)
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fyllo.Errorf(fyllo.CodeInternal, "Core: it does not answer at %s: %w", c.base, err)
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, failedAnswer(resp, method, path)
}

func (c *client) authorise(h http.Header) {
	h.Set("Authorization", "Bearer "+c.token)
	if c.workspace != "" {
		h.Set("X-Fyllo-Workspace", string(c.workspace))
	}
}

// failedAnswer turns an error answer back into the error.
func failedAnswer(resp *http.Response, method, path string) error {
	var answer struct {
		Error *fyllo.Failure `json:"error"`
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	if err != nil || answer.Error == nil {
		return fyllo.Errorf(fyllo.CodeInternal, "Core: %s %s: answered %s", method, path, resp.Status)
	}
	return errorOf(answer.Error)
}

// openedWorkspace is the answer to openDirs. URL is a fresh one-time URL, set when no window took the Workspace.
type openedWorkspace struct {
	Status    string          `json:"status"`
	Workspace fyllo.Workspace `json:"workspace"`
	URL       string          `json:"url"`
}

// openDirs finds or makes the Workspace of directories; relative paths start from the current directory.
func (c *client) openDirs(ctx context.Context, dirs []string) (openedWorkspace, error) {
	var out openedWorkspace
	paths := make([]string, len(dirs))
	for i, dir := range dirs {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return out, fyllo.Errorf(fyllo.CodeFolderPathUnavailable, "directory %s: %w", dir, err)
		}
		paths[i] = abs
	}
	err := c.call(ctx, http.MethodPost, "/api/workspaces/open", map[string]any{"paths": paths}, &out)
	return out, err
}

// pageURL returns a fresh one-time URL of the Chat of a Workspace, or of the launcher when w is "".
func (c *client) pageURL(ctx context.Context, w fyllo.WorkspaceID) (string, error) {
	in := map[string]any{}
	if w != "" {
		in["workspaceId"] = w
	}
	var out struct {
		URL string `json:"url"`
	}
	err := c.call(ctx, http.MethodPost, "/api/tokens", in, &out)
	return out.URL, err
}

func (c *client) agents(ctx context.Context) ([]fyllo.Agent, error) {
	var out struct {
		Agents []fyllo.Agent `json:"agents"`
	}
	err := c.call(ctx, http.MethodGet, "/api/agents", nil, &out)
	return out.Agents, err
}

func (c *client) detail(ctx context.Context, id fyllo.SessionID) (fyllo.SessionDetail, error) {
	var out fyllo.SessionDetail
	err := c.call(ctx, http.MethodGet, sessionPath(id, ""), nil, &out)
	return out, err
}

// messages returns the page before the cursor, "" meaning the newest one.
func (c *client) messages(ctx context.Context, id fyllo.SessionID, before string, limit int) (fyllo.MessagePage, error) {
	q := url.Values{}
	if before != "" {
		q.Set("before", before)
	}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	var out fyllo.MessagePage
	err := c.call(ctx, http.MethodGet, sessionPath(id, "/messages?"+q.Encode()), nil, &out)
	return out, err
}

// bodyField names one long text of a Part: input, output, error, old, new, attachment or text.
type bodyField struct {
	part  string
	field string
	index int
}

// body returns the whole text of b, from Core when b is only a preview.
func (c *client) body(ctx context.Context, id fyllo.SessionID, b *fyllo.Body, f bodyField) (string, error) {
	if b == nil {
		return "", nil
	}
	if b.Ref == nil {
		return b.Text, nil
	}
	q := url.Values{"part": {f.part}, "field": {f.field}, "index": {strconv.Itoa(f.index)}}
	return c.text(ctx, sessionPath(id, "/body?"+q.Encode()))
}

// startSession creates a Session with its first message; the turn runs on by itself.
func (c *client) startSession(ctx context.Context, r fyllo.StartRequest) (fyllo.StartResult, error) {
	var out fyllo.StartResult
	err := c.call(ctx, http.MethodPost, "/api/sessions", r, &out)
	return out, err
}

// prompt sends one more message.
func (c *client) prompt(ctx context.Context, id fyllo.SessionID, r fyllo.PromptRequest) (fyllo.Message, error) {
	var out fyllo.PromptResult
	err := c.call(ctx, http.MethodPost, sessionPath(id, "/prompts"), r, &out)
	return out.Message, err
}

func (c *client) cancelTurn(ctx context.Context, id fyllo.SessionID) error {
	return c.call(ctx, http.MethodPost, sessionPath(id, "/cancel"), struct{}{}, nil)
}

// answer answers a permission request; option "" cancels it.
func (c *client) answer(ctx context.Context, p fyllo.Permission, option string) error {
	in := map[string]any{"requestId": newRequestID()}
	if option != "" {
		in["optionId"] = option
	}
	return c.call(ctx, http.MethodPost, sessionPath(p.SessionID, "/permissions/"+url.PathEscape(p.ID)), in, nil)
}

func (c *client) setPolicy(ctx context.Context, id fyllo.SessionID, p fyllo.Policy) error {
	return c.call(ctx, http.MethodPatch, sessionPath(id, ""), fyllo.Patch{Policy: &p}, nil)
}

func sessionPath(id fyllo.SessionID, rest string) string {
	return "/api/sessions/" + url.PathEscape(string(id)) + rest
}
