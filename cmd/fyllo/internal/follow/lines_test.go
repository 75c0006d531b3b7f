package follow

import (
	"encoding/json"
	"testing"

	"fyllocode.dev/fyllo"
)

func TestOptionsOfAConfigLineAreFlatOrGrouped_R_CLI_007(t *testing.T) {
	choice := []fyllo.ConfigChoice{{Value: "a", Name: "A"}}
	got, err := json.Marshal(ConfigLine{"config", configOptions([]fyllo.ConfigOption{
		{ID: "m", Name: "M", Type: "select", Current: fyllo.StringValue("a"), Choices: []fyllo.ConfigGroup{{Choices: choice}}},
		{ID: "g", Name: "G", Type: "select", Current: fyllo.StringValue("a"), Choices: []fyllo.ConfigGroup{{ID: "x", Name: "X", Choices: choice}}},
		{ID: "b", Name: "B", Type: "boolean", Current: fyllo.BoolValue(true)},
	})})
	const want = `{"type":"config","options":[` +
		`{"id":"m","name":"M","type":"select","currentValue":"a","options":[{"value":"a","name":"A"}]},` +
		`{"id":"g","name":"G","type":"select","currentValue":"a","options":[{"group":"x","name":"X","options":[{"value":"a","name":"A"}]}]},` +
		`{"id":"b","name":"B","type":"boolean","currentValue":true}]}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}
