package fakemodel

import (
	"encoding/json"
	"strings"
)

// request is what every wire form comes down to.
type request struct {
	model  string
	system string
	turns  []turn
	tools  []tool
	answer *schema // the JSON that the client asks for instead of text; nil: text
	stream bool
	bytes  int // length of the body, for the token figures
}

type role int

const (
	user role = iota
	model
	result // of a tool call
)

// turn is one text of the conversation. A client's message of several parts becomes several turns, since clients put
// their own parts beside the user's.
type turn struct {
	role role
	text string
	call string // name of the tool that a model turn called; "": none
}

// tool is one tool that the client offers.
type tool struct {
	name     string
	schema   *schema // of its arguments; nil for a tool of free text
	freeText bool    // takes a text instead of arguments (OpenAI's custom tools)
}

// schema is the part of JSON Schema that matters for filling arguments in.
type schema struct {
	Type       typeName           `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Enum       []any              `json:"enum"`
	Const      any                `json:"const"`
	Default    any                `json:"default"`
	Minimum    *float64           `json:"minimum"`
	AnyOf      []*schema          `json:"anyOf"`
	OneOf      []*schema          `json:"oneOf"`
}

// typeName is the first type of a schema in lower case: Gemini writes types in capitals, others write lists of them.
type typeName string

func (t *typeName) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = typeName(strings.ToLower(one))
		return nil
	}
	var many []string
	if err := json.Unmarshal(data, &many); err != nil {
		return err
	}
	if len(many) > 0 {
		*t = typeName(strings.ToLower(many[0]))
	}
	return nil
}

// block is one part of a message in the OpenAI and Anthropic forms.
type block struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Name    string `json:"name"`    // of a tool_use
	Content blocks `json:"content"` // of a tool_result
}

// blocks is content that may come as a bare string, as one part or as a list of parts.
type blocks []block

func (b *blocks) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		if text != "" {
			*b = blocks{{Type: "text", Text: text}}
		}
		return nil
	}
	var many []block
	if json.Unmarshal(data, &many) == nil {
		*b = many
		return nil
	}
	var one block
	if json.Unmarshal(data, &one) == nil && one.Type != "" {
		*b = blocks{one}
		return nil
	}
	*b = blocks{{Type: "text", Text: string(data)}} // some other JSON: the result of a tool as its own object
	return nil
}

func (b blocks) text() string {
	var parts []string
	for _, p := range b {
		switch {
		case p.Text != "":
			parts = append(parts, p.Text)
		case len(p.Content) > 0:
			parts = append(parts, p.Content.text())
		}
	}
	return strings.Join(parts, "\n")
}

// userTurns gives each text part its own turn.
func (b blocks) userTurns() []turn {
	var turns []turn
	for _, p := range b {
		if p.Text != "" {
			turns = append(turns, turn{role: user, text: p.Text})
		}
	}
	return turns
}

// usage are the invented token figures of an answer: four bytes a token, as clients estimate themselves.
func (r *request) usage() (in, out int) { return r.bytes/4 + 1, 17 }
