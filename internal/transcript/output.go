package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"fyllocode.dev/fyllo"
)

// blockBreak stands between text blocks (C10).
const blockBreak = "\n\n"

// inputFacts are what a tool's input says about the call itself.
type inputFacts struct {
	description  string
	prompt       string // what a subagent is told
	agentType    string // the sort of subagent
	server, tool string // an MCP call as Codex reports it: both set or none (X6)
}

// rawOutput is what of a rawOutput can be shown.
type rawOutput struct {
	text     string // the text chosen by R-ACP-011
	problem  string // its error, if it names one
	strict   bool   // problem was a string under "error", which makes a completed call a failed one (R-ACP-010)
	json     string // the whole value, indented; "" when it has a text form, even an empty one
	exitCode int64
}

// setOutput decides what stands under Output and Error. A failed call shows its text as Error only (R-CHAT-083).
func (t *tool) setOutput() {
	text, isJSON := t.body()
	if t.view.Status == fyllo.ToolCompleted && t.raw.strict && (text == "" || isJSON) {
		t.view.Status = fyllo.ToolFailed
	}
	if t.view.Status == fyllo.ToolFailed {
		setBody(&t.view.Output, nil)
		setBody(&t.view.Error, optional(t.failure(text, isJSON), false))
		return
	}
	if !isJSON {
		text = t.withExitCode(text)
	}
	setBody(&t.view.Error, nil)
	setBody(&t.view.Output, optional(text, isJSON))
}

// body chooses the output (R-ACP-011): text of the final content, text of rawOutput, terminal output, content that
// came earlier, rawOutput as JSON. Content that may be an input in the making counts only when nothing can follow.
func (t *tool) body() (text string, isJSON bool) {
	if text := t.unfenced(t.final); text != "" {
		return text, false
	}
	if text := t.unfenced(t.raw.text); text != "" {
		return text, false
	}
	if text := t.stream.String(); text != "" {
		return text, false
	}
	if !t.provisional || t.view.Status.Final() {
		if text := t.unfenced(t.interim); text != "" {
			return text, false
		}
	}
	return t.raw.json, true
}

// failure chooses the error text: what came as output, else what rawOutput names as error. Without either the
// reader's default sentence is shown (X13).
func (t *tool) failure(text string, isJSON bool) string {
	switch {
	case t.unfenced(t.final) == "" && t.raw.problem != "":
		text = t.raw.problem
	case isJSON:
		text = ""
	}
	return t.withExitCode(text)
}

// withExitCode adds the exit code of a command that did not end with 0, whatever its status says (X4).
func (t *tool) withExitCode(text string) string {
	if t.raw.exitCode == 0 || !t.view.Status.Final() {
		return text
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + fmt.Sprintf("exit code %d", t.raw.exitCode)
}

// unfenced strips the one fence that Claude's adapter puts around output (C6). Only a call with a programmatic
// name comes from an adapter that does so. The last words of a subagent are a text of their own, fences included.
func (t *tool) unfenced(text string) string {
	if t.view.Name == "" || t.marked || !strings.HasPrefix(text, "```") {
		return text
	}
	first, rest, ok := strings.Cut(text, "\n")
	info := strings.TrimLeft(first, "`")
	fence := first[:len(first)-len(info)]
	if info = strings.TrimSpace(info); !ok || info != "" && info != "console" {
		return text
	}
	rest = strings.TrimRight(rest, "\n")
	i := strings.LastIndexByte(rest, '\n') + 1
	if !closes(rest[i:], fence) {
		return text
	}
	inner := strings.TrimSuffix(rest[:i], "\n")
	for line := range strings.Lines(inner) {
		if closes(line, fence) {
			return text // more than one block
		}
	}
	return inner
}

// closes reports whether line ends a block that fence began.
func closes(line, fence string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(fence) && strings.Trim(line, "`") == ""
}

// contentText joins the text blocks of an event's content; without any, it names the blocks of other kinds that are
// no media, since a tool has no other place for them.
func contentText(p *fyllo.ToolPatch) string {
	texts := p.Texts
	if len(texts) == 0 {
		for i := range p.Blocks {
			if b := &p.Blocks[i]; !isMedia(b) {
				texts = append(texts, blockText(b))
			}
		}
	}
	return clean(joinTexts(texts))
}

// media are the blocks of an event's content that are files rather than text, in order.
func media(blocks []fyllo.Block) []fyllo.Attachment {
	var out []fyllo.Attachment
	for i := range blocks {
		if isMedia(&blocks[i]) {
			out = append(out, *attachment(&blocks[i]))
		}
	}
	return out
}

// isMedia reports whether a block holds the bytes of a picture, a sound or another file.
func isMedia(b *fyllo.Block) bool { return b.Data != "" && !b.IsText }

// blockText shows a block that is not text by its text, its address, or its sort.
func blockText(b *fyllo.Block) string {
	switch {
	case b.IsText && b.Data != "":
		return b.Data
	case b.URI != "":
		return strings.TrimSpace(b.Name + " " + b.URI)
	case b.MIME != "":
		return "[" + b.MIME + "]"
	}
	return ""
}

// joinTexts joins the blocks that have text.
func joinTexts(texts []string) string {
	var kept []string
	for _, text := range texts {
		if text != "" {
			kept = append(kept, text)
		}
	}
	return strings.Join(kept, blockBreak)
}

// inputBody shows an input: a string as it is, any other value as indented JSON (R-CHAT-082). Empty values show
// nothing (O1).
func inputBody(raw []byte) *fyllo.Body {
	raw = bytes.TrimSpace(raw)
	switch string(raw) {
	case "", "null", "{}", "[]", `""`:
		return nil
	}
	if raw[0] == '"' {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			return optional(text, false)
		}
	}
	return optional(indent(raw), true)
}

