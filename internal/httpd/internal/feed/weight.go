package feed

import (
	"reflect"

	"fyllocode.dev/fyllo"
)

// sizeOf estimates the bytes that a payload holds in memory. The logs are bounded by it, so it counts everything that
// an Agent decides the length of: a list of options or commands may be a thousand times as large as a delta.
func sizeOf(data any) int {
	if d, ok := data.(fyllo.Delta); ok { // the payload of a flood needs no walk
		return int(reflect.TypeFor[fyllo.Delta]().Size()) + len(d.Text)
	}
	v := reflect.ValueOf(data)
	if !v.IsValid() {
		return 0
	}
	return int(v.Type().Size()) + held(v)
}

// held is what v refers to, besides its own bytes. Payloads are trees; what is shared counts each time.
func held(v reflect.Value) int {
	n := 0
	switch v.Kind() {
	case reflect.String:
		n = v.Len()
	case reflect.Slice:
		n = v.Cap() * int(v.Type().Elem().Size())
		if flat(v.Type().Elem().Kind()) {
			return n
		}
		for i := range v.Len() {
			n += held(v.Index(i))
		}
	case reflect.Struct:
		if v.Type().PkgPath() == "time" {
			return 0 // what it refers to is shared by all
		}
		for i := range v.NumField() {
			n += held(v.Field(i))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n = int(v.Elem().Type().Size()) + held(v.Elem())
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			n += int(v.Type().Key().Size()) + int(v.Type().Elem().Size()) + held(it.Key()) + held(it.Value())
		}
	default: // numbers and booleans refer to nothing
	}
	return n
}

// flat reports whether values of kind k refer to nothing.
func flat(k reflect.Kind) bool { return k >= reflect.Bool && k <= reflect.Complex128 }
