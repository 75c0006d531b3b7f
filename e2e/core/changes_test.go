package core

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
)

// diffStep and fileDiff are what the word "edits" of the scripted Agent reads.
type diffStep struct {
	Call   string `json:"call,omitempty"`
	Status string `json:"status,omitempty"`
	Kind   string `json:"kind,omitempty"`
	Parent string `json:"parent,omitempty"`
	Agent  bool   `json:"agent,omitempty"`
	Diffs  any    `json:"diffs,omitempty"` // []fileDiff; clear and null are the two ways to take them back
	Pause  string `json:"pause,omitempty"`
}

type fileDiff struct {
	Path string  `json:"path"`
	Old  *string `json:"oldText"`
	New  string  `json:"newText"`
	Kind string  `json:"kind,omitempty"`
}

var (
	clearDiffs = []fileDiff{}
	nullDiffs  = json.RawMessage("null")
)

func edits(steps ...diffStep) string {
	b, err := json.Marshal(steps)
	if err != nil {
		panic(err)
	}
	return "edits " + strings.ReplaceAll(string(b), ";", `\u003b`)
}

// one is a completed call of its own.
func one(diffs ...fileDiff) diffStep { return diffStep{Diffs: diffs} }

func set(diffs ...fileDiff) []fileDiff { return diffs }

// edited, added and removed are diffs of the file f.
func edited(from, to string) fileDiff { return fileDiff{Path: "f", Old: &from, New: to} }
func added(text string) fileDiff      { return fileDiff{Path: "f", New: text, Kind: "add"} }
func removed(text string) fileDiff    { return fileDiff{Path: "f", Old: &text, Kind: "delete"} }

func (d fileDiff) at(path string) fileDiff   { d.Path = path; return d }
func (d fileDiff) hint(kind string) fileDiff { d.Kind = kind; return d }

// changeCases are the sequences of R-CHAT-101 and 102, as an Agent sends them, and what a page gets for each: "added f
// ∅→x", segments parted by " | ".
var changeCases = []struct {
	name, words string
	want        []string
}{
	{"1", edits(one(added("x"))), []string{"added f ∅→x"}},
	{"2", edits(one(added("x")), one(edited("x", "y"))), []string{"added f ∅→y"}},
	{"3", edits(one(added("x")), one(removed("x"))), nil},
	{"4", edits(one(edited("a", "b")), one(edited("b", "c"))), []string{"modified f a→c"}},
	{"5", edits(one(edited("a", "b")), one(edited("b", "a"))), nil},
	{"6", edits(one(edited("a", "b")), one(removed("b"))), []string{"deleted f a→∅"}},
	{"7", edits(one(removed("a")), one(added("a"))), nil},
	{"8", edits(one(removed("a")), one(added("b"))), []string{"modified f a→b"}},
	{"9", edits(one(added(""))), []string{"added f ∅→"}},
	{"9 without hint", edits(one(added("").hint(""))), []string{"added f ∅→"}},
	{"10 without hint", edits(one(edited("a", ""))), []string{"deleted f a→∅"}},
	{"10 with hint", edits(one(edited("a", "").hint("update"))), []string{"modified f a→"}},
	{"11", edits(one(edited("p", "q")), one(edited("r", "s"))), []string{"modified f p→q | r→s"}},
	{"12", edits(one(edited("p", "q")), one(edited("1 q 2", "z"))), []string{"modified f 1 p 2→z"}},
	{"13", edits(one(edited("a", "1 b 2")), one(edited("b", "c"))), []string{"modified f a→1 c 2"}},
	{"14 sent again", edits(diffStep{Call: "1", Diffs: set(edited("a", "b"))}, diffStep{Call: "1", Status: "completed", Diffs: set(edited("a", "b"))}),
		[]string{"modified f a→b"}},
	{"14 replaced by hunks", edits(diffStep{Call: "1", Diffs: set(edited("1 a 2 c 3", "1 b 2 d 3"))},
		diffStep{Call: "1", Status: "completed", Diffs: set(edited("a", "b"), edited("c", "d"))}), []string{"modified f a→b | c→d"}},
	{"15 empty list", edits(diffStep{Call: "1", Diffs: set(edited("a", "b"))}, diffStep{Call: "1", Status: "completed", Diffs: clearDiffs}), nil},
	{"15 null", edits(diffStep{Call: "1", Diffs: set(edited("a", "b"))}, diffStep{Call: "1", Status: "completed", Diffs: nullDiffs}), nil},
	{"16", edits(one(edited("a", "b")), diffStep{Status: "failed", Diffs: set(edited("b", "c"))}), []string{"modified f a→b"}},
	{"17", edits(diffStep{Kind: "move"}), nil},
	{"18", edits(one(removed("a").at("p"), added("a").at("q"))), []string{"deleted p a→∅", "added q ∅→a"}},
	{"19", edits(one(edited("a", "b")), one(edited("a", "c").at("F"))), []string{"modified f a→b", "modified F a→c"}},
	{"20", edits(diffStep{Call: "1"}, diffStep{Call: "2"}, diffStep{Call: "2", Status: "completed", Diffs: set(edited("b", "c"))},
		diffStep{Call: "1", Status: "completed", Diffs: set(edited("a", "b"), edited("1", "2").at("g"))}),
		[]string{"modified f a→c", "modified g 1→2"}},
	{"21", edits(one(edited("a", "b")), one(added("c").hint(""))), []string{"modified f a→c"}},
	{"an open call", edits(one(edited("a", "b")), diffStep{Status: "in_progress", Diffs: set(edited("b", "c"))}), []string{"modified f a→b"}},
	{"a subagent", edits(diffStep{Call: "root", Agent: true, Diffs: set(edited("1", "2"))},
		diffStep{Call: "child", Parent: "root", Status: "completed", Diffs: set(edited("3", "4"))},
		diffStep{Call: "root", Status: "completed"}, one(edited("a", "b"))), []string{"modified f a→b"}},
	{"one path spelled differently", edits(one(edited("a", "b").at("./d/../f")), one(edited("b", "c"))), []string{"modified f a→c"}},
}