// readInput reads what an input says about its call. An MCP identity is taken only from the exact shape in which it
// is reported, so that an input which happens to have a server is not taken for one.
func readInput(raw []byte) inputFacts {
	var in map[string]json.RawMessage
	if json.Unmarshal(raw, &in) != nil {
		return inputFacts{}
	}
	facts := inputFacts{
		description: firstLine(stringOf(in["description"])), prompt: clean(stringOf(in["prompt"])),
		agentType: clean(stringOf(in["subagent_type"])),
	}
	server, tool := stringOf(in["server"]), stringOf(in["tool"])
	if _, ok := in["arguments"]; server != "" && tool != "" && (len(in) == 2 || len(in) == 3 && ok) {
		facts.server, facts.tool = server, tool
	}
	return facts
}

// outputShape is an object of rawOutput with the members that are understood.
type outputShape struct {
	Result    json.RawMessage `json:"result"`
	Content   json.RawMessage `json:"content"`
	Formatted json.RawMessage `json:"formatted_output"`
	Aggregate json.RawMessage `json:"aggregated_output"`
	Stdout    json.RawMessage `json:"stdout"`
	Stderr    json.RawMessage `json:"stderr"`
	Output    json.RawMessage `json:"output"`
	Error     json.RawMessage `json:"error"`
	Message   json.RawMessage `json:"message"`
	ExitCode  json.RawMessage `json:"exit_code"`
}

// readOutput reads a rawOutput by R-ACP-011.
func readOutput(raw []byte) rawOutput {
	raw = bytes.TrimSpace(raw)
	switch string(raw) {
	case "", "null", "{}", "[]", `""`:
		return rawOutput{}
	}
	switch raw[0] {
	case '"':
		return rawOutput{text: stringOf(raw)}
	case '[':
		if text, ok := blocksText(raw); ok {
			return rawOutput{text: text}
		}
	case '{':
		return readObject(raw)
	}
	return rawOutput{json: indent(raw)}
}

func readObject(raw []byte) rawOutput {
	var in, result outputShape
	if json.Unmarshal(raw, &in) != nil {
		return rawOutput{json: indent(raw)}
	}
	// A result that is no object holds no content; the other members are looked at all the same.
	_ = json.Unmarshal(in.Result, &result)
	var out rawOutput
	_ = json.Unmarshal(in.ExitCode, &out.exitCode) // no integer: no exit code
	out.problem = stringOf(in.Error)
	out.strict = out.problem != ""
	if out.problem == "" {
		var nested outputShape
		_ = json.Unmarshal(in.Error, &nested) // an error object may say more
		out.problem = firstOf(stringOf(nested.Message), stringOf(in.Message))
	}
	fromResult, inResult := blocksText(result.Content)
	fromContent, inContent := blocksText(in.Content)
	out.text = firstOf(fromResult, fromContent, stringOf(in.Formatted), stringOf(in.Aggregate),
		stringOf(in.Stdout)+stringOf(in.Stderr), stringOf(in.Output))
	known := inResult || inContent
	for _, member := range []json.RawMessage{in.Formatted, in.Aggregate, in.Stdout, in.Stderr, in.Output} {
		known = known || isString(member)
	}
	if out.text == "" && !known {
		out.json = indent(raw)
	}
	return out
}

// blocksText joins the text blocks of a JSON list; ok is false if it is no list of objects or has blocks of other
// kinds only.
func blocksText(raw []byte) (text string, ok bool) {
	var blocks []struct {
		Type string          `json:"type"`
		Text json.RawMessage `json:"text"`
	}
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &blocks) != nil {
		return "", false
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" {
			texts = append(texts, stringOf(b.Text))
		}
	}
	return joinTexts(texts), len(texts) > 0 || len(blocks) == 0
}

// stringOf returns the text of a JSON string, "" for any other value.
func stringOf(raw json.RawMessage) string {
	var s string
	if !isString(raw) || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func isString(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// indent formats a JSON value; what is no JSON stays as it came. So does a value whose blanks would be a multiple of it:
// a few kilobytes of brackets within brackets would become megabytes.
func indent(raw []byte) string {
	var b bytes.Buffer
	if blanks(raw) > 4*len(raw)+4096 || json.Indent(&b, raw, "", "  ") != nil {
		return clean(string(raw))
	}
	return clean(b.String())
}

// blanks is about how many bytes json.Indent adds to a value.
func blanks(raw []byte) int {
	depth, sum, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			depth++
			sum += 1 + 2*depth
		case c == '}', c == ']':
			depth--
			sum += 1 + 2*max(depth, 0)
		case c == ',':
			sum += 1 + 2*max(depth, 0)
		}
	}
	return sum
}
