package acp

import (
	"math"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/jsonrpc"
)

// planFields reads agendas in the form of plan and of plan_update.
type planFields struct {
	list []fyllo.PlanEntry // nil until a list was read
}

func (p *planFields) entries(s *jsonrpc.Scanner) {
	if s.Kind() != '[' {
		return
	}
	p.list = []fyllo.PlanEntry{}
	s.Array(func() {
		e := fyllo.PlanEntry{Priority: "medium", Status: "pending"}
		s.Object(func(name []byte) {
			switch string(name) {
			case "content":
				e.Content, _ = s.String()
			case "priority":
				oneOf(s, &e.Priority, "high", "medium", "low")
			case "status":
				oneOf(s, &e.Status, "pending", "in_progress", "completed")
			}
		})
		if e.Content != "" {
			p.list = append(p.list, e)
		}
	})
}

// object reads the plan of a plan_update. Plans that are a text or a file have no entries and stay unknown.
func (p *planFields) object(s *jsonrpc.Scanner) {
	s.Object(func(name []byte) {
		if string(name) == "entries" {
			p.entries(s)
		}
	})
}

// oneOf reads a word into dst if it is one of the known ones.
func oneOf(s *jsonrpc.Scanner, dst *string, words ...string) {
	v, _ := s.String()
	for _, w := range words {
		if v == w {
			*dst = w
		}
	}
}

// commands reads a list of slash commands; false when there is none.
func commands(s *jsonrpc.Scanner) ([]fyllo.Command, bool) {
	if s.Kind() != '[' {
		return nil, false
	}
	list := []fyllo.Command{}
	s.Array(func() {
		var c fyllo.Command
		s.Object(func(name []byte) {
			switch string(name) {
			case "name":
				c.Name, _ = s.String()
			case "description":
				c.Description, _ = s.String()
			case "input":
				s.Object(func(name []byte) {
					if string(name) == "hint" {
						c.Hint, _ = s.String()
					}
				})
			}
		})
		if c.Name != "" {
			list = append(list, c)
		}
	})
	return list, true
}

// count reads a number of tokens; nil when it is none. Fractions are cut off.
func count(s *jsonrpc.Scanner) *uint64 {
	f, ok := s.Float()
	if !ok || f < 0 || f >= math.MaxUint64 {
		return nil
	}
	n := uint64(f)
	return &n
}

func cost(s *jsonrpc.Scanner) *fyllo.Cost {
	var c fyllo.Cost
	var amount bool
	s.Object(func(name []byte) {
		switch string(name) {
		case "amount":
			c.Amount, amount = s.Float()
		case "currency":
			c.Currency, _ = s.String()
		}
	})
	if !amount {
		return nil
	}
	return &c
}

// configOptions reads a snapshot; nil when there is no list. An option that cannot be read is left out.
func configOptions(s *jsonrpc.Scanner) []fyllo.ConfigOption {
	if s.Kind() != '[' {
		return nil
	}
	list := []fyllo.ConfigOption{}
	s.Array(func() {
		if o, ok := configOption(s); ok {
			list = append(list, o)
		}
	})
	return list
}

func configOption(s *jsonrpc.Scanner) (fyllo.ConfigOption, bool) {
	var o fyllo.ConfigOption
	var text *string
	var flag, isFlag bool
	s.Object(func(name []byte) {
		switch string(name) {
		case "id":
			o.ID, _ = s.String()
		case "name":
			o.Name, _ = s.String()
		case "description":
			o.Description, _ = s.String()
		case "category":
			o.Category, _ = s.String()
		case "type":
			o.Type, _ = s.String()
		case "currentValue":
			if s.Kind() == '"' {
				text = optional(s)
			} else {
				flag, isFlag = s.Bool()
			}
		case "options":
			o.Choices = choices(s)
		}
	})
	if o.Name == "" {
		o.Name = o.ID
	}
	switch {
	case o.ID == "":
		return o, false
	case o.Type == "boolean" && isFlag:
		o.Current, o.Choices = fyllo.BoolValue(flag), nil
		return o, true
	case o.Type == "select":
		if text != nil {
			o.Current = fyllo.StringValue(*text)
		}
		return o, true
	}
	return o, false
}

// choices reads a flat list or a list of groups. A run of ungrouped values is one group without id.
func choices(s *jsonrpc.Scanner) []fyllo.ConfigGroup {
	var groups []fyllo.ConfigGroup
	s.Array(func() {
		var g fyllo.ConfigGroup
		var c fyllo.ConfigChoice
		var grouped, valued bool
		s.Object(func(name []byte) {
			switch string(name) {
			case "group":
				g.ID, grouped = s.String()
			case "value":
				c.Value, valued = s.String()
			case "name":
				c.Name, _ = s.String()
			case "description":
				c.Description, _ = s.String()
			case "options":
				for _, inner := range choices(s) {
					g.Choices = append(g.Choices, inner.Choices...)
				}
			}
		})
		switch {
		case grouped:
			g.Name = c.Name
			groups = append(groups, g)
		case valued:
			groups = appendChoice(groups, c)
		}
	})
	return groups
}

func appendChoice(groups []fyllo.ConfigGroup, c fyllo.ConfigChoice) []fyllo.ConfigGroup {
	if c.Name == "" {
		c.Name = c.Value
	}
	if n := len(groups); n == 0 || groups[n-1].ID != "" {
		groups = append(groups, fyllo.ConfigGroup{})
	}
	last := &groups[len(groups)-1]
	last.Choices = append(last.Choices, c)
	return groups
}
