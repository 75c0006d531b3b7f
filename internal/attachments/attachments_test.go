package attachments_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/attachments"
)

// The table that the page's own judge is held to as well.
func TestJudge_R_CHAT_044_045(t *testing.T) {
	var cases []struct {
		Name            string
		Image, Embedded fyllo.Support
		Has, Items      []attachments.Item
		Taken           []int
		Rejected        attachments.Rejected
	}
	raw, err := os.ReadFile("testdata/cases.json")
	if err != nil || json.Unmarshal(raw, &cases) != nil || len(cases) < 10 {
		t.Fatal(err, len(cases))
	}
	for _, c := range cases {
		taken, rejected := attachments.Judge(fyllo.Capabilities{Image: c.Image, EmbeddedContext: c.Embedded}, c.Has, c.Items)
		if !slices.Equal(taken, c.Taken) {
			t.Errorf("%s: taken %v, want %v", c.Name, taken, c.Taken)
		}
		if d := cmp.Diff(c.Rejected, rejected); d != "" {
			t.Errorf("%s: %s", c.Name, d)
		}
		if (rejected.Err() == nil) != (len(c.Items) == len(c.Taken)) {
			t.Errorf("%s: error %v", c.Name, rejected.Err())
		}
	}
}

func TestNoMoreThan64InOneMessage_R_CHAT_045(t *testing.T) {
	all := make([]attachments.Item, 70)
	taken, rejected := attachments.Judge(both, nil, all)
	if len(taken) != 64 || rejected.Many != 6 {
		t.Errorf("%d taken, %+v", len(taken), rejected)
	}
}

var both = fyllo.Capabilities{Image: fyllo.Supported, EmbeddedContext: fyllo.Supported}

