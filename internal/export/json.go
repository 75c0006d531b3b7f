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

type jsonSession struct {
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

// jsonTool has the fields of a tool line of R-CLI-007.
type jsonTool struct {
	ID          string           `json:"id"`
	Type        fyllo.PartType   `json:"type"`
	CallID      string           `json:"toolCallId"`
	Title       string           `json:"title"`
	Kind        fyllo.ToolKind   `json:"kind"`
	Status      fyllo.ToolStatus `json:"status"`
	Interrupted bool             `json:"interrupted,omitempty"`
	Input       string           `json:"input,omitempty"`
	Output      string           `json:"output,omitempty"`
	Error       string           `json:"error,omitempty"`
	Locations   []fyllo.Location `json:"locations,omitempty"`
	Changes     []jsonChange     `json:"changes,omitempty"`
	ParentID    string           `json:"parentToolCallId,omitempty"`
}

type jsonChange struct {
	Path   string `json:"path"`
	Change string `json:"change"`
}

func (*jsonFormat) begin(w io.Writer, s fyllo.SessionSummary) error {
	text, err := marshal(jsonSession{
		s.SessionID, s.Title, s.AgentID, s.Mode, s.Pinned, s.CreatedAt, s.UpdatedAt, s.Running, s.Attention,
	})
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
		t := p.Tool
		return jsonTool{
			p.ID, p.Type, t.CallID, t.Title, t.Kind, t.Status, t.Interrupted,
			bodyText(t.Input), bodyText(t.Output), bodyText(t.Error), t.Locations, changes(t.Diffs), t.ParentID,
		}
	case fyllo.PartAttachment:
		return jsonAttachment{p.ID, p.Type, p.Attachment.Name, p.Attachment.MIME, p.Attachment.URI}
	default:
		return jsonText{p.ID, p.Type, p.Text, p.ParentID}
	}
}

// changes names the files of a call's diffs, once each, in order.
func changes(diffs []fyllo.Diff) []jsonChange {
	var out []jsonChange
	for _, d := range diffs {
		c := jsonChange{d.Path, changeOf(d)}
		at := slices.IndexFunc(out, func(o jsonChange) bool { return o.Path == c.Path })
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
