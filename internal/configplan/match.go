package configplan

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"fyllocode.dev/fyllo"
)

// choice is one value of a select option with the name of its group.
type choice struct {
	fyllo.ConfigChoice
	group string
}

func choices(o fyllo.ConfigOption) []choice {
	var all []choice
	for _, g := range o.Choices {
		for _, c := range g.Choices {
			all = append(all, choice{c, g.Name})
		}
	}
	return all
}

// match finds the choices that a person or an Agent may mean by query: the hits of the first layer that has any
// (R-SPAWN-043). What has no visible character means nothing.
func match(query string, all []choice) []choice {
	plain := normalise(query)
	if plain == "" {
		return nil
	}
	words := tokens(plain)
	layers := []func(choice) bool{
		func(c choice) bool { return c.Value == query },
		func(c choice) bool { return normalise(c.Value) == plain },
		func(c choice) bool { return normalise(c.Name) == plain },
		func(c choice) bool {
			return contains(tokens(normalise(c.Value)), words) || contains(tokens(normalise(c.Name)), words)
		},
	}
	for _, hits := range layers {
		var found []choice
		for _, c := range all {
			again := slices.ContainsFunc(found, func(f choice) bool { return f.Value == c.Value })
			if !again && hits(c) {
				found = append(found, c)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// normalise makes spellings comparable: NFKC, lower case, one space between words.
func normalise(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(s))), " ")
}

func tokens(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool {
		return r == '/' || r == ':' || r == '_' || r == '-' || unicode.IsSpace(r)
	})
}

// contains reports whether all of words are among have; no words are contained in nothing.
func contains(have, words []string) bool {
	for _, w := range words {
		if !slices.Contains(have, w) {
			return false
		}
	}
	return len(words) > 0
}

func candidates(of []choice) []fyllo.SpawnCandidate {
	all := make([]fyllo.SpawnCandidate, 0, len(of))
	for _, c := range of {
		all = append(all, fyllo.SpawnCandidate{Value: c.Value, Name: c.Name, Group: c.group, Description: c.Description})
	}
	return all
}