func TestTheSummaryNamesEverything_R_CHAT_045(t *testing.T) {
	_, rejected := attachments.Judge(fyllo.Capabilities{}, nil, []attachments.Item{
		{Name: "a.png"}, {Name: "b.png"}, {Name: "c.txt"}, {Name: "d", Directory: true}, {Name: "e", Size: 1 << 30}, {Name: "../\u202ef"},
	})
	const want = `attach "a.png", "b.png", "c.txt", "d", "e", 1 more: refused: 2 images, which the Agent does not take; ` +
		`2 files, which the Agent does not take; 1 directory; 1 of more than 25 MiB`
	err := rejected.Err()
	if err.Error() != want || fyllo.CodeOf(err) != fyllo.CodeAttachment || fyllo.FailureOf(err).Details == nil {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestNamesAreForDisplayOnly_R_CHAT_049(t *testing.T) {
	long := strings.Repeat("n", 300) + ".tar.gz"
	for name, want := range map[string]string{
		"a.png": "a.png", "../../etc/passwd": "passwd", `C:\x\y.txt`: "y.txt", "": "file", "..": "file", "a/": "file",
		"a\x00b\n c.txt": "ab c.txt", "\u202egnp.exe": "gnp.exe", "图片 \u3000 1.png": "图片 1.png", "a\xffb": "ab", " . ": "file", "\ufeffx": "x",
	} {
		if got := attachments.CleanName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := attachments.CleanName(long); len([]rune(got)) != 120 || !strings.HasSuffix(got, "n.tar.gz") {
		t.Errorf("a long one: %q", got)
	}
}

// Nobody becomes an image or a file by what its bytes are: the matrix has judged by name and type.
func TestTypes_R_CHAT_044(t *testing.T) {
	const png, wav = "\x89PNG\r\n\x1a\n12345678", "RIFF1234WAVE1234"
	for _, c := range []struct{ name, said, head, want string }{
		{"a.png", "", png, "image/png"}, {"a.jpg", "image/jpeg", png, "image/png"}, {"a.bmp", "", "BM", "image/bmp"},
		{"a.SVG", "", "<svg", "image/svg+xml"}, {"x", "image/tiff", "II", "image/tiff"}, {"a.png", "text/plain", wav, "image/png"},
		{"a.bin", "", png, "application/octet-stream"}, {"a.dat", "application/zip", png, "application/zip"},
		{"a", "", wav, "audio/wav"}, {"a.txt", "Text/Plain; charset=x", "hi", "text/plain"},
		{"a", "text/pl ain", "", "application/octet-stream"}, {"a", "x", "", "application/octet-stream"}, {"a", "a/b\r\nX: y", "", "application/octet-stream"},
	} {
		got := attachments.TypeOf(c.name, c.said, []byte(c.head))
		if got != c.want || attachments.KindOf(c.name, c.said) != attachments.KindOf(c.name, got) {
			t.Errorf("%s %q: %q, want %q", c.name, c.said, got, c.want)
		}
	}
}

const handle = "0b0e7d3c-0d5e-4b7a-9d58-6f2d4a1c9e10"

func TestPromptsNameHandlesOnly_R_CHAT_049_R_WS_092(t *testing.T) {
	kept := []fyllo.KeptAttachment{{Handle: handle, Name: "a", File: handle + ".bin", Size: 1}}
	for h, code := range map[string]fyllo.Code{
		"file:///etc/passwd": fyllo.CodeAttachment, "/etc/passwd": fyllo.CodeAttachment, "../" + handle: fyllo.CodeAttachment, "": fyllo.CodeAttachment,
		handle + ".bin": fyllo.CodeAttachment, strings.ToUpper(handle): fyllo.CodeAttachment, "0b0e7d3c00d5e-4b7a-9d58-6f2d4a1c9e10": fyllo.CodeAttachment,
		"1b0e7d3c-0d5e-4b7a-9d58-6f2d4a1c9e10": fyllo.CodeAttachmentNotFound,
	} {
		if _, err := attachments.Resolve([]string{h}, kept); fyllo.CodeOf(err) != code {
			t.Errorf("%q: %v, want %s", h, err, code)
		}
	}
	if _, err := attachments.Resolve([]string{handle, handle}, kept); fyllo.CodeOf(err) != fyllo.CodeAttachment {
		t.Errorf("twice: %v", err)
	}
	got, err := attachments.Resolve([]string{handle}, kept)
	if err != nil || len(got) != 1 || got[0].File != handle+".bin" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBlocks_R_CHAT_049(t *testing.T) {
	disk := fstest.MapFS{
		handle + ".png": {Data: []byte("picture")}, handle + ".bin": {Data: []byte("words, 词")}, "b.bin": {Data: []byte("\x00\xff")}, "e.bin": {Data: nil},
	}
	files := []fyllo.Attachment{
		{Name: "a.png", MIME: "image/png", File: handle + ".png", Size: 7}, {Name: "a b.ts", MIME: "video/mp2t", File: handle + ".bin", Size: 10},
		{Name: "b", MIME: "application/octet-stream", File: "b.bin", Size: 2}, {Name: "e.json", MIME: "application/json", File: "e.bin"},
	}
	m := fyllo.Message{ID: "m", Parts: append([]fyllo.Part{{Type: fyllo.PartText, Text: "x"}}, attachments.Parts("m", 1, files)...)}
	open := func(name string) (fs.File, error) { return disk.Open(name) }
	got, err := attachments.Blocks(m, both, open)
	if err != nil {
		t.Fatal(err)
	}
	want := []fyllo.PromptBlock{
		{Type: "image", MIME: "image/png", Data: []byte("picture")},
		{Type: "resource", MIME: "text/plain", URI: "attachment:///" + handle + "/a%20b.ts", Text: "words, 词"},
		{Type: "resource", MIME: "application/octet-stream", URI: "attachment:///b/b", Data: []byte("\x00\xff")},
		{Type: "resource", MIME: "application/json", URI: "attachment:///e/e.json"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if m.Parts[1].ID != "m.1" || m.Parts[4].ID != "m.4" {
		t.Errorf("ids %q, %q", m.Parts[1].ID, m.Parts[4].ID)
	}
	if _, err := attachments.Blocks(m, fyllo.Capabilities{Image: fyllo.Supported}, open); fyllo.CodeOf(err) != fyllo.CodeAttachment {
		t.Errorf("an Agent that takes images only: %v", err)
	}
	delete(disk, "b.bin")
	if _, err := attachments.Blocks(m, both, open); fyllo.CodeOf(err) != fyllo.CodeAttachmentNotFound {
		t.Errorf("a copy that is gone: %v", err)
	}
}

func TestIntakeWantsExactlyTheNamedFiles_R_CHAT_053(t *testing.T) {
	named := []fyllo.NewAttachment{{Name: "a", Size: 1}, {Name: "b", Size: 1}}
	put := func(a fyllo.Attachment, from io.Reader) (fyllo.Attachment, error) {
		_, err := io.Copy(io.Discard, from)
		return a, err
	}
	for name, c := range map[string]struct {
		files []string
		code  fyllo.Code
	}{
		"as named": {[]string{"1", "2"}, ""}, "one too few": {[]string{"1"}, fyllo.CodeInvalidRequest}, "one too many": {[]string{"1", "2", "3"}, fyllo.CodeInvalidRequest},
		"an empty one": {[]string{"1", ""}, fyllo.CodeInvalidRequest},
	} {
		next := func() (io.Reader, error) {
			if len(c.files) == 0 {
				return nil, io.EOF
			}
			f := c.files[0]
			c.files = c.files[1:]
			return strings.NewReader(f), nil
		}
		if _, err := attachments.Intake(named, next, put); fyllo.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := attachments.Intake(named, nil, put); fyllo.CodeOf(err) != fyllo.CodeAttachment {
		t.Errorf("no bytes at all: %v", err)
	}
	if _, _, err := attachments.Describe(fyllo.NewAttachment{Size: -1}, strings.NewReader("")); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a negative size: %v", err)
	}
}
