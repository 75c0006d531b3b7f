package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"fyllocode.dev/fyllo"
)

// core is a running `fyllo serve` and a client of it.
type core struct {
	home  string
	cmd   *exec.Cmd
	base  string
	token string
	wid   fyllo.WorkspaceID
	ready time.Duration // from start to the ready line
}

// startCore runs Core on a data root.
func (s *suite) startCore(ctx context.Context, home string) (*core, error) {
	c := &core{home: home, cmd: exec.CommandContext(ctx, s.fyllo, "serve", "--no-open", "--home", home)}
	c.cmd.Env = append(os.Environ(), "HOME="+s.dir, "FYLLO_REGISTRY_URL=") // nothing goes out
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	c.ready = time.Since(begin)
	if err != nil {
		return nil, fmt.Errorf("core did not get ready: %w", err)
	}
	at := strings.Index(line, "http://")
	if at < 0 {
		return nil, fmt.Errorf("ready line %q names no URL", line)
	}
	u, err := url.Parse(strings.TrimSpace(line[at:]))
	if err != nil {
		return nil, err
	}
	c.base = "http://" + u.Host
	token, err := os.ReadFile(filepath.Join(home, "core.token"))
	c.token = strings.TrimSpace(string(token))
	return c, err
}

// stop ends Core in good order.
func (c *core) stop() {
	_ = c.cmd.Process.Signal(os.Interrupt)
	_ = c.cmd.Wait()
}

// open opens a directory as the client's Workspace.
func (c *core) open(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var got struct {
		Workspace fyllo.Workspace `json:"workspace"`
	}
	err := c.call(ctx, http.MethodPost, "/api/workspaces/open", map[string]any{"paths": []string{dir}}, &got)
	c.wid = got.Workspace.ID
	return err
}

// add makes the scripted Agent known n times, as Agents of their own.
func (c *core) add(ctx context.Context, command string, n int) ([]fyllo.AgentID, error) {
	ids := make([]fyllo.AgentID, n)
	for i := range ids {
		var got fyllo.Agent
		name := command + "-" + strconv.Itoa(i) // another command is another Agent
		if err := os.Symlink(command, name); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		agent := fyllo.CustomAgent{Name: filepath.Base(name), Command: name}
		if err := c.call(ctx, http.MethodPost, "/api/agents", agent, &got); err != nil {
			return nil, err
		}
		ids[i] = got.ID
	}
	return ids, nil
}

func (c *core) header() http.Header {
	h := http.Header{"Authorization": {"Bearer " + c.token}}
	if c.wid != "" {
		h.Set("X-Fyllo-Workspace", string(c.wid))
	}
	return h
}

func (c *core) call(ctx context.Context, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = c.header()
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, data)
	}
	if raw, ok := out.(*[]byte); ok {
		*raw = data
		return nil
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(data, out)
}

// start begins a Session with a prompt.
func (c *core) start(ctx context.Context, agent fyllo.AgentID, text string) (fyllo.SessionID, error) {
	var got fyllo.StartResult
	err := c.call(ctx, http.MethodPost, "/api/sessions", fyllo.StartRequest{
		RequestID: strconv.FormatInt(time.Now().UnixNano(), 36), AgentID: agent, Mode: fyllo.ModeNative, Text: text,
	}, &got)
	return got.SessionID, err
}

// event is one event of the stream.
type event struct {
	Session fyllo.SessionID `json:"sessionId"`
	Type    fyllo.EventType `json:"type"`
	Data    json.RawMessage `json:"data"`
}

// stream opens the client's event stream.
func (c *core) stream(ctx context.Context) (*websocket.Conn, error) {
	conn, _, err := websocket.Dial(ctx, c.base+"/api/stream", &websocket.DialOptions{HTTPHeader: c.header()})
	if err == nil {
		conn.SetReadLimit(-1)
	}
	return conn, err
}

// follow reads events until n turns have ended.
func follow(ctx context.Context, conn *websocket.Conn, n int, each func(event)) error {
	for n > 0 {
		_, data, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		var events []event
		if err := json.Unmarshal(data, &events); err != nil {
			return err
		}
		for _, e := range events {
			each(e)
			if e.Type != fyllo.EventTurnEnd {
				continue
			}
			n--
			var end fyllo.TurnEndEvent
			if err := json.Unmarshal(e.Data, &end); err != nil {
				return err
			}
			if end.End.Error != nil {
				return fmt.Errorf("a turn failed: %s", end.End.Error.Message)
			}
		}
	}
	return nil
}

// cpu is the CPU time that Core has used, without its children.
func (c *core) cpu() (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	if err1 != nil || err2 != nil {
		return 0, fmt.Errorf("unreadable /proc stat %q", data)
	}
	return time.Duration(user+system) * (time.Second / 100), nil
}

// memory returns the resident size in MB now and at its peak.
func (c *core) memory() (now, peak float64, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	for line := range strings.Lines(string(data)) {
		name, rest, _ := strings.Cut(line, ":")
		kb, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
		switch name {
		case "VmRSS":
			now = kb / 1024
		case "VmHWM":
			peak = kb / 1024
		}
	}
	return now, peak, err
}
