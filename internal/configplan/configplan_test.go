package configplan_test

import (
	"slices"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/configplan"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func choice(id, current string, values ...string) fyllo.ConfigOption {
	o := fyllo.ConfigOption{ID: id, Name: id, Type: "select", Current: fyllo.StringValue(current), Choices: []fyllo.ConfigGroup{{}}}
	for _, v := range values {
		o.Choices[0].Choices = append(o.Choices[0].Choices, fyllo.ConfigChoice{Value: v, Name: v})
	}
	return o
}

func toggle(id string, on bool) fyllo.ConfigOption {
	return fyllo.ConfigOption{ID: id, Name: id, Type: "boolean", Current: fyllo.BoolValue(on)}
}

// restore runs a plan against an agent that answers each set with a new snapshot.
func restore(persisted, snapshot []fyllo.ConfigOption, set func([]fyllo.ConfigOption, configplan.Step) []fyllo.ConfigOption) (sets []string, warnings []configplan.Warning, err error) {
	plan := configplan.New(persisted)
	for {
		step, done, err := plan.Next(snapshot)
		if done || err != nil {
			return sets, step.Warnings, err
		}
		sets = append(sets, step.Option.ID+"="+step.Value.String())
		snapshot = set(snapshot, step)
	}
}

// obey sets what is asked and nothing else.
func obey(snapshot []fyllo.ConfigOption, step configplan.Step) []fyllo.ConfigOption {
	snapshot = slices.Clone(snapshot)
	for i := range snapshot {
		if snapshot[i].ID == step.Option.ID {
			snapshot[i].Current = step.Value
		}
	}
	return snapshot
}

func TestRecovery_R_AGT_095(t *testing.T) {
	levels := func(model string) []string {
		return map[string][]string{"big": {"low", "high"}, "small": {"off"}}[model]
	}
	// dependent offers the thought levels of the model and starts them anew with it.
	dependent := func(snapshot []fyllo.ConfigOption, step configplan.Step) []fyllo.ConfigOption {
		snapshot = obey(snapshot, step)
		for i := range snapshot {
			if step.Option.ID == "model" && snapshot[i].ID == "effort" {
				l := levels(step.Value.Text)
				snapshot[i] = choice("effort", l[0], l...)
			}
		}
		return snapshot
	}
	model, effort := choice("model", "small", "big", "small"), choice("effort", "off", "off")
	for _, tt := range []struct {
		name                string
		persisted, snapshot []fyllo.ConfigOption
		sets                []string
		warnings            []configplan.Warning
	}{
		{"nothing persisted, no calls", nil, []fyllo.ConfigOption{model}, nil, nil},
		{"nothing said is not an empty list", []fyllo.ConfigOption{choice("model", "big")}, nil, nil, nil},
		{"equal ones are skipped", []fyllo.ConfigOption{choice("model", "small")}, []fyllo.ConfigOption{model}, nil, nil},
		{"an empty list removes", []fyllo.ConfigOption{choice("model", "big")}, []fyllo.ConfigOption{}, nil,
			[]configplan.Warning{{ID: "model", Reason: configplan.Removed}}},
		{"type changed", []fyllo.ConfigOption{toggle("model", true)}, []fyllo.ConfigOption{model}, nil,
			[]configplan.Warning{{ID: "model", Reason: configplan.TypeChanged}}},
		{"value gone", []fyllo.ConfigOption{choice("model", "huge")}, []fyllo.ConfigOption{model}, nil,
			[]configplan.Warning{{ID: "model", Reason: configplan.InvalidValue}}},
		{"current value need not be on offer", []fyllo.ConfigOption{choice("model", "odd")}, []fyllo.ConfigOption{choice("model", "odd", "big")}, nil, nil},
		{"model first, then its level", []fyllo.ConfigOption{choice("model", "big"), choice("effort", "high")}, []fyllo.ConfigOption{model, effort},
			[]string{"model=big", "effort=high"}, nil},
		{"a level is not given up before the model is there", []fyllo.ConfigOption{choice("effort", "high"), choice("model", "big"), toggle("fast", true)},
			[]fyllo.ConfigOption{effort, model, toggle("fast", false)}, []string{"model=big", "effort=high", "fast=true"}, nil},
		{"warnings and sets together", []fyllo.ConfigOption{choice("gone", "x"), toggle("fast", false)}, []fyllo.ConfigOption{toggle("fast", true)},
			[]string{"fast=false"}, []configplan.Warning{{ID: "gone", Reason: configplan.Removed}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sets, warnings, err := restore(tt.persisted, tt.snapshot, dependent)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.sets, sets); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.warnings, warnings); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAnAgentThatDoesNotObey_R_AGT_095(t *testing.T) {
	ignore := func(s []fyllo.ConfigOption, _ configplan.Step) []fyllo.ConfigOption { return s }
	sets, _, err := restore([]fyllo.ConfigOption{toggle("a", true)}, []fyllo.ConfigOption{toggle("a", false)}, ignore)
	if fyllo.CodeOf(err) != fyllo.CodeConfigDiverged || len(sets) != 1 {
		t.Errorf("sets %v, error %v", sets, err)
	}
	// Each of two options undoes the other.
	swing := func(s []fyllo.ConfigOption, step configplan.Step) []fyllo.ConfigOption {
		return []fyllo.ConfigOption{toggle("a", step.Option.ID == "a"), toggle("b", step.Option.ID == "b")}
	}
	_, _, err = restore([]fyllo.ConfigOption{toggle("a", true), toggle("b", true)}, []fyllo.ConfigOption{toggle("a", false), toggle("b", false)}, swing)
	if fyllo.CodeOf(err) != fyllo.CodeConfigDiverged {
		t.Errorf("error %v", err)
	}
}

// Whatever an Agent answers, recovery ends within its bound, and when it ends well every option is restored or
// warned about.
func TestRecoveryAlwaysStops_R_AGT_095(t *testing.T) {
	values := []string{"x", "y", "z"}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []fyllo.ConfigOption {
			out := []fyllo.ConfigOption{}
			for _, id := range []string{"a", "b", "c"} {
				switch rapid.IntRange(0, 4).Draw(t, name) {
				case 0:
				case 1:
					out = append(out, toggle(id, rapid.Bool().Draw(t, "on")))
				default:
					out = append(out, choice(id, rapid.SampledFrom(values).Draw(t, "current"), rapid.SliceOf(rapid.SampledFrom(values)).Draw(t, "offer")...))
				}
			}
			return out
		}
		persisted, last := draw("persisted"), draw("first")
		sets, warnings, err := restore(persisted, last, func(s []fyllo.ConfigOption, step configplan.Step) []fyllo.ConfigOption {
			if last = draw("answer"); rapid.Bool().Draw(t, "obeys") {
				last = obey(s, step)
			}
			return last
		})
		if limit := max(1, 3*len(persisted)); len(sets) > limit {
			t.Fatalf("%d sets for a limit of %d", len(sets), limit)
		}
		if err != nil {
			if fyllo.CodeOf(err) != fyllo.CodeConfigDiverged {
				t.Fatal(err)
			}
			return
		}
		for _, want := range persisted {
			warned := slices.ContainsFunc(warnings, func(w configplan.Warning) bool { return w.ID == want.ID })
			restored := slices.ContainsFunc(last, func(o fyllo.ConfigOption) bool { return o.ID == want.ID && o.Current == want.Current })
			if warned == restored {
				t.Fatalf("%s: warned %v, restored %v", want.ID, warned, restored)
			}
		}
	})
}

