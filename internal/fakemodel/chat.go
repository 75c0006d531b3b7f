package fakemodel

import "time"

// chat is OpenAI's chat completions.
type chat struct{}

type chatRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role      string `json:"role"`
		Content   blocks `json:"content"`
		ToolCalls []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name       string  `json:"name"`
			Parameters *schema `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	ResponseFormat struct {
		JSONSchema struct {
			Schema *schema `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

func (chat) decode(body []byte) (*request, error) {
	var in chatRequest
	if err := decodeInto("chat", body, &in); err != nil {
		return nil, err
	}
	r := &request{model: in.Model, stream: in.Stream, answer: in.ResponseFormat.JSONSchema.Schema}
	for _, m := range in.Messages {
		switch m.Role {
		case "system", "developer":
			r.system += m.Content.text() + "\n"
		case "tool":
			r.turns = append(r.turns, turn{role: result, text: m.Content.text()})
		case "assistant":
			r.turns = append(r.turns, turn{role: model, text: m.Content.text()})
			for _, c := range m.ToolCalls {
				r.turns = append(r.turns, turn{role: model, call: c.Function.Name})
			}
		default:
			r.turns = append(r.turns, m.Content.userTurns()...)
		}
	}
	for _, t := range in.Tools {
		if t.Function.Name != "" {
			r.tools = append(r.tools, tool{name: t.Function.Name, schema: t.Function.Parameters})
		}
	}
	return r, nil
}

type chatUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

func (r *request) chatUsage() chatUsage {
	in, out := r.usage()
	return chatUsage{in, out, in + out}
}

type chatCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func newChatCall(index int, c call) chatCall {
	out := chatCall{Index: index, ID: newID("call_"), Type: "function"}
	out.Function.Name, out.Function.Arguments = c.name, string(c.args)
	return out
}

func (chat) whole(r *request, parts []part) any {
	text, reason := "", "stop"
	var calls []chatCall
	for _, p := range parts {
		text += p.text
		if p.call != nil {
			calls, reason = append(calls, newChatCall(len(calls), *p.call)), "tool_calls"
		}
	}
	message := map[string]any{"role": "assistant", "content": text}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return map[string]any{
		"id": newID("chatcmpl-"), "object": "chat.completion", "created": time.Now().Unix(), "model": r.model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": reason}},
		"usage":   r.chatUsage(),
	}
}

func (chat) failure(status int) any {
	return map[string]any{"error": map[string]any{"message": "scripted failure", "type": "server_error", "code": status}}
}

func (chat) open(e *events, r *request) sink {
	s := &chatStream{e: e, r: r, id: newID("chatcmpl-"), created: time.Now().Unix()}
	s.delta(map[string]any{"role": "assistant", "content": ""}, nil)
	return s
}

type chatStream struct {
	e       *events
	r       *request
	id      string
	created int64
	calls   int
}

func (s *chatStream) chunk(choices []any) map[string]any {
	return map[string]any{
		"id": s.id, "object": "chat.completion.chunk", "created": s.created, "model": s.r.model, "choices": choices,
	}
}

func (s *chatStream) delta(delta map[string]any, reason any) {
	s.e.send("", s.chunk([]any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}}))
}

func (s *chatStream) text(delta string)  { s.delta(map[string]any{"content": delta}, nil) }
func (s *chatStream) think(delta string) { s.delta(map[string]any{"reasoning_content": delta}, nil) }

// call sends the name first and the arguments after it in two pieces, as models do.
func (s *chatStream) call(c call) {
	full := newChatCall(s.calls, c)
	s.calls++
	args := full.Function.Arguments
	full.Function.Arguments = ""
	s.delta(map[string]any{"tool_calls": []chatCall{full}}, nil)
	for _, piece := range halves(args) {
		more := map[string]any{"index": full.Index, "function": map[string]any{"arguments": piece}}
		s.delta(map[string]any{"tool_calls": []any{more}}, nil)
	}
}

func (s *chatStream) end() {
	reason := "stop"
	if s.calls > 0 {
		reason = "tool_calls"
	}
	s.delta(map[string]any{}, reason)
	last := s.chunk([]any{})
	last["usage"] = s.r.chatUsage()
	s.e.send("", last)
	s.e.raw("[DONE]")
}

// halves splits text in two without cutting a character.
func halves(text string) [2]string {
	runes := []rune(text)
	return [2]string{string(runes[:len(runes)/2]), string(runes[len(runes)/2:])}
}
