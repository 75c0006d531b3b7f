package fakemodel

import "encoding/json"

// gemini is Google's generateContent. The model and the choice of streaming come from the route.
type gemini struct {
	model  string
	stream bool
}

type geminiPart struct {
	Text         string `json:"text"`
	FunctionCall *struct {
		Name string `json:"name"`
	} `json:"functionCall"`
	FunctionResponse *struct {
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

type geminiRequest struct {
	Contents []struct {
		Role  string       `json:"role"`
		Parts []geminiPart `json:"parts"`
	} `json:"contents"`
	SystemInstruction struct {
		Parts []geminiPart `json:"parts"`
	} `json:"systemInstruction"`
	Tools []struct {
		FunctionDeclarations []struct {
			Name                 string  `json:"name"`
			Parameters           *schema `json:"parameters"`
			ParametersJSONSchema *schema `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	GenerationConfig struct {
		ResponseSchema     *schema `json:"responseSchema"`
		ResponseJSONSchema *schema `json:"responseJsonSchema"`
	} `json:"generationConfig"`
}

func (g gemini) decode(body []byte) (*request, error) {
	var in geminiRequest
	if err := decodeInto("gemini", body, &in); err != nil {
		return nil, err
	}
	r := &request{model: g.model, stream: g.stream, answer: in.GenerationConfig.ResponseJSONSchema}
	if r.answer == nil {
		r.answer = in.GenerationConfig.ResponseSchema
	}
	for _, p := range in.SystemInstruction.Parts {
		r.system += p.Text + "\n"
	}
	for _, c := range in.Contents {
		for _, p := range c.Parts {
			r.turns = append(r.turns, p.turn(c.Role))
		}
	}
	for _, t := range in.Tools {
		for _, f := range t.FunctionDeclarations {
			parameters := f.ParametersJSONSchema
			if parameters == nil {
				parameters = f.Parameters
			}
			r.tools = append(r.tools, tool{name: f.Name, schema: parameters})
		}
	}
	return r, nil
}

func (p geminiPart) turn(who string) turn {
	switch {
	case p.FunctionCall != nil:
		return turn{role: model, call: p.FunctionCall.Name}
	case p.FunctionResponse != nil:
		return turn{role: result, text: responseText(p.FunctionResponse.Response)}
	case who == "model":
		return turn{role: model, text: p.Text}
	default:
		return turn{role: user, text: p.Text}
	}
}

// responseText takes the two usual fields of a function's response, else its JSON.
func responseText(data json.RawMessage) string {
	var known struct{ Output, Error string }
	if json.Unmarshal(data, &known) == nil && known.Output+known.Error != "" {
		return known.Output + known.Error
	}
	return string(data)
}

func (g gemini) frame(r *request, parts []any, finish string) any {
	in, out := r.usage()
	candidate := map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "index": 0}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	return map[string]any{
		"candidates":    []any{candidate},
		"usageMetadata": map[string]any{"promptTokenCount": in, "candidatesTokenCount": out, "totalTokenCount": in + out},
		"modelVersion":  g.model, "responseId": newID("r"),
	}
}

func geminiPartOf(p part) any {
	switch {
	case p.call != nil:
		return map[string]any{"functionCall": map[string]any{"id": newID("fc"), "name": p.call.name, "args": p.call.args}}
	case p.think != "":
		return map[string]any{"text": p.think, "thought": true}
	default:
		return map[string]any{"text": p.text}
	}
}

func (g gemini) whole(r *request, parts []part) any {
	all := []any{}
	for _, p := range parts {
		all = append(all, geminiPartOf(p))
	}
	return g.frame(r, all, "STOP")
}

func (gemini) failure(status int) any {
	return map[string]any{"error": map[string]any{"code": status, "message": "scripted failure", "status": "INTERNAL"}}
}

func (g gemini) open(e *events, r *request) sink { return &geminiStream{g, e, r} }

type geminiStream struct {
	g gemini
	e *events
	r *request
}

func (s *geminiStream) send(p part) {
	s.e.send("", s.g.frame(s.r, []any{geminiPartOf(p)}, ""))
}

func (s *geminiStream) text(delta string)  { s.send(part{text: delta}) }
func (s *geminiStream) think(delta string) { s.send(part{think: delta}) }
func (s *geminiStream) call(c call)        { s.send(part{call: &c}) }
func (s *geminiStream) end()               { s.e.send("", s.g.frame(s.r, []any{geminiPartOf(part{})}, "STOP")) }