func (c *served) changes(s fyllo.SessionID, message string) fyllo.FileChanges {
	c.t.Helper()
	var out fyllo.FileChanges
	c.must(http.MethodGet, changesPath(s, message), nil, &out)
	return out
}

func changesPath(s fyllo.SessionID, message string) string {
	return sessionPath(s, "/messages/"+url.PathEscape(message)+"/changes")
}

// net returns the changes of an answer with their texts, in the form of changeCases.
func (c *served) net(s fyllo.SessionID, message string) []string {
	c.t.Helper()
	text := func(s *string) string {
		if s == nil {
			return "∅"
		}
		return *s
	}
	var out []string
	for _, change := range c.changes(s, message).Changes {
		var file fyllo.FileText
		c.must(http.MethodGet, changesPath(s, message)+"/file?path="+url.QueryEscape(change.Path), nil, &file)
		if d := cmp.Diff(change, file.FileChange); d != "" {
			c.t.Errorf("%s: list and file differ: %s", change.Path, d)
		}
		var segments []string
		for _, seg := range file.Texts {
			segments = append(segments, text(seg.Old)+"→"+text(seg.New))
		}
		path, err := filepath.Rel(c.l.project, change.Path)
		if err != nil {
			c.t.Error(err)
		}
		out = append(out, fmt.Sprintf("%s %s %s", change.Change, path, strings.Join(segments, " | ")))
	}
	return out
}

// answers returns the ids of the answers of a Session.
func (c *served) answers(s fyllo.SessionID) []string {
	c.t.Helper()
	var out []string
	for _, m := range c.messages(s) {
		if m.Role == fyllo.RoleAssistant {
			out = append(out, m.ID)
		}
	}
	return out
}

// TestFileChanges_R_CHAT_097_098_099_100_101_102_105 plays every sequence through an Agent, asks for its net changes
// behind the turn and again after a restart, and wants no other answer to be a source.
func TestFileChanges_R_CHAT_097_098_099_100_101_102_105(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	var s fyllo.SessionID
	for i, tc := range changeCases {
		if i == 0 {
			s = c.start(c.agent("default"), tc.words)
		} else {
			c.send(s, tc.words)
		}
		c.idle(s)
		all := c.answers(s)
		if len(all) != i+1 {
			t.Fatalf("%s: %d answers, want %d", tc.name, len(all), i+1)
		}
		if d := cmp.Diff(tc.want, c.net(s, all[i])); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, d)
		}
	}
	c.stop()
	c = l.serve()
	for i, id := range c.answers(s) {
		if d := cmp.Diff(changeCases[i].want, c.net(s, id)); d != "" {
			t.Errorf("%s after a restart (-want +got):\n%s", changeCases[i].name, d)
		}
	}
}

