package transcript

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"fyllocode.dev/fyllo"
)

// ChangeKind says what a call changed.
type ChangeKind uint8

// The kinds of Change.
const (
	None  ChangeKind = iota // nothing to publish
	Delta                   // Text was appended to the part at Index, which may be new
	Part                    // the part at Index is new or different
)

// Change is what a call changed in the message: nothing, or exactly one part.
type Change struct {
	Kind  ChangeKind
	Index int
	Text  string // Delta only; valid UTF-8. It may differ from the chunk that caused it
}

// Live is the assistant message of one turn while it is written. It is not safe for concurrent use.
type Live struct {
	id, cwd   string
	createdAt time.Time
	updatedAt time.Time
	parts     []*part
	tools     map[string]*tool // by call id; a Live is one turn, so an id means one tool (R-ACP-012)
	text      held
	reasoning held
	end       *fyllo.TurnEnd
}

// part is one part in the making. Exactly one of text, tool and attachment is set.
type part struct {
	id         string
	kind       fyllo.PartType
	from       source
	text       *joiner
	tool       *tool
	attachment *fyllo.Attachment
}

// source tells whose words a chunk is: chunks of different sources never share a part (R-ACP-008).
type source struct {
	message string // the Agent's message id; "" fits every id
	parent  string // the tool call of the subagent that speaks; "" for the Agent itself
}

// held is text that shows nothing yet: white space before the first visible character of a part (R-ACP-007).
type held struct {
	from source
	text *joiner // nil when nothing is held
}

func (s source) continues(open source) bool {
	return s.parent == open.parent && (s.message == "" || open.message == "" || s.message == open.message)
}

// New starts the message id of a turn. Relative paths of diffs are resolved against cwd (R-ACP-023); "" leaves them
// as they are. at becomes CreatedAt.
func New(id, cwd string, at time.Time) *Live {
	return &Live{id: id, cwd: cwd, createdAt: at, updatedAt: at, tools: map[string]*tool{}}
}

// ID returns the id of the message.
func (l *Live) ID() string { return l.id }

// Len returns the number of parts.
func (l *Live) Len() int { return len(l.parts) }

// Empty reports whether the message has nothing to show and need not be stored.
func (l *Live) Empty() bool { return len(l.parts) == 0 }

// Apply folds one update into the message. Updates that are no transcript content change nothing. u and what it
// refers to may be reused afterwards, except for its strings.
func (l *Live) Apply(u *fyllo.Update, at time.Time) Change {
	switch u.Kind {
	case fyllo.UpdateText:
		return l.chunk(fyllo.PartText, &l.text, u, at)
	case fyllo.UpdateReasoning:
		return l.chunk(fyllo.PartReasoning, &l.reasoning, u, at)
	case fyllo.UpdateTool:
		if u.Tool != nil {
			return l.patch(u.Tool, u.ParentID, at)
		}
	default: // Session state, replays of the user's words, and what later protocols add (R-ACP-001)
	}
	return Change{}
}

// Ask folds in what a permission request says about its tool call, which it may be the first to mention
// (R-ACP-020).
func (l *Live) Ask(p *fyllo.PermissionAsk, at time.Time) Change {
	if p.Tool == nil {
		return Change{}
	}
	asked := *p.Tool
	asked.Start = true // until the answer, the call waits
	return l.patch(&asked, "", at)
}

// Answered notes at its tool call how a permission request was answered. An unknown call changes nothing; a note
// with the id of an earlier one replaces it.
func (l *Live) Answered(callID string, note fyllo.PermissionNote, at time.Time) Change {
	t := l.tools[callID]
	if t == nil || !t.note(note) {
		return Change{}
	}
	l.updatedAt = at
	return Change{Kind: Part, Index: t.index}
}

// End closes the message and returns the parts it changed: tools that are not final become interrupted (decision
// 15, R-ACP-021), and halves of characters that wait for their other half are given up. White space that is still
// held back is dropped. Late updates may follow (R-ACP-022); Ending a second time replaces the first end.
func (l *Live) End(end fyllo.TurnEnd) []int {
	var changed []int
	l.end = &end
	l.updatedAt = end.At
	l.text, l.reasoning = held{}, held{}
	for i, p := range l.parts {
		switch {
		case p.tool != nil && p.tool.settle(true):
			changed = append(changed, i)
		case p.text != nil && p.text.flush() != "":
			changed = append(changed, i)
		}
	}
	return changed
}

