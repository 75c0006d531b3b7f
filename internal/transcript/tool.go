package transcript

import (
	"path/filepath"
	"slices"
	"strings"

	"fyllocode.dev/fyllo"
)

// tool folds the events of one tool call. view is what it shows; its slices and bodies are replaced, never changed
// in place, so that a copy of view stays true.
type tool struct {
	part    *part
	view    fyllo.Tool
	titled  titleSource
	kindSet bool

	endless bool // going up from parent to parent never ends
	kids    int  // parts with a safe link to the call
	subagent

	// Where the output can come from, see body.
	final       string // text of content that came with or after the final status
	interim     string // text of content that came before it
	provisional bool   // interim came before any input, so it may be the input in the making (R-ACP-009)
	raw         rawOutput
	stream      joiner // terminal output
}

// titleSource ranks where a title came from: a source never yields to a lesser one.
type titleSource uint8

const (
	titleFallback titleSource = iota
	titleContent              // first line of content, only while there is nothing better
	titleEvent                // the event's title, else the description in its input
	titleChanges              // made from the diffs, for calls that have a generic title only (X2)
	titleMCP                  // made from the identity of an MCP tool (C7, X6)
)

// newTool starts the call of an event: pending if the event announces it, in progress if the announcement was left
// out (R-CHAT-089). id is its id in the message.
func newTool(id string, p *fyllo.ToolPatch) *tool {
	t := &tool{}
	t.view = fyllo.Tool{CallID: id, Kind: fyllo.KindOther, Status: fyllo.ToolInProgress}
	if p.Start {
		t.view.Status = fyllo.ToolPending
	}
	t.view.Title = fallbackTitle(p.CallID)
	return t
}

// apply folds one event. Status and input come first, because what content means depends on them.
func (t *tool) apply(p *fyllo.ToolPatch, cwd string) {
	t.setStatus(p.Status)
	t.setIdentity(p)
	facts := t.setInput(p.RawInput)
	t.learn(p, facts)
	if p.RawOutput != nil {
		t.raw = readOutput(p.RawOutput)
	}
	t.setContent(p, cwd)
	if p.HasLocations {
		t.setLocations(p.Locations)
	}
	if p.OutputAll != nil {
		t.stream = joiner{}
		t.stream.write(*p.OutputAll)
	}
	t.stream.write(p.OutputDelta)
	t.setTitle(p, facts, cwd)
	t.setOutput()
	t.showSubagent()
}

// settle closes an open call when its turn has ended, and reports whether that changed the view. A final status
// that comes late takes the mark away again.
func (t *tool) settle(ended bool) bool {
	interrupted := ended && !t.view.Status.Final()
	if interrupted == t.view.Interrupted {
		return false
	}
	t.view.Interrupted = interrupted
	return true
}

// note adds or replaces the record of a permission decision.
func (t *tool) note(n fyllo.PermissionNote) bool {
	notes := slices.Clone(t.view.Permissions)
	i := slices.IndexFunc(notes, func(o fyllo.PermissionNote) bool { return o.ID == n.ID })
	switch {
	case i < 0:
		notes = append(notes, n)
	case sameNote(notes[i], n):
		return false
	default:
		notes[i] = n
	}
	t.view.Permissions = notes
	return true
}

// setStatus takes a status that is known. A final one stays, but for completed, which may still fail (R-CHAT-089).
func (t *tool) setStatus(status *string) {
	if status == nil {
		return
	}
	next := fyllo.ToolStatus(*status)
	switch next {
	case fyllo.ToolPending, fyllo.ToolInProgress, fyllo.ToolCompleted:
		if !t.view.Status.Final() {
			t.view.Status = next
		}
	case fyllo.ToolFailed:
		t.view.Status = next
	}
}

// setIdentity takes the kind once (R-CHAT-092), and the name whenever the Agent sends one.
func (t *tool) setIdentity(p *fyllo.ToolPatch) {
	if kind := strings.TrimSpace(deref(p.Kind)); kind != "" && !t.kindSet {
		t.view.Kind, t.kindSet = knownKind(kind), true
	}
	if name := clean(deref(p.Name)); name != "" {
		if server, tool, ok := mcpName(name); ok {
			name = server + "/" + tool
			t.view.Title, t.titled = "MCP "+name, titleMCP
		}
		t.view.Name = name
	}
}

// setInput takes an input that is not empty (R-CHAT-093) and returns what it says about the call. Text that came
// as content before it was the input in the making, and goes.
func (t *tool) setInput(raw []byte) inputFacts {
	body := inputBody(raw)
	if body == nil {
		return inputFacts{}
	}
	setBody(&t.view.Input, body)
	if t.provisional {
		t.interim, t.provisional = "", false
	}
	facts := readInput(raw)
	if facts.server != "" {
		t.view.Name = facts.server + "/" + facts.tool
		t.view.Title, t.titled = "MCP "+t.view.Name, titleMCP
	}
	return facts
}

