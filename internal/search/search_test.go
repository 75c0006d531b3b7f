package search_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/search"
)

func TestWhatMatches_R_CHAT_019(t *testing.T) {
	for _, c := range []struct {
		name, text, query string
		want              string // what is marked; "" for no hit
	}{
		{"case", "The Parser failed", "parser FAILED", "Parser failed"},
		{"blanks at the ends", "abc", "  b ", "b"},
		{"blanks in the text", "one \n\t two", "one two", "one   two"},
		{"blanks in the query", "one two", "one \n two", "one two"},
		{"ideographic space", "一　二", "一 二", "一　二"},
		{"no-break space", "a\u00a0b", "a b", "a\u00a0b"},
		{"not across words", "ab", "a b", ""},
		{"accents count", "Café", "cafe", ""},
		{"case of accents", "CAFÉ", "café", "CAFÉ"},
		{"regular expression", "a.c abc", "a.c", "a.c"},
		{"every special character", `x .*+?^$(){}|[]\/"'<>&%_ y`, `.*+?^$(){}|[]\/"'<>&%_`, `.*+?^$(){}|[]\/"'<>&%_`},
		{"dotted capital I", "İstanbul", "istanbul", "İstanbul"},
		{"dotless i is no i", "ılık", "ilik", ""},
		{"I is i in every language", "TITLE", "title", "TITLE"},
		{"sharp s", "STRAẞE", "straße", "STRAẞE"},
		{"sharp s is not ss", "Strasse", "straße", ""},
		{"final sigma", "ΟΔΟΣ ὁδός", "οδος", "ΟΔΟΣ"},
		{"sigma within", "σοφός", "ΣΟΦΌΣ", "σοφός"},
		{"Kelvin", "5 \u212A", "5 k", "5 \u212A"},
		{"long s", "ſhip", "SHIP", "ſhip"},
		{"Cyrillic", "Привет, мир", "ПРИВЕТ", "Привет"},
		{"Chinese", "修复了解析器的错误", "解析器", "解析器"},
		{"emoji", "done 👩‍💻 now", "👩‍💻", "👩‍💻"},
		{"half of an emoji is another", "👩", "👨", ""},
		{"the second of two beginnings", "aab", "ab", "ab"},
		{"self-overlapping", "ababac", "abac", "abac"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{}
			w.add("session-1", c.text, "")
			w.add("session-2", "", lines(said("m", "before "+c.text+" behind")))
			hits := w.find(t, c.query)
			if c.want == "" {
				if len(hits) != 0 {
					t.Fatalf("found %s", ids(hits))
				}
				return
			}
			if got := ids(hits); got != "session-1 title, session-2 message" {
				t.Fatalf("found %q", got)
			}
			if got := strings.ReplaceAll(marked(c.text, hits[0].Mark), "\n\t", " "); got != c.want {
				t.Errorf("marked %q in the title, want %q", got, c.want)
			}
			if got, want := marked(hits[1].Snippet, hits[1].Mark), plain(c.want, false); got != want {
				t.Errorf("marked %q in %q, want %q", got, hits[1].Snippet, want)
			}
		})
	}
}

func TestQueryLimits_R_CHAT_019(t *testing.T) {
	w := &world{}
	w.add("session-1", strings.Repeat("😀", 100), "")
	for query, want := range map[string]int{"": 0, " \n\t ": 0, strings.Repeat("😀", 100): 1, " " + strings.Repeat("😀", 100) + " ": 1} {
		if got := len(w.find(t, query)); got != want {
			t.Errorf("%q found %d", query, got)
		}
	}
	_, err := search.New(w, w).Find(t.Context(), workspace, strings.Repeat("😀", 100)+"x", 50)
	if fyllo.CodeOf(err) != fyllo.CodeInvalidRequest {
		t.Errorf("201 units: %v", err)
	}
}

