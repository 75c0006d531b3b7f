package export

import (
	"bytes"
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// newProse returns the reader of Markdown: CommonMark with tables, strikethrough, task lists and bare addresses. HTML is
// no syntax of it, so a tag is text like any other.
func newProse() goldmark.Markdown {
	never := regexp.MustCompile(`^[^\s\S]`) // "main.rs" and "git@host" are no addresses
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(
				util.Prioritized(parser.NewSetextHeadingParser(), 100),
				util.Prioritized(parser.NewThematicBreakParser(), 200),
				util.Prioritized(parser.NewListParser(), 300),
				util.Prioritized(parser.NewListItemParser(), 400),
				util.Prioritized(parser.NewCodeBlockParser(), 500),
				util.Prioritized(parser.NewATXHeadingParser(), 600),
				util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
				util.Prioritized(parser.NewBlockquoteParser(), 800),
				util.Prioritized(parser.NewParagraphParser(), 1000),
			),
			parser.WithInlineParsers(
				util.Prioritized(parser.NewCodeSpanParser(), 100),
				util.Prioritized(parser.NewLinkParser(), 200),
				util.Prioritized(parser.NewAutoLinkParser(), 300),
				util.Prioritized(parser.NewEmphasisParser(), 500),
			),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		)),
		goldmark.WithExtensions(
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			extension.Strikethrough, extension.TaskList,
			extension.NewLinkify(extension.WithLinkifyAllowedProtocols([]string{"http:", "https:"}),
				extension.WithLinkifyWWWRegexp(never), extension.WithLinkifyEmailRegexp(never)),
		),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(nodes{}, 100))),
	)
}

// prose makes HTML of what an Agent has written. A text that takes a parser too long stays as it was written.
func (f *htmlFormat) prose(text string) string {
	text = clean(text)
	var b bytes.Buffer
	if strings.TrimSpace(text) == "" {
		return ""
	}
	if !readable(text) || f.markdown.Convert([]byte(text), &b) != nil {
		return plain(text)
	}
	// Again, since a reference like &#x202E; has become its character.
	return `<div class="md">` + "\n" + clean(b.String()) + "</div>\n"
}

// plain keeps the line breaks of what was written.
func plain(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return `<div class="text" dir="auto">` + escape(strings.Trim(text, "\n")) + "</div>\n"
}

// Bounds of what is read as Markdown. The parser takes quadratic time for marks that might belong together anywhere in a
// paragraph, for nested blocks, and for the cells that rows of a table lack.
const (
	maxProse = 4 << 20 // bytes of one text
	maxDepth = 50      // quotes and lists in each other
	maxMarks = 20e6    // sum of the squares of the marks of each paragraph: less than a second
)

// readable reports whether a text can be read as Markdown in little time.
func readable(text string) bool {
	if len(text) > maxProse {
		return false
	}
	open, cost, marks, lines, pipes := "", 0, 0, 0, 0
	for l := range strings.Lines(text) {
		mark := fenceOf(l)
		switch {
		case open == "" && mark != "":
			open = mark
		case open != "":
			if closes(l, mark, open) {
				open = ""
			}
			continue
		case depth(l) > maxDepth:
			return false
		}
		if strings.TrimSpace(l) == "" {
			marks, lines, pipes = 0, 0, 0
			continue
		}
		cost -= marks*marks + 50*pipes*lines
		lines++
		pipes = max(pipes, strings.Count(l, "|"))
		for _, c := range []string{"*", "_", "[", "]", "~"} {
			marks += strings.Count(l, c)
		}
		if cost += marks*marks + 50*pipes*lines; cost > maxMarks {
			return false
		}
	}
	return true
}

// depth counts the marks of quotes and lists that a line begins with.
func depth(l string) int {
	n := 0
	for i, c := range l {
		switch {
		case c == '>' || strings.ContainsRune("-+*.)", c) && i+1 < len(l) && strings.IndexByte(" \t", l[i+1]) >= 0:
			n++
		case c != ' ' && c != '\t' && (c < '0' || c > '9'):
			return n
		}
	}
	return n
}

