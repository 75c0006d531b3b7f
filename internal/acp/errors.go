package acp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/jsonrpc"
)

const (
	codeAuthRequired = -32000
	codeNotFound     = -32002
	maxReason        = 600 // bytes of an Agent's own words in an error
)

// call names a call for its errors.
type call struct {
	method string
	what   string             // "open a session", in a sentence that begins "Cannot"
	id     fyllo.ACPSessionID // "" when the call names none
}

// failure turns what a call ended with into an error for people.
func (c *Conn) failure(err error, k call) error {
	if err == nil {
		return nil
	}
	answer, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return c.transportFailure(err, k)
	}
	said := reason(answer)
	switch {
	case answer.Code == codeAuthRequired:
		return agentError(fyllo.CodeAuthRequired, k, "the Agent needs a sign-in: "+said, err)
	case sessionMissing(answer, k):
		return agentError(fyllo.CodeACPSessionMissing, k, "the Agent does not know the session: "+said, err)
	case answer.Code == jsonrpc.CodeMethodMissing && setsConfig(k.method):
		return agentError(fyllo.CodeConfigUnsupported, k, "the Agent does not support it: "+said, err)
	case answer.Code == jsonrpc.CodeMethodMissing:
		return agentError(fyllo.CodeMethodMissing, k, "the Agent does not support it: "+said, err)
	case answer.Code == jsonrpc.CodeInvalidParams && setsConfig(k.method):
		return agentError(fyllo.CodeConfigInvalid, k, "the Agent refuses the value: "+said, err)
	}
	return agentError(fyllo.CodeAgentError, k, said, err)
}

func agentError(code fyllo.Code, k call, why string, err error) error {
	return &fyllo.Error{Code: code, Message: "Cannot " + k.what + ": " + why, Err: err}
}

// transportFailure is for calls that got no answer.
func (c *Conn) transportFailure(err error, k call) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return agentError(fyllo.CodeAgentTimeout, k, "the Agent did not answer in time", err)
	case errors.Is(err, context.Canceled):
		return agentError(fyllo.CodeAgentTimeout, k, "it was given up before the Agent answered", err)
	case errors.Is(err, jsonrpc.ErrStuck):
		return agentError(fyllo.CodeAgentExited, k, "the Agent does not read its input", err)
	}
	ended := c.endReason()
	return &fyllo.Error{
		Code: fyllo.CodeOf(ended), Message: "Cannot " + k.what + ": " + ended.Error(), Err: errors.Join(ended, err),
	}
}

// missingWords say that a session is not there, in lower case. The last are Gemini CLI's when the project has no other
// session; it forgets one that is loaded within the minute in which it was made.
var missingWords = []string{"resource_not_found", "session not found", "no previous sessions found"}

// sessionMissing applies R-CHAT-144. Params of a refused option may be echoed with the session id in them, so
// there the id alone proves nothing.
func sessionMissing(e *jsonrpc.Error, k call) bool {
	if k.id == "" {
		return false
	}
	text := strings.ToLower(e.Message + " " + string(e.Data))
	if e.Code == codeNotFound || slices.ContainsFunc(missingWords, func(w string) bool { return strings.Contains(text, w) }) {
		return true
	}
	if setsConfig(k.method) || e.Code != jsonrpc.CodeInvalidParams && e.Code != jsonrpc.CodeInternal {
		return false
	}
	return names(text, strings.ToLower(string(k.id)))
}

// names reports whether text has id as a word of its own; ids may be as short as "1".
func names(text, id string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], id)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(id)
		if (start == 0 || !inWord(text[start-1])) && (end == len(text) || !inWord(text[end])) {
			return true
		}
		at = start + 1
	}
}

func inWord(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z'
}

func setsConfig(method string) bool {
	return method == methodSetOption || method == methodSetMode || method == methodSetModel
}

// reason is the Agent's message with the detail that many put into data, bounded.
func reason(e *jsonrpc.Error) string {
	text := strings.TrimSpace(strings.ToValidUTF8(e.Message, "\uFFFD"))
	if d := strings.TrimSpace(detail(e.Data)); d != "" && !strings.Contains(text, d) {
		text += ": " + d
	}
	return bound(text)
}

func bound(text string) string {
	if len(text) <= maxReason {
		return text
	}
	cut := maxReason
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// detail finds the sentence in an error's data: the data itself, or its details, message or error.
func detail(data []byte) (text string) {
	s := jsonrpc.NewScanner(data)
	if s.Kind() == '"' {
		text, _ = s.String()
		return text
	}
	s.Object(func(name []byte) {
		switch string(name) {
		case "details", "message", "error":
			if v, ok := s.String(); ok {
				text = v
			}
		}
	})
	return text
}
