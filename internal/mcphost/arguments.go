package mcphost

import (
	"bytes"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fyllocode.dev/fyllo"
)

// arguments are the members of a tool's input. What a tool does not take out is unknown, and refused (R-SPAWN-007).
type arguments struct {
	values map[string]jsontext.Value
}

// parse reads the input of a tool; none, and null, are an empty object. Members that stand there twice are refused.
func parse(raw []byte) (arguments, error) {
	a := arguments{values: map[string]jsontext.Value{}}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return a, nil
	}
	if err := json.Unmarshal(raw, &a.values); err != nil {
		return a, wrong("The input must be one JSON object with each member once.")
	}
	return a, nil
}

func wrong(format string, args ...any) error {
	return fyllo.Errorf(fyllo.CodeSpawnInvalid, format, args...)
}

// take returns a member and takes it out.
func (a arguments) take(name string) (jsontext.Value, bool) {
	v, ok := a.values[name]
	delete(a.values, name)
	return v, ok
}

// rest refuses what no tool has asked for.
func (a arguments) rest() error {
	for name := range a.values {
		return wrong("%q is not a parameter of this tool.", name)
	}
	return nil
}

// text takes a string of at least one unit. Absent is nil.
func (a arguments) text(name string) (*string, error) {
	v, ok := a.take(name)
	if !ok {
		return nil, nil //nolint:nilnil // absent is no error
	}
	var s string
	if v.Kind() != '"' || json.Unmarshal(v, &s) != nil || s == "" {
		return nil, wrong("%s must be a string that is not empty.", name)
	}
	return &s, nil
}

// identity takes an id (R-SPAWN §2). Absent is "".
func (a arguments) identity(name string, required bool) (string, error) {
	s, err := a.text(name)
	switch {
	case err != nil:
		return "", err
	case s == nil && required:
		return "", wrong("%s is required.", name)
	case s == nil:
		return "", nil
	case len(utf16.Encode([]rune(*s))) > fyllo.SpawnIdentityMax || strings.ContainsAny(*s, "/\\\x00"):
		return "", wrong("%s must have 1 to %d characters and none of / and \\.", name, fyllo.SpawnIdentityMax)
	}
	return *s, nil
}

// boolean takes true or false. Absent is otherwise.
func (a arguments) boolean(name string, otherwise bool) (bool, error) {
	v, ok := a.take(name)
	if !ok {
		return otherwise, nil
	}
	if v.Kind() != 't' && v.Kind() != 'f' {
		return false, wrong("%s must be true or false.", name)
	}
	return v.Kind() == 't', nil
}

// options takes a map of option ids to strings or booleans, in the order in which they stand there (R-SPAWN-055).
func (a arguments) options(name string) ([]fyllo.SpawnValue, error) {
	v, ok := a.take(name)
	if !ok {
		return nil, nil
	}
	if v.Kind() != '{' {
		return nil, wrong("%s must be an object of option ids and their values.", name)
	}
	dec := jsontext.NewDecoder(bytes.NewReader(v))
	_, _ = dec.ReadToken() // {
	var values []fyllo.SpawnValue
	for dec.PeekKind() != '}' {
		key, err := dec.ReadToken()
		if err != nil {
			return nil, wrong("%s is not a JSON object with each member once.", name)
		}
		one := fyllo.SpawnValue{ID: key.String()}
		value, err := dec.ReadToken()
		switch {
		case err != nil || one.ID == "":
			return nil, wrong("%s: an option id must not be empty.", name)
		case value.Kind() == '"':
			one.Value = fyllo.StringValue(value.String())
		case value.Kind() == 't' || value.Kind() == 'f':
			one.Value = fyllo.BoolValue(value.Bool())
		default:
			return nil, wrong("%s: the value of %q must be a string, true or false.", name, one.ID)
		}
		if values = append(values, one); len(values) > fyllo.SpawnConfigMax {
			return nil, wrong("%s has more than %d entries.", name, fyllo.SpawnConfigMax)
		}
	}
	return values, nil
}