// closes reports whether line l, which begins with mark, ends the fence that open began.
func closes(l, mark, open string) bool {
	return strings.HasPrefix(mark, open) && strings.Trim(l, " \n"+open[:1]) == ""
}

// nodes writes what the page has in a form of its own: nothing in it is loaded, and only addresses of the web and of mail
// can be followed.
type nodes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (nodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, heading)
	r.Register(ast.KindCodeBlock, code)
	r.Register(ast.KindFencedCodeBlock, code)
	r.Register(ast.KindLink, link)
	r.Register(ast.KindAutoLink, autoLink)
	r.Register(ast.KindImage, picture)
	r.Register(tables.KindTable, table)
	r.Register(tables.KindTaskCheckBox, checkBox)
}

// heading writes headings below those of the page.
func heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	level := string(rune('0' + min(n.(*ast.Heading).Level+2, 6)))
	if entering {
		_, err := w.WriteString("<h" + level + ">")
		return ast.WalkContinue, err
	}
	_, err := w.WriteString("</h" + level + ">\n")
	return ast.WalkContinue, err
}

func code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		_, err := w.WriteString("</code></pre>\n")
		return ast.WalkContinue, err
	}
	start := "<pre><code>"
	if f, ok := n.(*ast.FencedCodeBlock); ok && len(f.Language(source)) > 0 {
		start = `<pre data-language="` + escape(string(f.Language(source))) + `"><code>`
	}
	if _, err := w.WriteString(start); err != nil {
		return ast.WalkStop, err
	}
	for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
		if _, err := w.WriteString(escape(string(line.Value(source)))); err != nil {
			return ast.WalkStop, err
		}
	}
	return ast.WalkContinue, nil
}

// link names the address of what cannot be followed, behind its words.
func link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	to := n.(*ast.Link).Destination
	start, end := anchor(string(util.URLEscape(to, true))), "</a>"
	if start == "" {
		end = named(string(to))
	}
	if !entering {
		start = end
	}
	_, err := w.WriteString(start)
	return ast.WalkContinue, err
}

func autoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	a := n.(*ast.AutoLink)
	to := string(util.URLEscape(a.URL(source), false))
	if a.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(to), "mailto:") {
		to = "mailto:" + to
	}
	text := escape(string(a.Label(source)))
	if start := anchor(to); start != "" {
		text = start + text + "</a>"
	}
	_, err := w.WriteString(text)
	return ast.WalkContinue, err
}

// anchor returns the beginning of a link, "" when the address, which is percent-encoded, is not to be followed.
func anchor(to string) string {
	for _, scheme := range []string{"http://", "https://", "mailto:"} {
		if len(to) > len(scheme) && strings.EqualFold(to[:len(scheme)], scheme) && !strings.ContainsAny(to[len(scheme):][:1], `/\?#`) {
			return `<a href="` + escape(to) + `" rel="noopener noreferrer">`
		}
	}
	return ""
}

// named shows an address as it was written.
func named(to string) string {
	const most = 200
	if chars := []rune(to); len(chars) > most {
		to = string(chars[:most]) + "…"
	}
	if to == "" {
		return ""
	}
	return ` <span class="soft">(` + escape(to) + ")</span>"
}

// picture names a picture: nothing is fetched.
func picture(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	var alt strings.Builder
	err := ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				alt.Write(n.Value(source))
			}
		case *ast.String:
			if entering {
				alt.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	to := string(n.(*ast.Image).Destination)
	if err == nil {
		_, err = w.WriteString(strings.TrimRight("Picture: "+escape(html.UnescapeString(alt.String())), ": ") + named(to))
	}
	return ast.WalkSkipChildren, err
}

// table lets a wide table scroll by itself, with the keyboard too.
func table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	text := `<div class="table" role="group" aria-label="Table" tabindex="0"><table>` + "\n"
	if !entering {
		text = "</table></div>\n"
	}
	_, err := w.WriteString(text)
	return ast.WalkContinue, err
}

func checkBox(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	text := "☐ "
	if n.(*tables.TaskCheckBox).IsChecked {
		text = "☑ "
	}
	if !entering {
		return ast.WalkContinue, nil
	}
	_, err := w.WriteString(text)
	return ast.WalkContinue, err
}
