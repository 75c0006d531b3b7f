package transcript

import (
	"slices"
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

// Change is what a call changed in the message: nothing, or the part at Index and those in More.
type Change struct {
	Kind  ChangeKind
	Index int
	At    int    // Delta only: where Text begins, in UTF-16 units
	Text  string // Delta only; valid UTF-8. It may differ from the chunk that caused it
	// More lists other parts that are different now, ascending: a parent that is told late moves a call, and makes
	// its parent the root of a subagent (R-CHAT-108).
	More []int
}

// Live is the assistant message of one turn while it is written. It is not safe for concurrent use.
type Live struct {
	id, cwd   string
	createdAt time.Time
	updatedAt time.Time
	parts     []*part
	tools     map[string]*tool // by call id; a Live is one turn, so an id means one tool (R-ACP-012)
	own       lane             // what the Agent itself says and does
	lanes     map[string]*lane // what subagents do, by the call that they name as their parent
	claims    map[string][]*part
	session   fyllo.ACPSessionID            // the Agent's; "" when not told
	children  map[fyllo.ACPSessionID]*child // subagents with an ACP session of their own
	end       *fyllo.TurnEnd
}

// part is one part in the making. Exactly one of text, tool and attachment is set.
type part struct {
	id         string
	index      int
	kind       fyllo.PartType
	message    string // the Agent's id of the message that the text belongs to; "" fits every id
	parent     string // the call that it names as its parent, whether the link is safe or not
	linked     bool   // the link is safe, and shown
	text       *joiner
	units      int // UTF-16 units of the text
	tool       *tool
	attachment *fyllo.Attachment
}

// lane is what one speaker says and does, in order. Speakers do not interrupt each other: subagents run side by side,
// and the words of one would be torn to pieces by the events of the others.
type lane struct {
	last            *part // nil before the first
	text, reasoning held
}

// held is text that shows nothing yet: white space before the first visible character of a part (R-ACP-007).
type held struct {
	message string
	text    *joiner // nil when nothing is held
}

// continues reports whether a chunk of the message next goes on with the text of the message open: those of different
// messages never share a part (R-ACP-008).
func continues(next, open string) bool { return next == "" || open == "" || next == open }

// New starts the message id of a turn. Relative paths of diffs are resolved against cwd (R-ACP-023); "" leaves them
// as they are. at becomes CreatedAt.
func New(id, cwd string, at time.Time) *Live {
	return &Live{
		id: id, cwd: cwd, createdAt: at, updatedAt: at, tools: map[string]*tool{}, lanes: map[string]*lane{},
		claims: map[string][]*part{}, children: map[fyllo.ACPSessionID]*child{},
	}
}

// Of tells the ACP session of the turn: what comes under another id is then a subagent's, also when it was announced
// in an earlier turn. Without it, only what is announced is.
func (l *Live) Of(session fyllo.ACPSessionID) { l.session = session }

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
	case fyllo.UpdateText, fyllo.UpdateReasoning, fyllo.UpdateUserText, fyllo.UpdateTool:
		c, made := l.speaker(u.SessionID, at)
		return joined(made, l.content(u, c, at))
	case fyllo.UpdateSubagent:
		if u.Child != nil {
			return l.announce(u.SessionID, u.Child, at)
		}
	case fyllo.UpdateMessage:
		if u.Message != nil {
			return l.message(u.SessionID, u.Message, at)
		}
	default: // Session state, and what later protocols add (R-ACP-001)
	}
	return Change{}
}

// content folds what c says or does, nil being the Agent itself.
func (l *Live) content(u *fyllo.Update, c *child, at time.Time) Change {
	parent := c.parentOf(u.ParentID)
	switch u.Kind {
	case fyllo.UpdateText:
		return l.chunk(fyllo.PartText, parent, u, at)
	case fyllo.UpdateReasoning:
		return l.chunk(fyllo.PartReasoning, parent, u, at)
	case fyllo.UpdateUserText: // a replay of what the user said, or what a subagent is told
		if c != nil && u.Text != "" {
			return l.prompted(c, told{id: u.MessageID, text: u.Text}, false, at)
		}
	default:
		if u.Tool != nil {
			return l.called(u.Tool, u.ParentID, c, at)
		}
	}
	return Change{}
}

// called folds what an event of c says about a call.
func (l *Live) called(p *fyllo.ToolPatch, parent string, c *child, at time.Time) Change {
	if p.ParentID != nil && *p.ParentID != "" {
		parent = *p.ParentID
	}
	cwd := l.cwd
	if c != nil && c.cwd != "" {
		cwd = c.cwd
	}
	return l.patch(c.callID(p.CallID), p, c.parentOf(parent), cwd, at)
}

// Ask folds in what a permission request says about its tool call, which it may be the first to mention
// (R-ACP-020).
func (l *Live) Ask(p *fyllo.PermissionAsk, at time.Time) Change {
	if p.Tool == nil {
		return Change{}
	}
	asked := *p.Tool
	asked.Start = true // until the answer, the call waits
	c, made := l.speaker(p.SessionID, at)
	return joined(made, l.called(&asked, "", c, at))
}

// CallID returns the id in the message of the call that a permission request is about, "" when it names none. It is
// what Answered and ToolTitle take.
func (l *Live) CallID(p *fyllo.PermissionAsk) string {
	if p.Tool == nil {
		return ""
	}
	return l.children[p.SessionID].callID(p.Tool.CallID)
}

// Answered notes at its tool call how a permission request was answered. An unknown call changes nothing; a note
// with the id of an earlier one replaces it.
func (l *Live) Answered(callID string, note fyllo.PermissionNote, at time.Time) Change {
	t := l.tools[callID]
	if t == nil || !t.note(note) {
		return Change{}
	}
	l.updatedAt = at
	return Change{Kind: Part, Index: t.part.index}
}

