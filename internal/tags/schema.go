package tags

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"fyllocode.dev/fyllo"
)

const maxDepth = 32 // R-TAG-015

var typeName = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)+$`) // R-TAG-014

// kind is a type of tag: its payload is a closed object of these fields.
type kind struct {
	tag    fyllo.TagName
	name   string
	fields []field
}

// field is one key of a payload. check gets its value as JSON.
type field struct {
	name     string
	optional bool
	check    func(json.RawMessage) bool
}

// kinds is the registry: what is not here is unknown (R-TAG-024, 025, 029, 030).
var kinds = []kind{
	{fyllo.TagSignal, "show.time", []field{{name: "label", check: text(1, 200, oneLine)}}},
	{fyllo.TagSignal, "spawn.session", []field{{name: "sessionId", check: text(1, 256, without("/\\\x00"))}}},
	{fyllo.TagAction, "task.create", []field{
		{name: "title", check: text(1, 500)},
		{name: "description", optional: true, check: text(0, 20_000)},
	}},
	{fyllo.TagAction, "plan.create", []field{
		{name: "slug", check: text(1, 200, regexp.MustCompile(`^\d{4}-\d{2}-\d{2}-[a-z0-9][a-z0-9-]*$`).MatchString)},
		{name: "goal", check: text(1, 2000)},
	}},
	{fyllo.TagAction, "knowledge.flag", []field{
		{name: "summary", check: text(1, 500, oneLine, notBlank)},
		{name: "contextPaths", optional: true, check: list(20, text(1, 300, projectPath))},
	}},
	{fyllo.TagAction, "knowledge.review", []field{
		{name: "name", check: text(1, 120, regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`).MatchString)},
		{name: "summary", optional: true, check: text(1, 500, notBlank)},
	}},
}

// lookup returns the kind that the attribute type names, or why there is none.
func lookup(tag fyllo.TagName, attribute string) (kind, fyllo.TagReason) {
	if attribute == "" {
		return kind{}, fyllo.TagMissingType
	}
	if !typeName.MatchString(attribute) {
		return kind{}, fyllo.TagInvalidTypeName
	}
	for _, k := range kinds {
		if k.tag == tag && k.name == attribute {
			return k, ""
		}
	}
	return kind{}, fyllo.TagUnknownType
}

// payload reads a body. What it returns has the fields in the order of the schema, each once.
func (k kind) payload(b *bounded) (json.RawMessage, fyllo.TagReason) {
	body := strings.TrimRight(b.String(), jsonSpace)
	if b.over || !utf8.ValidString(body) || !json.Valid([]byte(body)) || depth(body) > maxDepth {
		return nil, fyllo.TagInvalidJSON
	}
	var object map[string]json.RawMessage // its keys are taken as they are written, of equal ones the last (R-TAG-017)
	if body[0] != '{' || lonely(body) || json.Unmarshal([]byte(body), &object) != nil {
		return nil, fyllo.TagInvalidPayload
	}
	var out bytes.Buffer
	for _, f := range k.fields {
		value, ok := object[f.name]
		delete(object, f.name)
		if !ok && f.optional {
			continue
		}
		if !ok || !f.check(value) {
			return nil, fyllo.TagInvalidPayload
		}
		out.WriteString(separator(out.Len()) + `"` + f.name + `":`)
		if err := json.Compact(&out, value); err != nil {
			return nil, fyllo.TagInvalidPayload
		}
	}
	if len(object) > 0 {
		return nil, fyllo.TagInvalidPayload
	}
	out.WriteByte('}')
	return out.Bytes(), ""
}

func separator(n int) string {
	if n == 0 {
		return "{"
	}
	return ","
}

// text accepts strings of least to most UTF-16 units of which all rules hold.
func text(least, most int, rules ...func(string) bool) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		var s string
		if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
			return false
		}
		if n := fyllo.UTF16Len(s); n < least || n > most {
			return false
		}
		for _, rule := range rules {
			if !rule(s) {
				return false
			}
		}
		return true
	}
}

// list accepts arrays of at most most values that check accepts.
func list(most int, check func(json.RawMessage) bool) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		var values []json.RawMessage
		if raw[0] != '[' || json.Unmarshal(raw, &values) != nil || len(values) > most {
			return false
		}
		for _, v := range values {
			if !check(v) {
				return false
			}
		}
		return true
	}
}

func without(chars string) func(string) bool {
	return func(s string) bool { return !strings.ContainsAny(s, chars) }
}

func oneLine(s string) bool { return !strings.ContainsAny(s, "\r\n") }

func notBlank(s string) bool { return strings.TrimSpace(s) != "" }

var drive = regexp.MustCompile(`^[A-Za-z]:`)

// projectPath accepts paths that stay below the folder that they are relative to, on every system.
func projectPath(s string) bool {
	if strings.TrimSpace(s) != s || strings.ContainsAny(s, "\\\x00") || drive.MatchString(s) || strings.ContainsAny(s[:1], "/~") {
		return false
	}
	for segment := range strings.SplitSeq(s, "/") {
		if segment == ".." {
			return false
		}
	}
	return true
}

// depth returns how deep the arrays and objects of valid JSON are nested.
func depth(body string) (most int) {
	now := 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			for i++; body[i] != '"'; i++ {
				if body[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			now++
			most = max(most, now)
		case '}', ']':
			now--
		}
	}
	return most
}

// surrogate finds the escapes of valid JSON, pairs of surrogates as one. The first group is a half without its other one.
var surrogate = regexp.MustCompile(`(?i)\\u(?:d[89ab][0-9a-f]{2}\\ud[c-f]|(d[89a-f][0-9a-f]{2}))|\\.`)

// lonely reports whether valid JSON has an escape of half a surrogate pair in it (R-TAG-017).
func lonely(body string) bool {
	for _, m := range surrogate.FindAllStringSubmatchIndex(body, -1) {
		if m[2] >= 0 {
			return true
		}
	}
	return false
}
