package page

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// mediaTypes are those of a built interface; the platform's own table differs between machines.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".json": "application/json", ".map": "application/json",
	".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".webp": "image/webp",
	".woff2": "font/woff2", ".txt": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json",
}

// Look is what the interface must know before its first paint, since it asks Core for the preferences only later.
type Look struct {
	Theme    string // light or dark; anything else is the system's
	Language string // en or zh-CN; anything else is the browser's
}

// Files serves the built interface. What lies under assets/ carries a hash in its name and never changes.
type Files struct {
	files fs.FS
	look  func() Look
}

// NewFiles returns the Files of an interface that has index.html at its root. look is asked at every visit.
func NewFiles(files fs.FS, look func() Look) *Files { return &Files{files: files, look: look} }

// ServeHTTP implements http.Handler.
func (f *Files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		Write(w, http.StatusMethodNotAllowed, "FylloCode", "This address can only be opened.")
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if isPage(r.URL.Path) {
		name = "index.html"
	}
	served := mediaTypes[path.Ext(name)] != "" && name == strings.TrimPrefix(path.Clean("/"+name), "/") && f.serve(w, r, name)
	switch {
	case served:
	case name == "index.html":
		Write(w, http.StatusNotFound, "FylloCode", "This build has no interface. Build web/ first.")
	default:
		Write(w, http.StatusNotFound, "Not found", "FylloCode has no such page.")
	}
}

// isPage reports whether the interface itself routes this path.
func isPage(p string) bool {
	if p == "/" || p == "/chat" || p == "/settings" || strings.HasPrefix(p, "/settings/") {
		return true
	}
	id, ok := strings.CutPrefix(p, "/chat/")
	return ok && id != "" && !strings.Contains(id, "/")
}

// serve answers with a file, compressed if there is a precompressed one and the client takes it; false if there is
// no such file. Most files are there compressed only and are unpacked for the few clients that want them plain.
func (f *Files) serve(w http.ResponseWriter, r *http.Request, name string) bool {
	h := w.Header()
	var data []byte
	err := fs.ErrNotExist
	if name == "index.html" {
		data, err = f.index()
	} else if acceptsGzip(r) {
		if data, err = fs.ReadFile(f.files, name+".gz"); err == nil {
			h.Set("Content-Encoding", "gzip")
		}
	}
	if err != nil {
		if data, err = fs.ReadFile(f.files, name); err != nil {
			if data, err = f.unpack(name); err != nil {
				return false
			}
		}
	}
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Type", mediaTypes[path.Ext(name)])
	h.Set("Content-Length", strconv.Itoa(len(data)))
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(name, "assets/") {
		h.Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		if _, err := w.Write(data); err != nil {
			return true // the client is gone
		}
	}
	return true
}

// index returns index.html with the Look as attributes of its root element.
func (f *Files) index() ([]byte, error) {
	data, err := fs.ReadFile(f.files, "index.html")
	if err != nil {
		if data, err = f.unpack("index.html"); err != nil {
			return nil, err
		}
	}
	attributes := ""
	look := f.look()
	if look.Theme == "light" || look.Theme == "dark" {
		attributes += ` data-theme="` + look.Theme + `"`
	}
	if look.Language == "en" || look.Language == "zh-CN" {
		attributes += ` data-language="` + look.Language + `"`
	}
	return bytes.Replace(data, []byte("<html"), []byte("<html"+attributes), 1), nil
}

// unpack returns a file of which only the compressed form is there.
func (f *Files) unpack(name string) ([]byte, error) {
	packed, err := fs.ReadFile(f.files, name+".gz")
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", name, err)
	}
	return io.ReadAll(r)
}

// acceptsGzip reports whether the client takes gzip. Browsers never send it with a weight of zero.
func acceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		coding, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if coding == "gzip" && strings.TrimSpace(weight) != "q=0" {
			return true
		}
	}
	return false
}
