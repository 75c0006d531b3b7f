package records_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/records"
)

func messagesFile(root string) string {
	return filepath.Join(sessionsDir(root), string(sid)+".messages.jsonl")
}

// Long bodies leave a preview in the transcript and come back byte for byte.
func TestLongBodiesAreMovedOut(t *testing.T) {
	s, root := newSession(t)
	long := map[string]string{
		"ascii":   strings.Repeat("x", fyllo.BodyPreview+1),
		"runes":   strings.Repeat("é", 3000) + "\n\"\\\u2028",
		"invalid": strings.Repeat("a\xffb", 2000),
		"json":    `{"a":"` + strings.Repeat("<&>", 1000) + `"}`,
	}
	short := strings.Repeat("y", fyllo.BodyPreview)
	m := text("m1", "text")
	m.Parts = append(m.Parts,
		fyllo.Part{Type: fyllo.PartAttachment, Attachment: &fyllo.Attachment{Data: &fyllo.Body{Text: long["ascii"]}}},
		fyllo.Part{Type: fyllo.PartTool, Tool: &fyllo.Tool{
			Input: &fyllo.Body{Text: long["json"], JSON: true}, Output: &fyllo.Body{Text: long["runes"]}, Error: &fyllo.Body{Text: short},
			Diffs: []fyllo.Diff{{Path: "/a", Old: &fyllo.Body{Text: long["invalid"]}, New: &fyllo.Body{Text: "new"}}},
		}})
	full := fmt.Sprint(m.Parts[2].Tool.Output.Text)
	if _, err := s.AppendMessage(wid, sid, m); err != nil { // so that the second one begins behind it
		t.Fatal(err)
	}
	m.ID = "m2"
	light, err := s.AppendMessage(wid, sid, m)
	if err != nil {
		t.Fatal(err)
	}
	if m.Parts[2].Tool.Output.Text != full || m.Parts[2].Tool.Output.Ref != nil {
		t.Error("the caller's message was changed")
	}
	s, _ = openStore(t, root)
	page := all(t, s)
	if d := cmp.Diff(light, page.Messages[2]); d != "" {
		t.Errorf("what was returned differs from what was stored: %s", d)
	}
	tool := light.Parts[2].Tool
	for name, b := range map[string]*fyllo.Body{"ascii": light.Parts[1].Attachment.Data, "json": tool.Input, "runes": tool.Output, "invalid": tool.Diffs[0].Old} {
		if b.Ref == nil || len(b.Text) > fyllo.BodyPreview || b.Size != len(long[name]) || name != "invalid" && b.Text != fyllo.Preview(long[name]) {
			t.Errorf("%s: light form %+v", name, b)
			continue
		}
		got, err := s.Body(wid, sid, *b.Ref)
		if err != nil || string(got) != long[name] {
			t.Errorf("%s: body of %d bytes, %v", name, len(got), err)
		}
	}
	if tool.Error.Ref != nil || tool.Error.Text != short || tool.Error.Size != len(short) {
		t.Errorf("a short body was moved: %+v", tool.Error)
	}
	// A light message that replaces the stored one keeps its bodies where they are.
	size := func() int64 {
		info, _ := os.Stat(filepath.Join(sessionsDir(root), string(sid), "bodies.jsonl"))
		return info.Size()
	}
	before := size()
	light.Rev = 1
	if _, err := s.AppendMessage(wid, sid, light); err != nil || size() != before {
		t.Errorf("bodies grew from %d to %d, %v", before, size(), err)
	}
}

func TestBodyThatIsNotThere(t *testing.T) {
	s, root := newSession(t)
	_, err := s.Body(wid, sid, fyllo.BodyRef{})
	wantCode(t, err, fyllo.CodeNotFound)
	_, err = s.Body(wid, sid, fyllo.BodyRef{Length: 5})
	wantCode(t, err, fyllo.CodeNotFound)
	mustWrite(t, filepath.Join(sessionsDir(root), string(sid), "bodies.jsonl"), "\"abc\"\n\"def\"\n")
	for _, ref := range []fyllo.BodyRef{{Length: 3}, {Offset: 1, Length: 4}, {Offset: 6, Length: 50}, {Offset: 1 << 62, Length: 1 << 62}, {Length: 11}} {
		_, err = s.Body(wid, sid, ref)
		wantCode(t, err, fyllo.CodeStorageDamaged)
	}
	m := text("m1", "x")
	m.Parts = append(m.Parts, fyllo.Part{Type: fyllo.PartTool, Tool: &fyllo.Tool{Output: &fyllo.Body{Text: "preview", Size: 5000, Ref: &fyllo.BodyRef{}}}})
	if _, err := s.AppendMessage(wid, sid, m); err == nil {
		t.Error("a message whose text is nowhere was stored")
	}
}