func TestWhatIsSearched_R_CHAT_018_158(t *testing.T) {
	text := func(s string) fyllo.Part { return fyllo.Part{Type: fyllo.PartText, Text: s} }
	message := func(role fyllo.Role, parts ...fyllo.Part) fyllo.Message {
		return fyllo.Message{ID: "m", Role: role, Parts: parts}
	}
	body := &fyllo.Body{Text: "needle"}
	const framed = "<system-reminder>\nneedle\n</system-reminder>"
	for _, c := range []struct {
		name string
		m    fyllo.Message
		want bool
	}{
		{"user", message(fyllo.RoleUser, text("a needle")), true},
		{"assistant", message(fyllo.RoleAssistant, text("a needle")), true},
		{"nobody we know", message("system", text("a needle")), false},
		{"second text", message(fyllo.RoleAssistant, text("a"), text("needle")), true},
		{"not across parts", message(fyllo.RoleAssistant, text("nee"), text("dle")), false},
		{"reasoning", message(fyllo.RoleAssistant, fyllo.Part{Type: fyllo.PartReasoning, Text: "needle"}), false},
		{"reminder", message(fyllo.RoleUser, fyllo.Part{Type: fyllo.PartReminder, Text: "needle"}, text("x")), false},
		{"tool", message(fyllo.RoleAssistant, fyllo.Part{Type: fyllo.PartTool, Tool: &fyllo.Tool{
			CallID: "needle", Title: "needle", Name: "needle", Input: body, Output: body, Error: body,
			Diffs: []fyllo.Diff{{Path: "needle", New: body}}, Locations: []fyllo.Location{{Path: "needle"}},
		}}), false},
		{"attachment", message(fyllo.RoleUser, text("x"), fyllo.Part{Type: fyllo.PartAttachment, Attachment: &fyllo.Attachment{
			Name: "needle", URI: "needle", Data: body, IsText: true, File: "needle",
		}}), false},
		{"subagent", message(fyllo.RoleAssistant, fyllo.Part{Type: fyllo.PartText, Text: "needle", ParentID: "call"}), false},
		{"model", fyllo.Message{ID: "needle", Role: fyllo.RoleUser, Model: "needle", RequestID: "needle", Parts: []fyllo.Part{text("x")}}, false},
		{"typed text that looks like a reminder", message(fyllo.RoleUser, text(framed)), true},
		{"typed behind a marked reminder", message(fyllo.RoleUser, fyllo.Part{Type: fyllo.PartReminder, Text: "x"}, text(framed)), true},
		{"old reminder", message(fyllo.RoleUser, text(framed), text("hello")), false},
		{"old reminder with blanks around", message(fyllo.RoleUser, text("\n "+framed+" \n"), text("hello")), false},
		{"text beside an old reminder", message(fyllo.RoleUser, text(framed), text("needle")), true},
		{"text in the part of an old reminder", message(fyllo.RoleUser, text("<system-reminder>x</system-reminder> a needle"), text("b")), true},
		{"old reminder with text in its part", message(fyllo.RoleUser, text(framed+" hello"), text("b")), false},
		{"reminder without an end", message(fyllo.RoleUser, text("<system-reminder> needle"), text("b")), true},
		{"an Agent that speaks of reminders", message(fyllo.RoleAssistant, text(framed), text("b")), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{}
			w.add("session-1", "", lines(c.m))
			if got := len(w.find(t, "Needle")) > 0; got != c.want {
				t.Errorf("found: %v", got)
			}
			if got := reference(lines(c.m), "Needle") != ""; got != c.want {
				t.Errorf("the reference finds: %v", got)
			}
		})
	}
}

func TestOrderAndLimit_R_CHAT_020(t *testing.T) {
	w := &world{}
	w.add("session-a", "x", lines(said("m1", "oak")))
	w.add("session-oak", "x", lines(said("m1", "oak")))
	w.add("session-b", "Oak and oak", lines(said("m1", "oak")))
	w.add("session-c", "x", lines(said("m1", "elm")))
	w.add("session-d", "x", lines(said("m1", "the OAK"), said("m2", "oak")))
	w.add("session-OAK2", "an oak", "")
	const want = "session-b title, session-OAK2 title, session-oak id, session-a message, session-d message"
	hits := w.find(t, "oak")
	if got := ids(hits); got != want {
		t.Fatalf("found %s", got)
	}
	if h := hits[4]; h.MessageID != "m1" || h.Snippet != "the OAK" || marked(h.Snippet, h.Mark) != "OAK" || !h.UpdatedAt.Equal(start.Add(-4*time.Hour)) {
		t.Errorf("hit: %+v", h)
	}
	for limit := range 7 {
		w.opened = nil
		hits, err := search.New(w, w).Find(t.Context(), workspace, "oak", limit)
		if n := min(max(limit, 1), 5); err != nil || ids(hits) != strings.Join(strings.Split(want, ", ")[:n], ", ") {
			t.Errorf("limit %d: %s, %v", limit, ids(hits), err)
		}
		if limit == 4 && len(w.opened) != 1 {
			t.Errorf("with the fourth hit found, %v were read", w.opened)
		}
	}
	if hits, err := search.New(w, w).Find(t.Context(), "other", "oak", 50); err != nil || len(hits) != 0 {
		t.Errorf("another Workspace: %v, %v", hits, err)
	}
}

