package tags

import (
	"strings"

	"fyllocode.dev/fyllo"
)

const (
	maxBody    = 64 << 10 // bytes, R-TAG-015
	maxOpening = 64 << 10 // bytes; what is longer has attributes that no tag may have
)

// candidate is a tag that begins where a tag may stand.
type candidate struct {
	name    fyllo.TagName
	start   int // units
	end     int // units; valid once closed
	ordinal int

	opening    opening
	attributes bounded
	opened     bool // the opening is over
	body       bounded
	fence      fence // the one that is open in the body
	closed     bool
}

// read goes on with a line from the byte from, the line beginning at the unit at. It returns false when this is no tag.
func (c *candidate) read(line string, from, at int) bool {
	text := line[from:]
	if !c.opened {
		if strings.Trim(text, lineSpace) == "" && from == 0 {
			return false // an opening does not run over a blank line
		}
		n, over := c.opening.read(text)
		if !over {
			c.attributes.add(text+"\n", maxOpening)
			return true
		}
		c.attributes.add(text[:n-1], maxOpening)
		if c.opening.last == '/' {
			return false
		}
		c.opened = true
		text = text[n:]
	} else if c.fenced(text) {
		c.body.add(text+"\n", maxBody)
		return true
	}
	ending := "</" + string(c.name) + ">"
	i := strings.Index(text, ending)
	if i < 0 {
		c.body.add(text+"\n", maxBody)
		return true
	}
	c.body.add(text[:i], maxBody)
	rest := text[i+len(ending):]
	c.end = at + fyllo.UTF16Len(line[:len(line)-len(rest)])
	c.closed = true
	return strings.Trim(rest, lineSpace) == ""
}

// fenced reports whether a line of the body belongs to a fenced block, where a close is none (R-TAG-005).
func (c *candidate) fenced(line string) bool {
	if c.fence.length > 0 {
		if c.fence.closedBy(line) {
			c.fence = fence{}
		}
		return true
	}
	c.fence = fenceOf(line)
	return c.fence.length > 0
}

// judge returns the closed tag with its verdict.
func (c *candidate) judge() fyllo.Tag {
	t := fyllo.Tag{Start: c.start, End: c.end, Tag: c.name, Verdict: fyllo.TagInvalid}
	if c.name == fyllo.TagAction {
		t.Ordinal = c.ordinal
	}
	attribute, ok := typeOf(c.attributes.String())
	t.Type = attribute
	if !ok || c.attributes.over {
		t.Type, t.Reason = "", fyllo.TagUnexpectedAttribute
		return t
	}
	kind, reason := lookup(c.name, attribute)
	if reason == "" {
		t.Payload, reason = kind.payload(&c.body)
	}
	if t.Reason = reason; reason == "" {
		t.Verdict = fyllo.TagAccepted
	}
	return t
}

// typeOf reads the attributes of an opening: the value of type, "" when it is missing, and false if there is anything
// else or a second one (R-TAG-012, 013).
func typeOf(text string) (value string, ok bool) {
	seen := false
	for {
		text = strings.TrimLeft(text, jsonSpace)
		if text == "" {
			return value, true
		}
		n := strings.IndexAny(text, jsonSpace+"=")
		if n < 0 {
			n = len(text)
		}
		if text[:n] != "type" || seen {
			return "", false
		}
		seen = true
		rest := strings.TrimLeft(text[n:], jsonSpace)
		if !strings.HasPrefix(rest, "=") {
			text = rest
			continue
		}
		value, text = valueOf(strings.TrimLeft(rest[1:], jsonSpace))
	}
}

// valueOf cuts the value of an attribute from the start of text. Nothing in it is decoded.
func valueOf(text string) (value, rest string) {
	if text == "" {
		return "", ""
	}
	if q := text[:1]; q == `"` || q == "'" {
		value, rest, _ = strings.Cut(text[1:], q)
		return value, rest
	}
	n := strings.IndexAny(text, jsonSpace)
	if n < 0 {
		n = len(text)
	}
	return text[:n], text[n:]
}

// bounded is a text without white space around it that is given up when it grows too long.
type bounded struct {
	strings.Builder
	over bool // it was
}

func (b *bounded) add(text string, most int) {
	if b.Len() == 0 {
		text = strings.TrimLeft(text, jsonSpace)
	}
	if b.over || b.Len() > most && strings.Trim(text, jsonSpace) == "" {
		return
	}
	b.WriteString(text)
	if b.Len() > most && len(strings.TrimRight(b.String(), jsonSpace)) > most {
		b.over = true
		b.Reset()
	}
}
