// Package coreapi speaks to a Core over its HTTP API as the owner of the data root does: with the token of
// core.token, and naming the Workspace itself. It adds no rule; errors of Core come back as they were.
package coreapi

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/httpd"
)

// PageSize is how many entries of a list are asked for at a time.
const PageSize = 500

// Client speaks to a Core over HTTP as the owner of the data root.
type Client struct {
	base      string // http://HOST:PORT
	token     string // of core.token
	workspace fyllo.WorkspaceID
	http      *http.Client
}

// New returns a Client of the Core at address, HOST:PORT.
func New(address, token string) *Client {
	// No proxy: the address is on loopback whatever the environment says.
	transport := &http.Transport{Proxy: nil, MaxIdleConnsPerHost: 4}
	return &Client{base: "http://" + address, token: token, http: &http.Client{Transport: transport}}
}

// In returns the Client for one Workspace; the zero id names none.
func (c *Client) In(w fyllo.WorkspaceID) *Client {
	scoped := *c
	scoped.workspace = w
	return &scoped
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Call sends in as JSON, if it is not nil, and decodes the answer into out, if it is not nil. An error answer
// comes back as the *fyllo.Error that Core had.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
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
func (c *Client) text(ctx context.Context, path string) (string, error) {
	resp, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

// send returns the answer to a request that succeeded; the caller closes its body.
func (c *Client) send(ctx context.Context, method, path string, in any) (*http.Response, error) {
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
		failed := fyllo.Errorf(fyllo.CodeInternal, "Core: it does not answer at %s: %w", c.base, err)
		if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) {
			return nil, &cutError{failed}
		}
		return nil, failed
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, failedAnswer(resp, method, path)
}

// cutError is a connection that ended before any answer.
type cutError struct{ error }

func (e *cutError) Unwrap() error { return e.error }

// Cut reports whether a Core ended the connection of a request before it answered.
func Cut(err error) bool {
	var cut *cutError
	return errors.As(err, &cut)
}

func (c *Client) authorise(h http.Header) {
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
	return ErrorOf(answer.Error)
}

// OpenedWorkspace is the answer to OpenDirs. URL is a fresh one-time URL, set when no window took the Workspace.
type OpenedWorkspace struct {
	Status    string          `json:"status"`
	Workspace fyllo.Workspace `json:"workspace"`
	URL       string          `json:"url"`
}

// OpenDirs finds or makes the Workspace of directories; relative paths start from the current directory.
func (c *Client) OpenDirs(ctx context.Context, dirs []string) (OpenedWorkspace, error) {
	var out OpenedWorkspace
	paths := make([]string, len(dirs))
	for i, dir := range dirs {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return out, fyllo.Errorf(fyllo.CodeFolderPathUnavailable, "directory %s: %w", dir, err)
		}
		paths[i] = abs
	}
	err := c.Call(ctx, http.MethodPost, "/api/workspaces/open", map[string]any{"paths": paths}, &out)
	return out, err
}

// PageURL returns a fresh one-time URL of the Chat of a Workspace, or of the launcher when w is "".
func (c *Client) PageURL(ctx context.Context, w fyllo.WorkspaceID) (string, error) {
	in := map[string]any{}
	if w != "" {
		in["workspaceId"] = w
	}
	var out struct {
		URL string `json:"url"`
	}
	err := c.Call(ctx, http.MethodPost, "/api/tokens", in, &out)
	return out.URL, err
}

// Agents returns the catalogue.
func (c *Client) Agents(ctx context.Context) (httpd.AgentList, error) {
	var out httpd.AgentList
	err := c.Call(ctx, http.MethodGet, "/api/agents", nil, &out)
	return out, err
}

// lookPoll is how often Look asks whether it is over.
const lookPoll = 100 * time.Millisecond

