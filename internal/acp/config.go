package acp

import (
	"context"
	"slices"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/jsonrpc"
)

// SetConfig sets an option of the last snapshot and returns the new one, which is complete (R-AGT-093). Options
// with Legacy set go the way of the older protocol, whose answer holds no snapshot; there the value is changed in
// the last one, and so it is when an Agent answers a set without a list. Errors: CONFIG_OPTION_NOT_SUPPORTED,
// CONFIG_OPTION_INVALID_VALUE (R-AGT-094), and those of every call. Sets of one session must not overlap.
func (c *Conn) SetConfig(
	ctx context.Context, id fyllo.ACPSessionID, option fyllo.ConfigOption, value fyllo.ConfigValue,
) ([]fyllo.ConfigOption, error) {
	options, _, err := c.SetOption(ctx, id, option, value)
	return options, err
}

// SetOption is SetConfig and reports whether the Agent itself told the complete list (R-SPAWN-047); of an option with
// Legacy set nothing more than the confirmation can be had, and that counts.
func (c *Conn) SetOption(
	ctx context.Context, id fyllo.ACPSessionID, option fyllo.ConfigOption, value fyllo.ConfigValue,
) (options []fyllo.ConfigOption, whole bool, err error) {
	k := call{method: methodSetOption, what: "set " + option.ID, id: id}
	var params any
	switch option.Legacy {
	case "modes":
		k.method, params = methodSetMode, setModeParams{SessionID: id, ModeID: value.Text}
	case "models":
		k.method, params = methodSetModel, setModelParams{SessionID: id, ModelID: value.Text}
	default:
		p := setOptionParams{SessionID: id, ConfigID: option.ID, Value: value}
		if value.IsBool {
			p.Type = "boolean"
		}
		params = p
	}
	s := c.session(id)
	if s == nil {
		return nil, false, c.notOpen(k)
	}
	got, err := ask(ctx, c, k, params, func(r reply) (got optionSet, err error) {
		if r.err != nil {
			return got, r.err
		}
		var list []fyllo.ConfigOption
		scan := jsonrpc.NewScanner(r.raw)
		scan.Object(func(name []byte) {
			if string(name) == "configOptions" {
				list = configOptions(&scan)
			}
		})
		got.whole = list != nil || option.Legacy != ""
		if list == nil {
			list = withValue(s.config, option.ID, value)
		} else {
			list = withLegacy(list, s.legacy)
		}
		got.options = c.snapshot(s, list)
		return got, nil
	})
	return got.options, got.whole, err
}

// optionSet is the answer to a set.
type optionSet struct {
	options []fyllo.ConfigOption
	whole   bool
}

// snapshot takes a complete list out of an answer and delivers it like an update, so that the receiver sees every
// snapshot once more in its place on the wire: one that comes behind the answer is newer, whoever reads it first.
func (c *Conn) snapshot(s *session, list []fyllo.ConfigOption) []fyllo.ConfigOption {
	c.deliver(s, fyllo.AgentEvent{Update: &fyllo.Update{Kind: fyllo.UpdateConfig, SessionID: s.id, Config: s.take(list)}})
	return s.config
}

// notOpen is the error for a session without a sink here.
func (c *Conn) notOpen(k call) error {
	if err := c.rpc.Err(); err != nil {
		return c.failure(err, k)
	}
	return agentError(fyllo.CodeACPSessionMissing, k, "the session is not open in this Agent process", nil)
}

// withLegacy adds options of the older fields for which the list has no option of that category (decision 19).
func withLegacy(list, legacy []fyllo.ConfigOption) []fyllo.ConfigOption {
	out := slices.Clone(list)
	for _, l := range legacy {
		same := func(o fyllo.ConfigOption) bool { return o.Category == l.Category || o.ID == l.ID }
		if !slices.ContainsFunc(list, same) {
			out = append(out, l)
		}
	}
	return out
}

// withValue returns the list with another current value of one option.
func withValue(list []fyllo.ConfigOption, id string, value fyllo.ConfigValue) []fyllo.ConfigOption {
	out := slices.Clone(list)
	for i := range out {
		if out[i].ID == id {
			out[i].Current = value
		}
	}
	return out
}

// withMode returns the list with another current mode; false when no mode option offers it.
func withMode(list []fyllo.ConfigOption, mode string) ([]fyllo.ConfigOption, bool) {
	for _, o := range list {
		if o.Category == "mode" && o.Type == "select" && o.Offers(mode) {
			return withValue(list, o.ID, fyllo.StringValue(mode)), true
		}
	}
	return nil, false
}

// keepCurrent copies current values of legacy options out of a snapshot, for the next list that lacks them.
func keepCurrent(legacy, config []fyllo.ConfigOption) []fyllo.ConfigOption {
	for _, o := range config {
		if o.Legacy != "" {
			legacy = withValue(legacy, o.ID, o.Current)
		}
	}
	return legacy
}

// legacyOption makes a select option of a modes or models object; none when it offers nothing.
func legacyOption(s *jsonrpc.Scanner, field string) []fyllo.ConfigOption {
	o := fyllo.ConfigOption{ID: "mode", Name: "Mode", Category: "mode", Type: "select", Legacy: field}
	if field == "models" {
		o.ID, o.Name, o.Category = "model", "Model", "model"
	}
	s.Object(func(name []byte) {
		switch string(name) {
		case "currentModeId", "currentModelId":
			v, _ := s.String()
			o.Current = fyllo.StringValue(v)
		case "availableModes", "availableModels":
			s.Array(func() { o.Choices = legacyChoice(o.Choices, s) })
		}
	})
	if len(o.Choices) == 0 {
		return nil
	}
	return []fyllo.ConfigOption{o}
}

func legacyChoice(groups []fyllo.ConfigGroup, s *jsonrpc.Scanner) []fyllo.ConfigGroup {
	var c fyllo.ConfigChoice
	s.Object(func(name []byte) {
		switch string(name) {
		case "id", "modelId":
			c.Value, _ = s.String()
		case "name":
			c.Name, _ = s.String()
		case "description":
			c.Description, _ = s.String()
		}
	})
	if c.Value == "" {
		return groups
	}
	return appendChoice(groups, c)
}
