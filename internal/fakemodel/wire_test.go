package fakemodel

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// form is a client of one API: what it sends, and how it reads an answer. want is the text and the call of a turn,
// taken from any JSON of that API.
type form struct {
	path  func(stream bool) string
	body  func(stream, tools bool, turns ...string) string // turns: user texts; "CALL" and "RESULT x" in between
	read  func(v map[string]any) (text, name, args string)
	ended string // what the last event of a stream contains
}

const readSchema = `{"type":"object","properties":{"file_path":{"type":"string"}},"required":["file_path"]}`

func fixed(path string) func(bool) string { return func(bool) string { return path } }

var forms = map[string]form{
	"chat": {
		path: fixed("/v1/chat/completions"),
		body: func(stream, tools bool, turns ...string) string {
			return fmt.Sprintf(`{"model":"fake-1","stream":%t,"messages":[{"role":"system","content":"s"},%s]%s}`, stream,
				each(turns, `{"role":"user","content":[{"type":"text","text":%q}]}`,
					`{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"read_file","arguments":"{}"}}]}`,
					`{"role":"tool","tool_call_id":"c","content":%q}`),
				when(tools, `,"tools":[{"type":"function","function":{"name":"read_file","parameters":`+readSchema+`}}]`))
		},
		read: func(v map[string]any) (string, string, string) {
			at := "delta"
			if dig(v, "choices", 0, "message") != nil {
				at = "message"
			}
			return str(dig(v, "choices", 0, at, "content")),
				str(dig(v, "choices", 0, at, "tool_calls", 0, "function", "name")),
				str(dig(v, "choices", 0, at, "tool_calls", 0, "function", "arguments"))
		},
		ended: "[DONE]",
	},
	"anthropic": {
		path: fixed("/v1/messages"),
		body: func(stream, tools bool, turns ...string) string {
			return fmt.Sprintf(`{"model":"fake-1","stream":%t,"system":[{"type":"text","text":"s"}],"messages":[%s]%s}`, stream,
				each(turns, `{"role":"user","content":%q}`,
					`{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"read_file","input":{}}]}`,
					`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":%q}]}]}`),
				when(tools, `,"tools":[{"name":"read_file","input_schema":`+readSchema+`}]`))
		},
		read: func(v map[string]any) (string, string, string) {
			if d := dig(v, "delta"); d != nil {
				return str(dig(d, "text")), "", str(dig(d, "partial_json"))
			}
			if b := dig(v, "content_block"); b != nil {
				return "", str(dig(b, "name")), ""
			}
			return str(dig(v, "content", 0, "text")), str(dig(v, "content", 0, "name")), jsonOf(dig(v, "content", 0, "input"))
		},
		ended: `"message_stop"`,
	},
	"gemini": {
		path: func(stream bool) string {
			if stream {
				return "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
			}
			return "/v1beta/models/gemini-2.5-pro:generateContent"
		},
		body: func(_, tools bool, turns ...string) string {
			return fmt.Sprintf(`{"systemInstruction":{"parts":[{"text":"s"}]},"contents":[%s]%s}`,
				each(turns, `{"role":"user","parts":[{"text":%q}]}`,
					`{"role":"model","parts":[{"functionCall":{"name":"read_file","args":{}}}]}`,
					`{"role":"user","parts":[{"functionResponse":{"name":"read_file","response":{"output":%q}}}]}`),
				when(tools, `,"tools":[{"functionDeclarations":[{"name":"read_file","parametersJsonSchema":`+readSchema+`}]}]`))
		},
		read: func(v map[string]any) (string, string, string) {
			p := dig(v, "candidates", 0, "content", "parts", 0)
			if dig(p, "thought") == true {
				return "", "", ""
			}
			return str(dig(p, "text")), str(dig(p, "functionCall", "name")), jsonOf(dig(p, "functionCall", "args"))
		},
		ended: `"finishReason":"STOP"`,
	},
	"responses": {
		path: fixed("/v1/responses"),
		body: func(stream, tools bool, turns ...string) string {
			return fmt.Sprintf(`{"model":"fake-1","stream":%t,"instructions":"s","input":[%s]%s}`, stream,
				each(turns, `{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`,
					`{"type":"function_call","call_id":"c","name":"read_file","arguments":"{}"}`,
					`{"type":"function_call_output","call_id":"c","output":%q}`),
				when(tools, `,"tools":[{"type":"function","name":"read_file","parameters":`+readSchema+`}]`))
		},
		read: func(v map[string]any) (string, string, string) {
			switch v["type"] {
			case "response.output_text.delta":
				return str(v["delta"]), "", ""
			case "response.output_item.done":
				return "", str(dig(v, "item", "name")), str(dig(v, "item", "arguments"))
			}
			return str(dig(v, "output", 0, "content", 0, "text")), str(dig(v, "output", 0, "name")), str(dig(v, "output", 0, "arguments"))
		},
		ended: `"response.completed"`,
	},
}

func each(turns []string, user, called, res string) string {
	all := make([]string, len(turns))
	for i, t := range turns {
		switch {
		case t == "CALL":
			all[i] = called
		case strings.HasPrefix(t, "RESULT "):
			all[i] = fmt.Sprintf(res, t[len("RESULT "):])
		default:
			all[i] = fmt.Sprintf(user, t)
		}
	}
	return strings.Join(all, ",")
}

func when(b bool, s string) string {
	if b {
		return s
	}
	return ""
}

