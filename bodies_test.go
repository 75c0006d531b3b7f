package fyllo

import (
	"encoding/json"
	"reflect"
	"testing"
)

// fill gives every pointer and slice below v one value, and reports the places of type want.
func fill(v reflect.Value, want reflect.Type, found func(place any)) {
	if v.CanAddr() && v.Type() == want {
		found(v.Addr().Interface())
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(v.Elem(), want, found)
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		}
		for i := range v.Len() {
			fill(v.Index(i), want, found)
		}
	case reflect.Struct:
		if v.Type().PkgPath() != "fyllocode.dev/fyllo" {
			return // time.Time
		}
		for i := range v.NumField() {
			fill(v.Field(i), want, found)
		}
	case reflect.String:
		v.SetString("x")
	default: // no place for anything of interest
	}
}

// A body that is added to the vocabulary cannot be forgotten where bodies are cut, moved out and read.
func TestEveryBodyAndAttachmentOfAMessageIsVisited(t *testing.T) {
	var m Message
	bodies, attachments := map[any]bool{}, map[any]bool{}
	fill(reflect.ValueOf(&m).Elem(), reflect.TypeFor[*Body](), func(place any) { bodies[place] = true })
	fill(reflect.ValueOf(&m).Elem(), reflect.TypeFor[Attachment](), func(place any) { attachments[place] = true })
	// Two parts of: input, output, error, two diffs, two pictures and the part's own, the prompt of a subagent.
	if len(bodies) != 2*(3+4+2+1+1) || len(attachments) != 2*3 {
		t.Fatalf("%d bodies, %d attachments", len(bodies), len(attachments))
	}
	for i := range m.Parts {
		for b := range m.Parts[i].Bodies {
			if !bodies[b] {
				t.Error("a body is visited twice, or is none of the message")
			}
			delete(bodies, b)
		}
		for a := range m.Parts[i].Attachments {
			if !attachments[a] {
				t.Error("an attachment is visited twice, or is none of the message")
			}
			delete(attachments, a)
		}
	}
	if len(bodies)+len(attachments) > 0 {
		t.Errorf("%d bodies and %d attachments are not visited", len(bodies), len(attachments))
	}
}

func TestAWalkEndsWhereItIsLeft(t *testing.T) {
	var p Part
	fill(reflect.ValueOf(&p).Elem(), reflect.TypeFor[*Body](), func(any) {})
	all := 0
	for range p.Bodies {
		all++
	}
	for stop := range all {
		seen := 0
		for range p.Bodies {
			if seen++; seen > stop {
				break
			}
		}
		if seen != stop+1 {
			t.Errorf("left after %d, went on to %d", stop+1, seen)
		}
	}
	for range (&Part{Type: PartText}).Bodies {
		t.Error("a text has a body")
	}
}

func TestADetachedPartCanBeChanged(t *testing.T) {
	var p Part
	fill(reflect.ValueOf(&p).Elem(), reflect.TypeFor[*Body](), func(any) {})
	p.Tags = nil // they hold no body, and raw JSON that must be some
	before, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	d := p.Detached()
	for a := range d.Attachments {
		a.File, a.Size = "other", 7
	}
	for b := range d.Bodies {
		*b = nil
	}
	if after, _ := json.Marshal(p); string(after) != string(before) {
		t.Errorf("changed from %s to %s", before, after)
	}
}
