package agents

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object whose members keep their order and their unknown parts, so that editing one member of a
// file that people write by hand leaves the rest as it was.
type object []member

type member struct {
	name  string
	value jsontext.Value
}

// parseObject fails when v is no object, or has a name twice.
func parseObject(v jsontext.Value) (object, error) {
	d := jsontext.NewDecoder(bytes.NewReader(v))
	if d.PeekKind() != '{' {
		return nil, errNoObject
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	o := object{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		o = append(o, member{key, value.Clone()})
	}
	return o, nil
}

var errNoObject = errors.New("is not an object")

func (o object) get(name string) (jsontext.Value, bool) {
	for _, m := range o {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

// set replaces a member in its place or appends it.
func (o object) set(name string, v jsontext.Value) object {
	for i := range o {
		if o[i].name == name {
			o[i].value = v
			return o
		}
	}
	return append(o, member{name, v})
}

func (o object) without(name string) object {
	var out object
	for _, m := range o {
		if m.name != name {
			out = append(out, m)
		}
	}
	return out
}

func (o object) encode() (jsontext.Value, error) {
	var b bytes.Buffer
	e := jsontext.NewEncoder(&b)
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return nil, err
	}
	for _, m := range o {
		if err := e.WriteToken(jsontext.String(m.name)); err != nil {
			return nil, err
		}
		if err := e.WriteValue(m.value); err != nil {
			return nil, err
		}
	}
	if err := e.WriteToken(jsontext.EndObject); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// checkSyntax returns a reason with a line number, in words for people, and never a piece of the content.
func checkSyntax(data []byte) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("the file is empty")
	}
	d := jsontext.NewDecoder(bytes.NewReader(data))
	_, err := d.ReadValue()
	if err == nil {
		// Whatever follows the value makes this fail, too.
		if d.PeekKind() == 0 && d.InputOffset() >= int64(len(bytes.TrimRight(data, " \t\r\n"))) {
			return nil
		}
		return fmt.Errorf("line %d: something follows the end of the object", lineAt(data, d.InputOffset()))
	}
	at := d.InputOffset()
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = e.ByteOffset
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fmt.Errorf("line %d: a name stands twice in one object", lineAt(data, at))
		}
		if e.Err != nil {
			return fmt.Errorf("line %d: not valid JSON (%s)", lineAt(data, at), strings.TrimPrefix(e.Err.Error(), "jsontext: "))
		}
	}
	return fmt.Errorf("line %d: not valid JSON", lineAt(data, at))
}

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), int64(len(data)))], []byte("\n"))
}