// dig follows keys and indices; nil where there is nothing.
func dig(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

func str(v any) string { s, _ := v.(string); return s }

func jsonOf(v any) string {
	if v == nil {
		return ""
	}
	return string(mustJSON(v))
}

func start(t *testing.T) *Server {
	t.Helper()
	s, err := Start(Config{Pace: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return s
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// say sends turns and returns what the model said and called, and how many pieces of text came.
func (f form) say(t *testing.T, s *Server, stream bool, turns ...string) (text, called string, pieces int) {
	t.Helper()
	status, body := post(t, s.URL()+f.path(stream), f.body(stream, true, turns...))
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, body)
	}
	if !stream {
		var v map[string]any
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		text, name, args := f.read(v)
		return text, name + args, 1
	}
	last := ""
	for line := range strings.SplitSeq(body, "\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		last = data
		var v map[string]any
		if json.Unmarshal([]byte(data), &v) != nil {
			continue
		}
		piece, name, args := f.read(v)
		if piece != "" {
			pieces++
		}
		text, called = text+piece, called+name+args
	}
	if !strings.Contains(last, f.ended) {
		t.Errorf("stream ends with %q, want %q in it", last, f.ended)
	}
	return text, called, pieces
}

func TestEveryWireForm(t *testing.T) {
	for api, f := range forms {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%t", api, stream), func(t *testing.T) {
				s := start(t)
				text, called, pieces := f.say(t, s, stream, "say: hello to you")
				if text != "hello to you" || called != "" || stream && pieces != 3 {
					t.Errorf("said %q in %d pieces, called %q", text, pieces, called)
				}
				text, called, _ = f.say(t, s, stream, "say: old", "read the file /p/x\nsay: over")
				if text != "" || called != `read_file{"file_path":"/p/x"}` {
					t.Errorf("said %q, called %q", text, called)
				}
				text, called, _ = f.say(t, s, stream, "read the file /p/x\nsay: over", "CALL", "RESULT inside")
				if text != "Result: inside\nover" || called != "" {
					t.Errorf("after the result said %q, called %q", text, called)
				}
				if text, _, _ = f.say(t, s, stream, "hello?"); text != "ok" {
					t.Errorf("without a command said %q", text)
				}
			})
		}
	}
}

func TestThinkingIsNotText(t *testing.T) {
	for api, f := range forms {
		t.Run(api, func(t *testing.T) {
			s := start(t)
			_, body := post(t, s.URL()+f.path(true), f.body(true, true, "think: hmm\nsay: so"))
			if !strings.Contains(body, "hmm") {
				t.Errorf("no reasoning in %s", body)
			}
			if text, _, _ := f.say(t, s, true, "think: hmm\nsay: so"); text != "so" {
				t.Errorf("said %q", text)
			}
		})
	}
}

func TestScriptedFailureIsAnHTTPStatus(t *testing.T) {
	for api, f := range forms {
		t.Run(api, func(t *testing.T) {
			s := start(t)
			status, body := post(t, s.URL()+f.path(true), f.body(true, true, "fail 503"))
			if status != http.StatusServiceUnavailable || !strings.Contains(body, "scripted failure") {
				t.Errorf("answered %d %s", status, body)
			}
		})
	}
}

func TestRequestWithoutToolsGetsATitle(t *testing.T) {
	for api, f := range forms {
		t.Run(api, func(t *testing.T) {
			s := start(t)
			if _, body := post(t, s.URL()+f.path(false), f.body(false, false, "name this chat")); !strings.Contains(body, title) {
				t.Errorf("answered %s", body)
			}
		})
	}
	s := start(t)
	_, body := post(t, s.URL()+"/v1beta/models/m:generateContent",
		`{"contents":[],"generationConfig":{"responseSchema":{"type":"OBJECT","properties":{"next":{"type":"STRING","enum":["user"]}},"required":["next"]}}}`)
	if !strings.Contains(body, `{\"next\":\"user\"}`) {
		t.Errorf("asked for JSON, answered %s", body)
	}
}

func TestClientThatGoesAwayIsRecorded(t *testing.T) {
	for api, f := range forms {
		t.Run(api, func(t *testing.T) {
			s := start(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			body := bytes.NewReader([]byte(f.body(true, true, "slow 50000")))
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+f.path(true), body)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			lines := bufio.NewScanner(resp.Body)
			for lines.Scan() && !strings.Contains(lines.Text(), "chunk 3") {
			}
			cancel()
			for deadline := time.Now().Add(10 * time.Second); s.running(); time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the answer went on without a client")
				}
			}
			if seen := s.Seen(); len(seen) != 1 || !seen[0].Cut || seen[0].API != api {
				t.Errorf("recorded %+v", seen)
			}
		})
	}
}

func TestOtherRoutes(t *testing.T) {
	s := start(t)
	for path, want := range map[string]string{
		"/v1/messages/count_tokens":         `"input_tokens"`,
		"/v1beta/models/gemini:countTokens": `"totalTokens"`,
		"/api/event_logging/batch":          "no such route",
	} {
		if _, body := post(t, s.URL()+path, `{"messages":[]}`); !strings.Contains(body, want) {
			t.Errorf("%s answered %s", path, body)
		}
	}
	for path, want := range map[string]string{"/v1/models": `"id":"fake-1"`, "/v1beta/models": `"models/fake-1"`} {
		resp, err := http.Get(s.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !strings.Contains(string(data), want) {
			t.Errorf("%s answered %s", path, data)
		}
	}
}
