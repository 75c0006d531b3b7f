package tags

import (
	"regexp"
	"strings"
)

// maxNesting bounds the work of a line. What is nested deeper is read as text, as the page does.
const maxNesting = 100

// leaf is the block that is open inside the containers.
type leaf uint8

const (
	noLeaf leaf = iota
	paragraph
	fenced
	markup // an HTML block
)

// container is an open block quote or list item.
type container struct {
	item  bool
	width int  // items: how far their content is indented
	empty bool // items: nothing but the marker so far
}

// blocks follows the block structure of a CommonMark document line by line, as far as it decides what a line belongs to.
// Link reference definitions, which are told from paragraphs only at their end, count as paragraphs.
type blocks struct {
	containers []container
	leaf       leaf
	fence      fence
	until      *regexp.Regexp // markup: what ends the block; nil for a blank line
	math       bool           // between lines of two dollars
}

// cursor stands in a line. Tabs reach to the next multiple of four columns.
type cursor struct {
	text   string // what is left
	column int
	owed   int // columns of a tab that was taken in part
}

// indent returns the columns of white space before what is left.
func (c *cursor) indent() int {
	n := c.owed
	for i := range len(c.text) {
		switch c.text[i] {
		case ' ':
			n++
		case '\t':
			n += 4 - (c.column+n)%4
		default:
			return n
		}
	}
	return n
}

// skip takes at most n columns of white space.
func (c *cursor) skip(n int) {
	for n > 0 {
		switch {
		case c.owed > 0:
			c.owed--
		case strings.HasPrefix(c.text, " "):
			c.text = c.text[1:]
		case strings.HasPrefix(c.text, "\t"):
			c.text = c.text[1:]
			c.owed = 3 - c.column%4
		default:
			return
		}
		c.column++
		n--
	}
}

// take takes n bytes that are no white space.
func (c *cursor) take(n int) {
	c.text = c.text[n:]
	c.column += n
}

// blank reports whether nothing is left.
func (c *cursor) blank() bool { return strings.Trim(c.text, lineSpace) == "" }

// line reads one line and reports whether it stands in the document itself, neither in a container nor in a block of
// code, markup or mathematics, provided that the line before it was blank.
func (b *blocks) line(text string, blank bool) bool {
	if blank {
		b.blankLine(0)
		return !b.verbatim() && !b.math
	}
	c := cursor{text: text}
	matched := b.match(&c)
	if matched < len(b.containers) && b.verbatim() {
		b.close(matched)
	}
	if matched == len(b.containers) && b.verbatim() {
		b.content(&c)
		return false
	}
	free := matched == 0 && c.indent() < 4 && !b.math
	if c.blank() { // behind the marks of block quotes
		b.close(matched)
		b.blankLine(matched)
		return false
	}
	b.formula(text)
	b.start(&c, matched)
	return free
}

// verbatim reports whether lines are content of the leaf, whatever they look like.
func (b *blocks) verbatim() bool { return b.leaf == fenced || b.leaf == markup }

// formula follows blocks of mathematics, which may stand anywhere but in verbatim text.
func (b *blocks) formula(text string) {
	end := strings.TrimRight(text, lineSpace)
	switch {
	case b.math:
		b.math = !strings.HasSuffix(end, "$$")
	case strings.TrimLeft(end, " ") == "$$":
		b.math = len(end) <= len("   $$")
	}
}

// blankLine ends what a line ends that has nothing behind the marks of the first matched containers.
func (b *blocks) blankLine(matched int) {
	for i := matched; i < len(b.containers); i++ {
		if !b.containers[i].item {
			b.close(i)
		}
	}
	if n := len(b.containers); n > 0 && b.containers[n-1].empty {
		b.close(n - 1) // an item begins with one blank line at most
	}
	if b.leaf == paragraph || b.leaf == markup && b.until == nil {
		b.leaf = noLeaf
	}
}

// close ends all but the first n containers, and what is in them.
func (b *blocks) close(n int) {
	if n < len(b.containers) {
		b.containers = b.containers[:n]
		b.leaf = noLeaf
	}
}

// match takes what the open containers need to go on and returns how many do.
func (b *blocks) match(c *cursor) int {
	for i, k := range b.containers {
		switch {
		case !k.item:
			if c.indent() > 3 || !strings.HasPrefix(strings.TrimLeft(c.text, lineSpace), ">") {
				return i
			}
			b.quote(c)
		case c.blank():
			if k.empty {
				return i
			}
		case c.indent() >= k.width:
			c.skip(k.width)
		default:
			return i
		}
	}
	return len(b.containers)
}

// quote takes the mark of a block quote.
func (*blocks) quote(c *cursor) {
	c.skip(3)
	c.take(1)
	c.skip(1)
}

// content reads a line of a verbatim leaf.
func (b *blocks) content(c *cursor) {
	switch {
	case b.leaf == fenced:
		if c.indent() < 4 && b.fence.closedBy(strings.TrimLeft(c.text, lineSpace)) {
			b.leaf = noLeaf
		}
	case b.until == nil:
		if c.blank() {
			b.leaf = noLeaf
		}
	case b.until.MatchString(c.text):
		b.leaf = noLeaf
	}
}

