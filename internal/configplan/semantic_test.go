package configplan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/configplan"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func of(category string, o fyllo.ConfigOption) fyllo.ConfigOption {
	o.Category = category
	return o
}

// named gives the values of an option names, in order.
func named(o fyllo.ConfigOption, names ...string) fyllo.ConfigOption {
	for i := range names {
		o.Choices[0].Choices[i].Name = names[i]
	}
	return o
}

func text(id, value string) fyllo.SpawnValue {
	return fyllo.SpawnValue{ID: id, Value: fyllo.StringValue(value)}
}

func ptr(s string) *string { return &s }

type outcome struct {
	Sets    []string
	Verdict configplan.Verdict
	Issues  []string // parameter reason candidates
	Code    fyllo.Code
}

// run drives a semantic plan against an Agent that answers each set.
func run(w configplan.Wanted, snapshot []fyllo.ConfigOption, set func([]fyllo.ConfigOption, configplan.Step) []fyllo.ConfigOption) (o outcome, last []fyllo.ConfigOption) {
	plan := configplan.NewSemantic(w)
	for {
		step, verdict, err := plan.Next(snapshot)
		if err != nil {
			o.Code = fyllo.CodeOf(err)
			return o, snapshot
		}
		if o.Verdict = verdict; verdict != configplan.Set {
			for _, i := range plan.Issues() {
				line := i.Parameter + " " + i.Reason
				for _, c := range i.Candidates {
					line += " " + c.Value
				}
				o.Issues = append(o.Issues, line)
			}
			return o, snapshot
		}
		o.Sets = append(o.Sets, step.Option.ID+"="+step.Value.String())
		snapshot = set(snapshot, step)
	}
}

// efforts is an Agent whose thought levels depend on the model (R-SPAWN-046).
func efforts(snapshot []fyllo.ConfigOption, step configplan.Step) []fyllo.ConfigOption {
	snapshot = obey(snapshot, step)
	for i := range snapshot {
		if step.Option.ID == "m" && snapshot[i].ID == "t" {
			levels := map[string][]string{"gpt-5": {"low", "high"}, "gpt-5-mini": {"off"}, "o3": {"deep"}}[step.Value.Text]
			snapshot[i] = of("thought_level", choice("t", levels[0], levels...))
		}
	}
	return snapshot
}

