// Package schema helps to describe the API where the vocabulary cannot do it by itself.
package schema

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Tidy takes out that further properties are allowed: it is how requests are read, not what a client may rely on.
func Tidy(s *huma.Schema) {
	if s == nil {
		return
	}
	if s.AdditionalProperties == true {
		s.AdditionalProperties = nil
	}
	if of, ok := s.AdditionalProperties.(*huma.Schema); ok {
		Tidy(of)
	}
	for _, p := range s.Properties {
		Tidy(p)
	}
	Tidy(s.Items)
}

// Ref is a reference to the schema of that name.
func Ref(name string) *huma.Schema { return &huma.Schema{Ref: "#/components/schemas/" + name} }

// Words names the closed set of words of the type T.
func Words[T ~string](r huma.Registry, words ...T) {
	s := &huma.Schema{Type: huma.TypeString}
	for _, w := range words {
		s.Enum = append(s.Enum, string(w))
	}
	s.PrecomputeMessages()
	r.Map()[wordsName[T]()] = s
	r.RegisterTypeAlias(reflect.TypeFor[T](), reflect.TypeFor[wordOf[T]]())
}

func wordsName[T ~string]() string { return huma.DefaultSchemaNamer(reflect.TypeFor[T](), "") }

// wordOf stands for T in the description: a reference to the set of its words.
type wordOf[T ~string] string

// Schema implements huma.SchemaProvider.
func (wordOf[T]) Schema(huma.Registry) *huma.Schema { return Ref(wordsName[T]()) }

// ConfigValue stands for fyllo.ConfigValue in the description.
type ConfigValue struct{}

// Schema implements huma.SchemaProvider.
func (ConfigValue) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeBoolean}}}
}
