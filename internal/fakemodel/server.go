package fakemodel

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	bodyLimit   = 64 << 20
	defaultPace = 50 * time.Millisecond
)

// Config is the zero value for an ordinary server.
type Config struct {
	Pace time.Duration // between the chunks of "slow"; 0: 50 ms
}

// Seen is one request as the server took it, for tests and for finding out why an Agent does nothing.
type Seen struct {
	Method, Path string
	API          string   // chat, responses, anthropic or gemini; "": another route
	UserText     string   // newest user text, its last 400 bytes
	Tools        []string // offered
	Calls        []string // what the answer called
	Status       int      // of the answer; 0: still running
	Cut          bool     // the client went away before the end
}

// Server is a running model server. All methods may be called from any goroutine.
type Server struct {
	http *http.Server
	url  string
	pace time.Duration
	done chan struct{}

	mu   sync.Mutex
	seen []*Seen
}

// Start listens on a port of 127.0.0.1 that the system chooses.
func Start(c Config) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("fakemodel: listen: %w", err)
	}
	s := &Server{url: "http://" + listener.Addr().String(), pace: c.Pace, done: make(chan struct{})}
	if s.pace <= 0 {
		s.pace = defaultPace
	}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() { // ends with Close
		defer close(s.done)
		_ = s.http.Serve(listener)
	}()
	return s, nil
}

// URL is the base address, http://127.0.0.1:PORT, without a slash at its end.
func (s *Server) URL() string { return s.url }

// Close cuts every connection and waits, up to ten seconds, for the answers that were running.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	deadline := time.Now().Add(10 * time.Second)
	for s.running() && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	return err
}

// Seen returns a copy of what was asked so far, in order of arrival.
func (s *Server) Seen() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Seen, len(s.seen))
	for i, e := range s.seen {
		all[i] = *e
	}
	return all
}

func (s *Server) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.seen {
		if e.Status == 0 {
			return true
		}
	}
	return false
}

func (s *Server) note(e *Seen, change func(*Seen)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(e)
}

var ids atomic.Uint64

// newID is unique in the process.
func newID(prefix string) string { return prefix + "fake" + strconv.FormatUint(ids.Add(1), 10) }

// wire is one API: how its requests read and how its answers look.
type wire interface {
	decode(body []byte) (*request, error)
	open(e *events, r *request) sink
	whole(r *request, parts []part) any
	failure(status int) any
}

var geminiRoute = regexp.MustCompile(`/models/([^/:]+):(\w+)$`)

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	e := &Seen{Method: r.Method, Path: r.URL.Path}
	s.mu.Lock()
	s.seen = append(s.seen, e)
	s.mu.Unlock()
	rec := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	defer func() { s.note(e, func(e *Seen) { e.Status = rec.status }) }()

	body, err := readBody(r)
	if err != nil {
		answer(rec, http.StatusBadRequest, map[string]any{"error": map[string]any{"message": err.Error()}})
		return
	}
	path := strings.TrimSuffix(r.URL.Path, "/")
	switch {
	case r.Method == http.MethodHead:
		rec.WriteHeader(http.StatusOK)
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		answer(rec, http.StatusOK, modelList(path))
	case strings.HasSuffix(path, "/count_tokens"):
		answer(rec, http.StatusOK, map[string]any{"input_tokens": len(body)/4 + 1})
	case strings.HasSuffix(path, "/chat/completions"):
		s.model(rec, r, e, ask{"chat", chat{}, body})
	case strings.HasSuffix(path, "/responses"):
		s.model(rec, r, e, ask{"responses", responses{}, body})
	case strings.HasSuffix(path, "/messages"):
		s.model(rec, r, e, ask{"anthropic", anthropic{}, body})
	case geminiRoute.MatchString(path):
		s.gemini(rec, r, e, body)
	default:
		answer(rec, http.StatusNotFound, map[string]any{"error": map[string]any{"message": "no such route: " + path}})
	}
}

