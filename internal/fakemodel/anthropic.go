package fakemodel

// anthropic is Anthropic's messages API.
type anthropic struct{}

type anthropicRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	System   blocks `json:"system"`
	Messages []struct {
		Role    string `json:"role"`
		Content blocks `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string  `json:"name"`
		InputSchema *schema `json:"input_schema"`
	} `json:"tools"`
	OutputConfig struct {
		Format struct {
			Schema *schema `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
}

func (anthropic) decode(body []byte) (*request, error) {
	var in anthropicRequest
	if err := decodeInto("anthropic", body, &in); err != nil {
		return nil, err
	}
	r := &request{
		model: in.Model, stream: in.Stream, system: in.System.text(), answer: in.OutputConfig.Format.Schema,
	}
	for _, m := range in.Messages {
		r.turns = append(r.turns, anthropicTurns(m.Role, m.Content)...)
	}
	for _, t := range in.Tools {
		r.tools = append(r.tools, tool{name: t.Name, schema: t.InputSchema})
	}
	return r, nil
}

func anthropicTurns(who string, content blocks) []turn {
	var turns []turn
	for _, b := range content {
		switch {
		case b.Type == "tool_use":
			turns = append(turns, turn{role: model, call: b.Name})
		case b.Type == "tool_result":
			turns = append(turns, turn{role: result, text: b.Content.text()})
		case b.Text != "" && who == "assistant":
			turns = append(turns, turn{role: model, text: b.Text})
		case b.Text != "":
			turns = append(turns, turn{role: user, text: b.Text})
		}
	}
	return turns
}

func (r *request) anthropicUsage() map[string]any {
	in, out := r.usage()
	return map[string]any{
		"input_tokens": in, "output_tokens": out, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
	}
}

func (r *request) anthropicMessage(content []any, stop any) map[string]any {
	return map[string]any{
		"id": newID("msg_"), "type": "message", "role": "assistant", "model": r.model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": r.anthropicUsage(),
	}
}

func (anthropic) whole(r *request, parts []part) any {
	content, stop := []any{}, "end_turn"
	for _, p := range parts {
		switch {
		case p.call != nil:
			content = append(content, map[string]any{
				"type": "tool_use", "id": newID("toolu_"), "name": p.call.name, "input": p.call.args,
			})
			stop = "tool_use"
		case p.text != "":
			content = append(content, map[string]any{"type": "text", "text": p.text})
		}
	}
	return r.anthropicMessage(content, stop)
}

func (anthropic) failure(int) any {
	return map[string]any{
		"type": "error", "error": map[string]any{"type": "api_error", "message": "scripted failure"},
	}
}

func (anthropic) open(e *events, r *request) sink {
	s := &anthropicStream{e: e, r: r, index: -1}
	s.send("message_start", map[string]any{"message": r.anthropicMessage([]any{}, nil)})
	return s
}

type anthropicStream struct {
	e     *events
	r     *request
	index int    // of the newest block; -1: none yet
	kind  string // of the open block; "": none open
	calls int
}

func (s *anthropicStream) send(kind string, fields map[string]any) {
	fields["type"] = kind
	s.e.send(kind, fields)
}

func (s *anthropicStream) begin(kind string, block map[string]any) {
	if s.kind == kind && kind != "tool_use" {
		return
	}
	s.close()
	s.kind = kind
	s.index++
	block["type"] = kind
	s.send("content_block_start", map[string]any{"index": s.index, "content_block": block})
}

func (s *anthropicStream) delta(kind, field, value string) {
	s.send("content_block_delta", map[string]any{
		"index": s.index, "delta": map[string]any{"type": kind, field: value},
	})
}

func (s *anthropicStream) close() {
	if s.kind == "" {
		return
	}
	if s.kind == "thinking" {
		s.delta("signature_delta", "signature", "ZmFrZQ==")
	}
	s.send("content_block_stop", map[string]any{"index": s.index})
	s.kind = ""
}

func (s *anthropicStream) text(delta string) {
	s.begin("text", map[string]any{"text": ""})
	s.delta("text_delta", "text", delta)
}

func (s *anthropicStream) think(delta string) {
	s.begin("thinking", map[string]any{"thinking": "", "signature": ""})
	s.delta("thinking_delta", "thinking", delta)
}

func (s *anthropicStream) call(c call) {
	s.begin("tool_use", map[string]any{"id": newID("toolu_"), "name": c.name, "input": map[string]any{}})
	s.calls++
	for _, piece := range halves(string(c.args)) {
		s.delta("input_json_delta", "partial_json", piece)
	}
}

func (s *anthropicStream) end() {
	s.close()
	stop := "end_turn"
	if s.calls > 0 {
		stop = "tool_use"
	}
	s.send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": s.r.anthropicUsage(),
	})
	s.send("message_stop", map[string]any{})
}
