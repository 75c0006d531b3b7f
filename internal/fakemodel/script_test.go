package fakemodel

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScriptIsTheLastUnbrokenRunOfCommands(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []step
	}{
		"a command":             {"say: hello there", []step{{op: opSay, text: "hello there"}}},
		"no command":            {"please say: hello", nil},
		"earlier text repeated": {"say: old\n\nuser wrote:\nsay: new", []step{{op: opSay, text: "new"}}},
		"text behind it":        {"say: a\nslow 3\n<context>read the file</context>", []step{{op: opSay, text: "a"}, {op: opSlow, count: 3}}},
		"slow alone":            {"slow", []step{{op: opSlow, count: 200}}},
		"write without text":    {"write /p/x.txt", []step{{op: opWrite, path: "/p/x.txt", text: "written by the fake model\n"}}},
		"write with text":       {"write /p/x.txt: one: two", []step{{op: opWrite, path: "/p/x.txt", text: "one: two\n"}}},
		"edit":                  {"edit /p/x: a b => c", []step{{op: opEdit, path: "/p/x", old: "a b", text: "c"}}},
		"after a failure":       {"fail 500\nsay: again", []step{{op: opSay, text: "again"}}},
		"a failure":             {"say: a\nfail 429", []step{{op: opSay, text: "a"}, {op: opFail, count: 429}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, parseScript(c.text), cmp.AllowUnexported(step{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestToolIsChosenByNameThenBySchema(t *testing.T) {
	object := func(required []string, props ...string) *schema {
		s := &schema{Type: "object", Properties: map[string]*schema{}, Required: required}
		for _, p := range props {
			s.Properties[p] = &schema{Type: "string"}
		}
		return s
	}
	list := &schema{Type: "object", Properties: map[string]*schema{"command": {Type: "array"}}}
	for name, c := range map[string]struct {
		tools []tool
		step  string
		want  string // name, then arguments or free text
	}{
		"by name": {
			[]tool{{name: "mcp_read", schema: object(nil, "path")}, {name: "read_file", schema: object(nil, "absolute_path", "offset")}},
			"read the file /p/x", `read_file {"absolute_path":"/p/x"}`,
		},
		"by schema": {
			[]tool{{name: "mcp_thing", schema: object(nil, "path", "content")}, {name: "save", schema: object(nil, "filePath", "content")}},
			"write /p/x: hi", `save {"content":"hi\n","filePath":"/p/x"}`,
		},
		"what else is required": {
			[]tool{{name: "Bash", schema: object([]string{"command", "description"}, "command", "description")}},
			"run: ls", `Bash {"command":"ls","description":"scripted by the fake model"}`,
		},
		"command as a list": {[]tool{{name: "shell", schema: list}}, "run: ls -l", `shell {"command":["bash","-c","ls -l"]}`},
		"patch as free text": {
			[]tool{{name: "shell", schema: list}, {name: "apply_patch", freeText: true}},
			"write /p/x: hi", "apply_patch *** Begin Patch\n*** Add File: /p/x\n+hi\n*** End Patch\n",
		},
		"read by shell": {[]tool{{name: "exec_command", schema: object(nil, "cmd")}}, "read the file /p/x", `exec_command {"cmd":"cat '/p/x'"}`},
		"use by suffix": {[]tool{{name: "mcp__fyllo__list"}}, `use list {"a":1}`, `mcp__fyllo__list {"a":1}`},
		"nothing fits":  {[]tool{{name: "image_read", schema: object(nil, "path")}}, "read the file /p/x", " "},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := resolve(c.tools, parseScript(c.step)[0])
			if s := got.name + " " + string(got.args) + got.text; s != c.want {
				t.Errorf("called %q, want %q", s, c.want)
			}
		})
	}
}
