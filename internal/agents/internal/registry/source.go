package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fyllocode.dev/fyllo/internal/atomicfile"
)

// DefaultURL is the official registry (R-AGT-004).
const DefaultURL = "https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json"

const (
	freshFor     = 24 * time.Hour // R-AGT-005
	fetchLimit   = 30 * time.Second
	maxDocument  = 8 << 20 // bytes
	maxRedirects = 5
)

// Source is the one place that a registry comes from; there is one, and sources are never merged (R-AGT-004). It
// does nothing by itself: what is kept is read by Kept, and only Fetch goes out. One caller at a time.
type Source struct {
	url    string
	cache  string
	log    *slog.Logger
	client *http.Client
}

// Snapshot is a document and the time of its fetch.
type Snapshot struct {
	Document
	FetchedAt time.Time
}

// Fresh reports whether the document needs no fetch yet. A clock that was set back must not keep one for ever.
func (s Snapshot) Fresh(now time.Time) bool {
	age := now.Sub(s.FetchedAt)
	return age >= 0 && age < freshFor
}

// NewSource returns the source of an http, https or file URL, whose last document is kept in the file cache.
func NewSource(from, cache string, log *slog.Logger) *Source {
	return &Source{url: from, cache: cache, log: log, client: &http.Client{CheckRedirect: checkRedirect}}
}

// URL is where the registry comes from.
func (s *Source) URL() string { return s.url }

// cacheFile is the form of the kept document (R-AGT-005).
type cacheFile struct {
	Source    string         `json:"source"`
	FetchedAt time.Time      `json:"fetchedAt"`
	Data      jsontext.Value `json:"data"`
}

// tolerant reads a document in which a name may stand twice, see Parse.
var tolerant = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Kept returns the last document of this very source; false when there is none that can be used (R-AGT-005).
func (s *Source) Kept() (Snapshot, bool) {
	data, err := os.ReadFile(s.cache)
	if err != nil {
		return Snapshot{}, false
	}
	var c cacheFile
	if err := json.Unmarshal(data, &c, tolerant); err != nil {
		s.log.Warn("the kept Agent registry is damaged", "file", s.cache, "error", err)
		return Snapshot{}, false
	}
	if c.Source != s.url {
		return Snapshot{}, false
	}
	doc, _, err := Parse(c.Data) // the warnings were told when it was fetched
	if err != nil {
		s.log.Warn("the kept Agent registry is damaged", "file", s.cache, "error", err)
		return Snapshot{}, false
	}
	return Snapshot{doc, c.FetchedAt}, true
}

// Fetch gets the document within 30 s, keeps it, and returns it. When it fails, what is kept stays. A document that
// cannot be kept is used all the same.
func (s *Source) Fetch(ctx context.Context) (Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	defer s.client.CloseIdleConnections()
	data, err := s.get(ctx)
	if err != nil {
		return Snapshot{}, fmt.Errorf("cannot load the Agent registry: %w", err)
	}
	doc, warnings, err := Parse(data)
	if err != nil {
		return Snapshot{}, fmt.Errorf("cannot use the Agent registry: %w", err)
	}
	for _, w := range warnings {
		s.log.Warn("an Agent of the registry was left out", "reason", w)
	}
	got := Snapshot{doc, time.Now().UTC()}
	if err := s.keep(data, got.FetchedAt); err != nil {
		s.log.Warn("the Agent registry was not kept", "file", s.cache, "error", err)
	}
	return got, nil
}

func (s *Source) get(ctx context.Context) ([]byte, error) {
	u, err := url.Parse(s.url)
	if err != nil {
		return nil, err
	}
	switch u.Scheme {
	case "file":
		return readFile(u)
	case "http", "https":
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, http.NoBody)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Accept", "application/json")
		req.Header.Set("User-Agent", "fyllo") // the same for everybody
		resp, err := s.client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("the server answered %s", resp.Status)
		}
		return readAll(resp.Body)
	}
	return nil, fmt.Errorf("%q is no http, https or file URL", s.url)
}

func readFile(u *url.URL) ([]byte, error) {
	if u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(u.Path) {
		return nil, errors.New("a file: URL needs an absolute path")
	}
	if info, err := os.Stat(u.Path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() { // opening a pipe would wait for its other end
		return nil, errors.New("it is not a file")
	}
	f, err := os.Open(u.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f)
}

// checkRedirect follows to the web only, and from https to https only.
func checkRedirect(req *http.Request, via []*http.Request) error {
	switch from, to := via[len(via)-1].URL.Scheme, req.URL.Scheme; {
	case len(via) > maxRedirects:
		return errors.New("too many redirects")
	case to != "https" && (to != "http" || from == "https"):
		return fmt.Errorf("a redirect from %s to %s is refused", from, to)
	}
	return nil
}

func readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err == nil && len(data) > maxDocument {
		err = fmt.Errorf("it is larger than %d MiB", maxDocument>>20)
	}
	return data, err
}

func (s *Source) keep(data []byte, at time.Time) error {
	out, err := json.Marshal(cacheFile{s.url, at, data}, tolerant)
	if err != nil {
		return err
	}
	if err := atomicfile.MkdirAll(filepath.Dir(s.cache), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(s.cache, out, 0o600)
}
