// Package follow prints one turn of a Session while it runs, as people or as scripts want it.
//
// Order is that of the Core's events. Nothing is lost: what the event stream cannot give any more after a broken
// connection is taken from snapshots, and nothing is printed twice.
package follow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
	"fyllocode.dev/fyllo/internal/export"
)

// StopCancelled is the stop reason of a turn that was cancelled.
const StopCancelled = "cancelled"

// lateContent is how long an Agent's content still counts after its answer (R-ACP-022).
const lateContent = 500 * time.Millisecond

// Door is told about the permission requests of a turn.
type Door interface {
	Asked(ctx context.Context, p fyllo.Permission) error
	Closed(id string) // it was answered, here or elsewhere; comes before that is printed
	Told(id string)   // how it was answered is printed
}

// Turn follows one turn of a Session on a feed and prints it.
type Turn struct {
	client      *coreapi.Client
	feed        *coreapi.Feed
	out         Printer
	door        Door
	session     fyllo.SessionID
	userMessage string // the message that began the turn

	begun   bool                        // the feed has reached the turn
	message string                      // the assistant message of the turn, once known
	floor   uint64                      // frames up to this seq are already in what was printed from a snapshot
	printed map[string]int              // bytes of a part's text that were printed
	units   map[string]int              // the same in UTF-16 units, as deltas count
	parents map[string]string           // of the texts of subagents, by Part id
	tools   map[string]ToolLine         // as last printed, by Part id
	asks    map[string]fyllo.Permission // all that were asked, by id
	prose   prose
	end     *fyllo.TurnEnd

	spawned map[fyllo.SessionID]SpawnedLine // as last printed
	held    *coreapi.Frame                  // taken from the feed, and not of this turn
}

// New returns the turn that userMessage began in a Session. feed must have begun before the message was sent.
func New(c *coreapi.Client, feed *coreapi.Feed, session fyllo.SessionID, userMessage string) *Turn {
	return &Turn{
		client: c, feed: feed, out: Nothing, session: session, userMessage: userMessage,
		printed: map[string]int{}, units: map[string]int{}, parents: map[string]string{}, tools: map[string]ToolLine{}, asks: map[string]fyllo.Permission{},
		spawned: map[fyllo.SessionID]SpawnedLine{},
	}
}

// PrintTo says where to print from now on; before it is called, nowhere.
func (t *Turn) PrintTo(p Printer) { t.out = p }

// AskAt says who answers permission requests. It must be called before Follow.
func (t *Turn) AskAt(d Door) { t.door = d }

// Follow prints what happens until the turn ended, and returns how. It may be called again after an error of
// ctx and goes on where it was.
func (t *Turn) Follow(ctx context.Context) (fyllo.TurnEnd, error) {
	for t.end == nil {
		if err := t.step(ctx); err != nil {
			return fyllo.TurnEnd{}, err
		}
	}
	if t.end.Error == nil && t.end.StopReason != StopCancelled {
		if err := t.late(ctx); err != nil {
			return *t.end, err
		}
	}
	return *t.end, t.endProse()
}

// late prints content that arrives after the Agent's answer, until its time is over or the Agent is told something.
func (t *Turn) late(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lateContent)
	defer cancel()
	for {
		fr, err := t.feed.Next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil && t.hidden(fr) != "" {
			t.held = &fr
			return nil
		}
		if err == nil {
			err = t.take(ctx, fr)
		}
		if err != nil {
			return err
		}
	}
}

func (t *Turn) step(ctx context.Context) error {
	fr, err := t.feed.Next(ctx)
	if err != nil {
		return err
	}
	return t.take(ctx, fr)
}

// take prints what a frame brings.
func (t *Turn) take(ctx context.Context, fr coreapi.Frame) error {
	if fr.Type == fyllo.EventReset {
		return t.catchUp(ctx)
	}
	if fr.SessionID != t.session || fr.Seq <= t.floor {
		return nil
	}
	return t.apply(context.WithoutCancel(ctx), fr)
}

