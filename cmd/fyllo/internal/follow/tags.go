package follow

import (
	"encoding/json"
	"strings"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/tags"
)

// TagLine is a Signal or an Action in the Agent's own words, told when it is certain (R-TAG-010).
type TagLine struct {
	Type    string           `json:"type"` // tag
	Tag     fyllo.TagName    `json:"tag"`
	Kind    string           `json:"kind"` // its attribute type as written, "" when it has none or others
	Verdict fyllo.TagVerdict `json:"verdict"`
	Payload json.RawMessage  `json:"payload,omitempty"` // accepted ones only
	Reason  fyllo.TagReason  `json:"reason,omitempty"`  // invalid ones only
}

// prose is the Part that the Agent's own words or deeds were last seen in; only what it says can have tags.
type prose struct {
	part     string
	analyser *tags.Analyser // nil when the Part is no text, or over
	text     strings.Builder
}

// own says that the Agent itself has gone on in a Part. Another one than before ends that.
func (t *Turn) own(part string, text bool) error {
	if t.prose.part == part {
		return nil
	}
	if err := t.endProse(); err != nil {
		return err
	}
	t.prose = prose{part: part}
	if text {
		t.prose.analyser = &tags.Analyser{}
	}
	return nil
}

// said prints new text of a Part, and the tags that are certain by it.
func (t *Turn) said(l TextLine) error {
	if l.ParentID != "" { // subagents have no tags
		return t.out.Print(l)
	}
	begins := t.printed[l.PartID] == len(l.Text) // where it goes on after an end, nothing is a tag any more
	if err := t.own(l.PartID, begins && l.Type == string(fyllo.PartText)); err != nil {
		return err
	}
	if err := t.out.Print(l); err != nil || t.prose.analyser == nil {
		return err
	}
	t.prose.text.WriteString(l.Text)
	return t.tags(t.prose.analyser.Read(t.prose.text.String()))
}

// endProse prints the tags that are certain now that the Part is over.
func (t *Turn) endProse() error {
	a := t.prose.analyser
	if a == nil {
		return nil
	}
	t.prose.analyser = nil
	return t.tags(a.End(t.prose.text.String()))
}

func (t *Turn) tags(found []fyllo.Tag) error {
	for _, f := range found {
		if err := t.out.Print(TagLine{"tag", f.Tag, f.Type, f.Verdict, f.Payload, f.Reason}); err != nil {
			return err
		}
	}
	return nil
}
