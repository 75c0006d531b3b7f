// Package configplan brings the configuration of a fresh, resumed or loaded ACP session back to what a Session had
// (R-AGT-095, R-CHAT-148), and reads the values that people type for options.
//
// A Plan is a step function. The caller shows it the Agent's newest complete snapshot, does the one set that it
// asks for, and shows it the snapshot that came of it, until it is done. Options depend on each other (another
// model offers other thought levels), so nothing is planned ahead and nothing is given up early: what cannot be
// restored is judged by the last snapshot only.
//
// The package is pure. A Plan belongs to one goroutine.
package configplan

import (
	"slices"
	"strconv"
	"strings"

	"fyllocode.dev/fyllo"
)

// Reason says why an option is not restored.
type Reason string

// The reasons of R-AGT-095.
const (
	Removed      Reason = "removed"       // the Agent no longer has the option
	TypeChanged  Reason = "type_changed"  // it is a select where it was a boolean, or the other way round
	InvalidValue Reason = "invalid_value" // the Agent no longer offers the value
)

// Warning names a persisted option that keeps the Agent's value instead of its own.
type Warning struct {
	ID     string
	Reason Reason
}

// Step is what to do next: set Option, as the newest snapshot describes it, to Value. The last step has no Option
// but the Warnings of the whole recovery, in the order of the persisted options.
type Step struct {
	Option   fyllo.ConfigOption
	Value    fyllo.ConfigValue
	Warnings []Warning
}

// Plan is one recovery.
type Plan struct {
	wanted []fyllo.ConfigOption
	seen   map[string]bool
	sets   int
}

// New plans to restore the persisted options, in their order.
func New(persisted []fyllo.ConfigOption) *Plan {
	return &Plan{wanted: persisted, seen: map[string]bool{}}
}

// Next looks at the newest snapshot and returns the next set, or done and the warnings. A nil snapshot means that
// the Agent said nothing about its options, which is not the same as having none: then there is nothing to do.
// The error has code CONFIG_RECOVERY_FAILED: the Agent's answers lead in a circle, or do not come to an end within
// max(1, 3 × options) sets. The prompt must then not be sent.
func (p *Plan) Next(snapshot []fyllo.ConfigOption) (step Step, done bool, err error) {
	if snapshot == nil {
		return Step{}, true, nil
	}
	var warnings []Warning
	for _, want := range p.wanted {
		have, reason := compare(want, snapshot)
		switch {
		case reason != "":
			warnings = append(warnings, Warning{want.ID, reason})
		case have.Current != want.Current:
			if err := p.count(want, snapshot); err != nil {
				return Step{}, false, err
			}
			return Step{Option: have, Value: want.Current}, false, nil
		}
	}
	return Step{Warnings: warnings}, true, nil
}

// count notes a set and the state it starts from, and refuses it if the plan goes round or on and on.
func (p *Plan) count(want fyllo.ConfigOption, snapshot []fyllo.ConfigOption) error {
	p.sets++
	state := fingerprint(snapshot)
	if p.seen[state] {
		return fyllo.Errorf(fyllo.CodeConfigDiverged,
			"The Session's settings could not be restored: the Agent does not keep %q at %q.", want.Name, want.Current).
			WithHint("Change the setting by hand and send the message again.")
	}
	p.seen[state] = true
	if limit := max(1, 3*len(p.wanted)); p.sets > limit {
		return fyllo.Errorf(fyllo.CodeConfigDiverged,
			"The Session's settings could not be restored: the Agent still changes them after %d attempts.", limit).
			WithHint("Change the settings by hand and send the message again.")
	}
	return nil
}

// compare finds the option that want was, and says why want cannot be set, "" if it can.
func compare(want fyllo.ConfigOption, snapshot []fyllo.ConfigOption) (fyllo.ConfigOption, Reason) {
	i := slices.IndexFunc(snapshot, func(o fyllo.ConfigOption) bool { return o.ID == want.ID })
	if i < 0 {
		return fyllo.ConfigOption{}, Removed
	}
	have := snapshot[i]
	switch {
	case have.Type != want.Type || have.Current.IsBool != want.Current.IsBool:
		return have, TypeChanged
	case have.Current == want.Current: // what is there already need not be on offer
		return have, ""
	case have.Type == "select" && !have.Offers(want.Current.Text):
		return have, InvalidValue
	}
	return have, ""
}

// fingerprint writes down everything in a snapshot that Next looks at.
func fingerprint(snapshot []fyllo.ConfigOption) string {
	var b strings.Builder
	for _, o := range snapshot {
		b.WriteString(strconv.Quote(o.ID) + strconv.Quote(o.Type) + strconv.FormatBool(o.Current.IsBool) + strconv.Quote(o.Current.String()))
		for _, g := range o.Choices {
			for _, c := range g.Choices {
				b.WriteString(strconv.Quote(c.Value))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Resolve finds the option with an id and reads the text of a value for it: one of the choices of a select option,
// true or false of a boolean. The errors have the codes CONFIG_OPTION_NOT_SUPPORTED and CONFIG_OPTION_INVALID_VALUE
// (R-AGT-094).
func Resolve(options []fyllo.ConfigOption, id, text string) (fyllo.ConfigOption, fyllo.ConfigValue, error) {
	option, err := find(options, id)
	if err != nil {
		return fyllo.ConfigOption{}, fyllo.ConfigValue{}, err
	}
	value, err := parse(option, text)
	return option, value, err
}

func find(options []fyllo.ConfigOption, id string) (fyllo.ConfigOption, error) {
	ids := make([]string, len(options))
	for i, o := range options {
		if o.ID == id {
			return o, nil
		}
		ids[i] = o.ID
	}
	err := fyllo.Errorf(fyllo.CodeConfigUnsupported, "Setting %q cannot be changed: the Agent does not offer it.", id)
	if len(ids) > 0 {
		return fyllo.ConfigOption{}, err.WithHint("It offers %s.", list(ids))
	}
	return fyllo.ConfigOption{}, err
}

func parse(option fyllo.ConfigOption, text string) (fyllo.ConfigValue, error) {
	switch {
	case option.Type == "boolean" && (text == "true" || text == "false"):
		return fyllo.BoolValue(text == "true"), nil
	case option.Type == "select" && option.Offers(text):
		return fyllo.StringValue(text), nil
	}
	values := []string{"true", "false"}
	if option.Type != "boolean" {
		values = nil
		for _, g := range option.Choices {
			for _, c := range g.Choices {
				values = append(values, c.Value)
			}
		}
	}
	err := fyllo.Errorf(fyllo.CodeConfigInvalid, "Setting %q cannot be %q: that is none of its values.", option.ID, text)
	if len(values) > 0 {
		return fyllo.ConfigValue{}, err.WithHint("It can be %s.", list(values))
	}
	return fyllo.ConfigValue{}, err
}

// listed is how many names a hint spells out; some Agents offer hundreds of models.
const listed = 20

func list(names []string) string {
	if len(names) > listed {
		names = append(slices.Clone(names[:listed]), "…")
	}
	return strings.Join(names, ", ")
}
