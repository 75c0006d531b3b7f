package testagent

import "encoding/json"

func defaults() map[string]any {
	return map[string]any{"mode": "ask", "model": "m1", "effort": "low", "fast": false}
}

// opened is the answer to new, load and resume.
func (a *agent) opened(s *session, withID bool) object {
	o := object{}
	if withID {
		o["sessionId"] = s.id
	}
	switch a.script.Config {
	case "none":
	case "legacy":
		a.mu.Lock()
		defer a.mu.Unlock()
		o["modes"] = object{"currentModeId": s.values["mode"], "availableModes": []object{
			{"id": "ask", "name": "Ask", "description": "Ask before each step"}, {"id": "code", "name": "Code"},
		}}
		o["models"] = object{"currentModelId": s.values["model"], "availableModels": []object{
			{"modelId": "m1", "name": "Model One"}, {"modelId": "m2", "name": "Model Two", "description": "larger"},
		}}
	default:
		o["configOptions"] = a.options(s)
	}
	return o
}

// options is the snapshot of all options. "dependent": the effort values depend on the model.
func (a *agent) options(s *session) []object {
	if a.script.Config == "empty" {
		return []object{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	v := s.values
	efforts := []object{{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}}
	if a.script.Config == "dependent" && v["model"] == "m2" {
		efforts = []object{{"value": "medium", "name": "Medium"}, {"value": "max", "name": "Maximum"}}
	}
	list := []object{
		{"id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": v["mode"], "options": []object{
			{"value": "ask", "name": "Ask", "description": "Ask before each step"}, {"value": "code", "name": "Code"},
		}},
		{"id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": v["model"], "options": []object{
			{"group": "small", "name": "Small", "options": []object{{"value": "m1", "name": "Model One"}}},
			{"group": "large", "name": "Large", "options": []object{
				{"value": "m2", "name": "Model Two"}, {"value": "m3", "name": "Model Three"},
			}},
		}},
	}
	if a.script.Config != "dependent" || v["model"] != "m3" {
		list = append(list, object{
			"id": "effort", "name": "Effort", "category": "thought_level", "type": "select",
			"currentValue": v["effort"], "options": efforts,
		})
	}
	if a.booleans {
		list = append(list, object{"id": "fast", "name": "Fast mode", "type": "boolean", "currentValue": v["fast"]})
	}
	return list
}

func (a *agent) setOption(m message) {
	s := a.find(m)
	if s == nil {
		return
	}
	var p struct {
		ConfigID string `json:"configId"`
		Type     string `json:"type"`
		Value    any    `json:"value"`
	}
	_ = json.Unmarshal(m.Params, &p)
	if _, isBool := p.Value.(bool); isBool != (p.Type == "boolean") || !a.set(s, p.ConfigID, p.Value) {
		a.fail(m.ID, &rpcError{Code: -32602, Message: "Invalid params", Data: object{"configId": p.ConfigID}})
		return
	}
	if a.script.SetNote {
		a.update(s, object{"sessionUpdate": "config_option_update", "configOptions": a.options(s)})
	}
	a.later(pause(a.script.SetDelay), func() {
		a.reply(m.ID, object{"configOptions": a.options(s)})
	})
}

// set changes a value with its consequences; false means that the option or value does not exist.
func (a *agent) set(s *session, id string, value any) bool {
	if !offers(a.options(s), id, value) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s.values[id] = value
	switch {
	case a.script.Config == "oscillate" && id == "model":
		s.values["effort"] = "low"
	case a.script.Config == "oscillate" && id == "effort":
		s.values["model"] = "m1"
	case a.script.Config == "dependent" && id == "model" && value == "m2":
		s.values["effort"] = "medium"
	case a.script.Config == "dependent" && id == "model":
		s.values["effort"] = "low"
	}
	return true
}

func offers(list []object, id string, value any) bool {
	for _, o := range list {
		if o["id"] != id {
			continue
		}
		if o["type"] == "boolean" {
			_, ok := value.(bool)
			return ok
		}
		return among(o["options"].([]object), value)
	}
	return false
}

func among(options []object, value any) bool {
	for _, c := range options {
		if sub, ok := c["options"].([]object); ok && among(sub, value) {
			return true
		}
		if v, ok := c["value"]; ok && v == value {
			return true
		}
	}
	return false
}

func (a *agent) setMode(m message)  { a.setLegacy(m, "mode", "modeId") }
func (a *agent) setModel(m message) { a.setLegacy(m, "model", "modelId") }

func (a *agent) setLegacy(m message, id, key string) {
	s := a.find(m)
	if s == nil {
		return
	}
	var p map[string]any
	_ = json.Unmarshal(m.Params, &p)
	if !a.set(s, id, p[key]) {
		a.fail(m.ID, &rpcError{Code: -32602, Message: "Invalid params", Data: object{key: p[key]}})
		return
	}
	a.later(pause(a.script.SetDelay), func() { a.reply(m.ID, object{}) })
}