// Part returns the part at index i in full form.
func (l *Live) Part(i int) fyllo.Part {
	p := l.parts[i]
	out := fyllo.Part{ID: p.id, Type: p.kind, Attachment: p.attachment}
	if p.text != nil {
		out.Text = p.text.String()
	}
	if p.tool != nil {
		view := p.tool.view
		out.Tool = &view
	}
	return out
}

// ToolTitle returns the title of a tool call, "" when the call is not known.
func (l *Live) ToolTitle(callID string) string {
	if t := l.tools[callID]; t != nil {
		return t.view.Title
	}
	return ""
}

// Message returns the whole message in full form.
func (l *Live) Message() fyllo.Message {
	m := fyllo.Message{
		ID: l.id, Role: fyllo.RoleAssistant, CreatedAt: l.createdAt, UpdatedAt: l.updatedAt,
		Parts: make([]fyllo.Part, len(l.parts)), End: l.end,
	}
	for i := range l.parts {
		m.Parts[i] = l.Part(i)
	}
	return m
}

// chunk appends a text or reasoning chunk. This is the path of a flood: it copies the text once and allocates only
// when the text outgrows its memory.
func (l *Live) chunk(kind fyllo.PartType, h *held, u *fyllo.Update, at time.Time) Change {
	if u.Block != nil {
		l.updatedAt = at
		p := l.add(kind)
		p.kind, p.attachment = fyllo.PartAttachment, attachment(u.Block)
		return Change{Kind: Part, Index: len(l.parts) - 1}
	}
	if u.Text == "" {
		return Change{}
	}
	from := source{message: u.MessageID, parent: u.ParentID}
	p := l.open(kind)
	if p == nil || !from.continues(p.from) {
		return l.begin(kind, h, from, u.Text, at)
	}
	if p.from.message == "" {
		p.from.message = from.message
	}
	text := p.text.write(u.Text)
	if text == "" {
		return Change{}
	}
	l.updatedAt = at
	return Change{Kind: Delta, Index: len(l.parts) - 1, Text: text}
}

// begin starts a part with the first chunk that shows something, and holds back those before it.
func (l *Live) begin(kind fyllo.PartType, h *held, from source, text string, at time.Time) Change {
	if h.text == nil || !from.continues(h.from) {
		*h = held{from: from, text: &joiner{}}
	}
	if h.from.message == "" {
		h.from.message = from.message
	}
	if strings.TrimSpace(h.text.write(text)) == "" {
		return Change{}
	}
	p := l.add(kind)
	p.from, p.text = h.from, h.text
	if kind == fyllo.PartReasoning { // blank lines before a thought are noise (X7)
		p.text = &joiner{tail: h.text.tail}
		p.text.b.WriteString(strings.TrimLeftFunc(h.text.String(), unicode.IsSpace))
	}
	*h = held{}
	l.updatedAt = at
	return Change{Kind: Delta, Index: len(l.parts) - 1, Text: p.text.String()}
}

// open returns the last part if it is text of this kind, to which chunks may be appended.
func (l *Live) open(kind fyllo.PartType) *part {
	if n := len(l.parts); n > 0 && l.parts[n-1].kind == kind {
		return l.parts[n-1]
	}
	return nil
}

// add appends an empty part.
func (l *Live) add(kind fyllo.PartType) *part {
	p := &part{id: l.id + "." + strconv.Itoa(len(l.parts)), kind: kind}
	l.parts = append(l.parts, p)
	return p
}

// patch folds what one event says about a tool call (R-ACP-004).
func (l *Live) patch(u *fyllo.ToolPatch, parent string, at time.Time) Change {
	if u.CallID == "" {
		return Change{}
	}
	t := l.tools[u.CallID]
	isNew := t == nil
	if isNew {
		t = newTool(u, len(l.parts))
		l.tools[t.view.CallID] = t
		l.add(fyllo.PartTool).tool = t
	}
	changed := t.apply(u, parent, l.cwd)
	if t.settle(l.end != nil) {
		changed = true
	}
	if !changed && !isNew {
		return Change{}
	}
	l.updatedAt = at
	return Change{Kind: Part, Index: t.index}
}

// attachment makes a part of a block that is not text. A block of a kind we do not know shows at least that name.
func attachment(b *fyllo.Block) *fyllo.Attachment {
	a := &fyllo.Attachment{Name: clean(b.Name), MIME: clean(b.MIME), URI: clean(b.URI)}
	if b.Data != "" {
		a.Data, a.IsText = textBody(clean(b.Data)), b.IsText
	}
	if *a == (fyllo.Attachment{}) {
		a.Name = b.Type
	}
	return a
}
