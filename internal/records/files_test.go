package records_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/atomicfile"
	"fyllocode.dev/fyllo/internal/records"
)

const (
	pngBytes = "\x89PNG\r\n\x1a\n and the rest of a picture"
	wavBytes = "RIFF\x10\x00\x00\x00WAVEfmt and a sound"
	svgBytes = `<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>`
)

func encoded(data string) *fyllo.Body {
	text := base64.StdEncoding.EncodeToString([]byte(data))
	return &fyllo.Body{Text: text, Size: len(text)}
}

func filesDir(root string) string {
	return filepath.Join(sessionsDir(root), string(sid), "attachments")
}

func filesIn(t testing.TB, root string) []string {
	t.Helper()
	entries, err := os.ReadDir(filesDir(root))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func readFile(s *records.Store, name string) (string, error) {
	f, err := s.Attachment(wid, sid, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	return string(b), err
}

// answerWithMedia is an answer with a picture of its own and a call whose result holds the given attachments.
func answerWithMedia(id string, media ...fyllo.Attachment) fyllo.Message {
	m := text(id, "text")
	m.Role = fyllo.RoleAssistant
	m.Parts = append(m.Parts,
		fyllo.Part{ID: id + ".1", Type: fyllo.PartAttachment, Attachment: &fyllo.Attachment{MIME: "image/png", Data: encoded(pngBytes)}},
		fyllo.Part{ID: id + ".2", Type: fyllo.PartTool, Tool: &fyllo.Tool{CallID: "c", Media: media}})
	return m
}

func TestPicturesInResultsBecomeFiles_R_WS_130_136(t *testing.T) {
	s, root := newSession(t)
	long := strings.Repeat("words of a resource ", 200)
	m := answerWithMedia("m1",
		fyllo.Attachment{MIME: "audio/mpeg", Data: encoded(wavBytes)},
		fyllo.Attachment{MIME: "image/png", Data: encoded(svgBytes)},
		fyllo.Attachment{MIME: "text/html", Name: "../../evil.html", Data: encoded("<script>")},
		fyllo.Attachment{Name: "a picture that came twice", Data: encoded(pngBytes)},
		fyllo.Attachment{MIME: "text/plain", IsText: true, Data: &fyllo.Body{Text: "abcd"}},
		fyllo.Attachment{MIME: "text/plain", IsText: true, Data: &fyllo.Body{Text: long}},
		fyllo.Attachment{MIME: "image/png", Data: &fyllo.Body{Text: "!!! no base64 !!!"}},
		fyllo.Attachment{MIME: "image/png", Data: &fyllo.Body{Text: "===="}},
		fyllo.Attachment{URI: "https://example.com/a.png"},
	)
	before := fmt.Sprintf("%+v", m.Parts[1].Attachment) + fmt.Sprintf("%+v", m.Parts[2].Tool)
	light, err := s.AppendMessage(wid, sid, m)
	if err != nil {
		t.Fatal(err)
	}
	if after := fmt.Sprintf("%+v", m.Parts[1].Attachment) + fmt.Sprintf("%+v", m.Parts[2].Tool); after != before {
		t.Error("the caller's message was changed")
	}
	s, _ = openStore(t, root)
	if d := cmp.Diff(light, all(t, s).Messages[1]); d != "" {
		t.Errorf("what was returned differs from what was stored: %s", d)
	}
	media := light.Parts[2].Tool.Media
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.\w+$`)
	for i, want := range []struct {
		a         fyllo.Attachment
		ext, data string
	}{{*light.Parts[1].Attachment, ".png", pngBytes}, {media[0], ".wav", wavBytes}, {media[1], ".bin", svgBytes}, {media[2], ".bin", "<script>"}, {media[3], ".png", pngBytes}} {
		got, err := readFile(s, want.a.File)
		if err != nil || got != want.data || want.a.Size != int64(len(got)) || want.a.Data != nil ||
			filepath.Ext(want.a.File) != want.ext || !uuid.MatchString(want.a.File) {
			t.Errorf("file %d: %+v holds %q, %v", i, want.a, got, err)
		}
	}
	if media[3].File != light.Parts[1].Attachment.File {
		t.Error("the same picture of one message is stored twice")
	}
	for i, want := range []string{"abcd", long, "!!! no base64 !!!", "===="} {
		a := media[4+i]
		got := a.Data.Text
		if a.Data.Ref != nil {
			b, err := s.Body(wid, sid, *a.Data.Ref)
			if got = string(b); err != nil {
				t.Error(err)
			}
		}
		if got != want || a.File != "" || (a.Data.Ref != nil) != (len(want) > fyllo.BodyPreview) {
			t.Errorf("a text that is no base64 became %+v", a)
		}
	}
	if names := filesIn(t, root); len(names) != 4 {
		t.Errorf("files %v", names)
	}
	for path, want := range map[string]os.FileMode{filesDir(root): 0o700, filepath.Join(filesDir(root), media[0].File): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
		}
	}
	if line, _ := os.ReadFile(messagesFile(root)); strings.Contains(string(line), encoded(pngBytes).Text) {
		t.Error("the transcript holds base64")
	}
}

// A message that takes the place of a stored one names the same files, whether it comes light or whole.
func TestSupersedingMessageKeepsItsFiles_R_CHAT_161(t *testing.T) {
	s, root := newSession(t)
	m := answerWithMedia("m1", fyllo.Attachment{Data: encoded(wavBytes)})
	light, err := s.AppendMessage(wid, sid, m)
	if err != nil {
		t.Fatal(err)
	}
	names := filesIn(t, root)
	writes := 0
	restore := disk(func(op, path string) error {
		if strings.Contains(path, "attachments") && op != string(atomicfile.OpSyncDir) {
			writes++
		}
		return nil
	})
	for rev, again := range []fyllo.Message{light, m} {
		again.Rev = rev + 1
		got, err := s.AppendMessage(wid, sid, again)
		got.Rev = 0
		if d := cmp.Diff(light, got); err != nil || d != "" {
			t.Errorf("superseded by %s, %v", d, err)
		}
	}
	restore()
	if writes > 0 || !slices.Equal(filesIn(t, root), names) {
		t.Errorf("%d operations on files, which are %v, were %v", writes, filesIn(t, root), names)
	}
	for _, a := range []fyllo.Attachment{*light.Parts[1].Attachment, light.Parts[2].Tool.Media[0]} {
		if _, err := readFile(s, a.File); err != nil {
			t.Error(err)
		}
	}
}

func TestOtherBodiesOfResultsAreMovedOut(t *testing.T) {
	s, _ := newSession(t)
	long := strings.Repeat("a long prompt ", 500)
	m := answerWithMedia("m1", fyllo.Attachment{IsText: true, Data: &fyllo.Body{Text: long + "1"}})
	m.Parts[2].Tool.Subagent = &fyllo.Subagent{Prompt: &fyllo.Body{Text: long + "2"}}
	light, err := s.AppendMessage(wid, sid, m)
	if err != nil {
		t.Fatal(err)
	}
	tool := light.Parts[2].Tool
	for want, b := range map[string]*fyllo.Body{long + "1": tool.Media[0].Data, long + "2": tool.Subagent.Prompt} {
		if b.Ref == nil || b.Size != len(want) || len(b.Text) > fyllo.BodyPreview {
			t.Errorf("light form %+v", b)
			continue
		}
		if got, err := s.Body(wid, sid, *b.Ref); err != nil || string(got) != want {
			t.Errorf("body of %d bytes, %v", len(got), err)
		}
	}
	if m.Parts[2].Tool.Subagent.Prompt.Ref != nil {
		t.Error("the caller's message was changed")
	}
}

// What is longer than an attachment may be stays a body, and is never decoded in memory.
func TestHugePictureStaysABody(t *testing.T) {
	s, root := newSession(t)
	const limit = 25 << 20
	largest, over := strings.Repeat("AAAA", limit/3)+"AA==", strings.Repeat("AAAA", limit/3+1)
	m := answerWithMedia("m1", fyllo.Attachment{Data: &fyllo.Body{Text: largest}}, fyllo.Attachment{Data: &fyllo.Body{Text: over}})
	light, err := s.AppendMessage(wid, sid, m)
	if err != nil {
		t.Fatal(err)
	}
	media := light.Parts[2].Tool.Media
	if media[0].Size != limit || media[0].Data != nil || media[1].File != "" || media[1].Data.Size != len(over) || media[1].Data.Ref == nil {
		t.Fatalf("%+v", media)
	}
	if info, err := os.Stat(filepath.Join(filesDir(root), media[0].File)); err != nil || info.Size() != limit {
		t.Errorf("%v, %v", info, err)
	}
	var was, is runtime.MemStats
	runtime.ReadMemStats(&was)
	m = answerWithMedia("m2", fyllo.Attachment{Data: &fyllo.Body{Text: largest}})
	if _, err := s.AppendMessage(wid, sid, m); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&is)
	if used := is.TotalAlloc - was.TotalAlloc; used > 2<<20 {
		t.Errorf("storing a picture of 25 MiB took %d bytes of memory", used)
	}
}

// The name of a file stands in a transcript that people can edit: it leads to regular files of this Session only.
func TestAttachmentNamesLeadNowhereElse_R_WS_136(t *testing.T) {
	s, root := newSession(t)
	light, err := s.AppendMessage(wid, sid, answerWithMedia("m1"))
	if err != nil {
		t.Fatal(err)
	}
	good := light.Parts[1].Attachment.File
	if got, err := readFile(s, good); err != nil || got != pngBytes {
		t.Fatalf("%q, %v", got, err)
	}
	dir := filesDir(root)
	secret := filepath.Join(root, "secret.png")
	mustWrite(t, secret, "secret")
	mustWrite(t, filepath.Join(dir, "sub", "a.png"), "inner")
	mustWrite(t, filepath.Join(dir, ".hidden.png"), "hidden")
	for from, to := range map[string]string{"out.png": secret, "in.png": good, "up.png": "../../" + string(sid) + ".json", "dir.png": "sub"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Skip("this system makes no links:", err)
		}
	}
	makePipe(t, filepath.Join(dir, "pipe.png"))
	for _, name := range []string{
		"", ".", "..", "../" + string(sid) + ".json", "../../../../../secret.png", secret, "sub", "sub/a.png", "./" + good, `..\x`, `sub\a.png`,
		"a\x00.png", ".hidden.png", good + ":stream", "missing.png", "out.png", "in.png", "up.png", "dir.png", "pipe.png", good + "/",
	} {
		_, err := readFile(s, name)
		if fyllo.CodeOf(err) != fyllo.CodeNotFound {
			t.Errorf("%q: %v", name, err)
		}
	}
	_, err = s.Attachment(wid, "session-2", good)
	wantCode(t, err, fyllo.CodeSessionNotFound)
	if err := os.Rename(dir, dir+"-elsewhere"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir+"-elsewhere", dir); err != nil {
		t.Fatal(err)
	}
	_, err = s.Attachment(wid, sid, good)
	wantCode(t, err, fyllo.CodeNotFound)
}

func TestDeletedSessionLeavesNoFile_R_WS_134(t *testing.T) {
	s, root := newSession(t)
	light, err := s.AppendMessage(wid, sid, answerWithMedia("m1"))
	if err != nil {
		t.Fatal(err)
	}
	open, err := s.Attachment(wid, sid, light.Parts[1].Attachment.File)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if err := s.DeleteSession(wid, sid); err != nil {
		t.Fatal(err)
	}
	if left := tree(t, sessionsDir(root)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	_, err = s.Attachment(wid, sid, light.Parts[1].Attachment.File)
	wantCode(t, err, fyllo.CodeSessionNotFound)
	_, err = s.AppendMessage(wid, sid, answerWithMedia("m2"))
	wantCode(t, err, fyllo.CodeSessionNotFound)
	if left := tree(t, sessionsDir(root)); len(left) > 0 {
		t.Errorf("a late answer brought back %v", left)
	}
}
