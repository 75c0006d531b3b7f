package tags

import (
	"strings"

	"fyllocode.dev/fyllo"
)

const (
	mark      = "<fyllo-" // every tag begins so; a text without it has none
	bom       = "\uFEFF"
	lineSpace = " \t"
	jsonSpace = " \t\r\n"
)

// Of returns the tags of a whole text in order, nil when it has none.
func Of(text string) []fyllo.Tag {
	if !strings.Contains(text, mark) {
		return nil
	}
	var a Analyser
	return append(a.Read(text), a.End(text)...)
}

// Analyser finds the tags of a text that grows. Its zero value is ready, at the start of a part.
type Analyser struct {
	start    int  // of the line that is not over yet, in bytes
	seen     int  // up to here it has no end
	units    int  // UTF-16 units before that line
	begun    bool // the first line is over
	afterCR  bool // a line feed that comes next belongs to the line before
	nonBlank bool // the line before is there and not blank

	blocks   blocks
	tag      *candidate // nil when no tag is open
	action   *opening   // an opening of an Action, at any place; nil outside
	ordinals int        // complete ones so far
	found    []fyllo.Tag
}

// Read returns the tags that are certain by now. text is the whole text so far, which begins with that of the call before;
// the work is that of what is new in it.
func (a *Analyser) Read(text string) []fyllo.Tag {
	if a.afterCR && a.start < len(text) {
		a.afterCR = false
		if text[a.start] == '\n' {
			a.start++
			a.units++
		}
	}
	a.seen = max(a.seen, a.start)
	for {
		i := strings.IndexAny(text[a.seen:], "\r\n")
		if i < 0 {
			a.seen = len(text)
			return a.take()
		}
		end := a.seen + i
		ends := 1
		if text[end] == '\r' {
			if strings.HasPrefix(text[end+1:], "\n") {
				ends = 2
			}
			a.afterCR = end+1 == len(text)
		}
		line := text[a.start:end]
		a.start = end + ends
		a.seen = a.start
		a.next(line, ends)
	}
}

// End says that text, which was read before, is complete, and returns the tags that are certain by it. The Analyser has to
// be left then.
func (a *Analyser) End(text string) []fyllo.Tag {
	if a.start < len(text) {
		a.next(text[a.start:], 0)
	}
	a.confirm(true)
	return a.take()
}

func (a *Analyser) take() []fyllo.Tag {
	found := a.found
	a.found = nil
	return found
}

// next takes a line, whose end takes ends units.
func (a *Analyser) next(line string, ends int) {
	at := a.units
	a.units += fyllo.UTF16Len(line) + ends
	if !a.begun {
		a.begun = true
		if rest, ok := strings.CutPrefix(line, bom); ok {
			line = rest
			at++
		}
	}
	a.read(line, at)
}

// read takes one line, which begins at the unit at.
func (a *Analyser) read(line string, at int) {
	blank := strings.Trim(line, lineSpace) == ""
	free := a.blocks.line(line, blank)
	if a.tag != nil && a.tag.closed {
		a.confirm(blank)
	}
	from := 0
	if name, indent := openingOf(line); name != "" {
		a.tag = nil // a forgotten close must not swallow what comes behind it (R-TAG-005)
		if free && !a.nonBlank {
			a.tag = &candidate{name: name, start: at + indent, ordinal: a.ordinals}
			from = indent + len("<") + len(name)
		}
	}
	if a.tag != nil && !a.tag.read(line, from, at) {
		a.tag = nil
	}
	a.count(line, blank)
	a.nonBlank = !blank
}

// confirm ends a closed tag: as one if nothing stands in the line behind it, else as Markdown.
func (a *Analyser) confirm(alone bool) {
	if c := a.tag; c != nil && c.closed && alone {
		a.found = append(a.found, c.judge())
		a.blocks = blocks{}
	}
	a.tag = nil
}

// count counts the complete openings of Actions in a line, wherever they stand (R-TAG-032).
func (a *Analyser) count(line string, blank bool) {
	if blank {
		a.action = nil
		return
	}
	for {
		if a.action == nil {
			i := strings.Index(line, "<"+string(fyllo.TagAction))
			if i < 0 {
				return
			}
			line = line[i+1+len(fyllo.TagAction):]
			if !endsName(line) {
				continue
			}
			a.action = &opening{}
		}
		n, over := a.action.read(line)
		if !over {
			return
		}
		if a.action.last != '/' {
			a.ordinals++
		}
		a.action, line = nil, line[n:]
	}
}

// openingOf returns the name of the tag that a line begins with, "" if it begins with none, and where its '<' stands.
func openingOf(line string) (name fyllo.TagName, indent int) {
	text := strings.TrimLeft(line, " ")
	if indent = len(line) - len(text); indent > 3 || !strings.HasPrefix(text, mark) {
		return "", 0
	}
	for _, name := range []fyllo.TagName{fyllo.TagSignal, fyllo.TagAction} {
		if rest, ok := strings.CutPrefix(text[1:], string(name)); ok && endsName(rest) {
			return name, indent
		}
	}
	return "", 0
}

// endsName reports whether the name of a tag is over where rest begins.
func endsName(rest string) bool {
	return rest == "" || strings.IndexByte(lineSpace+">", rest[0]) >= 0
}

// opening is an opening tag behind its name.
type opening struct {
	quote byte // the quote that is open, 0 for none
	last  byte // the last byte that is no space
}

// read goes on with a line. When the opening is over, n is where the line goes on.
func (o *opening) read(line string) (n int, over bool) {
	for i := range len(line) {
		c := line[i]
		switch {
		case o.quote != 0:
			if c == o.quote {
				o.quote = 0
			}
		case c == '>':
			return i + 1, true
		case c == '"' || c == '\'':
			o.quote = c
		}
		if c != ' ' && c != '\t' {
			o.last = c
		}
	}
	return len(line), false
}
