package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fyllocode.dev/fyllo"
)

// measureChanges asks what stored answers changed on disk: many small diffs, which stand in the message itself, and
// 50 MB of diffs, whose texts are read from bodies.jsonl.
func measureChanges(ctx context.Context, s *suite) error {
	c, _, err := s.lab(ctx, "changes", 0)
	if err != nil {
		return err
	}
	defer c.stop()
	one, err := s.startCoreOf(ctx, c.home, &core{})
	if err != nil {
		return err
	}
	dir, _, _, err := one.sample(ctx, s)
	if err != nil {
		return err
	}
	c.wid = one.wid
	answers := editedFiles{dir: dir, session: one.session}
	for _, m := range []struct {
		what, id string
		size     int // of a text
	}{{"2,000 small diffs on 200 files", "msg-small", 100}, {"50 MB of diffs", "msg-large", 12 << 10}} {
		if err := answers.store(m.id, 200, 10, m.size); err != nil {
			return err
		}
		if err := c.askChanges(ctx, s, m.what, "/api/sessions/"+one.session+"/messages/"+m.id+"/changes"); err != nil {
			return err
		}
	}
	return nil
}

func (c *core) askChanges(ctx context.Context, s *suite, what, path string) error {
	before, err := c.cpu()
	if err != nil {
		return err
	}
	var list fyllo.FileChanges
	begin := time.Now()
	if err := c.call(ctx, http.MethodGet, path, nil, &list); err != nil {
		return err
	}
	took := time.Since(begin)
	after, err := c.cpu()
	if err != nil {
		return err
	}
	_, peak, err := c.memory()
	if err != nil {
		return err
	}
	if len(list.Changes) != 200 {
		return fmt.Errorf("%d files changed", len(list.Changes))
	}
	s.print("file changes of an answer with "+what, "%10.2f ms, %.0f ms CPU, peak resident %.1f MB", ms(took), ms(after-before), peak)
	begin = time.Now()
	var text fyllo.FileText
	if err := c.call(ctx, http.MethodGet, path+"/file?path="+url.QueryEscape(list.Changes[100].Path), nil, &text); err != nil {
		return err
	}
	s.print("  the texts of one of its files", "%10.2f ms", ms(time.Since(begin)))
	return nil
}

// editedFiles writes answers into the files of a Session, in the form in which Core stores them.
type editedFiles struct{ dir, session string }

// store appends an answer that writes each file anew so many times, with texts of that size.
func (e editedFiles) store(id string, files, times, size int) error {
	bodiesFile := filepath.Join(e.dir, e.session, "bodies.jsonl")
	var bodies bytes.Buffer
	if info, err := os.Stat(bodiesFile); err == nil {
		return fmt.Errorf("%s has %d bytes already", bodiesFile, info.Size())
	}
	m := fyllo.Message{ID: id, Role: fyllo.RoleAssistant}
	body := func(file, version int) *fyllo.Body {
		line := fmt.Sprintf("file %d, version %d\n", file, version)
		text := strings.Repeat(line, size/len(line)+1)[:size]
		b := &fyllo.Body{Text: fyllo.Preview(text), Size: size}
		if len(b.Text) < size {
			stored, _ := json.Marshal(text) // a string
			b.Ref = &fyllo.BodyRef{Offset: int64(bodies.Len()), Length: int64(len(stored))}
			bodies.Write(append(stored, '\n'))
		}
		return b
	}
	for version := range times {
		for file := range files {
			m.Parts = append(m.Parts, fyllo.Part{Type: fyllo.PartTool, Tool: &fyllo.Tool{
				Kind: fyllo.KindEdit, Status: fyllo.ToolCompleted,
				Diffs: []fyllo.Diff{{Path: fmt.Sprintf("/project/file%d", file), Old: body(file, version), New: body(file, version+1)}},
			}})
		}
	}
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if bodies.Len() > 0 {
		if err := os.MkdirAll(filepath.Dir(bodiesFile), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(bodiesFile, bodies.Bytes(), 0o600); err != nil {
			return err
		}
	}
	messages, err := os.OpenFile(filepath.Join(e.dir, e.session+".messages.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer messages.Close()
	_, err = messages.Write(append(line, '\n'))
	return err
}
