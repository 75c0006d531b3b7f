package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fyllocode.dev/fyllo"
)

// manySessions is how many a busy user has.
const manySessions = 10_000

func measureStart(ctx context.Context, s *suite) error {
	empty := filepath.Join(s.dir, "empty")
	c, err := s.startCore(ctx, empty)
	if err != nil {
		return err
	}
	c.stop() // the first start also makes the data root
	if c, err = s.startCore(ctx, empty); err != nil {
		return err
	}
	s.atMost("start to ready, empty", ms(c.ready), 50, "ms")
	if err := s.idle("idle resident, empty", c, 30); err != nil {
		return err
	}
	full, err := s.fill(ctx, empty)
	c.stop()
	if err != nil {
		return err
	}
	if c, err = s.startCore(ctx, empty); err != nil {
		return err
	}
	defer c.stop()
	c.wid = full
	s.atMost("start to ready, 10,000 Sessions", ms(c.ready), 120, "ms")
	begin := time.Now()
	var raw []byte
	if err := c.call(ctx, http.MethodGet, "/api/sessions?limit=50", nil, &raw); err != nil {
		return err
	}
	s.print("  list asked at once after ready", "%10.2f ms", ms(time.Since(begin)))
	begin = time.Now()
	if err := c.call(ctx, http.MethodGet, "/api/sessions?limit=50", nil, &raw); err != nil {
		return err
	}
	s.atMost("  first page of the list", ms(time.Since(begin)), 20, "ms")
	s.atMost("  its size", float64(len(raw))/1024, 100, "KB")
	return s.idle("idle resident, 10,000 Sessions", c, 45)
}

func (s *suite) idle(what string, c *core, budget float64) error {
	time.Sleep(3 * time.Second)
	now, _, err := c.memory()
	s.atMost(what, now, budget, "MB")
	return err
}

// fill makes many Sessions on disk by copying one that the product wrote.
func (s *suite) fill(ctx context.Context, home string) (fyllo.WorkspaceID, error) {
	c := &core{}
	running, err := s.startCoreOf(ctx, home, c)
	if err != nil {
		return "", err
	}
	dir, meta, messages, err := running.sample(ctx, s)
	if err != nil {
		return "", err
	}
	for i := range manySessions {
		id := "session-bench" + strconv.Itoa(i)
		for suffix, content := range map[string][]byte{".json": meta, ".messages.jsonl": messages} {
			content = bytes.ReplaceAll(content, []byte(running.session), []byte(id))
			if err := os.WriteFile(filepath.Join(dir, id+suffix), content, 0o600); err != nil {
				return "", err
			}
		}
	}
	return running.wid, nil
}

// sampled is a Core with one Session in it.
type sampled struct {
	*core
	session string
}

// startCoreOf finds the Core that runs on home.
func (s *suite) startCoreOf(_ context.Context, home string, c *core) (*sampled, error) {
	data, err := os.ReadFile(filepath.Join(home, "core.lock"))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Address string `json:"address"`
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return nil, err
	}
	token, err := os.ReadFile(filepath.Join(home, "core.token"))
	c.base, c.token, c.home = "http://"+lock.Address, strings.TrimSpace(string(token)), home
	return &sampled{core: c}, err
}

// sample makes a Session and returns where and what its files are.
func (c *sampled) sample(ctx context.Context, s *suite) (dir string, meta, messages []byte, err error) {
	if err = c.open(ctx, filepath.Join(s.dir, "project")); err != nil {
		return
	}
	ids, err := c.add(ctx, s.agent, 1)
	if err != nil {
		return
	}
	if _, _, err = flood(ctx, c.core, ids, "slow 3 1ms"); err != nil {
		return
	}
	time.Sleep(2 * time.Second)
	var page fyllo.SessionPage
	if err = c.call(ctx, http.MethodGet, "/api/sessions?limit=1", nil, &page); err != nil {
		return
	}
	c.session = string(page.Sessions[0].SessionID)
	dir = filepath.Join(c.home, "workspaces", string(c.wid), "sessions")
	if meta, err = os.ReadFile(filepath.Join(dir, c.session+".json")); err != nil {
		return
	}
	messages, err = os.ReadFile(filepath.Join(dir, c.session+".messages.jsonl"))
	return
}

func measureHistory(ctx context.Context, s *suite) error {
	c, _, err := s.lab(ctx, "history", 0)
	if err != nil {
		return err
	}
	defer c.stop()
	one, err := s.startCoreOf(ctx, c.home, &core{})
	if err != nil {
		return err
	}
	dir, _, messages, err := one.sample(ctx, s)
	if err != nil {
		return err
	}
	c.wid = one.wid
	var long bytes.Buffer
	for i := range 5000 { // two messages each
		long.Write(bytes.ReplaceAll(messages, []byte(`"id":"msg-`), []byte(`"id":"msg-`+strconv.Itoa(i)+`x`)))
	}
	if err := os.WriteFile(filepath.Join(dir, one.session+".messages.jsonl"), long.Bytes(), 0o600); err != nil {
		return err
	}
	path := "/api/sessions/" + one.session
	for _, m := range []struct {
		name, query string
		budget      float64
	}{{"first screen", "60", 20}, {"whole", "0", 250}} {
		var raw []byte
		begin := time.Now()
		if err := c.call(ctx, http.MethodGet, path+"/messages?limit="+m.query, nil, &raw); err != nil {
			return err
		}
		s.atMost("open a Session of 10,000 messages, "+m.name, ms(time.Since(begin)), m.budget, "ms")
	}
	return nil
}

// measureKill kills Core in the middle of a steady stream and counts what is missing afterwards.
func measureKill(ctx context.Context, s *suite) error {
	c, ids, err := s.lab(ctx, "kill", 1)
	if err != nil {
		return err
	}
	id, err := c.start(ctx, ids[0], "clock 5000 1ms")
	if err != nil {
		return err
	}
	time.Sleep(1500 * time.Millisecond)
	killed := time.Now()
	if err := c.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	_ = c.cmd.Wait()
	again, err := s.startCore(ctx, c.home)
	if err != nil {
		return err
	}
	defer again.stop()
	again.wid = c.wid
	var page fyllo.MessagePage
	if err := again.call(ctx, http.MethodGet, "/api/sessions/"+string(id)+"/messages?limit=10", nil, &page); err != nil {
		return err
	}
	kept := stamps(page.Messages[len(page.Messages)-1].Parts[0].Text)
	if len(kept) == 0 {
		return fmt.Errorf("nothing of the stream is left")
	}
	s.atMost("kill -9 while streaming: stream lost", ms(killed.Sub(time.Unix(0, kept[len(kept)-1]))), 60, "ms")
	return nil
}

// measureSize weighs the binary. The scripts that a page loads are weighed by `npm run size`, which knows the chunks.
func measureSize(_ context.Context, s *suite) error {
	info, err := os.Stat(s.fyllo)
	if err != nil {
		return err
	}
	s.atMost("binary", float64(info.Size())/(1<<20), 30, "MB")
	return nil
}
