package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
)

// TestFullDiskDuringATurnEndsItWithAReason_R_CHAT_056: files cannot grow any more while an Agent speaks. The turn ends
// with the reason, what was stored before stays, and everything works again when there is room.
func TestFullDiskDuringATurnEndsItWithAReason_R_CHAT_056(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	w := c.window()
	agent := c.agent("default")
	s := c.start(agent, "echo one")
	c.stored(s)
	c.send(s, "echo begin ;slow 100000 2ms")
	c.heard(s)
	full(t, c, 2000)
	f, text := c.failure(s)
	if f.Code != fyllo.CodeStorageFailed || !strings.HasPrefix(text, "begin") {
		t.Errorf("%+v, text %.100q", f, text)
	}
	if err := c.call(http.MethodPost, "/api/sessions", fyllo.StartRequest{
		AgentID: agent, Mode: fyllo.ModeFyllo, Text: strings.Repeat("long ", 1000),
	}, nil); codeOf(err) != fyllo.CodeStorageFailed {
		t.Errorf("a new Session on a full disk: %v", err)
	}
	if c.ended() {
		t.Fatal("Core ended")
	}
	full(t, c, unlimited)
	c.send(s, "echo there is room again")
	if got := c.answer(s); got != "there is room again" {
		t.Errorf("answer %q", got)
	}
	w.sound()
	before := c.stored(s)
	c.kill()
	l.parse(time.Time{})
	c = l.serve()
	after := c.messages(s)
	if len(after) != len(before) || textOf(after[3]) != textOf(before[3]) || !strings.HasPrefix(textOf(after[3]), "begin") {
		t.Errorf("%d messages, were %d", len(after), len(before))
	}
	for id, shown := range w.texts() {
		if id == before[3].ID && !strings.HasPrefix(textOf(after[3]), shown) {
			t.Errorf("a window had shown %d bytes, %d are left", len(shown), len(textOf(after[3])))
		}
	}
	var page fyllo.SessionPage
	c.must(http.MethodGet, "/api/sessions", nil, &page)
	if page.Total != 1 {
		t.Errorf("%d Sessions: one that failed is left", page.Total)
	}
}