// Look has the registry fetched and what is installed looked at, waits until that is done, and returns the catalogue. What
// failed is in its Registry. After limit the catalogue is returned as it is.
func (c *Client) Look(ctx context.Context, limit time.Duration) (httpd.AgentList, error) {
	var out httpd.AgentList
	err := c.Call(ctx, http.MethodPost, "/api/agents/look", map[string]any{"force": true}, &out)
	tick := time.NewTicker(lookPoll)
	defer tick.Stop()
	enough := time.NewTimer(limit)
	defer enough.Stop()
	for err == nil && out.Registry != nil && out.Registry.Looking {
		select {
		case <-tick.C:
			out, err = c.Agents(ctx)
		case <-enough.C:
			return out, nil
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
	return out, err
}

// Search returns the Sessions of the Client's Workspace that hold the words of text, the best first.
func (c *Client) Search(ctx context.Context, text string, limit int) ([]fyllo.SearchHit, error) {
	q := url.Values{"q": {text}, "limit": {strconv.Itoa(limit)}}
	var out fyllo.SearchResult
	err := c.Call(ctx, http.MethodGet, "/api/search?"+q.Encode(), nil, &out)
	return out.Hits, err
}

// Detail returns a Session with the seq it is true at.
func (c *Client) Detail(ctx context.Context, id fyllo.SessionID) (fyllo.SessionDetail, error) {
	var out fyllo.SessionDetail
	err := c.Call(ctx, http.MethodGet, sessionPath(id, ""), nil, &out)
	return out, err
}

// Spawned is what a Session has delegated, in list order. Telling means that its Agent is still to be told of an end.
type Spawned struct {
	Spawned []fyllo.SpawnSummary `json:"spawned"`
	Telling bool                 `json:"telling"`
}

// Spawned returns what a Session has delegated.
func (c *Client) Spawned(ctx context.Context, parent fyllo.SessionID) (Spawned, error) {
	var out Spawned
	err := c.Call(ctx, http.MethodGet, sessionPath(parent, "/spawned"), nil, &out)
	return out, err
}

// SpawnedDetail returns one of them with its turns.
func (c *Client) SpawnedDetail(ctx context.Context, parent, id fyllo.SessionID) (fyllo.SpawnDetail, error) {
	var out fyllo.SpawnDetail
	err := c.Call(ctx, http.MethodGet, sessionPath(parent, "/spawned/"+url.PathEscape(string(id))), nil, &out)
	return out, err
}

// Messages returns the page before the cursor, "" meaning the newest one.
func (c *Client) Messages(ctx context.Context, id fyllo.SessionID, before string, limit int) (fyllo.MessagePage, error) {
	q := url.Values{}
	if before != "" {
		q.Set("before", before)
	}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	var out fyllo.MessagePage
	err := c.Call(ctx, http.MethodGet, sessionPath(id, "/messages?"+q.Encode()), nil, &out)
	return out, err
}

// Changes returns the net file changes of one answer.
func (c *Client) Changes(ctx context.Context, id fyllo.SessionID, message string) (fyllo.FileChanges, error) {
	var out fyllo.FileChanges
	err := c.Call(ctx, http.MethodGet, sessionPath(id, "/messages/"+url.PathEscape(message)+"/changes"), nil, &out)
	return out, err
}

// BodyField names one long text of a Part: input, output, error, old, new, attachment or text.
type BodyField struct {
	Part  string
	Field string
	Index int // of a diff
}

// Body returns the whole text of b, from Core when b is only a preview.
func (c *Client) Body(ctx context.Context, id fyllo.SessionID, b *fyllo.Body, f BodyField) (string, error) {
	if b == nil {
		return "", nil
	}
	if b.Ref == nil {
		return b.Text, nil
	}
	q := url.Values{"part": {f.Part}, "field": {f.Field}, "index": {strconv.Itoa(f.Index)}}
	return c.text(ctx, sessionPath(id, "/body?"+q.Encode()))
}

// StartSession creates a Session with its first message; the turn runs on by itself.
func (c *Client) StartSession(ctx context.Context, r fyllo.StartRequest) (fyllo.StartResult, error) {
	var out fyllo.StartResult
	err := c.Call(ctx, http.MethodPost, "/api/sessions", r, &out)
	return out, err
}

// Prompt sends one more message.
func (c *Client) Prompt(ctx context.Context, id fyllo.SessionID, r fyllo.PromptRequest) (fyllo.Message, error) {
	var out fyllo.PromptResult
	err := c.Call(ctx, http.MethodPost, sessionPath(id, "/prompts"), r, &out)
	return out.Message, err
}

// CancelTurn asks the Agent to stop; the turn ends later, on the Feed.
func (c *Client) CancelTurn(ctx context.Context, id fyllo.SessionID) error {
	return c.Call(ctx, http.MethodPost, sessionPath(id, "/cancel"), struct{}{}, nil)
}

// Answer answers a permission request; option "" cancels it.
func (c *Client) Answer(ctx context.Context, p fyllo.Permission, option string) error {
	in := map[string]any{"requestId": NewRequestID()}
	if option != "" {
		in["optionId"] = option
	}
	return c.Call(ctx, http.MethodPost, sessionPath(p.SessionID, "/permissions/"+url.PathEscape(p.ID)), in, nil)
}

// SetPolicy sets how a Session's permission requests are answered.
func (c *Client) SetPolicy(ctx context.Context, id fyllo.SessionID, p fyllo.Policy) error {
	return c.UpdateSession(ctx, id, fyllo.Patch{Policy: &p})
}

// UpdateSession changes what people edit of a Session.
func (c *Client) UpdateSession(ctx context.Context, id fyllo.SessionID, p fyllo.Patch) error {
	return c.Call(ctx, http.MethodPatch, sessionPath(id, ""), p, nil)
}

// DeleteSession removes a Session with everything it owns.
func (c *Client) DeleteSession(ctx context.Context, id fyllo.SessionID) error {
	return c.Call(ctx, http.MethodDelete, sessionPath(id, ""), nil, nil)
}

// Export returns a Session as a file. The caller reads and closes it; its last read fails when the file is not whole.
func (c *Client) Export(ctx context.Context, id fyllo.SessionID, format string) (io.ReadCloser, error) {
	resp, err := c.send(ctx, http.MethodGet, sessionPath(id, "/export?format="+url.QueryEscape(format)), nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

func sessionPath(id fyllo.SessionID, rest string) string {
	return "/api/sessions/" + url.PathEscape(string(id)) + rest
}

// EachSession calls do for every Session of the Client's Workspace, or of all of them, in list order.
func (c *Client) EachSession(ctx context.Context, do func(fyllo.SessionSummary)) error {
	for cursor := ""; ; {
		q := url.Values{"limit": {strconv.Itoa(PageSize)}}
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		var page fyllo.SessionPage
		if err := c.Call(ctx, http.MethodGet, "/api/sessions?"+q.Encode(), nil, &page); err != nil {
			return err
		}
		for _, s := range page.Sessions {
			do(s)
		}
		if cursor = page.Next; cursor == "" {
			return nil
		}
	}
}

// OpenPage returns a fresh one-time URL: of the Chat of the directories' Workspace, or of the launcher.
func (c *Client) OpenPage(ctx context.Context, dirs []string) (string, error) {
	if len(dirs) == 0 {
		return c.PageURL(ctx, "")
	}
	opened, err := c.OpenDirs(ctx, dirs)
	if err != nil {
		return "", err
	}
	if opened.URL != "" {
		return opened.URL, nil
	}
	return c.PageURL(ctx, opened.Workspace.ID)
}

// CheckAgent starts an Agent and asks what it can do; no session is created.
func (c *Client) CheckAgent(ctx context.Context, id fyllo.AgentID) (fyllo.AgentCheck, error) {
	var out fyllo.AgentCheck
	// No body: as long as a body is unread, the server does not notice that the command was ended.
	err := c.Call(ctx, http.MethodPost, "/api/agents/"+url.PathEscape(string(id))+"/check", nil, &out)
	return out, err
}

// NewRequestID returns an id by which Core knows a repeated request.
func NewRequestID() string { return rand.Text() }

// ErrorOf turns a Failure back into the error it describes.
func ErrorOf(f *fyllo.Failure) error {
	return &fyllo.Error{Code: f.Code, Message: f.Message, Hint: f.Hint, Details: f.Details}
}