// apply prints one frame. A frame that was taken is printed whole, whatever signal comes meanwhile.
func (t *Turn) apply(ctx context.Context, fr coreapi.Frame) error {
	switch fr.Type {
	case fyllo.EventConfig:
		return with(fr, func(e fyllo.ConfigEvent) error { return t.out.Print(ConfigLine{"config", configOptions(e.Options)}) })
	case fyllo.EventCommands:
		return with(fr, func(e fyllo.CommandsEvent) error { return t.out.Print(CommandsLine{"commands", e.Commands}) })
	case fyllo.EventUsage:
		return with(fr, func(u fyllo.Usage) error { return t.out.Print(UsageLine{"usage", u.Used, u.Size}) })
	case fyllo.EventPlan:
		return with(fr, func(e fyllo.PlanEvent) error { return t.out.Print(PlanLine{"plan", e.Entries}) })
	case fyllo.EventMessage:
		return with(fr, func(m fyllo.Message) error { return t.wholeMessage(ctx, m) })
	case fyllo.EventTurn:
		return with(fr, func(s fyllo.Turn) error { t.state(s); return nil })
	case fyllo.EventDelta:
		return with(fr, t.delta)
	case fyllo.EventPart:
		return with(fr, func(e fyllo.PartEvent) error { return t.part(ctx, e.MessageID, e.Part) })
	case fyllo.EventPermission:
		return with(fr, func(p fyllo.Permission) error { return t.ask(ctx, p) })
	case fyllo.EventPermissionClosed:
		return with(fr, t.permissionClosed)
	case fyllo.EventTurnEnd:
		return with(fr, t.ended)
	case fyllo.EventSpawned:
		return with(fr, func(e fyllo.SpawnedEvent) error {
			if e.Live {
				return nil // its end is what counts here
			}
			return t.child(ctx, e.SessionID)
		})
	case fyllo.EventSessionRemoved:
		return fyllo.Errorf(fyllo.CodeSessionNotFound, "session %s: it was deleted while its turn ran", t.session)
	default:
		return nil // nothing that a turn prints
	}
}

// with decodes the payload of a frame for do.
func with[T any](fr coreapi.Frame, do func(T) error) error {
	var v T
	if err := json.Unmarshal(fr.Data, &v); err != nil {
		return fmt.Errorf("event %d (%s): %w", fr.Seq, fr.Type, err)
	}
	return do(v)
}

func (t *Turn) state(s fyllo.Turn) {
	if s.UserMessageID != t.userMessage {
		return
	}
	t.begun = true
	if s.MessageID != "" {
		t.message = s.MessageID
	}
}

// mine reports whether an assistant message belongs to the turn.
func (t *Turn) mine(message string) bool {
	return t.begun && (t.message == "" || t.message == message)
}

func (t *Turn) wholeMessage(ctx context.Context, m fyllo.Message) error {
	if m.ID == t.userMessage {
		t.begun = true
		return nil
	}
	if m.Role != fyllo.RoleAssistant || !t.mine(m.ID) {
		return nil
	}
	for _, p := range m.Parts {
		if err := t.part(ctx, m.ID, p); err != nil {
			return err
		}
	}
	return nil
}

func (t *Turn) delta(d fyllo.Delta) error {
	if !t.mine(d.MessageID) {
		return nil
	}
	// Core joins deltas that pile up, so one may begin inside what a snapshot held.
	if known := t.units[d.PartID] - d.At; known > 0 {
		d.Text = fyllo.SkipUTF16(d.Text, known)
	}
	if d.Text == "" {
		return nil
	}
	t.printed[d.PartID] += len(d.Text)
	t.units[d.PartID] += fyllo.UTF16Len(d.Text)
	return t.said(TextLine{string(d.Kind), d.MessageID, d.PartID, d.Text, t.parents[d.PartID]})
}

// part prints what a whole Part has more than what was printed of it.
func (t *Turn) part(ctx context.Context, message string, p fyllo.Part) error {
	if !t.mine(message) {
		return nil
	}
	switch p.Type {
	case fyllo.PartText, fyllo.PartReasoning:
		t.parents[p.ID] = p.ParentID
		seen := t.printed[p.ID]
		if len(p.Text) <= seen {
			return nil
		}
		t.printed[p.ID], t.units[p.ID] = len(p.Text), fyllo.UTF16Len(p.Text)
		return t.said(TextLine{string(p.Type), message, p.ID, p.Text[seen:], p.ParentID})
	case fyllo.PartTool:
		line := ToolLine{"tool", t.whole(ctx, p)}
		last, known := t.tools[p.ID]
		if known && sameTool(last, line) {
			return nil
		}
		if !known && p.Tool.ParentID == "" {
			if err := t.own(p.ID, false); err != nil {
				return err
			}
		}
		t.tools[p.ID] = line
		return t.out.Print(line)
	default: // attachments have no line yet (R-CLI-007)
		if p.ParentID != "" || t.printed[p.ID] > 0 {
			return nil
		}
		t.printed[p.ID] = 1
		return t.own(p.ID, false)
	}
}

