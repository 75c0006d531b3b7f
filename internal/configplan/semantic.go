package configplan

import (
	"slices"
	"strings"

	"fyllocode.dev/fyllo"
)

// Wanted is what a call asks for before its prompt may be sent. Raw values keep the caller's order (R-SPAWN-055).
type Wanted struct {
	Model        *string // nil when absent
	ThoughtLevel *string
	Raw          []fyllo.SpawnValue
}

// Verdict is how a Semantic plan stands.
type Verdict int

// The verdicts: do the set of the Step, everything is as wanted, or the caller has to choose (see Issues).
const (
	Set Verdict = iota
	Done
	Required
)

// The categories of the options that semantic values name.
const (
	categoryModel       = "model"
	categoryModelConfig = "model_config"
	categoryThought     = "thought_level"
)

// Semantic brings the options of a live ACP session to what a call with a semantic value wants, by the strict rules
// (R-SPAWN-042…050, 056). Like Plan it is a step function over complete snapshots and replans with each, so a thought
// level is judged by what the Agent offers after the model was set.
type Semantic struct {
	wanted Wanted
	chosen map[string]string // parameter → value it was resolved to
	issues []fyllo.SpawnIssue
	seen   map[string]bool
	sets   int
}

// NewSemantic plans for w.
func NewSemantic(w Wanted) *Semantic {
	return &Semantic{wanted: w, chosen: map[string]string{}, seen: map[string]bool{}}
}

// Issues say what could not be resolved after the verdict Required; the sets before it stay as they are (R-SPAWN-050).
func (s *Semantic) Issues() []fyllo.SpawnIssue { return s.issues }

// goal is one option that is to have a value.
type goal struct {
	option fyllo.ConfigOption
	value  fyllo.ConfigValue
}

// Next looks at the newest snapshot and says what to do. A nil snapshot, which no plan can go by, and a plan that goes
// round or does not come to an end (R-SPAWN-048) are SPAWN_CONFIG_FAILED; a raw value that cannot be set, and one that
// contradicts a semantic value, are SPAWN_INVALID_REQUEST.
func (s *Semantic) Next(snapshot []fyllo.ConfigOption) (Step, Verdict, error) {
	if snapshot == nil {
		return Step{}, 0, configFailed("the Agent did not tell its complete settings")
	}
	state := sortedFingerprint(snapshot)
	if s.seen[state] {
		return Step{}, 0, configFailed("the Agent does not keep what is set")
	}
	s.seen[state] = true
	next, err := s.plan(snapshot)
	switch {
	case err != nil:
		return Step{}, 0, err
	case len(s.issues) > 0:
		return Step{}, Required, nil
	case next == nil:
		return Step{}, Done, nil
	}
	s.sets++
	if limit := max(4, (s.requested()+1)*3); s.sets > limit {
		return Step{}, 0, configFailed("the Agent still changes its settings after %d attempts", limit)
	}
	return Step{Option: next.option, Value: next.value}, Set, nil
}

func (s *Semantic) requested() int {
	n := len(s.wanted.Raw)
	for _, p := range []*string{s.wanted.Model, s.wanted.ThoughtLevel} {
		if p != nil {
			n++
		}
	}
	return n
}

// plan returns the first goal in the order of R-SPAWN-045 that the snapshot does not meet, nil when it meets all.
func (s *Semantic) plan(snapshot []fyllo.ConfigOption) (*goal, error) {
	classes := []struct {
		category string // of raw values; "" = all others
		semantic *string
	}{{categoryModel, s.wanted.Model}, {categoryModelConfig, nil}, {categoryThought, s.wanted.ThoughtLevel}, {"", nil}}
	for _, c := range classes {
		if c.semantic != nil {
			next, err := s.semantic(snapshot, c.category, *c.semantic)
			if next != nil || err != nil || len(s.issues) > 0 {
				return next, err
			}
		}
		for _, v := range s.wanted.Raw {
			if classOf(snapshot, v.ID) != c.category {
				continue
			}
			next, err := raw(snapshot, v)
			if next != nil || err != nil {
				return next, err
			}
		}
	}
	return nil, nil
}

// classOf is the class of a raw value. An unknown option is of the last one: a set before it may bring it.
func classOf(snapshot []fyllo.ConfigOption, id string) string {
	i := slices.IndexFunc(snapshot, func(o fyllo.ConfigOption) bool { return o.ID == id })
	if i < 0 {
		return ""
	}
	switch c := snapshot[i].Category; c {
	case categoryModel, categoryModelConfig, categoryThought:
		return c
	}
	return ""
}

