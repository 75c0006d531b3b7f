package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/follow"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
)

type sessionsShowCmd struct {
	Session string `arg:"" name:"id" help:"Session id."`
	Changes bool   `help:"Also list the files that each answer changed."`
	JSON    bool   `help:"Print JSON."`
}

func (sessionsShowCmd) Help() string {
	return "Example:\n\n    fyllo sessions show session-4f7c1d2a --json"
}

func (c *sessionsShowCmd) wantsJSON() bool { return c.JSON }

// transcript is what `sessions show --json` prints: everything a person can see.
type transcript struct {
	Session  sessionRow     `json:"session"`
	Messages []shownMessage `json:"messages"`
}

type shownMessage struct {
	ID        string     `json:"id"`
	Role      fyllo.Role `json:"role"`
	CreatedAt time.Time  `json:"createdAt"`
	UpdatedAt time.Time  `json:"updatedAt"`
	Parts     []any      `json:"parts"` // shownText, shownTool or shownAttachment
	// NetChanges are the files that an answer changed; nil when not asked for.
	NetChanges []fyllo.FileChange `json:"netChanges,omitempty"`
}

type shownText struct {
	ID   string         `json:"id"`
	Type fyllo.PartType `json:"type"` // text or reasoning
	Text string         `json:"text"`
	// ParentID names the call of the subagent whose words these are.
	ParentID string `json:"parentToolCallId,omitempty"`
}

type shownTool struct {
	ID   string         `json:"id"`
	Type fyllo.PartType `json:"type"` // tool
	follow.ToolFields
}

type shownAttachment struct {
	ID   string         `json:"id"`
	Type fyllo.PartType `json:"type"` // attachment
	Name string         `json:"name,omitempty"`
	MIME string         `json:"mime,omitempty"`
	URI  string         `json:"uri,omitempty"`
}

// Run prints the whole transcript of a Session (R-CLI-008).
func (c *sessionsShowCmd) Run(ctx context.Context, a *app) error {
	id, err := sessionID(c.Session)
	if err != nil {
		return err
	}
	var t transcript
	err = a.withCore(ctx, func(core *coreapi.Client) (err error) {
		t, err = readTranscript(ctx, core, id, c.Changes)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return a.printJSON(t)
	}
	return a.printTranscript(t)
}

// readTranscript reads a whole Session, the answer that is being written included.
func readTranscript(ctx context.Context, c *coreapi.Client, id fyllo.SessionID, changes bool) (transcript, error) {
	d, err := c.Detail(ctx, id)
	if err != nil {
		return transcript{}, err
	}
	c = c.In(d.WorkspaceID)
	messages, err := allMessages(ctx, c, id)
	if err != nil {
		return transcript{}, err
	}
	if d.Live != nil {
		messages = slices.DeleteFunc(messages, func(m fyllo.Message) bool { return m.ID == d.Live.ID })
		messages = append(messages, *d.Live)
	}
	t := transcript{Session: rowOf(d.SessionSummary), Messages: []shownMessage{}}
	for _, m := range messages {
		if m.Role == fyllo.RoleUser && len(m.Parts) == 0 {
			continue // sent by Core itself, and hidden (R-SPAWN-108)
		}
		shown := shownMessage{ID: m.ID, Role: m.Role, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt}
		for _, p := range m.Parts {
			if part := shownPart(ctx, c, id, p); part != nil {
				shown.Parts = append(shown.Parts, part)
			}
		}
		if changes && slices.ContainsFunc(m.Parts, hasDiffs) {
			found, err := c.Changes(ctx, id, m.ID)
			if err != nil {
				return transcript{}, err
			}
			shown.NetChanges = found.Changes
		}
		if len(shown.Parts) > 0 { // else nothing of it is for people (R-CHAT-157)
			t.Messages = append(t.Messages, shown)
		}
	}
	return t, nil
}

// shownPart returns what people see of a Part, nil when it is hidden.
func shownPart(ctx context.Context, c *coreapi.Client, id fyllo.SessionID, p fyllo.Part) any {
	switch p.Type {
	case fyllo.PartText, fyllo.PartReasoning:
		return shownText{p.ID, p.Type, p.Text, p.ParentID}
	case fyllo.PartTool:
		return shownTool{p.ID, p.Type, follow.Tool(ctx, c, id, p)}
	case fyllo.PartAttachment:
		return shownAttachment{p.ID, p.Type, p.Attachment.Name, p.Attachment.MIME, p.Attachment.URI}
	default:
		return nil // reminders, and what a later version may store
	}
}

func hasDiffs(p fyllo.Part) bool { return p.Tool != nil && len(p.Tool.Diffs) > 0 }

// allMessages returns all stored messages in order.
func allMessages(ctx context.Context, c *coreapi.Client, id fyllo.SessionID) ([]fyllo.Message, error) {
	var pages [][]fyllo.Message
	for before := ""; ; {
		page, err := c.Messages(ctx, id, before, coreapi.PageSize)
		if err != nil {
			return nil, err
		}
		pages = append(pages, page.Messages)
		if before = page.Before; before == "" {
			break
		}
	}
	slices.Reverse(pages)
	return slices.Concat(pages...), nil
}

// printTranscript writes t for people.
func (a *app) printTranscript(t transcript) error {
	w := &safeWriter{out: a.stdout, safe: term.Is(a.stdout)}
	fmt.Fprintf(w, "# %s\n", term.OneLine(t.Session.Title))
	for _, m := range t.Messages {
		fmt.Fprintf(w, "\n## %s, %s\n", m.Role, m.CreatedAt.Local().Format("2006-01-02 15:04"))
		for _, p := range m.Parts {
			switch p := p.(type) {
			case shownText:
				switch {
				case p.Type == fyllo.PartReasoning:
					fmt.Fprintf(w, "\n[reasoning]\n%s\n", p.Text)
				case p.ParentID != "":
					fmt.Fprintf(w, "\n[subagent]\n%s\n", p.Text)
				default:
					fmt.Fprintf(w, "\n%s\n", p.Text)
				}
			case shownTool:
				fmt.Fprintf(w, "\n[%s]\n", term.OneLine(follow.ToolActivity(p.ToolFields)))
			case shownAttachment:
				fmt.Fprintf(w, "\n[attachment: %s]\n", term.OneLine(p.Name+" "+p.URI))
			}
		}
		printChanges(w, m.NetChanges)
	}
	return w.err
}

// printChanges writes the net changes of an answer, one file a line.
func printChanges(w io.Writer, changes []fyllo.FileChange) {
	if len(changes) > 0 {
		fmt.Fprintln(w)
	}
	for _, f := range changes {
		fmt.Fprintf(w, "%s %s", f.Change, term.OneLine(f.Path))
		if f.Problem != nil {
			fmt.Fprintf(w, " (%s)", term.OneLine(f.Problem.Message))
		}
		fmt.Fprintln(w)
	}
}

// safeWriter keeps the first error, and control characters away from a terminal.
type safeWriter struct {
	out  io.Writer
	safe bool
	err  error
}

// Write implements io.Writer.
func (w *safeWriter) Write(b []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	text := string(b)
	if w.safe {
		text = term.Printable(text)
	}
	_, w.err = io.WriteString(w.out, text)
	return len(b), w.err
}