func TestSupersedingLineTakesThePlaceOfTheOriginal_R_CHAT_161_162(t *testing.T) {
	s, _ := newSession(t)
	for i := 1; i <= 5; i++ {
		s.AppendMessage(wid, sid, text(fmt.Sprint("m", i), "old"))
	}
	for rev, id := range []string{"m1", "m4", "m1"} {
		m := text(id, fmt.Sprint("rev", rev+1))
		m.Rev = rev + 1
		if _, err := s.AppendMessage(wid, sid, m); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"m0=first", "m1=rev3", "m2=old", "m3=old", "m4=rev2", "m5=old"}
	if got := texts(all(t, s).Messages); !slices.Equal(got, want) {
		t.Errorf("whole: %v, want %v", got, want)
	}
	if got := paged(t, s, 1); !slices.Equal(texts(got), want) {
		t.Errorf("paged: %v, want %v", texts(got), want)
	}
}

// paged reads the transcript page by page.
func paged(t testing.TB, s *records.Store, limit int) []fyllo.Message {
	t.Helper()
	var out []fyllo.Message
	for before := ""; ; {
		page, err := s.Messages(wid, sid, before, limit)
		if err != nil {
			t.Fatal(err)
		}
		if limit > 0 && page.Before != "" && len(page.Messages) != limit {
			t.Fatalf("a page of %d messages, want %d", len(page.Messages), limit)
		}
		out = append(slices.Clone(page.Messages), out...)
		if before = page.Before; before == "" {
			return out
		}
	}
}

func TestCursorsStayValid(t *testing.T) {
	s, root := newSession(t)
	for i := 1; i <= 5; i++ {
		s.AppendMessage(wid, sid, text(fmt.Sprint("m", i), "old"))
	}
	page, err := s.Messages(wid, sid, "", 2)
	if err != nil {
		t.Fatal(err)
	}
	s.AppendMessage(wid, sid, text("m6", "later"))
	for rev := 1; rev <= 2; rev++ { // of an older message, and of one that was read already
		for _, id := range []string{"m1", "m5"} {
			m := text(id, fmt.Sprint("rev", rev))
			m.Rev = rev
			s.AppendMessage(wid, sid, m)
		}
	}
	want := []string{"m0=first", "m1=rev2", "m2=old", "m3=old"}
	older, err := s.Messages(wid, sid, page.Before, 0)
	if got := texts(older.Messages); !slices.Equal(got, want) || err != nil {
		t.Errorf("appended meanwhile: %v, %v, want %v", got, err, want)
	}
	// Many revisions make a compaction due, which moves everything.
	before, _ := os.Stat(messagesFile(root))
	for rev := 3; rev <= 30; rev++ {
		m := text("m1", fmt.Sprint("rev", rev))
		m.Rev = rev
		if _, err := s.AppendMessage(wid, sid, m); err != nil {
			t.Fatal(err)
		}
	}
	after, _ := os.Stat(messagesFile(root))
	if after.Size() > 2*before.Size() {
		t.Errorf("%d bytes after 30 revisions, %d before: not compacted", after.Size(), before.Size())
	}
	want[1] = "m1=rev30"
	older, err = s.Messages(wid, sid, page.Before, 0)
	if got := texts(older.Messages); !slices.Equal(got, want) || err != nil {
		t.Errorf("after compaction: %v, %v, want %v", got, err, want)
	}
	for _, bad := range []string{"x", "!!", "e30", page.Before[:len(page.Before)-2], page.Before + "AA"} {
		_, err := s.Messages(wid, sid, bad, 1)
		wantCode(t, err, fyllo.CodeInvalidRequest)
	}
	os.WriteFile(messagesFile(root), []byte("{\"id\":\"z\"}\n"), 0o600)
	_, err = s.Messages(wid, sid, page.Before, 1)
	wantCode(t, err, fyllo.CodeInvalidRequest)
}

