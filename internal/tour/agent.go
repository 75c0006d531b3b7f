package tour

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"fyllocode.dev/fyllo/internal/jsonrpc"
	"fyllocode.dev/fyllo/internal/mcpcall"
)

const (
	protocolVersion = 1
	idPrefix        = "tour-"
	codeNotFound    = -32002 // ACP: the session is not known
)

// object is a JSON object.
type object = map[string]any

// agent is one connection and its ACP sessions.
type agent struct {
	ctx   context.Context //nolint:containedctx // the life of Run, which owns every turn
	now   func() time.Time
	hurry bool // no pauses
	turns sync.WaitGroup

	mu       sync.Mutex // guards what follows, and the fields of the sessions
	conn     *jsonrpc.Conn
	booleans bool // the client knows boolean options
	sessions map[string]*session
}

// session is one ACP session.
type session struct {
	id       string
	cwd      string
	spawn    *mcpcall.Server // delegates work; nil when the client gave no such server
	lang     string          // en or zh, as the user last wrote
	brisk    bool
	thinking bool
	calls    int                // tool calls so far
	used     int                // characters so far, in both directions
	stop     context.CancelFunc // ends the turn that runs; nil when none does
}

// params are the parameters of every method; each uses its own.
type params struct {
	ClientCapabilities struct {
		Session struct {
			ConfigOptions struct {
				Boolean *struct{} `json:"boolean"`
			} `json:"configOptions"`
		} `json:"session"`
	} `json:"clientCapabilities"`
	SessionID string          `json:"sessionId"`
	Cwd       string          `json:"cwd"`
	ConfigID  string          `json:"configId"`
	Value     json.RawMessage `json:"value"`
	Prompt    []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"prompt"`
}

// request answers a request; it runs on the reader goroutine and so must not wait.
func (a *agent) request(r *jsonrpc.Request) {
	var p params
	if len(r.Params) > 0 && json.Unmarshal(r.Params, &p) != nil {
		r.Fail(jsonrpc.CodeInvalidParams, "the parameters are not those of "+r.Method)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch r.Method {
	case "initialize":
		a.booleans = p.ClientCapabilities.Session.ConfigOptions.Boolean != nil
		r.Reply(initialized())
	case "session/new":
		a.open(r, idPrefix+rand.Text(), p.Cwd)
	case "session/resume": // nothing is remembered, so nothing has to be found again
		if !strings.HasPrefix(p.SessionID, idPrefix) {
			r.Fail(codeNotFound, "session not found")
			return
		}
		a.open(r, p.SessionID, p.Cwd)
	case "session/close", "session/prompt", "session/set_config_option":
		s := a.sessions[p.SessionID]
		if s == nil {
			r.Fail(codeNotFound, "session not found")
			return
		}
		a.sessionRequest(r, s, &p)
	default:
		r.Fail(jsonrpc.CodeMethodMissing, "the tour has no method "+r.Method)
	}
}

func (a *agent) sessionRequest(r *jsonrpc.Request, s *session, p *params) {
	switch r.Method {
	case "session/close":
		delete(a.sessions, s.id)
		if s.stop != nil {
			s.stop()
		}
		r.Reply(object{})
	case "session/set_config_option":
		if !s.set(p.ConfigID, p.Value) {
			r.Fail(jsonrpc.CodeInvalidParams, "no such option or value")
			return
		}
		r.Reply(object{"configOptions": s.options(a.booleans)})
	case "session/prompt":
		if s.stop != nil {
			r.Fail(jsonrpc.CodeInvalidRequest, "a turn is running already")
			return
		}
		var text strings.Builder
		var told notice
		for _, b := range p.Prompt {
			switch {
			case b.Type != "text":
			case !strings.HasPrefix(strings.TrimSpace(b.Text), "<system-reminder>"):
				text.WriteString(b.Text + "\n")
			default:
				told.read(b.Text)
			}
		}
		a.start(r, s, text.String(), told)
	}
}

// notify knows one notification: the turn is to end.
func (a *agent) notify(method string, raw, _ []byte) {
	var p params
	if method != "session/cancel" || json.Unmarshal(raw, &p) != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[p.SessionID]; s != nil && s.stop != nil {
		s.stop()
	}
}

func initialized() object {
	return object{
		"protocolVersion": protocolVersion,
		"agentInfo":       object{"name": "fyllo-tour", "title": "Tour", "version": "1"},
		"agentCapabilities": object{
			"loadSession":         false,
			"promptCapabilities":  object{"image": false, "audio": false, "embeddedContext": false},
			"mcpCapabilities":     object{"http": true, "sse": false},
			"sessionCapabilities": object{"resume": object{}, "close": object{}, "additionalDirectories": object{}},
		},
		"authMethods": []any{},
	}
}

// open makes a session and announces its commands.
func (a *agent) open(r *jsonrpc.Request, id, cwd string) {
	if info, err := os.Stat(cwd); err != nil || !info.IsDir() || !filepath.IsAbs(cwd) {
		r.Fail(jsonrpc.CodeInvalidParams, "cwd is not the absolute path of a directory")
		return
	}
	s := &session{id: id, cwd: cwd, thinking: true, lang: "en"}
	if server, ok := mcpcall.Find(r.Params, spawnServer); ok {
		s.spawn = &server
	}
	if old := a.sessions[id]; old != nil && old.stop != nil {
		old.stop()
	}
	a.sessions[id] = s
	r.Reply(object{"sessionId": id, "configOptions": s.options(a.booleans)})
	a.update(id, object{"sessionUpdate": "available_commands_update", "availableCommands": []object{
		{"name": "tour", "description": "A bit of everything"},
		{"name": "read", "description": "Read a file of the Project"},
		{"name": "edit", "description": "Propose a change and ask first", "input": object{"hint": "file"}},
		{"name": "long", "description": "A long answer with code, a table and lists"},
		{"name": "delegate", "description": "Hand work to a second Tour"},
	}})
}

// update sends a session/update. An error means that nobody listens any more; Run then ends the turn.
func (a *agent) update(id string, u object) {
	_ = a.conn.Notify("session/update", object{"sessionId": id, "update": u})
}

// options is the complete snapshot of a session's settings. A client that does not know boolean options gets the
// switch as a choice.
func (s *session) options(booleans bool) []object {
	pace := map[bool]string{false: "calm", true: "brisk"}[s.brisk]
	thinking := object{"id": "thinking", "name": "Show thinking", "type": "boolean", "currentValue": s.thinking}
	if !booleans {
		thinking["type"] = "select"
		thinking["currentValue"] = map[bool]string{false: "off", true: "on"}[s.thinking]
		thinking["options"] = []object{{"value": "on", "name": "On"}, {"value": "off", "name": "Off"}}
	}
	return []object{
		{"id": "pace", "name": "Pace", "description": "How fast the tour speaks", "type": "select", "currentValue": pace,
			"options": []object{{"value": "calm", "name": "Calm"}, {"value": "brisk", "name": "Brisk"}}},
		thinking,
	}
}

// set changes a setting, also while a turn runs; false means that there is no such option or value.
func (s *session) set(id string, value json.RawMessage) bool {
	switch id + "=" + strings.Trim(string(value), `"`) {
	case "pace=calm":
		s.brisk = false
	case "pace=brisk":
		s.brisk = true
	case "thinking=true", "thinking=on":
		s.thinking = true
	case "thinking=false", "thinking=off":
		s.thinking = false
	default:
		return false
	}
	return true
}