// End closes the message and returns the parts it changed: tools that are not final become interrupted (decision
// 15, R-ACP-021), and halves of characters that wait for their other half are given up. White space that is still
// held back is dropped. Late updates may follow (R-ACP-022); Ending a second time replaces the first end.
func (l *Live) End(end fyllo.TurnEnd) []int {
	var changed []int
	l.end = &end
	l.updatedAt = end.At
	l.own.text, l.own.reasoning = held{}, held{}
	for _, other := range l.lanes {
		other.text, other.reasoning = held{}, held{}
	}
	for i, p := range l.parts {
		if p.tool != nil && p.tool.settle(true) || p.text != nil && p.grow(p.text.flush()) {
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
	if p.linked && p.tool == nil {
		out.ParentID = p.parent
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

// Growing reports whether text may still be added to the part at index i: whoever speaks there has not gone on to
// another part.
func (l *Live) Growing(i int) bool {
	p := l.parts[i]
	return p.text != nil && l.lane(p.parent).last == p
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
func (l *Live) chunk(kind fyllo.PartType, parent string, u *fyllo.Update, at time.Time) Change {
	if u.Block != nil {
		l.updatedAt = at
		p := l.add(kind, parent)
		p.kind, p.attachment = fyllo.PartAttachment, attachment(u.Block)
		return Change{Kind: Part, Index: p.index, More: l.settleLinks(p, true)}
	}
	if u.Text == "" {
		return Change{}
	}
	in := l.lane(parent)
	p := in.last
	if p == nil || p.kind != kind || !continues(u.MessageID, p.message) {
		return l.begin(kind, parent, u.MessageID, u.Text, at)
	}
	if p.message == "" {
		p.message = u.MessageID
	}
	was, text := p.units, p.text.write(u.Text)
	if !p.grow(text) {
		return Change{}
	}
	l.updatedAt = at
	return Change{Kind: Delta, Index: p.index, At: was, Text: text}
}

// begin starts a part with the first chunk that shows something, and holds back those before it.
func (l *Live) begin(kind fyllo.PartType, parent, message, text string, at time.Time) Change {
	in := l.lane(parent)
	h := &in.text
	if kind == fyllo.PartReasoning {
		h = &in.reasoning
	}
	if h.text == nil || !continues(message, h.message) {
		*h = held{message: message, text: &joiner{}}
	}
	if h.message == "" {
		h.message = message
	}
	if strings.TrimSpace(h.text.write(text)) == "" {
		return Change{}
	}
	p := l.add(kind, parent)
	p.message, p.text = h.message, h.text
	if kind == fyllo.PartReasoning { // blank lines before a thought are noise (X7)
		p.text = &joiner{tail: h.text.tail}
		p.text.b.WriteString(strings.TrimLeftFunc(h.text.String(), unicode.IsSpace))
	}
	*h = held{}
	p.grow(p.text.String())
	l.updatedAt = at
	if more := l.settleLinks(p, true); p.linked {
		return Change{Kind: Part, Index: p.index, More: more} // a delta names no parent
	}
	return Change{Kind: Delta, Index: p.index, Text: p.text.String()}
}

// grow counts text that was appended and reports whether there was any.
func (p *part) grow(text string) bool {
	p.units += fyllo.UTF16Len(text)
	return text != ""
}

// lane returns the lane of those who name parent, "" being the Agent itself.
func (l *Live) lane(parent string) *lane {
	if parent == "" {
		return &l.own
	}
	in := l.lanes[parent]
	if in == nil {
		in = &lane{}
		l.lanes[parent] = in
	}
	return in
}

// add appends an empty part.
func (l *Live) add(kind fyllo.PartType, parent string) *part {
	p := &part{id: l.id + "." + strconv.Itoa(len(l.parts)), index: len(l.parts), kind: kind, parent: parent}
	l.parts = append(l.parts, p)
	l.lane(parent).last = p
	return p
}

// patch folds what one event says about the tool call id (R-ACP-004), whose parent is taken once (R-CHAT-092). cwd is
// where relative paths begin (R-ACP-023).
func (l *Live) patch(id string, u *fyllo.ToolPatch, parent, cwd string, at time.Time) Change {
	if u.CallID == "" {
		return Change{}
	}
	id = clean(id)
	t := l.tools[id]
	isNew := t == nil
	if isNew {
		t = newTool(id, u)
		l.tools[id] = t
		t.part = l.add(fyllo.PartTool, parent)
		t.part.tool = t
	}
	before := t.view
	t.apply(u, cwd)
	var more []int
	if isNew || t.part.parent == "" && parent != "" {
		t.part.parent = parent
		more = l.settleLinks(t.part, isNew)
	}
	t.settle(l.end != nil)
	switch changed := isNew || !sameView(&before, &t.view); {
	case changed:
		l.updatedAt = at
		return Change{Kind: Part, Index: t.part.index, More: more}
	case len(more) > 0:
		l.updatedAt = at
		return Change{Kind: Part, Index: more[0], More: more[1:]}
	}
	return Change{}
}

// joined is one change made of two, the first of which may have moved the part of the second.
func joined(first, second Change) Change {
	if first.Kind == None {
		return second
	}
	if second.Kind == None {
		return first
	}
	also := append(slices.Clone(first.More), first.Index)
	if slices.Contains(also, second.Index) {
		second = Change{Kind: Part, Index: second.Index, More: second.More} // more of it changed than its text
	}
	also = append(also, second.More...)
	slices.Sort(also)
	second.More = slices.DeleteFunc(slices.Compact(also), func(i int) bool { return i == second.Index })
	return second
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