// semantic returns the set that a semantic value needs, nil for none; what cannot be resolved becomes an issue.
func (s *Semantic) semantic(snapshot []fyllo.ConfigOption, parameter, query string) (*goal, error) {
	var named []fyllo.ConfigOption
	for _, o := range snapshot {
		if o.Category == parameter && o.Type == "select" {
			named = append(named, o)
		}
	}
	issue := fyllo.SpawnIssue{Parameter: parameter, Requested: query, Candidates: []fyllo.SpawnCandidate{}}
	if len(named) != 1 {
		issue.Reason = "missing_category_option"
		issue.Category = parameter
		s.issues = append(s.issues, issue)
		return nil, nil
	}
	option := named[0]
	issue.OptionID, issue.Category = option.ID, option.Category
	exact, isRaw := s.rawText(option.ID)
	value, kept := s.chosen[parameter]
	if !kept || !option.Offers(value) {
		all := choices(option)
		hits := match(query, all)
		if isRaw && len(hits) > 1 {
			if i := slices.IndexFunc(hits, func(c choice) bool { return c.Value == exact }); i >= 0 {
				hits = hits[i : i+1]
			}
		}
		switch len(hits) {
		case 0:
			issue.Reason, issue.Candidates = "unsupported", candidates(all)
		case 1:
			value = hits[0].Value
		default:
			issue.Reason, issue.Candidates = "ambiguous", candidates(hits)
		}
		if issue.Reason != "" {
			s.issues = append(s.issues, issue)
			return nil, nil
		}
	}
	if isRaw && exact != value {
		return nil, invalid("%s %q means %q, and config sets %q to something else. Send only one of the two.", parameter, query, value, option.ID)
	}
	s.chosen[parameter] = value
	if want := fyllo.StringValue(value); option.Current != want {
		return &goal{option, want}, nil
	}
	return nil, nil
}

// rawText returns the raw value for an option; one that is no string has a text that no choice has.
func (s *Semantic) rawText(id string) (string, bool) {
	for _, v := range s.wanted.Raw {
		if v.ID == id {
			if v.Value.IsBool {
				return "\x00", true
			}
			return v.Value.Text, true
		}
	}
	return "", false
}

// raw returns the set that a raw value needs, nil for none.
func raw(snapshot []fyllo.ConfigOption, v fyllo.SpawnValue) (*goal, error) {
	option, problem := judge(snapshot, v)
	switch {
	case problem != "":
		return nil, invalid("config %q: %s.", v.ID, problem)
	case option.Current == v.Value:
		return nil, nil
	}
	return &goal{option, v.Value}, nil
}

// judge finds the option of a raw value and says why it cannot be set, "" if it can. What is set already need not be on
// offer.
func judge(snapshot []fyllo.ConfigOption, v fyllo.SpawnValue) (option fyllo.ConfigOption, problem string) {
	ids := make([]string, 0, len(snapshot))
	for _, o := range snapshot {
		if o.ID == v.ID {
			return o, judgeValue(o, v.Value)
		}
		ids = append(ids, o.ID)
	}
	if len(ids) == 0 {
		return option, "the Agent offers no options"
	}
	return option, "the Agent has no such option; it offers " + list(ids)
}

func judgeValue(o fyllo.ConfigOption, value fyllo.ConfigValue) string {
	switch {
	case o.Type == "boolean" && !value.IsBool:
		return "the value must be true or false, not a string"
	case o.Type == "select" && value.IsBool:
		return "the value must be one of its strings: " + offered(o)
	case o.Type == "select" && value != o.Current && !o.Offers(value.Text):
		return "the Agent does not offer that value; it offers " + offered(o)
	}
	return ""
}

func offered(o fyllo.ConfigOption) string {
	var values []string
	for _, c := range choices(o) {
		values = append(values, c.Value)
	}
	if len(values) == 0 {
		return "none"
	}
	return list(values)
}

// sortedFingerprint is a fingerprint that does not depend on the order of the options.
func sortedFingerprint(snapshot []fyllo.ConfigOption) string {
	sorted := slices.Clone(snapshot)
	slices.SortStableFunc(sorted, func(a, b fyllo.ConfigOption) int { return strings.Compare(a.ID, b.ID) })
	return fingerprint(sorted)
}

func configFailed(format string, args ...any) error {
	return fyllo.Errorf(fyllo.CodeSpawnConfig, "The settings could not be applied: "+format+".", args...)
}

func invalid(format string, args ...any) error {
	return fyllo.Errorf(fyllo.CodeSpawnInvalid, format, args...)
}