func TestResolve_R_AGT_094(t *testing.T) {
	options := []fyllo.ConfigOption{choice("model", "a", "a", "b"), toggle("fast", false)}
	for _, tt := range []struct {
		id, text string
		want     fyllo.ConfigValue
		code     fyllo.Code
		hint     string
	}{
		{"model", "b", fyllo.StringValue("b"), "", ""},
		{"fast", "true", fyllo.BoolValue(true), "", ""},
		{"fast", "false", fyllo.BoolValue(false), "", ""},
		{"model", "c", fyllo.ConfigValue{}, fyllo.CodeConfigInvalid, "It can be a, b."},
		{"fast", "yes", fyllo.ConfigValue{}, fyllo.CodeConfigInvalid, "It can be true, false."},
		{"speed", "1", fyllo.ConfigValue{}, fyllo.CodeConfigUnsupported, "It offers model, fast."},
	} {
		option, got, err := configplan.Resolve(options, tt.id, tt.text)
		if fyllo.CodeOf(err) != tt.code || got != tt.want || err == nil && option.ID != tt.id {
			t.Errorf("%s=%s: %v, %v", tt.id, tt.text, got, err)
		}
		if f := fyllo.FailureOf(err); f != nil && f.Hint != tt.hint {
			t.Errorf("%s=%s: hint %q", tt.id, tt.text, f.Hint)
		}
	}
	var many []string
	for range 100 {
		many = append(many, "v")
	}
	_, _, err := configplan.Resolve([]fyllo.ConfigOption{choice("m", "v", many...)}, "m", "x")
	if f := fyllo.FailureOf(err); strings.Count(f.Hint, "v") != 20 {
		t.Errorf("hint %q", f.Hint)
	}
}