func TestReadOnlyHomeIsRefused_R_CLI_011(t *testing.T) {
	l := newLab(t)
	// A file in the place of a directory stops root too, whom permissions do not.
	if err := os.WriteFile(l.root, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve", "--no-open"}, {"prompt", "--agent", "tour", "hi"}} {
		r := l.fyllo(args...)
		if r.code != 1 || !strings.Contains(r.stderr, "(HOME_NOT_WRITABLE)") || strings.Contains(r.stderr, "goroutine") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if os.Getuid() == 0 {
		return
	}
	if err := os.Remove(l.root); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(l.root, 0o500); err != nil {
		t.Fatal(err)
	}
	if r := l.fyllo("serve", "--no-open"); r.code != 1 || !strings.Contains(r.stderr, "(HOME_NOT_WRITABLE)") {
		t.Errorf("read-only directory: %+v", r)
	}
}

func TestSecondCoreNamesTheFirst_R_CLI_003(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	r := l.fyllo("serve", "--no-open")
	if r.code != 1 || !strings.Contains(r.stderr, "(CORE_ALREADY_RUNNING)") || !strings.Contains(r.stderr, fmt.Sprint(c.cmd.Process.Pid)) {
		t.Errorf("%+v", r)
	}
	c.kill()
	l.serve().stop() // what the first left blocks nobody
}

// garble changes a file as a failing disk does, in one of several ways.
func garble(content []byte, how int) []byte {
	at := rand.IntN(len(content))
	switch how % 5 {
	case 0: // cut
		return content[:at]
	case 1: // zeroed stretch
		out := append([]byte(nil), content...)
		clear(out[at:min(len(out), at+64)])
		return out
	case 2: // random bytes
		out := append([]byte(nil), content...)
		for i := at; i < min(len(out), at+32); i++ {
			out[i] = byte(rand.Uint32())
		}
		return out
	case 3: // emptied
		return nil
	default: // something behind it
		return append(append([]byte(nil), content...), "\x00\x00garbage {"...)
	}
}

// casualties are the Sessions of the test of damaged records: the one whose files are damaged, a sound one beside it,
// and a sound one of another Workspace.
type casualties struct{ hurt, beside, elsewhere fyllo.SessionID }

// TestDamagedRecordsHideNothingElse_R_WS_131 damages one file of the data root in many ways. Core starts each time,
// other Sessions are as they were, the damage is told with its place, and the damaged Session goes on if it can.
func TestDamagedRecordsHideNothingElse_R_WS_131(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	agent := c.agent("default")
	var k casualties
	k.hurt, k.beside = c.start(agent, "echo to be damaged"), c.start(agent, "echo sound")
	c.answer(k.hurt)
	for i := range 5 {
		c.send(k.hurt, fmt.Sprintf("echo turn %d;bigtool 5000", i))
		c.answer(k.hurt)
	}
	c.stored(k.beside)
	c.must(http.MethodPatch, "/api/settings", map[string]any{"theme": "dark"}, nil)
	c.must(http.MethodPut, "/api/composer", map[string]any{"text": "not sent yet"}, nil)
	own := c.workspace
	other := filepath.Join(l.base, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	c.open(other)
	k.elsewhere = c.start(agent, "echo sound")
	c.stored(k.elsewhere)
	c.open(l.project)
	c.send(k.hurt, "echo in flight;slow 100000 1ms")
	c.heard(k.hurt)
	c.kill()
	paths := l.files("*.json*")
	paths = append(paths, l.files("core.*")...)
	tried := 0
	for _, path := range paths {
		name, err := filepath.Rel(l.root, path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(name, string(k.beside)) || strings.Contains(name, string(k.elsewhere)) {
			continue
		}
		if strings.HasSuffix(name, "meta.json") && !strings.Contains(name, string(own)) {
			continue
		}
		tried++
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) { l.damage(t, name, k) })
	}
	if tried < 9 {
		t.Errorf("only %d of the files %v were damaged", tried, paths)
	}
}

// damage damages a file in several ways and starts Core on a copy of the data root each time.
func (l *lab) damage(t *testing.T, name string, k casualties) {
	for how := range 10 {
		copied := &lab{t: t, base: l.base, root: filepath.Join(t.TempDir(), "home"), project: l.project, log: l.log}
		if err := os.CopyFS(copied.root, os.DirFS(l.root)); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(copied.root, filepath.FromSlash(name))
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(content) == 0 {
			return // an empty file cannot be damaged
		}
		bad := garble(content, how)
		if err := os.WriteFile(file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := copied.tryServe()
		if err != nil {
			t.Fatalf("way %d: %v\n%.300q", how, err, bad)
		}
		c.checkDamage(name, bad, k)
		c.kill()
		if t.Failed() {
			t.Fatalf("way %d: %.300q", how, bad)
		}
	}
}

// checkDamage looks at all Sessions of a Core that was started on a data root with one damaged file.
func (c *served) checkDamage(name string, bad []byte, k casualties) {
	c.t.Helper()
	c.open(c.l.project) // possible whatever is damaged
	c.must(http.MethodGet, "/api/composer", nil, nil)
	c.workspace = ""
	if got := c.answer(k.elsewhere); got != "sound" {
		c.t.Errorf("the Session of another Workspace says %q", got)
	}
	if !strings.HasSuffix(name, "meta.json") { // of the Workspace itself
		if got := c.answer(k.beside); got != "sound" {
			c.t.Errorf("the Session beside it says %q", got)
		}
	}
	var page fyllo.MessagePage
	err := c.call(http.MethodGet, sessionPath(k.hurt, "/messages"), nil, &page)
	var d fyllo.SessionDetail
	if err == nil {
		err = c.call(http.MethodGet, sessionPath(k.hurt, ""), nil, &d)
	}
	if err != nil && codeOf(err) != fyllo.CodeStorageDamaged && codeOf(err) != fyllo.CodeSessionNotFound {
		c.t.Errorf("the damaged Session: %v", err)
	}
	if d.Running {
		c.t.Error("the damaged Session runs")
	}
	for _, dmg := range page.Damage {
		if dmg.File != name || dmg.Length <= 0 {
			c.t.Errorf("damage of another file: %+v", dmg)
		}
	}
	if !readable(name, bad) && len(page.Damage) == 0 && !strings.Contains(c.errs.String(), filepath.Base(name)) {
		c.t.Errorf("nobody is told of the damage to %s", name)
	}
	// Without its Agent or its Project no Session can go on.
	if err == nil && !strings.Contains(name, "custom-agents") && !strings.HasSuffix(name, "meta.json") {
		c.send(k.hurt, "echo it goes on")
		c.idle(k.hurt)
		c.must(http.MethodGet, sessionPath(k.hurt, "/messages"), nil, &page)
		c.must(http.MethodGet, sessionPath(k.hurt, ""), nil, &d)
		if d.Live == nil {
			d.Live = &page.Messages[len(page.Messages)-1]
		}
		if got := textOf(*d.Live); got != "it goes on" {
			c.t.Errorf("answer %q", got)
		}
	}
}

// readable reports whether a file holds JSON, or lines of it, all the same; what stands behind a whole object is
// tolerated (R-WS-132). Files that are made anew at each start, and
// bodies, which are no lines, count as readable.
func readable(name string, content []byte) bool {
	switch base := filepath.Base(name); {
	case strings.HasPrefix(base, "core."), base == "bodies.jsonl":
		return true
	case !strings.HasSuffix(base, ".jsonl"):
		return json.NewDecoder(bytes.NewReader(content)).Decode(&map[string]any{}) == nil
	}
	for line := range bytes.Lines(content) {
		if json.Unmarshal(line, &map[string]any{}) != nil {
			return false
		}
	}
	return true
}
