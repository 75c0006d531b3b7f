package fakemodel

import (
	"encoding/json"
	"strings"
	"time"
)

// responses is OpenAI's responses API.
type responses struct{}

type responsesItem struct {
	Type    string `json:"type"`
	Role    string `json:"role"`
	Content blocks `json:"content"`
	Name    string `json:"name"`
	Output  blocks `json:"output"`
}

type responsesTool struct {
	Type       string          `json:"type"`
	Name       string          `json:"name"`
	Parameters *schema         `json:"parameters"`
	Tools      []responsesTool `json:"tools"` // of a namespace; not offered to scripts
}

type responsesRequest struct {
	Model        string          `json:"model"`
	Stream       bool            `json:"stream"`
	Instructions string          `json:"instructions"`
	Input        json.RawMessage `json:"input"` // a text or a list of items
	Tools        []responsesTool `json:"tools"`
	Text         struct {
		Format struct {
			Schema *schema `json:"schema"`
		} `json:"format"`
	} `json:"text"`
}

func (responses) decode(body []byte) (*request, error) {
	var in responsesRequest
	if err := decodeInto("responses", body, &in); err != nil {
		return nil, err
	}
	r := &request{model: in.Model, stream: in.Stream, system: in.Instructions, answer: in.Text.Format.Schema}
	var text string
	if json.Unmarshal(in.Input, &text) == nil {
		r.turns = []turn{{role: user, text: text}}
	} else {
		var items []responsesItem
		if err := decodeInto("responses input", in.Input, &items); err != nil {
			return nil, err
		}
		for _, item := range items {
			r.add(item)
		}
	}
	for _, t := range in.Tools {
		if t.Name != "" && t.Type != "namespace" {
			r.tools = append(r.tools, tool{name: t.Name, schema: t.Parameters, freeText: t.Type == "custom"})
		}
	}
	return r, nil
}

func (r *request) add(item responsesItem) {
	switch {
	case strings.HasSuffix(item.Type, "_output"):
		r.turns = append(r.turns, turn{role: result, text: item.Output.text()})
	case strings.HasSuffix(item.Type, "_call"):
		r.turns = append(r.turns, turn{role: model, call: item.Name})
	case item.Type != "message" && item.Type != "":
		// reasoning and the like: nothing for a script
	case item.Role == "user":
		r.turns = append(r.turns, item.Content.userTurns()...)
	case item.Role == "assistant":
		r.turns = append(r.turns, turn{role: model, text: item.Content.text()})
	default:
		r.system += "\n" + item.Content.text()
	}
}

func (r *request) response(id, status string, output []any) map[string]any {
	in, out := r.usage()
	response := map[string]any{
		"id": id, "object": "response", "created_at": time.Now().Unix(), "model": r.model, "status": status,
		"output": output, "error": nil, "incomplete_details": nil, "parallel_tool_calls": false, "tools": []any{},
	}
	if status == "completed" {
		response["usage"] = map[string]any{
			"input_tokens": in, "input_tokens_details": map[string]any{"cached_tokens": 0},
			"output_tokens": out, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
			"total_tokens": in + out,
		}
	}
	return response
}

func messageItem(id, status, text string) map[string]any {
	content := []any{}
	if status == "completed" {
		content = append(content, outputText(text))
	}
	return map[string]any{"id": id, "type": "message", "status": status, "role": "assistant", "content": content}
}

func outputText(text string) map[string]any {
	return map[string]any{"type": "output_text", "text": text, "annotations": []any{}}
}

func summaryItem(id, text string) map[string]any {
	summary := []any{}
	if text != "" {
		summary = append(summary, map[string]any{"type": "summary_text", "text": text})
	}
	return map[string]any{"id": id, "type": "reasoning", "summary": summary}
}

func callItem(c call) map[string]any {
	item := map[string]any{"status": "completed", "call_id": newID("call_"), "name": c.name}
	if c.freeText {
		item["id"], item["type"], item["input"] = newID("ctc_"), "custom_tool_call", c.text
	} else {
		item["id"], item["type"], item["arguments"] = newID("fc_"), "function_call", string(c.args)
	}
	return item
}