func (s *Server) gemini(w *statusWriter, r *http.Request, e *Seen, body []byte) {
	m := geminiRoute.FindStringSubmatch(r.URL.Path)
	switch m[2] {
	case "countTokens":
		answer(w, http.StatusOK, map[string]any{"totalTokens": len(body)/4 + 1})
	case "embedContent", "batchEmbedContents":
		answer(w, http.StatusOK, map[string]any{"embedding": map[string]any{"values": []int{0, 0, 0}}})
	default:
		s.model(w, r, e, ask{"gemini", gemini{model: m[1], stream: m[2] == "streamGenerateContent"}, body})
	}
}

// ask is a request to the model: through which API, and its body.
type ask struct {
	api  string
	wire wire
	body []byte
}

func (s *Server) model(w *statusWriter, r *http.Request, e *Seen, a ask) {
	req, err := a.wire.decode(a.body)
	if err != nil {
		answer(w, http.StatusBadRequest, map[string]any{"error": map[string]any{"message": err.Error()}})
		return
	}
	req.bytes = len(a.body)
	s.note(e, func(e *Seen) { e.API, e.UserText, e.Tools = a.api, req.newestUserText(), names(req.tools) })
	steps := req.next()
	for _, st := range steps {
		if st.op == opFail {
			answer(w, st.count, a.wire.failure(st.count))
			return
		}
	}
	p := &player{pace: s.pace, tools: req.tools}
	err = s.play(r.Context(), w, p, answering{a.wire, req, steps})
	s.note(e, func(e *Seen) { e.Calls, e.Cut = p.calls, err != nil || errors.Is(r.Context().Err(), context.Canceled) })
}

// answering is a decoded request and what the model does about it.
type answering struct {
	wire  wire
	req   *request
	steps []step
}

func (s *Server) play(ctx context.Context, w *statusWriter, p *player, a answering) error {
	if a.req.stream {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		p.out = a.wire.open(&events{w: w}, a.req)
		return p.play(ctx, a.steps)
	}
	g := &gathered{}
	p.out = g
	if err := p.play(ctx, a.steps); err != nil {
		return err
	}
	answer(w, http.StatusOK, a.wire.whole(a.req, g.parts))
	return nil
}

func (r *request) newestUserText() string {
	text := ""
	for _, t := range r.turns {
		if t.role == user {
			text = t.text
		}
	}
	if len(text) > 400 {
		text = strings.ToValidUTF8(text[len(text)-400:], "")
	}
	return text
}

func readBody(r *http.Request) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r.Body, bodyLimit))
	if err != nil || r.Header.Get("Content-Encoding") != "gzip" {
		return data, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, bodyLimit))
}

// modelList serves the OpenAI and Anthropic forms, which do not contradict each other, and Gemini's.
func modelList(path string) any {
	if strings.Contains(path, "v1beta") {
		return map[string]any{"models": []any{map[string]any{
			"name": "models/fake-1", "supportedGenerationMethods": []string{"generateContent"},
			"inputTokenLimit": 128000, "outputTokenLimit": 8192,
		}}}
	}
	var data []any
	for _, id := range []string{"fake-1", "fake-2"} {
		data = append(data, map[string]any{
			"id": id, "object": "model", "type": "model", "display_name": id, "owned_by": "fake",
			"created": 0, "created_at": "2026-01-01T00:00:00Z",
		})
	}
	return map[string]any{"object": "list", "data": data, "has_more": false}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(mustJSON(v)) // a client that is gone is seen by its context
}

// statusWriter remembers the status for Seen.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// events writes server-sent events and flushes each.
type events struct{ w *statusWriter }

// send writes one event; without a name it has only data.
func (e *events) send(name string, data any) {
	if name != "" {
		fmt.Fprintf(e.w, "event: %s\n", name)
	}
	e.raw(string(mustJSON(data)))
}

func (e *events) raw(data string) {
	fmt.Fprintf(e.w, "data: %s\n\n", data)
	if f, ok := e.w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// decodeInto is json.Unmarshal with the API in its error.
func decodeInto(api string, body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("fakemodel: %s request: %w", api, err)
	}
	return nil
}