func TestManyHits_R_CHAT_020(t *testing.T) {
	w := &world{}
	for i := range 120 {
		w.add(fmt.Sprintf("session-%03d", i), "", lines(said("m", "oak")))
	}
	hits, err := search.New(w, w).Find(t.Context(), workspace, "oak", 1000)
	if err != nil || len(hits) != 50 || hits[49].SessionID != "session-049" || len(w.opened) != 50 {
		t.Errorf("%d hits, %d read, %v", len(hits), len(w.opened), err)
	}
}

// What all ids begin with says nothing about one of them.
func TestIDs_R_CHAT_018(t *testing.T) {
	w := &world{}
	w.add("session-face12", "", "")
	w.add("imported", "", "")
	for query, want := range map[string]string{
		"SESSION-FACE12": "session-face12 id", "face": "session-face12 id", "n-f": "session-face12 id", "e1": "session-face12 id",
		"session": "", "on": "", "session-": "", "port": "imported id",
	} {
		if got := ids(w.find(t, query)); got != want {
			t.Errorf("%q found %q", query, got)
		}
	}
}

func TestSupersededAndDamagedLines_R_CHAT_023_162(t *testing.T) {
	newer := func(m fyllo.Message, rev int) fyllo.Message { m.Rev = rev; return m }
	long := said("long", strings.Repeat("filler ", 100_000))
	for _, c := range []struct{ name, file, want string }{
		{"an older version", lines(said("m", "needle"), newer(said("m", "gone"), 1)), ""},
		{"a newer version", lines(said("m", "old"), said("n", "x"), newer(said("m", "needle"), 1)), "m"},
		{"the newest of three", lines(said("m", "needle"), newer(said("m", "gone"), 1), newer(said("m", "needle 2"), 2)), "m"},
		{"another message", lines(said("m", "needle"), newer(said("m", "gone"), 1), said("n", "needle")), "n"},
		{"much in between", lines(said("m", "needle"), long, newer(said("m", "gone"), 1)), ""},
		{"an id within another", lines(said("m", "needle"), said("mm", "m m"), newer(said("xm", "gone"), 1)), "m"},
		{"an id to be escaped", lines(said(`m"\`, "needle"), newer(said(`m"\`, "gone"), 1)), ""},
		{"damage before", "{\"id\":\n\x00\xff\n\n" + lines(said("m", "needle")), "m"},
		{"damage in the line", strings.Replace(lines(said("m", "needle")), `"parts"`, `"parts`, 1) + lines(said("n", "needle")), "n"},
		{"a torn tail", lines(said("n", "x")) + strings.TrimSuffix(lines(said("m", "needle")), "}\n"), ""},
		{"no newline at the end", strings.TrimSpace(lines(said("m", "needle"))), "m"},
		{"a newer version that is damaged", lines(said("m", "needle")) + `{"id":"m","rev":1,"parts":[` + "\n", "m"},
		{"two values on a line", `{"id":"m","role":"user","parts":[{"type":"text","text":"needle"}]} {}` + "\n", ""},
		{"no id", `{"role":"user","parts":[{"type":"text","text":"needle"}]}` + "\n", ""},
		{"other order of members", `{ "parts" : [ { "text" : "needle" , "x" : [ 1.5e-3 , null , true ] , "type" : "text" } ] , "role" : "user" , "id" : "m" }` + "\n", "m"},
		{"escaped", `{"id":"m","role":"user","parts":[{"type":"text","text":"\u006Eeedl\u0065"}]}` + "\n", "m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{}
			w.add("session-1", "", c.file)
			got := ""
			if hits := w.find(t, "needle"); len(hits) > 0 {
				got = hits[0].MessageID
			}
			if got != c.want || reference(c.file, "needle") != c.want {
				t.Errorf("found %q, the reference %q, want %q", got, reference(c.file, "needle"), c.want)
			}
		})
	}
}

// broken is a file whose disk fails behind the first bytes.
type broken struct{ *strings.Reader }

func (b broken) ReadAt(p []byte, at int64) (int, error) {
	if at > 0 {
		return 0, errDisk
	}
	return b.Reader.ReadAt(p[:min(len(p), 10)], at)
}

func TestUnreadableSessionIsSkipped_R_CHAT_023(t *testing.T) {
	w := &world{}
	w.addFile("session-a", "", nil)
	w.addFile("session-b", "", broken{strings.NewReader(lines(said("m", "needle")))})
	w.addFile("session-c", "", cut{})
	w.add("session-d", "", lines(said("m", "needle")))
	if got := ids(w.find(t, "needle")); got != "session-d message" {
		t.Errorf("found %q", got)
	}
}

// cut is a file that was cut after its size was taken.
type cut struct{}

func (cut) Size() int64                            { return 100 }
func (cut) ReadAt(p []byte, at int64) (int, error) { return 0, io.EOF }

// slow is an endless-seeming file that tells when it is read, and can be held.
type slow struct {
	size    int64
	reading chan struct{}
	hold    chan struct{}
}

func (s slow) Size() int64 { return s.size }

func (s slow) ReadAt(p []byte, _ int64) (int, error) {
	s.reading <- struct{}{}
	<-s.hold
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestOneScanAtATime_R_CHAT_021(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := slow{size: 1, reading: make(chan struct{}), hold: make(chan struct{})}
		w := &world{}
		w.addFile("session-1", "", f)
		s := search.New(w, w)
		done := make(chan error, 3)
		run := func(ctx context.Context) {
			go func() { _, err := s.Find(ctx, workspace, "needle", 50); done <- err }() // ends with the search
		}
		run(t.Context())
		<-f.reading
		waiting, giveUp := context.WithCancel(t.Context())
		run(waiting)
		run(t.Context())
		synctest.Wait()
		select {
		case <-f.reading:
			t.Fatal("two scans read at once")
		default:
		}
		giveUp()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("a search that gave up waiting: %v", err)
		}
		f.hold <- struct{}{}
		if err := <-done; err != nil {
			t.Error(err)
		}
		<-f.reading
		f.hold <- struct{}{}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestCancel_R_CHAT_023(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := slow{size: 1 << 40, reading: make(chan struct{}), hold: make(chan struct{})}
		w := &world{}
		w.addFile("session-1", "", f)
		w.add("session-2", "", lines(said("m", "needle")))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { _, err := search.New(w, w).Find(ctx, workspace, "needle", 50); done <- err }() // ends with the search
		<-f.reading
		cancel()
		f.hold <- struct{}{} // the read in flight is the last one
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("error: %v", err)
		}
		if len(w.opened) != 1 {
			t.Errorf("opened %v", w.opened)
		}
	})
}