func TestSemanticValues_R_SPAWN_042_to_056(t *testing.T) {
	model := of("model", named(choice("m", "gpt-5-mini", "gpt-5", "gpt-5-mini", "o3"), "GPT-5", "GPT-5 Mini", "OpenAI o3"))
	level := of("thought_level", choice("t", "off", "off"))
	fast := of("model_config", toggle("fast", false))
	mode := of("mode", choice("mode", "ask", "ask", "code"))
	all := []fyllo.ConfigOption{mode, fast, level, model}
	sonnets := []fyllo.ConfigOption{of("model", named(choice("m", "haiku", "claude-sonnet-4", "claude-sonnet-4-5", "haiku"), "Sonnet 4", "Sonnet 4.5", "Haiku"))}
	for name, c := range map[string]struct {
		options []fyllo.ConfigOption
		wanted  configplan.Wanted
		agent   func([]fyllo.ConfigOption, configplan.Step) []fyllo.ConfigOption
		want    outcome
	}{
		"exact value":                {all, configplan.Wanted{Model: ptr("gpt-5")}, efforts, outcome{Sets: []string{"m=gpt-5"}, Verdict: configplan.Done}},
		"already set":                {all, configplan.Wanted{Model: ptr("gpt-5-mini")}, efforts, outcome{Verdict: configplan.Done}},
		"full width, case and space": {all, configplan.Wanted{Model: ptr("  ＧＰＴ-5   MINI ")}, efforts, outcome{Verdict: configplan.Done}},
		"tokens of the name":         {all, configplan.Wanted{Model: ptr("o3 openai")}, efforts, outcome{Sets: []string{"m=o3"}, Verdict: configplan.Done}},
		"no part of a word": {all, configplan.Wanted{Model: ptr("pt-5")}, efforts,
			outcome{Verdict: configplan.Required, Issues: []string{"model unsupported gpt-5 gpt-5-mini o3"}}},
		"white space only": {all, configplan.Wanted{Model: ptr("\t ")}, efforts,
			outcome{Verdict: configplan.Required, Issues: []string{"model unsupported gpt-5 gpt-5-mini o3"}}},
		"two sonnets": {sonnets, configplan.Wanted{Model: ptr("sonnet")}, obey,
			outcome{Verdict: configplan.Required, Issues: []string{"model ambiguous claude-sonnet-4 claude-sonnet-4-5"}}},
		"two sonnets and a raw one": {sonnets, configplan.Wanted{Model: ptr("sonnet"), Raw: []fyllo.SpawnValue{text("m", "claude-sonnet-4")}}, obey,
			outcome{Sets: []string{"m=claude-sonnet-4"}, Verdict: configplan.Done}},
		"raw contradicts": {all, configplan.Wanted{Model: ptr("gpt-5"), Raw: []fyllo.SpawnValue{text("m", "o3")}}, efforts, outcome{Code: fyllo.CodeSpawnInvalid}},
		"thought level after the model": {all, configplan.Wanted{Model: ptr("gpt-5"), ThoughtLevel: ptr("high")}, efforts,
			outcome{Sets: []string{"m=gpt-5", "t=high"}, Verdict: configplan.Done}},
		"thought level that the new model lost": {all, configplan.Wanted{Model: ptr("o3"), ThoughtLevel: ptr("off")}, efforts,
			outcome{Sets: []string{"m=o3"}, Verdict: configplan.Required, Issues: []string{"thought_level unsupported deep"}}},
		"unresolved model hides the level": {all, configplan.Wanted{Model: ptr("x"), ThoughtLevel: ptr("y")}, efforts,
			outcome{Verdict: configplan.Required, Issues: []string{"model unsupported gpt-5 gpt-5-mini o3"}}},
		"no category": {[]fyllo.ConfigOption{choice("model", "a", "a")}, configplan.Wanted{Model: ptr("a")}, obey,
			outcome{Verdict: configplan.Required, Issues: []string{"model missing_category_option"}}},
		"two of a category": {[]fyllo.ConfigOption{of("model", choice("a", "a", "a")), of("model", choice("b", "a", "a"))}, configplan.Wanted{Model: ptr("a")}, obey,
			outcome{Verdict: configplan.Required, Issues: []string{"model missing_category_option"}}},
		"order of classes": {all, configplan.Wanted{Model: ptr("gpt-5"), ThoughtLevel: ptr("high"), Raw: []fyllo.SpawnValue{
			text("mode", "code"), {ID: "fast", Value: fyllo.BoolValue(true)}}}, efforts,
			outcome{Sets: []string{"m=gpt-5", "fast=true", "t=high", "mode=code"}, Verdict: configplan.Done}},
		"unknown raw option":  {all, configplan.Wanted{Model: ptr("gpt-5-mini"), Raw: []fyllo.SpawnValue{text("nope", "x")}}, efforts, outcome{Code: fyllo.CodeSpawnInvalid}},
		"raw of a wrong type": {all, configplan.Wanted{Model: ptr("gpt-5-mini"), Raw: []fyllo.SpawnValue{text("fast", "true")}}, efforts, outcome{Code: fyllo.CodeSpawnInvalid}},
		"raw not offered":     {all, configplan.Wanted{Model: ptr("gpt-5-mini"), Raw: []fyllo.SpawnValue{text("mode", "yolo")}}, efforts, outcome{Code: fyllo.CodeSpawnInvalid}},
		"a set without a list": {all, configplan.Wanted{Model: ptr("gpt-5")}, func([]fyllo.ConfigOption, configplan.Step) []fyllo.ConfigOption { return nil },
			outcome{Sets: []string{"m=gpt-5"}, Code: fyllo.CodeSpawnConfig}},
		"a set that changes nothing": {all, configplan.Wanted{Model: ptr("gpt-5")}, func(s []fyllo.ConfigOption, _ configplan.Step) []fyllo.ConfigOption { return s },
			outcome{Sets: []string{"m=gpt-5"}, Code: fyllo.CodeSpawnConfig}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := run(c.wanted, c.options, c.agent)
			if got.Code != "" {
				got.Verdict = 0
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// An Agent that never comes to rest is left after max(4, (n+1)·3) sets.
func TestBound_R_SPAWN_048(t *testing.T) {
	turn := 0
	never := func(s []fyllo.ConfigOption, _ configplan.Step) []fyllo.ConfigOption {
		turn++
		return append(slices.Clone(s[:1]), of("", choice(fmt.Sprint("new", turn), "a", "a")))
	}
	got, _ := run(configplan.Wanted{Model: ptr("b")}, []fyllo.ConfigOption{of("model", choice("m", "a", "a", "b"))}, never)
	if got.Code != fyllo.CodeSpawnConfig || len(got.Sets) != 6 {
		t.Errorf("%d sets, code %s; want 6 and SPAWN_CONFIG_FAILED", len(got.Sets), got.Code)
	}
}

// With an Agent that keeps what it is told, a plan ends with everything as wanted, within its bound, whatever is asked.
func TestSemanticPlanConverges_R_SPAWN_045_048(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SampledFrom([]string{"a", "b", "c"})
		options := []fyllo.ConfigOption{
			of("model", choice("m", value.Draw(t, "m"), "a", "b", "c")),
			of("thought_level", choice("t", value.Draw(t, "t"), "a", "b", "c")),
			of("model_config", choice("c", value.Draw(t, "c"), "a", "b", "c")),
			of("mode", choice("x", value.Draw(t, "x"), "a", "b", "c")),
		}
		w := configplan.Wanted{Model: ptr(value.Draw(t, "model")), ThoughtLevel: ptr(value.Draw(t, "level"))}
		for _, id := range rapid.Permutation([]string{"x", "c"}).Draw(t, "order") {
			w.Raw = append(w.Raw, text(id, value.Draw(t, id)))
		}
		got, last := run(w, rapid.Permutation(options).Draw(t, "options"), obey)
		if got.Verdict != configplan.Done || got.Code != "" {
			t.Fatalf("%+v", got)
		}
		now := map[string]string{}
		for _, o := range last {
			now[o.ID] = o.Current.Text
		}
		want := map[string]string{"m": *w.Model, "t": *w.ThoughtLevel, w.Raw[0].ID: w.Raw[0].Value.Text, w.Raw[1].ID: w.Raw[1].Value.Text}
		if d := cmp.Diff(want, now); d != "" {
			t.Fatal(d)
		}
	})
}

func TestRawValuesNeverBlock_R_SPAWN_053_to_055(t *testing.T) {
	snapshot := []fyllo.ConfigOption{choice("a", "1", "1", "2"), toggle("b", false), choice("c", "1", "1", "2")}
	plan := configplan.NewRaw([]fyllo.SpawnValue{
		text("zzz", "1"), text("c", "2"), text("a", "9"), text("b", "true"), text("a", "2"), {ID: "b", Value: fyllo.BoolValue(true)}, text("late", "1"),
	})
	var sets []string
	for {
		step, done := plan.Next(snapshot)
		if done {
			break
		}
		sets = append(sets, step.Option.ID+"="+step.Value.String())
		switch step.Option.ID {
		case "a": // refused
			plan.Failed("not today")
		case "b": // ignored
		default: // obeyed, and brings another option
			snapshot = append(obey(snapshot, step), choice("late", "0", "0", "1"))
		}
		if step.Option.ID == "late" {
			snapshot = snapshot[:4]
		}
	}
	if d := cmp.Diff([]string{"c=2", "a=2", "b=true", "late=1"}, sets); d != "" {
		t.Error(d)
	}
	var warned []string
	for _, w := range plan.Warnings() {
		warned = append(warned, w.OptionID+" "+w.Message)
	}
	for i, want := range []string{"zzz", "2", "true or false", "not today", "did not change"} {
		if i >= len(warned) || !strings.Contains(warned[i], want) {
			t.Errorf("warning %d of %q: want one about %q", i, warned, want)
		}
	}
	if len(warned) != 5 {
		t.Errorf("%d warnings: %q", len(warned), warned)
	}
}
