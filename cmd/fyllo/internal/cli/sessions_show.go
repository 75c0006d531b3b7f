package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/follow"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
	"fyllocode.dev/fyllo/internal/export"
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

// transcript is what `sessions show --json` prints: everything a person can see, as Core exports it.
type transcript struct {
	Session  export.Session `json:"session"`
	Messages []shownMessage `json:"messages"`
}

type shownMessage struct {
	ID        string            `json:"id"`
	Role      fyllo.Role        `json:"role"`
	CreatedAt time.Time         `json:"createdAt"`
	UpdatedAt time.Time         `json:"updatedAt"`
	Parts     []json.RawMessage `json:"parts"` // each is a shownPart
	// NetChanges are the files that an answer changed; nil when not asked for.
	NetChanges []fyllo.FileChange `json:"netChanges,omitempty"`
}

// shownPart has the fields of every kind of part that is printed for people.
type shownPart struct {
	Type fyllo.PartType `json:"type"` // text, reasoning, tool or attachment
	Text string         `json:"text"`
	Name string         `json:"name"`
	URI  string         `json:"uri"`
	// Of a tool; its ParentID also names the call of the subagent whose words these are.
	export.Tool
}

// Run prints the whole transcript of a Session (R-CLI-008).
func (c *sessionsShowCmd) Run(ctx context.Context, a *app) error {
	id, err := sessionID(c.Session)
	if err != nil {
		return err
	}
	return a.withCore(ctx, func(core *coreapi.Client) error {
		file, err := core.Export(ctx, id, string(export.JSON))
		if err != nil {
			return err
		}
		defer file.Close()
		if c.JSON && !c.Changes {
			if _, err := io.Copy(term.JSONWriter(a.stdout), file); err != nil {
				return exportFailed(id, err)
			}
			return nil
		}
		var t transcript
		if err := json.NewDecoder(file).Decode(&t); err != nil {
			return exportFailed(id, err)
		}
		if c.Changes {
			if err := addChanges(ctx, core, id, t.Messages); err != nil {
				return err
			}
		}
		if c.JSON {
			return a.printJSON(t)
		}
		return a.printTranscript(t)
	})
}

// addChanges adds the net changes to the messages whose calls changed files.
func addChanges(ctx context.Context, core *coreapi.Client, id fyllo.SessionID, messages []shownMessage) error {
	for i, m := range messages {
		parts, err := partsOf(m)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(parts, func(p shownPart) bool { return len(p.Changes) > 0 }) {
			continue
		}
		found, err := core.Changes(ctx, id, m.ID)
		if err != nil {
			return err
		}
		messages[i].NetChanges = found.Changes
	}
	return nil
}

func partsOf(m shownMessage) ([]shownPart, error) {
	parts := make([]shownPart, len(m.Parts))
	for i, raw := range m.Parts {
		if err := json.Unmarshal(raw, &parts[i]); err != nil {
			return nil, fyllo.Errorf(fyllo.CodeInternal, "message %s: part %d cannot be read: %w", m.ID, i, err)
		}
	}
	return parts, nil
}

// printTranscript writes t for people.
func (a *app) printTranscript(t transcript) error {
	w := &safeWriter{out: a.stdout, safe: term.Is(a.stdout)}
	fmt.Fprintf(w, "# %s\n", term.OneLine(t.Session.Title))
	for _, m := range t.Messages {
		fmt.Fprintf(w, "\n## %s, %s\n", m.Role, m.CreatedAt.Local().Format("2006-01-02 15:04"))
		parts, err := partsOf(m)
		if err != nil {
			return err
		}
		for _, p := range parts {
			switch {
			case p.Type == fyllo.PartTool:
				fmt.Fprintf(w, "\n[%s]\n", term.OneLine(follow.ToolActivity(p.Tool)))
			case p.Type == fyllo.PartAttachment:
				fmt.Fprintf(w, "\n[attachment: %s]\n", term.OneLine(p.Name+" "+p.URI))
			case p.Type == fyllo.PartReasoning:
				fmt.Fprintf(w, "\n[reasoning]\n%s\n", p.Text)
			case p.ParentID != "":
				fmt.Fprintf(w, "\n[subagent]\n%s\n", p.Text)
			default:
				fmt.Fprintf(w, "\n%s\n", p.Text)
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
