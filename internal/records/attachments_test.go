package records_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/journal"
	"fyllocode.dev/fyllo/internal/records"
)

func anyFits([]fyllo.KeptAttachment) error { return nil }

// keep adds a file to a Session.
func keep(s *records.Store, name, content string) (fyllo.KeptAttachment, error) {
	a := fyllo.Attachment{Name: name, MIME: "text/plain", Size: int64(len(content))}
	return s.KeepAttachment(wid, sid, a, strings.NewReader(content), anyFits)
}

// kept tells what waits: names and contents, in order.
func kept(s *records.Store) (string, error) {
	list, err := s.KeptAttachments(wid, sid)
	var out []string
	for _, k := range list {
		content, failed := readFile(s, k.File)
		err = errors.Join(err, failed)
		out = append(out, k.Name+"="+content)
	}
	return strings.Join(out, " "), err
}

// with is a user message that carries files.
func with(id string, files ...fyllo.Attachment) fyllo.Message {
	m := text(id, "look")
	for i := range files {
		m.Parts = append(m.Parts, fyllo.Part{ID: fmt.Sprintf("%s.%d", id, i+1), Type: fyllo.PartAttachment, Attachment: &files[i]})
	}
	return m
}

func TestFilesWaitInTheirSession_R_CHAT_043_049_R_WS_136(t *testing.T) {
	s, root := newSession(t)
	a, err := keep(s, "a.txt", "first")
	b, err2 := keep(s, "b.png", pngBytes)
	if _, err3 := keep(s, "c", ""); err != nil || err2 != nil || err3 != nil {
		t.Fatal(err, err2, err3)
	}
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if !uuid.MatchString(a.Handle) || a.File != a.Handle+".bin" || b.File != b.Handle+".png" || a.Handle == b.Handle {
		t.Errorf("%+v, %+v", a, b)
	}
	for _, path := range []string{filepath.Join(filesDir(root), a.File), filepath.Join(filepath.Dir(filesDir(root)), "unsent.json")} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", path, err)
		}
	}
	s, _ = openStore(t, root)
	if got, err := kept(s); err != nil || got != "a.txt=first b.png="+pngBytes+" c=" {
		t.Errorf("after a restart: %q, %v", got, err)
	}
	if err := s.DropAttachments(wid, sid, []string{a.Handle}, false); err != nil {
		t.Fatal(err)
	}
	if err := s.DropAttachments(wid, sid, []string{b.Handle}, true); err != nil {
		t.Fatal(err)
	}
	if got, _ := kept(s); got != "c=" || len(filesIn(t, root)) != 2 {
		t.Errorf("what waits is %q, files %v", got, filesIn(t, root))
	}
	if got, err := readFile(s, b.File); got != pngBytes || err != nil {
		t.Errorf("the sent one: %q, %v", got, err)
	}
	if err := s.DeleteSession(wid, sid); err != nil {
		t.Fatal(err)
	}
	_, err = keep(s, "late", "late")
	wantCode(t, err, fyllo.CodeSessionNotFound)
	_, err = s.KeptAttachments(wid, sid)
	wantCode(t, err, fyllo.CodeSessionNotFound)
	if left, _ := filepath.Glob(filepath.Join(sessionsDir(root), "*")); len(left) > 0 {
		t.Errorf("left after the deletion: %v", left)
	}
}

// slowly runs act in the middle of an upload.
type slowly struct {
	act  func()
	rest string
}

