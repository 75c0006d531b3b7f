package httpd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
)

// waiting is a fake of what keeps files that were not sent.
type waiting struct{ *core }

const handle = "0b0e7d3c-0d5e-4b7a-9d58-6f2d4a1c9e10"

func (c waiting) Add(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, n fyllo.NewAttachment, body io.Reader) (fyllo.KeptAttachment, error) {
	if err := c.check(w, s); err != nil {
		return fyllo.KeptAttachment{}, err
	}
	b, err := io.ReadAll(body)
	if err != nil {
		return fyllo.KeptAttachment{}, fyllo.Errorf(fyllo.CodeInvalidRequest, "attach: cut: %w", err)
	}
	return fyllo.KeptAttachment{Handle: handle, Name: n.Name, MIME: n.MIME, Size: int64(len(b))}, nil
}

func (c waiting) Kept(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) ([]fyllo.KeptAttachment, error) {
	if err := c.check(w, s); err != nil {
		return nil, err
	}
	return []fyllo.KeptAttachment{{Handle: handle, Name: "a.png", Size: 3}}, nil
}

func (c waiting) Open(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, h string) (*fyllo.Media, error) {
	if err := c.check(w, s); err != nil || h != handle {
		return nil, errors.Join(err, fyllo.Errorf(fyllo.CodeAttachmentNotFound, "attachment: none"))
	}
	m, _ := mediaOf("", "<svg onload=x>")
	return m, nil
}

func (c waiting) Drop(_ context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, h string) error {
	if err := c.check(w, s); err != nil || h != handle {
		return errors.Join(err, fyllo.Errorf(fyllo.CodeAttachmentNotFound, "attachment: none"))
	}
	return nil
}

func TestAttachmentsOfASession_R_CHAT_043_049(t *testing.T) {
	r := start(t)
	b, _ := r.open("ws-a")
	const path = "/api/sessions/session-a/attachments"
	g := b.send("POST", path+"?name=../%E5%9B%BE%20%00.png&type=image/png", "\x00\x01\xff", "Content-Type", octets)
	var k fyllo.KeptAttachment
	if json.Unmarshal([]byte(g.body), &k) != nil || g.StatusCode != http.StatusCreated || k.Name != "../图 \x00.png" || k.Size != 3 {
		t.Errorf("added: %d %s", g.StatusCode, g.body)
	}
	g = b.send("GET", path+"/"+handle, "")
	if g.StatusCode != http.StatusOK || g.Header.Get("Content-Type") != octets || g.Header.Get("Content-Security-Policy") != mediaPolicy ||
		g.Header.Get("X-Content-Type-Options") != "nosniff" || g.Header.Get("Content-Disposition") != "attachment" {
		t.Errorf("read: %d %v", g.StatusCode, g.Header)
	}
	if g := b.send("GET", "/api/composer?sessionId=session-a", ""); !strings.Contains(g.body, handle) {
		t.Errorf("composer: %d %s", g.StatusCode, g.body)
	}
	if g := b.send("GET", "/api/composer?sessionId=session-gone", ""); g.StatusCode != http.StatusOK || !strings.Contains(g.body, `"attachments":[]`) {
		t.Errorf("composer of a Session that is gone: %d %s", g.StatusCode, g.body)
	}
	if g := b.send("DELETE", path+"/"+handle, ""); g.StatusCode != http.StatusNoContent {
		t.Errorf("removed: %d %s", g.StatusCode, g.body)
	}
	for _, c := range []struct {
		method, path string
		code         fyllo.Code
	}{
		{"POST", path + "?type=image/png", fyllo.CodeInvalidRequest},
		{"POST", path + "?name=" + strings.Repeat("x", 5000), fyllo.CodeInvalidRequest},
		{"POST", "/api/sessions/session-b/attachments?name=a", fyllo.CodeSessionNotFound},
		{"GET", path + "/nothing", fyllo.CodeAttachmentNotFound},
		{"GET", "/api/sessions/session-b/attachments/" + handle, fyllo.CodeSessionNotFound},
		{"DELETE", "/api/sessions/session-b/attachments/" + handle, fyllo.CodeSessionNotFound},
	} {
		body := ""
		if c.method == "POST" {
			body = "x"
		}
		if g := b.send(c.method, c.path, body, "Content-Type", octets); g.code() != c.code || g.StatusCode < 400 {
			t.Errorf("%s %s: %d %s, want %s", c.method, c.path, g.StatusCode, g.body, c.code)
		}
	}
	if g := r.send("POST", path+"?name=a", "x", "Content-Type", octets, "Origin", "http://evil.example"); g.StatusCode != http.StatusForbidden {
		t.Errorf("from another page: %d", g.StatusCode)
	}
}

