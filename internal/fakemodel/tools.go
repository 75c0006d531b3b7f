package fakemodel

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// call is a tool call as it goes to the client.
type call struct {
	name     string
	args     json.RawMessage // always an object; with freeText not sent
	text     string          // the argument of a free-text tool
	freeText bool
}

// kinds of arguments, recognised by the name of the property
const (
	slotPath    = "path"
	slotContent = "content"
	slotOld     = "old"
	slotNew     = "new"
	slotCommand = "command"
)

var slots = map[string]*regexp.Regexp{
	slotPath:    regexp.MustCompile(`^(filepath|absolutepath|path|filename|file)$`),
	slotContent: regexp.MustCompile(`^(content|contents|filetext|text|newcontent)$`),
	slotOld:     regexp.MustCompile(`^(oldstring|oldstr|oldtext|search)$`),
	slotNew:     regexp.MustCompile(`^(newstring|newstr|newtext|replace|replacement)$`),
	slotCommand: regexp.MustCompile(`^(command|cmd|script)$`),
}

// known says how a tool for each purpose is called, the best name first, and what its schema must have when no name
// fits.
var known = map[op]struct {
	names []string
	need  []string
}{
	opRead:  {[]string{"read", "readfile", "view", "viewfile"}, []string{slotPath}},
	opWrite: {[]string{"write", "writefile", "createfile", "writetofile", "create"}, []string{slotPath, slotContent}},
	opEdit:  {[]string{"edit", "replace", "editfile", "strreplace"}, []string{slotPath, slotOld, slotNew}},
	opRun:   {[]string{"bash", "runshellcommand", "shellcommand", "execcommand", "shell", "localshell"}, []string{slotCommand}},
}

var notForFiles = regexp.MustCompile(`(?i)image|mcp|resource|memory`)

// plain drops case and separators: read_file, ReadFile and readFile are one name.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// resolve turns a step into a call of one of the offered tools. It reports false when none of them can do it.
func resolve(tools []tool, s step) (call, bool) {
	if s.op == opUse {
		return useTool(tools, s)
	}
	if t := find(tools, s.op); t != nil {
		return call{name: t.name, args: arguments(t.schema, s)}, true
	}
	if s.op == opWrite || s.op == opEdit {
		if i := slices.IndexFunc(tools, func(t tool) bool { return t.name == "apply_patch" }); i >= 0 {
			return patchCall(tools[i], s), true
		}
	}
	if command, ok := shellFor(s); ok {
		if t := find(tools, opRun); t != nil {
			return call{name: t.name, args: arguments(t.schema, step{op: opRun, target: command})}, true
		}
	}
	return call{}, false
}

func useTool(tools []tool, s step) (call, bool) {
	i := slices.IndexFunc(tools, func(t tool) bool { return t.name == s.target })
	if i < 0 {
		i = slices.IndexFunc(tools, func(t tool) bool { return strings.HasSuffix(t.name, s.target) })
	}
	if i < 0 || !json.Valid([]byte(s.text)) {
		return call{}, false
	}
	return call{name: tools[i].name, args: json.RawMessage(s.text)}, true
}

func find(tools []tool, o op) *tool {
	want := known[o]
	for _, name := range want.names {
		for i := range tools {
			if plain(tools[i].name) == name && !tools[i].freeText {
				return &tools[i]
			}
		}
	}
	for i := range tools {
		if !notForFiles.MatchString(tools[i].name) && hasSlots(tools[i].schema, want.need) {
			return &tools[i]
		}
	}
	return nil
}

func hasSlots(s *schema, need []string) bool {
	if s == nil {
		return false
	}
	for _, slot := range need {
		found := false
		for name := range s.Properties {
			found = found || slots[slot].MatchString(plain(name))
		}
		if !found {
			return false
		}
	}
	return true
}

// arguments fills the schema of a tool with what the step says, and what else is required with samples.
func arguments(s *schema, from step) json.RawMessage {
	values := map[string]string{}
	switch from.op {
	case opRead:
		values[slotPath] = from.path
	case opWrite:
		values[slotPath], values[slotContent] = from.path, from.text
	case opEdit:
		values[slotPath], values[slotOld], values[slotNew] = from.path, from.old, from.text
	case opRun:
		values[slotCommand] = from.target
	default: // no slots: only what is required
	}
	args := map[string]any{}
	if s != nil {
		for name, sub := range s.Properties {
			if v, ok := valueFor(name, values); ok {
				args[name] = shape(sub, v)
			}
		}
		for _, name := range s.Required {
			if _, ok := args[name]; !ok {
				args[name] = sampleNamed(name, s.Properties[name])
			}
		}
	}
	return mustJSON(args)
}

func valueFor(property string, values map[string]string) (string, bool) {
	for slot, v := range values {
		if slots[slot].MatchString(plain(property)) {
			return v, true
		}
	}
	return "", false
}

// shape gives a shell command as a list where the schema wants one.
func shape(s *schema, v string) any {
	if s != nil && s.Type == "array" {
		return []string{"bash", "-c", v}
	}
	return v
}

func patchCall(t tool, s step) call {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n")
	if s.op == opWrite {
		fmt.Fprintf(&b, "*** Add File: %s\n", s.path)
		for line := range strings.SplitSeq(strings.TrimSuffix(s.text, "\n"), "\n") {
			fmt.Fprintf(&b, "+%s\n", line)
		}
	} else {
		fmt.Fprintf(&b, "*** Update File: %s\n@@\n-%s\n+%s\n", s.path, s.old, s.text)
	}
	b.WriteString("*** End Patch\n")
	c := call{name: t.name, text: b.String(), freeText: t.freeText}
	if !t.freeText {
		c.args = mustJSON(map[string]string{"input": b.String()})
	}
	return c
}

// shellFor is how a step is done by a client whose only tool is a shell.
func shellFor(s step) (string, bool) {
	switch s.op {
	case opRead:
		return "cat " + quote(s.path), true
	case opWrite:
		return fmt.Sprintf("printf %%s %s > %s", quote(s.text), quote(s.path)), true
	default:
		return "", false
	}
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

var wantsProse = regexp.MustCompile(`(?i)^(description|explanation|reason|title|intent|justification)$`)

func sampleNamed(name string, s *schema) any {
	if wantsProse.MatchString(name) && (s == nil || s.Type == "string") {
		return "scripted by the fake model"
	}
	return sample(s, 0)
}

const sampleDepth = 6

// sample makes a value that fits a schema.
func sample(s *schema, depth int) any {
	if s == nil || depth > sampleDepth {
		return nil
	}
	switch {
	case s.Const != nil:
		return s.Const
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == "" && len(s.AnyOf) > 0:
		return sample(s.AnyOf[0], depth+1)
	case s.Type == "" && len(s.OneOf) > 0:
		return sample(s.OneOf[0], depth+1)
	}
	switch s.Type {
	case "array":
		return []any{}
	case "integer", "number":
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	case "boolean":
		return false
	case "null":
		return nil
	case "object", "":
		if s.Type == "" && s.Properties == nil {
			break
		}
		o := map[string]any{}
		for _, name := range s.Required {
			o[name] = sample(s.Properties[name], depth+1)
		}
		return o
	}
	return title
}

func sampleJSON(s *schema) string { return string(mustJSON(sample(s, 0))) }

// mustJSON encodes what this package made itself, or decoded from JSON before.
func mustJSON(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic("fakemodel: encode: " + err.Error())
	}
	return data
}