func (r *slowly) Read(p []byte) (int, error) {
	if r.act != nil {
		r.act()
		r.act = nil
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	if n == 0 {
		return 0, errors.New("cut")
	}
	return n, nil
}

func TestUploadsThatAreNotWholeLeaveNothing_R_CHAT_045_R_WS_134(t *testing.T) {
	s, root := newSession(t)
	for name, body := range map[string]string{"too little": "abc", "too much": "abcdef", "nothing": ""} {
		_, err := s.KeepAttachment(wid, sid, fyllo.Attachment{Name: name, Size: 5}, strings.NewReader(body), anyFits)
		wantCode(t, err, fyllo.CodeInvalidRequest)
	}
	_, err := s.KeepAttachment(wid, sid, fyllo.Attachment{Size: 5}, &slowly{rest: "abc"}, anyFits)
	wantCode(t, err, fyllo.CodeInvalidRequest)
	refused := fyllo.Errorf(fyllo.CodeAttachment, "no")
	_, err = s.KeepAttachment(wid, sid, fyllo.Attachment{Size: 1}, strings.NewReader("a"), func([]fyllo.KeptAttachment) error { return refused })
	wantCode(t, err, fyllo.CodeAttachment)
	if got, err := kept(s); got != "" || err != nil || len(filesIn(t, root)) > 0 {
		t.Errorf("%q, %v, files %v", got, err, filesIn(t, root))
	}
	// The name of a file is made of its first bytes, so what happens meanwhile happens behind them. What is on its way
	// counts, but is not shown.
	half := strings.Repeat("x", 100<<10)
	meanwhile := func() {
		if got, err := kept(s); got != "" || err != nil {
			t.Errorf("during an upload: %q, %v", got, err)
		}
		_, err := s.KeepAttachment(wid, sid, fyllo.Attachment{}, strings.NewReader(""), func(has []fyllo.KeptAttachment) error {
			if len(has) != 1 || has[0].Size != 200<<10 {
				t.Errorf("during an upload: %+v", has)
			}
			return refused
		})
		wantCode(t, err, fyllo.CodeAttachment)
		if err := s.DeleteSession(wid, sid); err != nil {
			t.Error(err)
		}
	}
	body := &joined{first: strings.NewReader(half), then: &slowly{rest: half, act: meanwhile}}
	_, err = s.KeepAttachment(wid, sid, fyllo.Attachment{Size: 200 << 10}, body, anyFits)
	if err == nil {
		t.Error("an upload into a Session that is deleted meanwhile succeeded")
	}
	if left, _ := filepath.Glob(filepath.Join(sessionsDir(root), "*")); len(left) > 0 {
		t.Errorf("it recreated %v", left)
	}
}

// joined reads one and then the other.
type joined struct {
	first, then interface{ Read([]byte) (int, error) }
}

func (j *joined) Read(p []byte) (int, error) {
	if n, err := j.first.Read(p); n > 0 || err == nil {
		return n, nil
	}
	return j.then.Read(p)
}

var submitted = map[string]string{"one": "a text", "two": pngBytes}

// begun is a first submission with two files, as the use case makes it.
func begun(s *records.Store) error {
	var files []fyllo.Attachment
	for name, content := range submitted {
		a, err := s.PutAttachment(wid, sid, fyllo.Attachment{Name: name, Size: int64(len(content))}, strings.NewReader(content))
		if err != nil {
			s.AbandonSession(wid, sid)
			return err
		}
		files = append(files, a)
	}
	_, err := s.CreateSession(wid, metaOf(sid), with("m0", files...))
	return err
}

// wholeOrNothing looks at what a first submission left, as the next start finds it.
func wholeOrNothing(root string) (whole bool, err error) {
	s, err := records.Open(root, discard())
	if err != nil {
		return false, err
	}
	err = s.ScanSessions(bg, wid, func(fyllo.SessionMeta, bool) { whole = true })
	if err != nil || !whole {
		if left, _ := filepath.Glob(filepath.Join(sessionsDir(root), "*")); len(left) > 0 {
			return false, fmt.Errorf("remnants %v", left)
		}
		return false, err
	}
	page, err := s.Messages(wid, sid, "", 0)
	if err != nil || len(page.Messages) != 1 || len(page.Messages[0].Parts) != 3 {
		return true, fmt.Errorf("%+v, %w", page.Messages, err)
	}
	for _, p := range page.Messages[0].Parts[1:] {
		if got, err := readFile(s, p.Attachment.File); err != nil || got != submitted[p.Attachment.Name] {
			return true, fmt.Errorf("%s holds %q, %w", p.Attachment.File, got, err)
		}
	}
	files, err := os.ReadDir(filesDir(root))
	if err == nil && len(files) != 2 {
		err = fmt.Errorf("files %v", files)
	}
	return true, err
}

// The disk fails at each step, once or from then on; a second attempt works when it has recovered.
func TestFirstSubmissionOnAFailingDisk_R_CHAT_053_054_R_WS_135(t *testing.T) {
	for _, forGood := range []bool{false, true} {
		for n := 1; ; n++ {
			root := t.TempDir()
			s, _ := openStore(t, root)
			seen, what := 0, ""
			restore := disk(func(op, path string) error {
				if seen++; seen == n || forGood && seen > n {
					what = op + " " + filepath.Base(path)
					return errors.New("injected")
				}
				return nil
			})
			err := begun(s)
			restore()
			if what == "" {
				if err != nil || n < 15 {
					t.Fatalf("%d operations, %v", n-1, err)
				}
				break
			}
			if !forGood { // nothing is left at once, and the Session id may be used again
				if left, _ := filepath.Glob(filepath.Join(sessionsDir(root), "*")); err != nil && len(left) > 0 {
					t.Errorf("operation %d (%s) left %v", n, what, left)
				}
			}
			whole, bad := wholeOrNothing(root)
			if bad != nil || whole && err != nil && !forGood || !whole && err == nil {
				t.Fatalf("operation %d (%s), for good %v: whole %v, error %v: %v", n, what, forGood, whole, err, bad)
			}
			if !whole {
				s, _ = openStore(t, root)
				if err := begun(s); err != nil {
					t.Fatalf("the second attempt after operation %d (%s): %v", n, what, err)
				}
			}
		}
	}
}

// Core is killed between any two steps.
func TestFirstSubmissionKilledAtEachStep_R_CHAT_054(t *testing.T) {
	root := t.TempDir()
	s, _ := openStore(t, root)
	var copies []string
	restore := disk(func(op, path string) error {
		dir := filepath.Join(t.TempDir(), "copy")
		if err := copyOfDead(dir, root); err != nil {
			t.Error(err)
		}
		copies = append(copies, dir)
		return nil
	})
	err := begun(s)
	restore()
	if err != nil || len(copies) < 15 {
		t.Fatal(err, len(copies))
	}
	for i, dir := range copies {
		if _, err := wholeOrNothing(dir); err != nil {
			t.Errorf("killed before operation %d: %v", i+1, err)
		}
	}
}

// Whatever fails while files are added, sent and removed, and wherever Core is killed: what was acknowledged is there,
// what was sent does not wait any more, and no file is left that nothing names.
func TestUnsentFilesOnAFailingDiskAndKilled_R_CHAT_006_043(t *testing.T) {
	life := func(s *records.Store) (acked []string, sent bool) {
		if _, err := keep(s, "a", "aa"); err == nil {
			acked = append(acked, "a=aa")
		}
		if k, err := keep(s, "b", "bb"); err == nil && s.DropAttachments(wid, sid, []string{k.Handle}, false) != nil {
			acked = append(acked, "b?")
		}
		list, _ := s.KeptAttachments(wid, sid)
		for _, k := range list {
			if k.Name != "a" {
				continue
			}
			_, err := s.AppendMessage(wid, sid, with("m1", fyllo.Attachment{Name: k.Name, File: k.File, Size: k.Size}))
			if sent = err == nil; sent {
				_ = s.DropAttachments(wid, sid, []string{k.Handle}, true)
			}
		}
		return acked, sent
	}
	check := func(root, what string) {
		s, err := records.Open(root, discard())
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.KeptAttachments(wid, sid)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		lines, _ := os.ReadFile(messagesFile(root))
		named := string(lines)
		for _, k := range list {
			if strings.Contains(named, k.File) {
				t.Errorf("%s: %s was sent and waits still", what, k.Name)
			}
			if _, err := readFile(s, k.File); err != nil {
				t.Errorf("%s: %s waits without its bytes: %v", what, k.Name, err)
			}
			named += k.File
		}
		for _, f := range filesIn(t, root) {
			if !strings.Contains(named, f) {
				t.Errorf("%s: nothing names %s", what, f)
			}
		}
	}
	for n := 1; ; n++ {
		s, root := newSession(t)
		seen, what := 0, ""
		restore := disk(func(op, path string) error {
			if seen++; seen == n {
				what = op + " " + filepath.Base(path)
				return errors.New("injected")
			}
			return nil
		})
		acked, sent := life(s)
		restore()
		if what == "" {
			if !sent || len(acked) != 1 || n < 15 {
				t.Fatal(n, acked, sent)
			}
			break
		}
		if !strings.HasPrefix(what, "syncdir") && !strings.HasPrefix(what, "remove") { // after those the change may be there all the same
			check(root, fmt.Sprintf("operation %d (%s)", n, what))
		}
	}
	s, root := newSession(t)
	var copies []string
	restore := disk(func(op, path string) error {
		if op == string(journal.OpSync) {
			return nil
		}
		dir := filepath.Join(t.TempDir(), "copy")
		if err := copyOfDead(dir, root); err != nil {
			t.Error(err)
		}
		copies = append(copies, dir)
		return nil
	})
	life(s)
	restore()
	for i, dir := range copies {
		check(dir, fmt.Sprintf("killed before operation %d", i+1))
	}
}
