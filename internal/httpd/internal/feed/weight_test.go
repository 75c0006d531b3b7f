package feed

import (
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/stream"
)

// Everything whose length an Agent decides counts, wherever it stands in a payload.
func TestLogsWeighWhatAgentsDecideTheLengthOf(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	many := make([]fyllo.PermissionOption, 1<<15)
	for name, data := range map[string]any{
		"delta":             fyllo.Delta{Text: long},
		"text":              fyllo.PartEvent{Part: fyllo.Part{Text: long}},
		"tool title":        fyllo.PartEvent{Part: fyllo.Part{Tool: &fyllo.Tool{Title: long}}},
		"tool locations":    fyllo.PartEvent{Part: fyllo.Part{Tool: &fyllo.Tool{Locations: []fyllo.Location{{Path: long}}}}},
		"tool diff":         fyllo.PartEvent{Part: fyllo.Part{Tool: &fyllo.Tool{Diffs: []fyllo.Diff{{New: &fyllo.Body{Text: long}}}}}},
		"tool notes":        fyllo.PartEvent{Part: fyllo.Part{Tool: &fyllo.Tool{Permissions: []fyllo.PermissionNote{{Options: many}}}}},
		"attachment":        fyllo.PartEvent{Part: fyllo.Part{Attachment: &fyllo.Attachment{URI: long}}},
		"message":           fyllo.Message{Parts: []fyllo.Part{{Text: long}}},
		"config":            fyllo.ConfigEvent{Options: []fyllo.ConfigOption{{Description: long}}},
		"commands":          fyllo.CommandsEvent{Commands: []fyllo.Command{{Description: long}}},
		"plan":              fyllo.PlanEvent{Entries: []fyllo.PlanEntry{{Content: long}}},
		"permission":        fyllo.Permission{Options: many},
		"permission closed": fyllo.PermissionClosed{Note: fyllo.PermissionNote{Options: many}},
		"turn end":          fyllo.TurnEndEvent{End: fyllo.TurnEnd{Error: &fyllo.Failure{Details: map[string]any{"a": long}}}},
		"agents":            fyllo.AgentsEvent{Agents: []fyllo.Agent{{Name: long}}},
		"draft":             fyllo.Draft{Commands: []fyllo.Command{{Name: long}}},
	} {
		if got := sizeOf(data); got < 1<<20 || got > 3<<20 {
			t.Errorf("%s: %d bytes", name, got)
		}
	}
	if got := sizeOf(nil); got != 0 {
		t.Errorf("nothing: %d bytes", got)
	}
}

// A flood of snapshots that nobody reads must not pile up in memory.
func TestLogsForgetLargeSnapshotsThatNobodyTook(t *testing.T) {
	f := New(stream.Options{KeepBytes: 1 << 20})
	options := make([]fyllo.ConfigOption, 100)
	for i := range options {
		options[i].Description = strings.Repeat("x", 1<<10)
	}
	for range 1000 {
		f.Publish(fyllo.Event{Workspace: "ws-a", Type: fyllo.EventConfig, Data: fyllo.ConfigEvent{Options: options}})
	}
	reader, reset := f.Subscribe("ws-a", f.Seq("ws-a")-20, f.RunOf("ws-a"))
	defer reader.Close()
	if !reset {
		t.Error("two megabytes of snapshots were kept, although one is the bound")
	}
}
