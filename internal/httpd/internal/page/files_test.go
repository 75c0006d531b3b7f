package page_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"fyllocode.dev/fyllo/internal/httpd/internal/page"
)

func TestPageHasItsLookBeforeItsFirstPaint_R_AGT_122(t *testing.T) {
	ui := fstest.MapFS{"index.html": {Data: []byte(`<!doctype html><html lang="en"><title>ui</title>`)}}
	for _, c := range []struct {
		look page.Look
		want string
	}{
		{page.Look{Theme: "system"}, `<html lang="en">`},
		{page.Look{Theme: "dark"}, `<html data-theme="dark" lang="en">`},
		{page.Look{Theme: "light", Language: "zh-CN"}, `<html data-theme="light" data-language="zh-CN" lang="en">`},
		{page.Look{Theme: `"><script>`, Language: `"><script>`}, `<html lang="en">`},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/chat", nil)
		r.Header.Set("Accept-Encoding", "gzip")
		page.NewFiles(ui, func() page.Look { return c.look }).ServeHTTP(w, r)
		body := w.Body.String()
		if w.Code != http.StatusOK || !strings.Contains(body, c.want) || strings.Contains(body, "script") {
			t.Errorf("%+v: %d %q", c.look, w.Code, body)
		}
	}
}