func (responses) whole(r *request, parts []part) any {
	output := []any{}
	for _, p := range parts {
		switch {
		case p.call != nil:
			output = append(output, callItem(*p.call))
		case p.think != "":
			output = append(output, summaryItem(newID("rs_"), p.think))
		default:
			output = append(output, messageItem(newID("msg_"), "completed", p.text))
		}
	}
	return r.response(newID("resp_"), "completed", output)
}

func (responses) failure(status int) any { return chat{}.failure(status) }

func (responses) open(e *events, r *request) sink {
	s := &responsesStream{e: e, r: r, id: newID("resp_"), output: []any{}}
	s.send("response.created", map[string]any{"response": r.response(s.id, "in_progress", s.output)})
	return s
}

type responsesStream struct {
	e        *events
	r        *request
	id       string
	sequence int
	output   []any
	item     string // id of the open item; "": none open
	thinking bool   // the open item is reasoning
	said     string // in the open item
}

func (s *responsesStream) send(kind string, fields map[string]any) {
	fields["type"], fields["sequence_number"] = kind, s.sequence
	s.sequence++
	s.e.send(kind, fields)
}

// inItem sends an event about the open item.
func (s *responsesStream) inItem(kind string, fields map[string]any) {
	fields["item_id"], fields["output_index"] = s.item, len(s.output)
	s.send(kind, fields)
}

func (s *responsesStream) begin(thinking bool) {
	if s.item != "" && s.thinking == thinking {
		return
	}
	s.close()
	s.thinking, s.said = thinking, ""
	if thinking {
		s.item = newID("rs_")
		s.send("response.output_item.added", map[string]any{"output_index": len(s.output), "item": summaryItem(s.item, "")})
		s.inItem("response.reasoning_summary_part.added", map[string]any{
			"summary_index": 0, "part": map[string]any{"type": "summary_text", "text": ""},
		})
		return
	}
	s.item = newID("msg_")
	s.send("response.output_item.added", map[string]any{
		"output_index": len(s.output), "item": messageItem(s.item, "in_progress", ""),
	})
	s.inItem("response.content_part.added", map[string]any{"content_index": 0, "part": outputText("")})
}

func (s *responsesStream) close() {
	if s.item == "" {
		return
	}
	item := messageItem(s.item, "completed", s.said)
	if s.thinking {
		item = summaryItem(s.item, s.said)
		s.inItem("response.reasoning_summary_text.done", map[string]any{"summary_index": 0, "text": s.said})
		s.inItem("response.reasoning_summary_part.done", map[string]any{
			"summary_index": 0, "part": map[string]any{"type": "summary_text", "text": s.said},
		})
	} else {
		s.inItem("response.output_text.done", map[string]any{"content_index": 0, "text": s.said})
		s.inItem("response.content_part.done", map[string]any{"content_index": 0, "part": outputText(s.said)})
	}
	s.done(item)
	s.item = ""
}

func (s *responsesStream) done(item map[string]any) {
	s.send("response.output_item.done", map[string]any{"output_index": len(s.output), "item": item})
	s.output = append(s.output, item)
}

func (s *responsesStream) text(delta string) {
	s.begin(false)
	s.said += delta
	s.inItem("response.output_text.delta", map[string]any{"content_index": 0, "delta": delta})
}

func (s *responsesStream) think(delta string) {
	s.begin(true)
	s.said += delta
	s.inItem("response.reasoning_summary_text.delta", map[string]any{"summary_index": 0, "delta": delta})
}

func (s *responsesStream) call(c call) {
	s.close()
	item := callItem(c)
	kind, field := "response.function_call_arguments", "arguments"
	if c.freeText {
		kind, field = "response.custom_tool_call_input", "input"
	}
	text := item[field].(string)
	item[field] = ""
	s.send("response.output_item.added", map[string]any{"output_index": len(s.output), "item": item})
	for _, piece := range halves(text) {
		s.send(kind+".delta", map[string]any{"item_id": item["id"], "output_index": len(s.output), "delta": piece})
	}
	s.send(kind+".done", map[string]any{"item_id": item["id"], "output_index": len(s.output), field: text})
	item[field] = text
	s.done(item)
}

func (s *responsesStream) end() {
	s.close()
	s.send("response.completed", map[string]any{"response": s.r.response(s.id, "completed", s.output)})
}
