// Package jsonobject edits one member of a JSON object that people write by hand and leaves the rest as it was.
package jsonobject

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Object is a JSON object whose members keep their order and their unknown parts, so that editing one member of a
// file that people write by hand leaves the rest as it was.
type Object []Member

// Member is one name with its value.
type Member struct {
	Name  string
	Value jsontext.Value
}

// Parse fails when v is no object, or has a name twice.
func Parse(v jsontext.Value) (Object, error) {
	d := jsontext.NewDecoder(bytes.NewReader(v))
	if d.PeekKind() != '{' {
		return nil, errNoObject
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	o := Object{}
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
		o = append(o, Member{key, value.Clone()})
	}
	return o, nil
}

var errNoObject = errors.New("is not an object")

// Get returns the value of a member.
func (o Object) Get(name string) (jsontext.Value, bool) {
	for _, m := range o {
		if m.Name == name {
			return m.Value, true
		}
	}
	return nil, false
}

// Set replaces a member in its place or appends it.
func (o Object) Set(name string, v jsontext.Value) Object {
	for i := range o {
		if o[i].Name == name {
			o[i].Value = v
			return o
		}
	}
	return append(o, Member{name, v})
}

// Without returns o without the members of a name.
func (o Object) Without(name string) Object {
	var out Object
	for _, m := range o {
		if m.Name != name {
			out = append(out, m)
		}
	}
	return out
}

// Encode returns o as JSON.
func (o Object) Encode() (jsontext.Value, error) {
	var b bytes.Buffer
	e := jsontext.NewEncoder(&b)
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return nil, err
	}
	for _, m := range o {
		if err := e.WriteToken(jsontext.String(m.Name)); err != nil {
			return nil, err
		}
		if err := e.WriteValue(m.Value); err != nil {
			return nil, err
		}
	}
	if err := e.WriteToken(jsontext.EndObject); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// CheckSyntax returns a reason with a line number, in words for people, and never a piece of the content.
func CheckSyntax(data []byte) error {
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