// form writes a request of several parts.
func form(write func(*multipart.Writer)) (body, kind string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	write(w)
	_ = w.Close()
	return b.String(), w.FormDataContentType()
}

func field(w *multipart.Writer, name, value string) {
	p, _ := w.CreateFormField(name)
	_, _ = io.WriteString(p, value)
}

const startObject = `{"requestId":"r1","agentId":"a","text":"look","attachments":[{"name":"a.txt","size":3},{"name":"b","size":0}]}`

func TestFirstSubmissionWithFiles_R_CHAT_053(t *testing.T) {
	r := start(t)
	b, _ := r.open("ws-a")
	r.core.readFiles = true
	body, kind := form(func(w *multipart.Writer) {
		field(w, "request", startObject)
		p, _ := w.CreateFormFile("file", `../../"; name="request`)
		_, _ = io.WriteString(p, "abc")
		field(w, "file", "")
	})
	if g := b.send("POST", "/api/sessions", body, "Content-Type", kind); g.StatusCode != http.StatusCreated {
		t.Fatalf("%d %s", g.StatusCode, g.body)
	}
	got := r.core.starts[0]
	if got.Text != "look" || len(got.Attachments) != 2 || got.Window != b.id || strings.Join(r.core.files, "|") != "abc|" {
		t.Errorf("%+v, files %q", got, r.core.files)
	}
	if g := r.send("POST", "/api/sessions", body, "Content-Type", kind, "Origin", b.url); g.StatusCode != http.StatusUnauthorized {
		t.Errorf("a stranger: %d", g.StatusCode)
	}
	if g := b.send("POST", "/api/sessions", `{"requestId":"r2","agentId":"a","mode":"native","text":"plain"}`); g.StatusCode != http.StatusCreated {
		t.Errorf("without files: %d %s", g.StatusCode, g.body)
	}
}

// Hostile requests are refused with a code, and none of them makes Core hold or believe what they send.
func TestHostileParts_R_CHAT_053_054(t *testing.T) {
	r := start(t)
	b, _ := r.open("ws-a")
	r.core.readFiles = true
	whole, kind := form(func(w *multipart.Writer) {
		field(w, "request", startObject)
		field(w, "file", "abc")
		field(w, "file", strings.Repeat("z", 100_000))
	})
	cases := map[string]struct {
		write func(*multipart.Writer)
		raw   string
		code  fyllo.Code
	}{
		"no part":              {write: func(*multipart.Writer) {}, code: fyllo.CodeInvalidRequest},
		"the file comes first": {write: func(w *multipart.Writer) { field(w, "file", "abc"); field(w, "request", startObject) }, code: fyllo.CodeInvalidRequest},
		"no JSON":              {write: func(w *multipart.Writer) { field(w, "request", "abc") }, code: fyllo.CodeInvalidRequest},
		"no text is too long":  {write: func(w *multipart.Writer) { field(w, "request", `{"text":"`+strings.Repeat("x", maxText+1)+`"}`) }, code: fyllo.CodeTooLarge},
		"a huge object":        {write: func(w *multipart.Writer) { field(w, "request", strings.Repeat(" ", maxTextBody+1)) }, code: fyllo.CodeTooLarge},
		"a part of another name": {write: func(w *multipart.Writer) {
			field(w, "request", startObject)
			field(w, "other", "abc")
		}, code: fyllo.CodeInvalidRequest},
		"huge headers": {write: func(w *multipart.Writer) {
			field(w, "request", startObject)
			_, _ = w.CreatePart(map[string][]string{"X-Long": {strings.Repeat("h", 11<<20)}})
		}, code: fyllo.CodeInvalidRequest},
		"cut":         {raw: whole[:len(whole)-60_000], code: fyllo.CodeInvalidRequest},
		"no boundary": {raw: "abc", code: fyllo.CodeInvalidRequest},
	}
	for name, c := range cases {
		body, contentType := c.raw, kind
		if c.write != nil {
			body, contentType = form(c.write)
		}
		if g := b.send("POST", "/api/sessions", body, "Content-Type", contentType); g.code() != c.code {
			t.Errorf("%s: %d %.200s, want %s", name, g.StatusCode, g.body, c.code)
		}
	}
	many, contentType := form(func(w *multipart.Writer) {
		field(w, "request", startObject)
		for i := range 10_000 {
			field(w, "file", fmt.Sprint(i))
		}
	})
	r.core.files = nil
	if g := b.send("POST", "/api/sessions", many, "Content-Type", contentType); g.code() != fyllo.CodeInvalidRequest || len(r.core.files) > 2 {
		t.Errorf("10,000 parts: %d %.200s, %d were read", g.StatusCode, g.body, len(r.core.files))
	}
}