func TestDamageIsReportedAndKeepsCompactionAway_R_WS_131_R_CHAT_162(t *testing.T) {
	s, root := newSession(t)
	path := messagesFile(root)
	first, _ := os.ReadFile(path)
	bad := "{\"id\":\"lost\",\"role\":\x00\n"
	mustWrite(t, path, string(first)+bad)
	s.SetComposerText(wid, sid, "")
	m := text("m1", "x")
	if _, err := s.AppendMessage(wid, sid, m); err != nil {
		t.Fatal(err)
	}
	// The last line was torn: it was cut, with a copy. Damage before the end stays where it is.
	if b, _ := os.ReadFile(path + ".torn-1"); string(b) != bad {
		t.Errorf("copy %q", b)
	}
	now, _ := os.ReadFile(path)
	mustWrite(t, path, string(first)+bad+string(now[len(first):]))
	for rev := 1; rev <= 20; rev++ {
		m.Rev = rev
		if _, err := s.AppendMessage(wid, sid, m); err != nil {
			t.Fatal(err)
		}
	}
	lost := text("lost", "saved")
	lost.Rev = 1
	if _, err := s.AppendMessage(wid, sid, lost); err != nil {
		t.Fatal(err)
	}
	page := all(t, s)
	if want := []string{"m0=first", "lost=saved", "m1=x"}; !slices.Equal(texts(page.Messages), want) {
		t.Errorf("messages %v, want %v", texts(page.Messages), want)
	}
	if len(page.Damage) != 1 || page.Damage[0].Offset != int64(len(first)) || page.Damage[0].Length != int64(len(bad)) ||
		page.Damage[0].File != "workspaces/folder-1/sessions/session-1.messages.jsonl" {
		t.Errorf("damage %+v", page.Damage)
	}
	if b, _ := os.ReadFile(path); !strings.Contains(string(b), bad) {
		t.Error("the damaged line is gone")
	}
}

func TestVersionWhoseOriginalIsLostIsShown(t *testing.T) {
	s, _ := newSession(t)
	for i := 1; i <= 3; i++ {
		m := text(fmt.Sprint("m", i), "x")
		m.Rev = i % 2 // m1 and m3 have no original
		s.AppendMessage(wid, sid, m)
	}
	want := []string{"m1=x", "m3=x", "m0=first", "m2=x"}
	if got := texts(all(t, s).Messages); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestMissingTranscriptIsEmpty(t *testing.T) {
	s, root := newSession(t)
	os.Remove(messagesFile(root))
	page := all(t, s)
	if page.Messages == nil || len(page.Messages) != 0 || page.Before != "" {
		t.Errorf("page %+v", page)
	}
	if _, err := s.AppendMessage(wid, sid, text("m1", "x")); err != nil || len(all(t, s).Messages) != 1 {
		t.Error(err)
	}
}

// Any sequence of appends, replacements, repetitions, damage, restarts and reads in pages equals a simple model.
func TestTranscriptEqualsModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		root, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		s, _ := openStore(t, root)
		if _, err := s.CreateSession(wid, metaOf(sid), text("m0", "first")); err != nil {
			rt.Fatal(err)
		}
		model, revs, damaged := []string{"m0=first"}, map[int]int{}, 0
		put := func(i int, body string, rev int) {
			m := text(fmt.Sprint("m", i), body)
			m.Rev = rev
			if _, err := s.AppendMessage(wid, sid, m); err != nil {
				rt.Fatal(err)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(*rapid.T) {
				put(len(model), "x", 0)
				model = append(model, fmt.Sprintf("m%d=x", len(model)))
			},
			"repeat the last": func(*rapid.T) {
				last := len(model) - 1
				if revs[last] == 0 {
					_, body, _ := strings.Cut(model[last], "=")
					put(last, body, 0)
				}
			},
			"replace": func(rt *rapid.T) {
				i := rapid.IntRange(0, len(model)-1).Draw(rt, "i")
				revs[i]++
				body := fmt.Sprint("rev", revs[i])
				put(i, body, revs[i])
				model[i] = fmt.Sprintf("m%d=%s", i, body)
			},
			"damage": func(*rapid.T) {
				f, _ := os.OpenFile(messagesFile(root), os.O_WRONLY|os.O_APPEND, 0)
				fmt.Fprintf(f, "garbage %d\n{\"id\":\"x\",\"par", damaged) // one damaged line and a torn tail
				f.Close()
				put(len(model), "after", 0)
				model = append(model, fmt.Sprintf("m%d=after", len(model)))
				damaged++
			},
			"restart": func(*rapid.T) { s, _ = openStore(t, root) },
			"": func(rt *rapid.T) {
				page := all(t, s)
				if d := cmp.Diff(model, texts(page.Messages)); d != "" {
					rt.Fatal(d)
				}
				if len(page.Damage) != damaged {
					rt.Fatalf("%d damaged lines, want %d", len(page.Damage), damaged)
				}
				limit := rapid.IntRange(1, 4).Draw(rt, "limit")
				if d := cmp.Diff(model, texts(paged(t, s, limit))); d != "" {
					rt.Fatal(d)
				}
			},
		})
	})
}
