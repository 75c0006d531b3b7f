package acp

import (
	"bytes"
	"unicode/utf8"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/jsonrpc"
)

// tool collects the members of a tool call. The patch is made when the first of them is seen, so that text chunks
// do not pay for it.
type tool struct {
	p        *fyllo.ToolPatch
	toolName string          // _meta.claudeCode.toolName, used when there is no name
	told     *fyllo.Subagent // of _meta.claudeCode.toolResponse, nil when it says nothing of a subagent
}

func (t *tool) patch() *fyllo.ToolPatch {
	if t.p == nil {
		t.p = &fyllo.ToolPatch{}
	}
	return t.p
}

// field reads a member of a tool call. Absent and null mean no change, except for the two lists, which null
// clears (R-ACP-002); a member of the wrong type counts as absent.
func (t *tool) field(s *jsonrpc.Scanner, name []byte) {
	switch string(name) {
	case "toolCallId":
		t.patch().CallID, _ = s.String()
	case "name":
		t.patch().Name = optional(s)
	case "kind":
		t.patch().Kind = optional(s)
	case "status":
		t.patch().Status = optional(s)
	case "rawInput":
		t.patch().RawInput = rawJSON(s)
	case "rawOutput":
		t.patch().RawOutput = rawJSON(s)
	case "content":
		t.content(s)
	case "locations":
		t.locations(s)
	}
}

// finish fills in what only _meta said.
func (t *tool) finish(parent string) {
	if t.p.Name == nil && t.toolName != "" {
		name := t.toolName // a pointer into t would move all fields to the heap
		t.p.Name = &name
	}
	if parent != "" {
		t.p.ParentID = &parent
	}
	t.p.IsSubagent = t.toolName == "Agent" || t.toolName == "Task" // the older name (R-CHAT-106)
	t.p.Subagent = t.told
}

func (t *tool) content(s *jsonrpc.Scanner) {
	if s.Null() {
		t.patch().HasContent = true
		return
	}
	if s.Kind() != '[' {
		return
	}
	p := t.patch()
	p.HasContent = true
	p.Texts, p.Blocks, p.Diffs = nil, nil, nil
	s.Array(func() { contentItem(s, p) })
}

// contentItem reads one item of a tool's content. A terminal is named by an id that only its Agent knows, so
// there is nothing to keep; its output comes by other ways. An item that cannot be read is left out.
func contentItem(s *jsonrpc.Scanner, p *fyllo.ToolPatch) {
	var kind string
	var c content
	var d fyllo.DiffPatch
	ok := s.Object(func(name []byte) {
		switch string(name) {
		case "type":
			kind, _ = s.String()
		case "content":
			c = block(s, false)
		case "path":
			d.Path, _ = s.String()
		case "oldText":
			d.Old = optional(s)
		case "newText":
			d.New, _ = s.String()
		case "_meta":
			s.Object(func(name []byte) {
				if string(name) == "kind" {
					d.Kind, _ = s.String()
				}
			})
		}
	})
	switch {
	case !ok:
	case kind == "content" && c.isText:
		p.Texts = append(p.Texts, c.text)
	case kind == "content" && c.other != nil:
		p.Blocks = append(p.Blocks, *c.other)
	case kind == "diff" && d.Path != "":
		p.Diffs = append(p.Diffs, d)
	}
}

func (t *tool) locations(s *jsonrpc.Scanner) {
	if s.Null() {
		t.patch().HasLocations = true
		return
	}
	if s.Kind() != '[' {
		return
	}
	p := t.patch()
	p.HasLocations, p.Locations = true, nil
	s.Array(func() {
		var l fyllo.Location
		s.Object(func(name []byte) {
			switch string(name) {
			case "path":
				l.Path, _ = s.String()
			case "line":
				if n, ok := s.Int(); ok && n > 0 {
					l.Line = int(n)
				}
			}
		})
		if l.Path != "" {
			p.Locations = append(p.Locations, l)
		}
	})
}

// content is a content block: text, or something else, or neither when it cannot be read.
type content struct {
	text   string
	isText bool
	other  *fyllo.Block
}

// block reads a content block. raw keeps what may be half a character, for texts that go on in the next chunk
// (R-ACP-007).
func block(s *jsonrpc.Scanner, raw bool) (c content) {
	var b fyllo.Block
	var title string
	hasText := false
	s.Object(func(name []byte) {
		switch string(name) {
		case "type":
			b.Type, _ = s.Match("text")
		case "text":
			if raw {
				c.text, hasText = s.Text()
			} else {
				c.text, hasText = s.String()
			}
		case "data":
			b.Data, _ = s.String()
		case "mimeType":
			b.MIME, _ = s.String()
		case "uri":
			b.URI, _ = s.String()
		case "name":
			b.Name, _ = s.String()
		case "title":
			title, _ = s.String()
		case "resource":
			resource(s, &b)
		}
	})
	switch b.Type {
	case "":
	case "text":
		c.isText = hasText
	default:
		if b.Name == "" {
			b.Name = title
		}
		other := b
		c.other = &other
	}
	return c
}

// resource reads an embedded resource into a block.
func resource(s *jsonrpc.Scanner, b *fyllo.Block) {
	s.Object(func(name []byte) {
		switch string(name) {
		case "uri":
			b.URI, _ = s.String()
		case "mimeType":
			b.MIME, _ = s.String()
		case "text", "blob":
			if v, ok := s.String(); ok {
				b.Data, b.IsText = v, string(name) == "text"
			}
		}
	})
}

// optional reads a string; nil when it is none.
func optional(s *jsonrpc.Scanner) *string {
	if v, ok := s.String(); ok {
		return &v
	}
	return nil
}

// rawJSON copies a value as valid UTF-8; nil when it is null.
func rawJSON(s *jsonrpc.Scanner) []byte {
	if s.Null() {
		return nil
	}
	raw := s.Raw()
	if !utf8.Valid(raw) {
		return bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	return bytes.Clone(raw)
}