// TestFileChangesSurviveACrash_R_CHAT_097_098 asks while a turn runs, kills Core in it, and asks the next Core; then
// the same for a turn that ended. Long texts are among them.
func TestFileChangesSurviveACrash_R_CHAT_097_098(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	agent := c.agent("default")
	words := edits(one(added("1")), one(edited("1", "2")), one(edited("p", "q").at("g")), one(edited("r", "s").at("g"))) +
		"; bigdiff 2000 5; bigdiff 500 all"
	open := edits(diffStep{Call: "open", Status: "in_progress", Diffs: set(edited("a", "b").at("open"))})
	s := c.start(agent, words+"; "+open+"; hang")
	var running fyllo.FileChanges
	eventually(t, "the changes are seen live", func() bool {
		if live := c.detail(s).Live; live != nil {
			running = c.changes(s, live.ID)
		}
		return len(running.Changes) == 5
	})
	texts := c.net(s, running.MessageID)
	c.kill()
	c = l.serve()
	if id := c.answers(s)[0]; id != running.MessageID {
		t.Fatalf("the answer is %s, and was %s", id, running.MessageID)
	}
	want := fyllo.FileChanges{MessageID: running.MessageID, Changes: running.Changes[:4]} // the open call was interrupted
	if d := cmp.Diff(want, c.changes(s, want.MessageID)); d != "" {
		t.Errorf("after the crash (-want +got):\n%s", d)
	}
	if d := cmp.Diff(texts[:4], c.net(s, want.MessageID)); d != "" {
		t.Errorf("texts after the crash differ: %d bytes", len(d))
	}

	c.send(s, words)
	c.idle(s)
	second := c.answers(s)[1]
	ended := c.changes(s, second)
	c.stored(s)
	if d := cmp.Diff(ended, c.changes(s, second)); d != "" {
		t.Errorf("stored (-ended +stored):\n%s", d)
	}
	c.kill()
	c = l.serve()
	if d := cmp.Diff(ended, c.changes(s, second)); d != "" {
		t.Errorf("after a crash behind the turn (-ended +got):\n%s", d)
	}
	for i := range ended.Changes {
		if ended.Changes[i].Version != want.Changes[i].Version {
			t.Errorf("%s: the same texts have the versions %s and %s", ended.Changes[i].Path, ended.Changes[i].Version, want.Changes[i].Version)
		}
	}
}

// TestAKillLosesNoChangeThatWasSeen_R_CHAT_097 kills Core at random points while files change, and wants everything
// that a page had been told to be there afterwards.
func TestAKillLosesNoChangeThatWasSeen_R_CHAT_097(t *testing.T) {
	l := newLab(t)
	c := l.serve()
	agent := c.agent("default")
	var steps []diffStep
	for i := range 400 {
		d := added(strings.Repeat(fmt.Sprint(i, " "), 1000)).at(fmt.Sprint("f", i))
		steps = append(steps, diffStep{Diffs: set(d), Pause: "1ms"})
	}
	for round := range 5 {
		s := c.start(agent, edits(steps...)+"; hang")
		var seen fyllo.FileChanges
		enough := 1 + rand.IntN(200) // the random point of the kill is the test itself
		eventually(t, "enough changes are seen", func() bool {
			if live := c.detail(s).Live; live != nil {
				seen = c.changes(s, live.ID)
			}
			return len(seen.Changes) >= enough
		})
		c.kill()
		l.noAgentProcess(3 * time.Second)
		c = l.serve()
		got := c.changes(s, seen.MessageID).Changes
		if len(got) < len(seen.Changes) {
			t.Fatalf("round %d: %d changes were seen, %d are left", round, len(seen.Changes), len(got))
		}
		if d := cmp.Diff(seen.Changes, got[:len(seen.Changes)]); d != "" {
			t.Fatalf("round %d (-seen +left):\n%s", round, d)
		}
	}
}
