package testagent

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// editStep is one event about a call that edits files; see the word "edits".
type editStep struct {
	Call   string          `json:"call"`   // name of the call, also in later words of the turn; "" makes a call of its own
	Status string          `json:"status"` // "" leaves it out, and completes a call without a name
	Title  string          `json:"title"`
	Kind   string          `json:"kind"`
	Output string          `json:"output"` // text beside the diffs
	Parent string          `json:"parent"` // name of the subagent's call
	Agent  bool            `json:"agent"`  // the call is the root of a subagent
	Diffs  json.RawMessage `json:"diffs"`  // absent: no content; null or []: cleared
	Pause  string          `json:"pause"`  // after the event
}

type editDiff struct {
	Path    string  `json:"path"`
	OldText *string `json:"oldText"`
	NewText *string `json:"newText"`
	Kind    string  `json:"kind"`
}

// edits plays a list of editSteps, given as JSON or as its base64.
func (t *turn) edits(args string) {
	raw := []byte(args)
	if !strings.HasPrefix(args, "[") {
		var err error
		if raw, err = decode64(strings.Fields(args)); err != nil {
			t.say(err.Error())
			return
		}
	}
	var steps []editStep
	if err := json.Unmarshal(raw, &steps); err != nil {
		t.say("edits: " + err.Error())
		return
	}
	for _, s := range steps {
		if err := t.editStep(s); err != nil {
			t.say("edits: " + err.Error())
			return
		}
		if s.Pause != "" && !t.sleep(pause(s.Pause)) {
			return
		}
	}
}

func (t *turn) editStep(s editStep) error {
	fields := object{}
	set := func(key, value string) {
		if value != "" {
			fields[key] = value
		}
	}
	set("status", s.Status)
	set("title", s.Title)
	set("kind", s.Kind)
	claude := object{"toolName": "Edit"}
	if s.Agent {
		claude["toolName"] = "Agent"
	}
	if s.Parent != "" {
		claude["parentToolUseId"] = editCall(s.Parent)
	}
	if s.Agent || s.Parent != "" {
		fields["_meta"] = object{"claudeCode": claude}
	}
	if s.Diffs != nil {
		content, err := t.diffItems(s.Diffs)
		if err != nil {
			return err
		}
		fields["content"] = content
	}
	if s.Output != "" {
		items, _ := fields["content"].([]object)
		fields["content"] = append(items, output(s.Output)...)
	}
	if s.Call == "" {
		if s.Status == "" {
			fields["status"] = "completed"
		}
		id := t.callID()
		t.start(id, object{"title": "Edit", "kind": "edit"})
		t.change(id, fields)
		return nil
	}
	id := editCall(s.Call)
	if t.editing[id] {
		t.change(id, fields)
		return nil
	}
	if t.editing == nil {
		t.editing = map[string]bool{}
	}
	t.editing[id] = true
	if s.Kind == "" {
		fields["kind"] = "edit"
	}
	if s.Title == "" {
		fields["title"] = "Edit " + s.Call
	}
	t.start(id, fields)
	return nil
}

// editCall is the id of the call that a step names. Ids count within a turn only, so a later turn may use it again.
func editCall(name string) string { return "edit-" + name }

// diffItems turns the diffs of a step into content items; null stays null.
func (t *turn) diffItems(raw json.RawMessage) (any, error) {
	var diffs []editDiff
	if err := json.Unmarshal(raw, &diffs); err != nil {
		return nil, err
	}
	if diffs == nil {
		return nil, nil //nolint:nilnil // null is what the Agent sends
	}
	items := []object{}
	for _, d := range diffs {
		item := object{"type": "diff", "path": t.path(d.Path), "oldText": d.OldText, "newText": d.NewText}
		if d.NewText == nil {
			item["newText"] = "" // ACP knows no other
		}
		if d.Kind != "" {
			item["_meta"] = object{"kind": d.Kind}
		}
		items = append(items, item)
	}
	return items, nil
}

// path resolves a path against the directory of the ACP session.
func (t *turn) path(p string) string {
	var params struct {
		Cwd string `json:"cwd"`
	}
	if filepath.IsAbs(p) || json.Unmarshal(t.session.params, &params) != nil {
		return p
	}
	return filepath.Join(params.Cwd, p)
}

// edited sends one completed call with diffs.
func (t *turn) edited(title string, items ...object) {
	id := t.callID()
	t.start(id, object{"title": title, "kind": "edit"})
	t.change(id, object{"status": "completed", "content": items})
}

// changeWord sends one completed call with one diff; "-" stands for a file that is not there.
func (t *turn) changeWord(args string) {
	f := append(strings.Fields(args), "", "", "")
	item := object{"type": "diff", "path": t.path(f[0]), "oldText": unescape(f[1]), "newText": unescape(f[2])}
	switch {
	case f[1] == "-":
		item["oldText"], item["_meta"] = nil, object{"kind": "add"}
	case f[2] == "-":
		item["newText"], item["_meta"] = "", object{"kind": "delete"}
	}
	t.edited("Edit "+f[0], item)
}

// bigDiff sends a call with the diff of a whole file of many lines, of which some, evenly spread, or all are changed.
func (t *turn) bigDiff(args string) {
	n := numbers(args, 2)
	lines, edits, path := n[0], n[1], "big.txt"
	if strings.HasSuffix(args, " all") {
		edits, path = lines, "rewritten.txt"
	}
	var before, after strings.Builder
	every := lines / max(min(edits, lines), 1)
	for i := range lines {
		fmt.Fprintf(&before, "line %d of the file as it was\n", i)
		switch {
		case edits >= lines && lines > 0:
			fmt.Fprintf(&after, "%d: written anew\n", i)
		case edits > 0 && i%every == every/2 && i/every < edits:
			fmt.Fprintf(&after, "line %d, changed\n", i)
		default:
			fmt.Fprintf(&after, "line %d of the file as it was\n", i)
		}
	}
	item := object{"type": "diff", "path": t.path(path), "oldText": before.String(), "newText": after.String()}
	t.edited("Edit "+path, item)
}
