// Package document reads and writes the JSON documents of the data root: leniently, since other versions and other hands
// write them too, and keeping what it does not know.
package document

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fyllocode.dev/fyllo/internal/atomicfile"
)

// lenient reads what encoding/json would read; files of other versions and other hands are no place to be strict.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Unmarshal reads the one JSON value of b into v.
func Unmarshal(b []byte, v any) error { return json.Unmarshal(b, v, lenient) }

// First reads the first JSON value of b and ignores what stands behind it (R-WS-132).
func First(b []byte, v any) error {
	return json.UnmarshalDecode(jsontext.NewDecoder(bytes.NewBuffer(b), lenient), v, lenient)
}

// Marshal encodes v on one line, with < and > as they are, since transcripts are searched as text.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := stdjson.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// Merge encodes v, a pointer to a struct, and adds the keys of the document old that its type does not know: they
// belong to another version. old may be nil.
func Merge(old []byte, v any) ([]byte, error) {
	b, err := Marshal(v)
	if err != nil || len(old) == 0 {
		return b, err
	}
	var keys map[string]jsontext.Value
	if err := First(old, &keys); err != nil {
		return nil, fmt.Errorf("keep unknown keys: %w", err)
	}
	for _, name := range fieldNames(reflect.TypeOf(v).Elem()) {
		delete(keys, name)
	}
	if len(keys) == 0 {
		return b, nil
	}
	b = b[:len(b)-1]
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		quoted, err := Marshal(name)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, quoted...), ':'), keys[name]...)
	}
	return append(b, '}'), nil
}

func fieldNames(t reflect.Type) []string {
	names := make([]string, 0, t.NumField())
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// Read reads the JSON document at path into v.
func Read(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return First(b, v)
}

// Save replaces the document at path by v, keeping unknown keys, and creates its directory. An old document
// that cannot be read is saved beside it first.
func Save(path string, v any) error {
	if err := atomicfile.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Update(path, 0o600, func(old []byte) ([]byte, error) {
		b, err := Merge(old, v)
		if err == nil {
			return b, nil
		}
		if err := KeepDamaged(path, old); err != nil {
			return nil, err
		}
		return Merge(nil, v)
	})
}

// KeepDamaged saves the content of an unreadable document under the first free name path.damaged-<n>.
func KeepDamaged(path string, content []byte) error {
	return atomicfile.Write(FreeName(path+".damaged-"), content, 0o600)
}

// FreeName returns prefix and the first number that no file has yet.
func FreeName(prefix string) string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s%d", prefix, n)
		if _, err := os.Lstat(name); err != nil {
			return name
		}
	}
}
