package core

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/mcpcall"
)

// server is the parent's fyllo-spawn, for calls that its Agent does not make.
func (f *family) server() mcpcall.Server {
	f.t.Helper()
	s, ok := mcpcall.Find(json.RawMessage(`{"mcpServers":`+f.turn("mcp")+`}`), "fyllo-spawn")
	if !ok {
		f.t.Fatal("the parent has no server fyllo-spawn")
	}
	return s
}

// pattern is a text of any length whose characters are of all widths, with a combining mark.
const pattern = "a é\u0301漢𝄞\r\n"

func patternOf(at, n int) string {
	from := at % len(pattern)
	return strings.Repeat(pattern, (from+n)/len(pattern)+1)[from : from+n]
}

// Answers of 1 MiB, as an Agent gave it, and of 100 MiB are read through the door that Agents have, chunk by chunk: each
// chunk is whole characters, together they are the answer, and Core never holds more than a few of them.
func TestLargeAnswersAreReadInChunks_R_SPAWN_086_087_089(t *testing.T) {
	f := newFamily(t, fyllo.ModeFyllo)
	server := f.server()
	child := f.call("prompt_to_agent", map[string]any{"agentId": f.child, "prompt": "flood 16 65536", "background": false})
	first, _ := child["content"].(string)
	next, _ := child["nextCursor"].(string)
	whole := first + f.read(server, child, next, func(int, string) {})
	if len(whole) != 1<<20 {
		t.Errorf("the answer of 1 MiB has %d bytes", len(whole))
	}
	if said := f.c.spawnedText(f.parent, child["sessionId"]); said != whole {
		t.Error("it is not what the child said")
	}

	const size = 100<<20 - 100<<20%len(pattern)
	path := filepath.Join(f.l.root, "workspaces", "*", "sessions", string(f.parent), "spawn", child["sessionId"].(string), "responses", child["responseId"].(string)+".md")
	files, err := filepath.Glob(path)
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.WriteFile(files[0], []byte(patternOf(0, size)), 0o600); err != nil {
		t.Fatal(err)
	}
	f.read(server, child, "", func(int, string) {}, 64) // what the door itself needs is there
	before := f.c.peak(true)
	at := 0
	f.read(server, child, "", func(chunk int, text string) {
		if !utf8.ValidString(text) || text != patternOf(at, len(text)) {
			t.Fatalf("chunk %d is not the answer from %d on", chunk, at)
		}
		at += len(text)
	})
	if at != size {
		t.Errorf("%d bytes of %d", at, size)
	}
	if grown := f.c.peak(false) - before; grown > 32<<10 {
		t.Errorf("reading 100 MiB took %d KiB more", grown)
	}
}

// read reads an answer from a cursor in the largest chunks, at most so many of them, and returns what it was told to keep.
func (f *family) read(server mcpcall.Server, child map[string]any, cursor string, each func(chunk int, text string), most ...int) string {
	f.t.Helper()
	var all strings.Builder
	for n := 0; len(most) == 0 || n < most[0]; n++ {
		args := map[string]any{"sessionId": child["sessionId"], "responseId": child["responseId"], "maxBytes": fyllo.SpawnReadMax}
		if cursor != "" {
			args["cursor"] = cursor
		}
		b, _ := json.Marshal(args)
		result, err := server.Call(context.Background(), "read_response", string(b))
		var c fyllo.SpawnChunk
		if err == nil {
			err = json.Unmarshal([]byte(result), &c)
		}
		if err != nil || len(c.Content) > fyllo.SpawnReadMax || !c.Done && len(c.Content) < fyllo.SpawnReadMax-3 {
			f.t.Fatalf("chunk %d: %d bytes, %v", n, len(c.Content), err)
		}
		each(n, c.Content)
		if all.Len() < 2<<20 {
			all.WriteString(c.Content)
		}
		if cursor = c.NextCursor; c.Done {
			break
		}
	}
	return all.String()
}

// spawnedText is the text of the only turn of a spawned Session.
func (c *served) spawnedText(parent fyllo.SessionID, child any) string {
	var d fyllo.SpawnDetail
	c.must("GET", sessionPath(parent, fmt.Sprintf("/spawned/%v", child)), nil, &d)
	var text strings.Builder
	for _, m := range d.Turns[0].Messages[1:] {
		for _, p := range m.Parts {
			text.WriteString(p.Text)
		}
	}
	return text.String()
}

// peak is what Core had resident at most, in KiB; reset begins anew with what it has now.
func (c *served) peak(reset bool) (kb int) {
	proc := fmt.Sprintf("/proc/%d/", c.cmd.Process.Pid)
	if reset {
		if err := os.WriteFile(proc+"clear_refs", []byte("5"), 0); err != nil {
			c.t.Fatal(err)
		}
	}
	status, err := os.ReadFile(proc + "status")
	if err != nil {
		c.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ = strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
		}
	}
	return kb
}