// start reads the blocks that begin in a line of which the first matched containers go on.
func (b *blocks) start(c *cursor, matched int) {
	all := matched == len(b.containers)
	inside := b.leaf == paragraph && all // the line may go on with a paragraph of its own container
	lazy := b.leaf == paragraph && !all  // or of one that it does not name
	for {
		indent := c.indent()
		if indent > 3 {
			if !inside && !lazy {
				b.open(matched, noLeaf) // indented code
			}
			return
		}
		rest := cursor{text: strings.TrimLeft(c.text, lineSpace), column: c.column + indent}
		if nested := rest.text[0] == '>'; nested && matched < maxNesting {
			b.quote(c)
			b.push(matched, container{})
		} else if b.begins(rest.text, matched, inside, lazy) {
			return
		} else if item, ok := marker(&rest, inside); ok && matched < maxNesting {
			item.width += indent
			*c = rest
			b.push(matched, item)
		} else {
			if !lazy {
				b.open(matched, paragraph)
			}
			return
		}
		matched++
		inside, lazy = false, false
		if c.blank() {
			return
		}
	}
}

// begins starts the leaf that text begins with, and returns false for what is a paragraph or a container.
func (b *blocks) begins(text string, matched int, inside, lazy bool) bool {
	switch f := fenceOf(text); {
	case f.length > 0:
		b.open(matched, fenced)
		b.fence = f
	case b.html(text, matched, inside || lazy):
	case heading.MatchString(text), inside && underline.MatchString(text), rule.MatchString(text):
		b.open(matched, noLeaf)
	default:
		return false
	}
	return true
}

// html starts a block of markup.
func (b *blocks) html(text string, matched int, interrupts bool) bool {
	if text[0] != '<' {
		return false
	}
	for _, kind := range markupKinds {
		if !kind.begin.MatchString(text) || kind.loose && (interrupts || noLoose.MatchString(text)) {
			continue
		}
		b.open(matched, markup)
		b.until = kind.end
		if kind.end != nil && kind.end.MatchString(text) {
			b.leaf = noLeaf
		}
		return true
	}
	return false
}

// open puts a leaf into the first matched containers.
func (b *blocks) open(matched int, l leaf) {
	b.close(matched)
	if matched > 0 {
		b.containers[matched-1].empty = false
	}
	b.leaf = l
}

// push puts a container into the first matched ones.
func (b *blocks) push(matched int, k container) {
	b.open(matched, noLeaf)
	b.containers = append(b.containers, k)
}

// marker takes the mark of a list item.
func marker(c *cursor, interrupts bool) (container, bool) {
	m := bullet.FindStringSubmatch(c.text)
	if m == nil {
		return container{}, false
	}
	mark, number := m[1], m[2]
	after := *c
	after.take(len(mark))
	if interrupts && (after.blank() || number != "" && strings.TrimLeft(number, "0") != "1") {
		return container{}, false
	}
	*c = after
	spaces := c.indent()
	item := container{item: true, empty: c.blank()}
	if spaces > 4 || item.empty {
		spaces = 1
	}
	c.skip(spaces)
	item.width = len(mark) + spaces
	return item, true
}

var (
	bullet    = regexp.MustCompile(`^([-+*]|(\d{1,9})[.)])(?:[ \t]|$)`)
	heading   = regexp.MustCompile(`^#{1,6}(?:[ \t]|$)`)
	underline = regexp.MustCompile(`^(?:=+|-+)[ \t]*$`)
	rule      = regexp.MustCompile(`^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$`)
)

// markupKinds are the seven kinds of HTML block of CommonMark. loose ones do not interrupt a paragraph.
var markupKinds = []struct {
	begin, end *regexp.Regexp
	loose      bool
}{
	{begin: regexp.MustCompile(`(?i)^<(?:script|pre|style|textarea)(?:[ \t>]|$)`), end: regexp.MustCompile(`(?i)</(?:script|pre|style|textarea)>`)},
	{begin: regexp.MustCompile(`^<!--`), end: regexp.MustCompile(`-->`)},
	{begin: regexp.MustCompile(`^<\?`), end: regexp.MustCompile(`\?>`)},
	{begin: regexp.MustCompile(`^<![A-Za-z]`), end: regexp.MustCompile(`>`)},
	{begin: regexp.MustCompile(`^<!\[CDATA\[`), end: regexp.MustCompile(`\]\]>`)},
	{begin: regexp.MustCompile(`(?i)^</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|` +
		`details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|` +
		`legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|` +
		`th|thead|title|tr|track|ul)(?:[ \t]|/?>|$)`)},
	{begin: regexp.MustCompile(`^(?:<[A-Za-z][A-Za-z0-9-]*(?:[ \t]+[A-Za-z_:][A-Za-z0-9_.:-]*(?:[ \t]*=[ \t]*` +
		"(?:[^ \\t\"'=<>`]+|'[^']*'|\"[^\"]*\"))?)*[ \\t]*/?>|</[A-Za-z][A-Za-z0-9-]*[ \\t]*>)[ \\t]*$"), loose: true},
}

// noLoose are opening tags that begin no block of the loose kind.
var noLoose = regexp.MustCompile(`(?i)^<(?:script|pre|style|textarea)[ \t/>]`)

// fence is the opening of a fenced block; length 0 means none.
type fence struct {
	char   byte
	length int
}

// fenceOf returns the fence that a line opens (R-TAG-008).
func fenceOf(line string) fence {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 || text == "" || text[0] != '`' && text[0] != '~' {
		return fence{}
	}
	info := strings.TrimLeft(text, text[:1])
	f := fence{char: text[0], length: len(text) - len(info)}
	if f.length < 3 || f.char == '`' && strings.Contains(info, "`") {
		return fence{}
	}
	return f
}

// closedBy reports whether a line closes the fence.
func (f fence) closedBy(line string) bool {
	text := strings.TrimLeft(line, " ")
	rest := strings.TrimLeft(text, string(f.char))
	return len(line)-len(text) < 4 && len(text)-len(rest) >= f.length && strings.Trim(rest, lineSpace) == ""
}
