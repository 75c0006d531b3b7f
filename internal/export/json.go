package export

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"time"

	"fyllocode.dev/fyllo"
)

// jsonFormat is {session, messages} as `fyllo sessions show --json` prints it.
type jsonFormat struct{ more bool }

// Session is a Session as scripts read it, in lists and at the head of a file.
type Session struct {
	SessionID fyllo.SessionID `json:"sessionId"`
	Title     string          `json:"title"`
	AgentID   fyllo.AgentID   `json:"agentId"`
	Mode      fyllo.Mode      `json:"mode"`
	Pinned    bool            `json:"pinned"`
	CreatedAt time.Time       `json:"createdAt"`
	UpdatedAt time.Time       `json:"updatedAt"`
	Running   bool            `json:"running"`
	Attention int             `json:"attention"`
}

// SessionOf returns what scripts read of a Session.
func SessionOf(s fyllo.SessionSummary) Session {
	return Session{
		SessionID: s.SessionID, Title: s.Title, AgentID: s.AgentID, Mode: s.Mode, Pinned: s.Pinned,
		CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, Running: s.Running, Attention: s.Attention,
	}
}

type jsonMessage struct {
	ID        string     `json:"id"`
	Role      fyllo.Role `json:"role"`
	CreatedAt time.Time  `json:"createdAt"`
	UpdatedAt time.Time  `json:"updatedAt"`
	Parts     []any      `json:"parts"`
}

type jsonText struct {
	ID       string         `json:"id"`
	Type     fyllo.PartType `json:"type"`
	Text     string         `json:"text"`
	ParentID string         `json:"parentToolCallId,omitempty"`
}

type jsonAttachment struct {
	ID   string         `json:"id"`
	Type fyllo.PartType `json:"type"`
	Name string         `json:"name,omitempty"`
	MIME string         `json:"mime,omitempty"`
	URI  string         `json:"uri,omitempty"`
}

// Tool is a call as scripts read it, in files and in the lines of R-CLI-007.
type Tool struct {
	CallID      string           `json:"toolCallId"`
	Title       string           `json:"title"`
	Kind        fyllo.ToolKind   `json:"kind"`
	Status      fyllo.ToolStatus `json:"status"`
	Interrupted bool             `json:"interrupted,omitempty"` // not final when its turn ended
	Input       string           `json:"input,omitempty"`
	Output      string           `json:"output,omitempty"`
	Error       string           `json:"error,omitempty"`
	Locations   []fyllo.Location `json:"locations,omitempty"`
	Changes     []FileChange     `json:"changes,omitempty"`
	ParentID    string           `json:"parentToolCallId,omitempty"`
}

// FileChange is one file that a call changed.
type FileChange struct {
	Path   string `json:"path"`
	Change string `json:"change"` // added, modified or deleted
}

// ToolOf returns what scripts read of a call, whose texts are whole.
func ToolOf(t *fyllo.Tool) Tool {
	return Tool{
		CallID: t.CallID, Title: t.Title, Kind: t.Kind, Status: t.Status, Interrupted: t.Interrupted,
		Input: bodyText(t.Input), Output: bodyText(t.Output), Error: bodyText(t.Error),
		Locations: t.Locations, Changes: changes(t.Diffs), ParentID: t.ParentID,
	}
}

type jsonTool struct {
	ID   string         `json:"id"`
	Type fyllo.PartType `json:"type"`
	Tool
}

func (*jsonFormat) begin(w io.Writer, s fyllo.SessionSummary) error {
	text, err := marshal(SessionOf(s))
	if err == nil {
		_, err = io.WriteString(w, `{"session":`+text+`,"messages":[`)
	}
	return err
}

func (f *jsonFormat) message(w io.Writer, m fyllo.Message) error {
	out := jsonMessage{ID: m.ID, Role: m.Role, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt}
	for _, p := range m.Parts {
		out.Parts = append(out.Parts, jsonPart(p))
	}
	text, err := marshal(out)
	if f.more {
		text = "," + text
	}
	f.more = true
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

func (*jsonFormat) end(w io.Writer) error {
	_, err := io.WriteString(w, "]}\n")
	return err
}

func jsonPart(p fyllo.Part) any {
	switch p.Type {
	case fyllo.PartTool:
		return jsonTool{p.ID, p.Type, ToolOf(p.Tool)}
	case fyllo.PartAttachment:
		return jsonAttachment{p.ID, p.Type, p.Attachment.Name, p.Attachment.MIME, p.Attachment.URI}
	default:
		return jsonText{p.ID, p.Type, p.Text, p.ParentID}
	}
}

// changes names the files of a call's diffs, once each, in order.
func changes(diffs []fyllo.Diff) []FileChange {
	var out []FileChange
	for _, d := range diffs {
		c := FileChange{d.Path, changeOf(d)}
		at := slices.IndexFunc(out, func(o FileChange) bool { return o.Path == c.Path })
		switch {
		case at < 0:
			out = append(out, c)
		case c.Change == string(fyllo.FileDeleted):
			out[at] = c
		}
	}
	return out
}

func marshal(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return string(bytes.TrimRight(b.Bytes(), "\n")), err
}
