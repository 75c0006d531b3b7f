package httpd

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
)

// closed is content that tells whether it was closed.
type closed struct {
	io.Reader
	done bool
}

func (c *closed) Close() error {
	c.done = true
	return nil
}

func mediaOf(kind, data string) (*fyllo.Media, *closed) {
	c := &closed{Reader: strings.NewReader(data)}
	return &fyllo.Media{Type: kind, Size: int64(len(data)), Content: c}, c
}

// What an Agent sent is given out so that no browser shows it as a page, runs anything of it or guesses what it is.
func TestMediaIsServedAsWhatItIsOrAsPlainOctets_R_CHAT_132(t *testing.T) {
	r := start(t)
	b, _ := r.open("ws-a")
	svg := `<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>`
	picture, pictureClosed := mediaOf("image/png", "\x89PNG\r\n\x1a\n\x00\xff")
	unknown, unknownClosed := mediaOf("", svg)
	empty, _ := mediaOf("", "")
	r.core.media = map[fyllo.MediaQuery]*fyllo.Media{
		{PartID: "m.1", Index: -1}: picture, {PartID: "m.2", Index: 0}: unknown, {PartID: "m.2", Index: 3}: empty,
	}
	for _, c := range []struct{ query, kind, data string }{
		{"part=m.1", "image/png", "\x89PNG\r\n\x1a\n\x00\xff"},
		{"part=m.2&index=0", octets, svg},
		{"part=m.2&index=3", octets, ""},
	} {
		g := b.send("GET", "/api/sessions/session-a/media?"+c.query, "")
		if g.StatusCode != http.StatusOK || g.body != c.data || g.ContentLength != int64(len(c.data)) {
			t.Errorf("%s: %d %q", c.query, g.StatusCode, g.body)
		}
		for name, want := range map[string]string{
			"Content-Type": c.kind, "X-Content-Type-Options": "nosniff", "Content-Disposition": "attachment",
			"Content-Security-Policy": "default-src 'none'; sandbox", "Cache-Control": "private, no-cache",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := g.Header.Values(name); len(got) != 1 || got[0] != want {
				t.Errorf("%s: %s = %q, want %q", c.query, name, got, want)
			}
		}
	}
	if !pictureClosed.done || !unknownClosed.done {
		t.Error("content was not closed")
	}
	for query, status := range map[string]int{"part=m.9": 404, "part=m.1&index=0": 404, "": 400, "part=m.1&index=-2": 400, "part=m.1&index=x": 400} {
		if g := b.send("GET", "/api/sessions/session-a/media?"+query, ""); g.StatusCode != status || g.code() == "" {
			t.Errorf("%q: %d %s, want %d", query, g.StatusCode, g.body, status)
		}
	}
}

func TestMediaIsAuthorisedByWorkspace_R_CHAT_130(t *testing.T) {
	r := start(t)
	b, _ := r.open("ws-a")
	picture, _ := mediaOf("image/png", "picture")
	r.core.media = map[fyllo.MediaQuery]*fyllo.Media{{PartID: "m.1", Index: -1}: picture}
	const mine, other = "/api/sessions/session-a/media?part=m.1", "/api/sessions/session-b/media?part=m.1"
	if g := b.send("GET", other, ""); g.StatusCode != http.StatusNotFound || g.code() != fyllo.CodeSessionNotFound {
		t.Errorf("a Session of another Workspace: %d %s", g.StatusCode, g.body)
	}
	if g := r.send("GET", mine, ""); g.StatusCode != http.StatusUnauthorized {
		t.Errorf("a stranger: %d", g.StatusCode)
	}
	if g := r.send("GET", mine, "", "Cookie", b.cookie); g.StatusCode != http.StatusConflict { // as an address bar would
		t.Errorf("without a window: %d", g.StatusCode)
	}
	if g := b.send("GET", mine, "", "Sec-Fetch-Site", "cross-site"); g.StatusCode != http.StatusForbidden {
		t.Errorf("from another page: %d", g.StatusCode)
	}
	if g := r.asCommand("GET", mine, ""); g.StatusCode != http.StatusOK || g.body != "picture" {
		t.Errorf("the command line: %d %s", g.StatusCode, g.body)
	}
}