// setContent takes text, diffs and media of an event's content. Each stays where the content holds nothing of their sort,
// since Agents send a closing text without the diffs (K4) and hunks without the text (C4); content that is null or
// [] clears diffs, media and what was only interim (G4). Text without characters erases nothing (R-ACP-002).
func (t *tool) setContent(p *fyllo.ToolPatch, cwd string) {
	if !p.HasContent {
		return
	}
	empty := len(p.Texts)+len(p.Blocks)+len(p.Diffs) == 0
	if diffs := t.diffs(p.Diffs, cwd); empty || len(p.Diffs) > 0 {
		if !slices.EqualFunc(diffs, t.view.Diffs, sameDiff) {
			t.view.Diffs = diffs
		}
	}
	if media := media(p.Blocks); empty || len(media) > 0 {
		if !slices.EqualFunc(media, t.view.Media, sameAttachment) {
			t.view.Media = media
		}
	}
	if empty || t.provisional {
		t.interim, t.provisional = "", false
	}
	text := contentText(p)
	switch {
	case text == "":
	case t.view.Status.Final():
		t.final = text
	default:
		t.interim, t.provisional = text, t.view.Input == nil
	}
}

// diffs resolves the valid diffs of an event, in order; those without a path are dropped (R-CHAT-091).
func (t *tool) diffs(patches []fyllo.DiffPatch, cwd string) []fyllo.Diff {
	var out []fyllo.Diff
	for _, p := range patches {
		if p.Path == "" {
			continue
		}
		d := fyllo.Diff{Path: clean(p.Path), New: textBody(t.diffText(p.New)), Kind: p.Kind}
		if cwd != "" && !filepath.IsAbs(d.Path) {
			d.Path = filepath.Join(cwd, d.Path)
		}
		if p.Old != nil {
			d.Old = textBody(t.diffText(*p.Old))
		}
		out = append(out, d)
	}
	return out
}

const noNewline = `\ No newline at end of file`

// diffText removes the lines by which a patch hunk marks a missing line end (C4). Claude's adapter cuts the first
// character of every hunk line, so that there the marker may come without its backslash; a call that tells its
// programmatic name is such a one.
func (t *tool) diffText(text string) string {
	text = clean(text)
	if !strings.Contains(text, noNewline[1:]) {
		return text
	}
	lines := strings.Split(text, "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool {
		return line == noNewline || t.view.Name != "" && line == noNewline[1:]
	})
	return strings.Join(lines, "\n")
}

// setLocations replaces the places, each once, without those that have no path.
func (t *tool) setLocations(places []fyllo.Location) {
	var out []fyllo.Location
	for _, p := range places {
		p.Path = clean(p.Path)
		if p.Path != "" && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	if !slices.Equal(out, t.view.Locations) {
		t.view.Locations = out
	}
}

// setTitle follows R-CHAT-092: the event's title, else the description in its input, else content as long as there
// is no title; else it stays.
func (t *tool) setTitle(p *fyllo.ToolPatch, facts inputFacts, cwd string) {
	t.offerTitle(titleEvent, facts.description)
	t.offerTitle(titleEvent, clean(deref(p.Title)))
	if t.view.Input == nil {
		t.offerTitle(titleChanges, changesTitle(t.view.Diffs, cwd))
	}
	if p.HasContent && !t.view.Status.Final() && t.titled < titleContent {
		t.offerTitle(titleContent, firstLine(contentText(p)))
	}
	if t.titled == titleFallback && t.view.Name != "" {
		t.view.Title = t.view.Name
	}
}

// offerTitle takes a title that has characters, unless a better source has spoken.
func (t *tool) offerTitle(from titleSource, title string) {
	if strings.TrimSpace(title) != "" && from >= t.titled {
		t.view.Title, t.titled = title, from
	}
}

// sameView reports whether two views show the same. setBody and its like keep what is equal, so identity suffices.
func sameView(a, b *fyllo.Tool) bool {
	return a.Title == b.Title && a.Name == b.Name && a.Kind == b.Kind && a.Status == b.Status &&
		a.ParentID == b.ParentID && a.Subagent == b.Subagent && a.Interrupted == b.Interrupted &&
		a.Input == b.Input && a.Output == b.Output && a.Error == b.Error &&
		sameSlice(a.Diffs, b.Diffs) && sameSlice(a.Locations, b.Locations) && sameSlice(a.Media, b.Media)
}

// sameSlice reports whether two slices are one and the same.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func sameDiff(a, b fyllo.Diff) bool {
	return a.Path == b.Path && a.Kind == b.Kind && sameBody(a.Old, b.Old) && sameBody(a.New, b.New)
}

func sameAttachment(a, b fyllo.Attachment) bool {
	return a.Name == b.Name && a.MIME == b.MIME && a.URI == b.URI && a.IsText == b.IsText && sameBody(a.Data, b.Data)
}

func sameNote(a, b fyllo.PermissionNote) bool {
	return a.Title == b.Title && a.Outcome == b.Outcome && a.OptionID == b.OptionID && a.By == b.By &&
		a.At.Equal(b.At) && slices.Equal(a.Options, b.Options)
}

// knownKind maps a kind to the closed vocabulary of R-CHAT-088. Nothing is guessed (R-ACP-014).
func knownKind(kind string) fyllo.ToolKind {
	switch k := fyllo.ToolKind(kind); k {
	case fyllo.KindRead, fyllo.KindWrite, fyllo.KindEdit, fyllo.KindDelete, fyllo.KindMove, fyllo.KindSearch,
		fyllo.KindExecute, fyllo.KindThink, fyllo.KindFetch, fyllo.KindSwitchMode:
		return k
	default:
		return fyllo.KindOther
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