func sameTool(a, b ToolLine) bool {
	sameLists := slices.Equal(a.Locations, b.Locations) && slices.Equal(a.Changes, b.Changes)
	a.Locations, b.Locations, a.Changes, b.Changes = nil, nil, nil, nil
	return sameLists && fmt.Sprint(a) == fmt.Sprint(b)
}

func (t *Turn) ask(ctx context.Context, p fyllo.Permission) error {
	if _, known := t.asks[p.ID]; known || !t.mine(p.MessageID) {
		return nil
	}
	t.asks[p.ID] = p
	return t.door.Asked(ctx, p)
}

func (t *Turn) permissionClosed(e fyllo.PermissionClosed) error {
	if !t.mine(e.MessageID) {
		return nil
	}
	t.door.Closed(e.Note.ID)
	asked := t.asks[e.Note.ID]
	line := PermissionLine{
		Type: "permission", Title: e.Note.Title, Options: e.Note.Options,
		Outcome: PermissionOutcome{e.Note.Outcome, e.Note.OptionID},
	}
	if line.Title == "" {
		line.Title = asked.Title
	}
	if line.Options == nil {
		line.Options = asked.Options
	}
	err := t.out.Print(line)
	t.door.Told(e.Note.ID)
	return err
}

func (t *Turn) ended(e fyllo.TurnEndEvent) error {
	if e.UserMessageID == t.userMessage {
		t.end = &e.End
	}
	return nil
}

// catchUp prints from snapshots what the feed could not give.
func (t *Turn) catchUp(ctx context.Context) error {
	d, err := t.client.Detail(ctx, t.session)
	if err != nil {
		return err
	}
	t.floor = d.Seq
	t.state(d.Turn)
	if d.Live != nil && t.mine(d.Live.ID) {
		if err := t.wholeMessage(ctx, *d.Live); err != nil {
			return err
		}
	}
	for id := range t.asks { // those that were answered unseen
		if !slices.ContainsFunc(d.Permissions, func(p fyllo.Permission) bool { return p.ID == id }) {
			t.door.Closed(id)
			t.door.Told(id)
		}
	}
	for _, p := range d.Permissions {
		if err := t.ask(ctx, p); err != nil {
			return err
		}
	}
	if d.Turn.UserMessageID == t.userMessage && d.Turn.State != fyllo.TurnIdle {
		return nil
	}
	return t.storedEnd(ctx)
}

// storedEnd finds in the stored messages how a turn ended that ended unseen.
func (t *Turn) storedEnd(ctx context.Context) error {
	page, err := t.client.Messages(ctx, t.session, "", 0)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(page.Messages, func(m fyllo.Message) bool { return m.ID == t.userMessage })
	if at < 0 {
		return fyllo.Errorf(fyllo.CodeInternal, "session %s: its message %s is gone", t.session, t.userMessage)
	}
	t.begun = true
	t.end = page.Messages[at].End
	if at+1 < len(page.Messages) && page.Messages[at+1].Role == fyllo.RoleAssistant {
		m := page.Messages[at+1]
		t.message, t.end = m.ID, m.End
		if err := t.wholeMessage(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// whole returns a call with its whole texts. A text that Core cannot give any more stays the preview it is.
func (t *Turn) whole(ctx context.Context, p fyllo.Part) export.Tool {
	tool := *p.Tool
	for field, b := range map[string]**fyllo.Body{"input": &tool.Input, "output": &tool.Output, "error": &tool.Error} {
		if text, err := t.client.Body(ctx, t.session, *b, coreapi.BodyField{Part: p.ID, Field: field}); err == nil {
			*b = &fyllo.Body{Text: text}
		}
	}
	return export.ToolOf(&tool)
}
