package fyllo

import "encoding/json"

// TagName says which of the two protocols a Tag speaks.
type TagName string

// The tags.
const (
	TagSignal TagName = "fyllo-signal"
	TagAction TagName = "fyllo-action"
)

// TagVerdict says whether a Tag is what it wants to be.
type TagVerdict string

// The verdicts. What is literal is no Tag.
const (
	TagAccepted TagVerdict = "accepted"
	TagInvalid  TagVerdict = "invalid"
)

// TagReason says why a Tag is invalid (R-TAG-019).
type TagReason string

// The reasons, in the order in which they are looked for.
const (
	TagUnexpectedAttribute TagReason = "unexpected_attribute"
	TagMissingType         TagReason = "missing_type"
	TagInvalidTypeName     TagReason = "invalid_type_name"
	TagUnknownType         TagReason = "unknown_type"
	TagInvalidJSON         TagReason = "invalid_json"
	TagInvalidPayload      TagReason = "invalid_payload"
)

// Tag is a Fyllo Signal or a Fyllo Action in the text of a part. It is found by analysing the text and is never stored
// (R-TAG-022).
type Tag struct {
	Start   int             `json:"start"` // of the opening's '<' in the part's text, in UTF-16 units
	End     int             `json:"end"`   // behind the closing tag's '>'
	Tag     TagName         `json:"tag"`
	Type    string          `json:"type"` // the attribute as written; "" when there is none
	Verdict TagVerdict      `json:"verdict"`
	Reason  TagReason       `json:"reason,omitempty"`  // invalid ones only
	Payload json.RawMessage `json:"payload,omitempty"` // accepted ones only: an object with the fields of Type and no others
	Ordinal int             `json:"ordinal"`           // Actions: the number of openings before it in the part (R-TAG-032)
}
