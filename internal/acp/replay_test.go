package acp

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fyllocode.dev/fyllo"
)

// recorded is one line of a recording of a real Agent.
type recorded struct {
	Dir string          `json:"dir"`
	Msg json.RawMessage `json:"msg"`
}

// recordings returns the lines that each recorded Agent sent.
func recordings(t *testing.T) map[string][][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/recordings/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	out := map[string][][]byte{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for l := range bytes.Lines(b) {
			var r recorded
			if err := json.Unmarshal(l, &r); err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			if r.Dir == "agent->client" {
				out[filepath.Base(f)] = append(out[filepath.Base(f)], r.Msg)
			}
		}
	}
	return out
}

// TestRecordedLinesAreUnderstood checks that nothing real Agents sent falls to UpdateUnknown, and that every
// member they used is either decoded or known to be left out.
func TestRecordedLinesAreUnderstood(t *testing.T) {
	leftOut := map[string]bool{ // members of updates without a meaning for us
		"sessionUpdate": true, "_meta": true, "updatedAt": true,
	}
	seen := map[string]bool{}
	kinds := map[fyllo.UpdateKind]int{}
	for name, lines := range recordings(t) {
		for _, l := range lines {
			var m struct {
				Method string
				Params struct {
					SessionID string
					Update    map[string]json.RawMessage
				}
			}
			if err := json.Unmarshal(l, &m); err != nil {
				t.Fatal(err)
			}
			switch m.Method {
			case methodUpdate:
				u, ok := DecodeLine(l)
				if !ok || u.Kind == fyllo.UpdateUnknown || string(u.SessionID) != m.Params.SessionID {
					t.Errorf("%s: %v %+v: %s", name, ok, u, l)
				}
				kinds[u.Kind]++
				for k, v := range m.Params.Update {
					if !leftOut[k] && string(v) != "null" && !carries(&u, k) {
						t.Errorf("%s: member %s is lost: %s", name, k, l)
					}
					seen[k] = true
				}
			case methodPermission:
				p, ok := DecodePermission(l)
				if !ok || len(p.Options) == 0 || p.Tool.CallID == "" {
					t.Errorf("%s: %v %+v: %s", name, ok, p, l)
				}
			}
		}
	}
	if len(kinds) < 9 || len(seen) < 15 {
		t.Errorf("the recordings show only %v and %v", kinds, slices.Sorted(maps.Keys(seen)))
	}
}

// carries reports whether the update holds what a member of that name said.
func carries(u *fyllo.Update, member string) bool {
	p := u.Tool
	switch member {
	case "content":
		return u.Kind == fyllo.UpdateText || u.Kind == fyllo.UpdateReasoning || u.Kind == fyllo.UpdateUserText || p != nil && p.HasContent
	case "messageId":
		return u.MessageID != ""
	case "toolCallId":
		return p != nil && p.CallID != ""
	case "title":
		return u.Kind == fyllo.UpdateSessionInfo || p != nil && p.Title != nil
	case "kind":
		return p != nil && p.Kind != nil
	case "status":
		return p != nil && p.Status != nil
	case "name":
		return p != nil && p.Name != nil
	case "rawInput":
		return p != nil && p.RawInput != nil
	case "rawOutput":
		return p != nil && p.RawOutput != nil
	case "locations":
		return p != nil && p.HasLocations
	case "entries":
		return u.Plan != nil
	case "availableCommands":
		return u.Commands != nil
	case "configOptions":
		return u.Config != nil
	case "currentModeId":
		return u.Mode != ""
	case "used", "size", "cost":
		return u.Usage != nil
	}
	return false
}

// TestRecordedDiffsAndTextsAreComplete counts what a naive reader finds in tool content.
func TestRecordedDiffsAndTextsAreComplete(t *testing.T) {
	for name, lines := range recordings(t) {
		for _, l := range lines {
			u, ok := DecodeLine(l)
			if !ok || u.Tool == nil || !u.Tool.HasContent {
				continue
			}
			var m struct {
				Params struct {
					Update struct{ Content []struct{ Type string } }
				}
			}
			if err := json.Unmarshal(l, &m); err != nil {
				t.Fatal(err)
			}
			n := map[string]int{}
			for _, c := range m.Params.Update.Content {
				n[c.Type]++
			}
			if len(u.Tool.Texts)+len(u.Tool.Blocks) != n["content"] || len(u.Tool.Diffs) != n["diff"] {
				t.Errorf("%s: %v, decoded %+v", name, n, u.Tool)
			}
		}
	}
}

func TestRecordedAnswersOfNewAndInitialize(t *testing.T) {
	for name, lines := range recordings(t) {
		var inits, news int
		for _, l := range lines {
			var m struct{ Result json.RawMessage }
			_ = json.Unmarshal(l, &m)
			switch {
			case bytes.Contains(m.Result, []byte(`"agentCapabilities"`)):
				inits++
				info := agentInfo(m.Result)
				if info.ProtocolVersion != 1 || info.Capabilities.Image == fyllo.Unknown {
					t.Errorf("%s: %+v", name, info)
				}
			case bytes.HasPrefix(m.Result, []byte(`{"sessionId"`)):
				news++
				if o, _ := opened(m.Result); o.ID == "" || o.HasConfig != (len(o.ConfigOptions) > 0) {
					t.Errorf("%s: %+v", name, o)
				}
			}
		}
		if inits == 0 {
			t.Errorf("%s: no initialize answer, %d sessions", name, news)
		}
	}
}
