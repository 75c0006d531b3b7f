package testagent

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// The environment variables that the Agent reads.
const (
	EnvScript = "FYLLO_TESTAGENT"     // preset names joined by "+", or a Script as JSON; set = run as Agent
	EnvLog    = "FYLLO_TESTAGENT_LOG" // file for received messages; unset = none
)

// Script sets what does not depend on prompts. The zero value is an Agent that supports everything.
type Script struct {
	Protocol    int             `json:"protocol,omitempty"`    // version in the initialize answer; 0 = 1
	Caps        json.RawMessage `json:"caps,omitempty"`        // replaces agentCapabilities
	NoLoad      bool            `json:"noLoad,omitempty"`      // does not advertise session/load and answers -32601
	NoResume    bool            `json:"noResume,omitempty"`    // likewise session/resume
	NoClose     bool            `json:"noClose,omitempty"`     // likewise session/close
	NoHTTP      bool            `json:"noHttp,omitempty"`      // no HTTP MCP
	NoImage     bool            `json:"noImage,omitempty"`     // no image, audio, embedded context
	NoMultiRoot bool            `json:"noMultiRoot,omitempty"` // no additionalDirectories

	Auth    string `json:"auth,omitempty"`    // "new" or "prompt": -32000 there
	Resume  string `json:"resume,omitempty"`  // answer to session/resume: "missing" (-32002), "vague" (-32603 naming the id), "unsupported" (-32601), "error" (-32603)
	Load    string `json:"load,omitempty"`    // likewise session/load
	Prompt  string `json:"prompt,omitempty"`  // "missing": every prompt of a resumed or loaded session is answered -32002
	History int    `json:"history,omitempty"` // session/load replays so many question and answer pairs
	Trail   int    `json:"trail,omitempty"`   // of these, so many pairs come after the answer of session/load

	Early    bool   `json:"early,omitempty"`    // updates before the answer of session/new
	Config   string `json:"config,omitempty"`   // "" the usual options, "none", "empty", "legacy", "oscillate", "dependent"
	SetNote  bool   `json:"setNote,omitempty"`  // config_option_update before each answer to a set
	SetDelay string `json:"setDelay,omitempty"` // duration before each answer to a set

	InitDelay  string `json:"initDelay,omitempty"`  // duration before the initialize answer; "never" = none
	NewDelay   string `json:"newDelay,omitempty"`   // duration before the session/new answer; "never" = none
	ExitStarts int    `json:"exitStarts,omitempty"` // the first so many starts exit at once with 7 (needs EnvLog); -1 = all
	ExitInit   bool   `json:"exitInit,omitempty"`   // exits with 7 instead of answering initialize
	OnCancel   string `json:"onCancel,omitempty"`   // answer after session/cancel: "" cancelled, "end_turn", "error", "deaf"
	Stubborn   bool   `json:"stubborn,omitempty"`   // stays when stdin ends, and ignores SIGTERM
	StringIDs  bool   `json:"stringIds,omitempty"`  // request ids are strings; otherwise numbers from 0
	Stderr     string `json:"stderr,omitempty"`     // written to stderr at the start
	Greeting   string `json:"greeting,omitempty"`   // text chunk at the start of every turn
	Told       string `json:"told,omitempty"`       // words for a prompt that is nothing but a reminder
}

// presets holds the named scripts.
var presets = map[string]Script{
	"default":         {},
	"legacy":          {Config: "legacy"},
	"no-config":       {Config: "none"},
	"empty-config":    {Config: "empty"},
	"oscillate":       {Config: "oscillate"},
	"dependent":       {Config: "dependent"},
	"early":           {Early: true},
	"no-load":         {NoLoad: true},
	"no-resume":       {NoResume: true},
	"no-close":        {NoClose: true},
	"no-http":         {NoHTTP: true},
	"no-image":        {NoImage: true},
	"no-multiroot":    {NoMultiRoot: true},
	"resume-missing":  {Resume: "missing"},
	"load-missing":    {Load: "missing"},
	"all-missing":     {Resume: "missing", Load: "missing"},
	"resume-vague":    {Resume: "vague", Load: "vague"},
	"resume-error":    {Resume: "error"},
	"load-error":      {Load: "error"},
	"resume-lies":     {Resume: "unsupported"},
	"history":         {NoResume: true, History: 3},
	"history-trail":   {NoResume: true, History: 3, Trail: 1},
	"prompt-missing":  {Prompt: "missing"},
	"auth-new":        {Auth: "new"},
	"auth-prompt":     {Auth: "prompt"},
	"protocol-2":      {Protocol: 2},
	"silent":          {InitDelay: "never"},
	"slow-start":      {InitDelay: "500ms"},
	"hang-new":        {NewDelay: "never"},
	"crash":           {ExitStarts: -1, Stderr: "testagent: crashing at start"},
	"crash-five":      {ExitStarts: 5, Stderr: "testagent: crashing at start"},
	"crash-once":      {ExitStarts: 1},
	"crash-init":      {ExitInit: true},
	"cancel-error":    {OnCancel: "error"},
	"cancel-end-turn": {OnCancel: "end_turn"},
	"cancel-deaf":     {OnCancel: "deaf"},
	"stubborn":        {Stubborn: true},
	"string-ids":      {StringIDs: true},
	"set-note":        {SetNote: true},
	"set-slow":        {SetDelay: "300ms"},
}

// Presets returns the names of the built-in scripts in alphabetical order.
func Presets() []string {
	names := make([]string, 0, len(presets))
	for n := range presets {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// ParseScript reads the value of EnvScript: a JSON object, or preset names joined by "+", where a later name
// adds its fields to those of the earlier ones. "" is the default.
func ParseScript(s string) (Script, error) {
	var out Script
	if strings.HasPrefix(strings.TrimSpace(s), "{") {
		if err := json.Unmarshal([]byte(s), &out); err != nil {
			return Script{}, fmt.Errorf("read script: %w", err)
		}
		return out, nil
	}
	for name := range strings.SplitSeq(s, "+") {
		p, ok := presets[name]
		if !ok && name != "" {
			return Script{}, fmt.Errorf("no script %q; there are %s", name, strings.Join(Presets(), ", "))
		}
		b, err := json.Marshal(p)
		if err == nil {
			err = json.Unmarshal(b, &out) // omitempty: only the fields that p sets
		}
		if err != nil {
			return Script{}, fmt.Errorf("merge script %q: %w", name, err)
		}
	}
	return out, nil
}

// String returns the script as JSON, fit for EnvScript.
func (s Script) String() string {
	b, err := json.Marshal(s)
	if err != nil { // only Caps can fail
		return "{}"
	}
	return string(b)
}

// Command returns the argv that runs the current test binary again; with Environ it is the Agent.
func Command() []string {
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	return []string{exe}
}

// Environ returns the variables that make Command an Agent. logPath "" means no log.
func Environ(script, logPath string) map[string]string {
	if script == "" {
		script = "default"
	}
	env := map[string]string{EnvScript: script}
	if logPath != "" {
		env[EnvLog] = logPath
	}
	return env
}

// pause returns the duration of a script field; an unreadable one is 0 and "never" is -1.
func pause(s string) time.Duration {
	if s == "never" {
		return -1
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0
	}
	return d
}