// huge is a file of one long line that lies nowhere.
type huge struct {
	head, tail string
	fill       int64
}

func (h huge) Size() int64 { return int64(len(h.head)+len(h.tail)) + h.fill }

func (h huge) ReadAt(p []byte, at int64) (int, error) {
	n := copy(p, h.head[min(at, int64(len(h.head))):])
	for fill := strings.Repeat("some words ", 100); at+int64(n) < int64(len(h.head))+h.fill && n < len(p); {
		from := (at + int64(n) - int64(len(h.head))) % 11
		n += copy(p[n:], fill[from:min(int64(len(fill)), from+int64(len(h.head))+h.fill-at-int64(n))])
	}
	n += copy(p[n:], h.tail[max(at+int64(n)-int64(len(h.head))-h.fill, 0):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func TestLongLineTakesNoMemory_R_CHAT_023(t *testing.T) {
	m := lines(said("m", "|"))
	head, tail, _ := strings.Cut(m, "|")
	w := &world{}
	w.addFile("session-1", "", huge{head, " the needle " + tail, 12 << 20})
	w.add("session-2", "", lines(said("m", strings.Repeat("x", 200_000)+" needle")))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	hits := w.find(t, "needle")
	runtime.ReadMemStats(&after)
	if got := ids(hits); got != "session-1 message, session-2 message" {
		t.Fatalf("found %q", got)
	}
	if s := hits[0].Snippet; !strings.HasPrefix(s, "…") || !strings.HasSuffix(s, "the needle") {
		t.Errorf("snippet %q", s)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 2<<20 {
		t.Errorf("12 MB were searched with %d KB", took>>10)
	}
}
