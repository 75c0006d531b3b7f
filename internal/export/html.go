package export

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/yuin/goldmark"

	"fyllocode.dev/fyllo"
)

// htmlFormat is one page that loads and runs nothing. Answers stand in it as their Markdown says, pictures as themselves;
// everything else of the Session is escaped text.
type htmlFormat struct {
	markdown goldmark.Markdown
	pictures Pictures // nil: there are none
	spent    int64    // bytes of pictures so far
}

const style = `
:root{color-scheme:light dark;--ground:#fff;--text:#18212c;--soft:#465160;--box:#f4f6f9;--edge:#dde3ea;--user:#e9edf2;--add:#116329;--del:#a3171c;--bad:#b42326;--link:#1a5fb4}
@media(prefers-color-scheme:dark){:root{--ground:#171d25;--text:#e4eaf1;--soft:#a9b4c2;--box:#1c232c;--edge:#323d4a;--user:#262f3a;--add:#7ee2a0;--del:#ff9a9c;--bad:#ff9a9c;--link:#8ab8ff}}
*{box-sizing:border-box}
body{max-width:820px;margin:0 auto;padding:24px 16px 64px;background:var(--ground);color:var(--text);font:14px/1.55 system-ui,sans-serif;overflow-wrap:anywhere}
h1{margin:0;font-size:20px;line-height:1.3}
h2{margin:0 0 8px;color:var(--soft);font-size:12px;font-weight:600}
article{margin-top:24px}
.facts{margin:4px 0 0;color:var(--soft);font-size:12px}
.text{white-space:pre-wrap;unicode-bidi:isolate;margin:8px 0}
.md :is(p,li,blockquote,h3,h4,h5,h6,td,th){unicode-bidi:plaintext}
.md :is(p,ul,ol,blockquote,pre,.table){margin:8px 0}
.md :is(h3,h4,h5,h6){margin:16px 0 4px;color:var(--text);font-weight:600;line-height:1.35}
.md h3{font-size:17px}
.md h4{font-size:15px}
.md :is(h5,h6){font-size:14px}
.md :is(ul,ol){padding-left:24px}
.md :is(li>ul,li>ol,li>p){margin:4px 0}
.md blockquote{padding-left:12px;border-left:3px solid var(--edge);color:var(--soft)}
.md hr{height:1px;margin:16px 0;border:0;background:var(--edge)}
.md :not(pre)>code{padding:1px 4px;border-radius:4px;background:var(--box);font:13px ui-monospace,Menlo,Consolas,monospace}
.md pre[data-language]::before{display:block;margin-bottom:6px;color:var(--soft);font:12px system-ui,sans-serif;content:attr(data-language)}
pre code{font:inherit}
.table{overflow-x:auto;overflow-wrap:normal}
.table:focus-visible,summary:focus-visible,a:focus-visible{outline:2px solid var(--link);outline-offset:2px}
table{border-collapse:collapse}
td,th{padding:4px 10px;border:1px solid var(--edge);text-align:start;vertical-align:top}
th{background:var(--box);font-weight:600}
a{color:var(--link)}
.soft{color:var(--soft)}
figure{margin:8px 0}
img{display:block;max-width:100%;max-height:480px;border:1px solid var(--edge);border-radius:6px}
figcaption{margin-top:4px;color:var(--soft);font-size:12px}
.user>.text{padding:10px 14px;border-radius:10px;background:var(--user)}
pre{margin:8px 0;padding:10px 12px;border-radius:6px;background:var(--box);font:13px/1.5 ui-monospace,Menlo,Consolas,monospace;white-space:pre-wrap;unicode-bidi:isolate}
details{margin:8px 0;padding:6px 12px;border:1px solid var(--edge);border-radius:6px}
summary{cursor:pointer;color:var(--soft)}
summary .bad{color:var(--bad)}
h3{margin:12px 0 0;color:var(--soft);font-size:12px;font-weight:600}
.add{color:var(--add)}
.del{color:var(--del)}
.cut{color:var(--soft)}
@media print{:root{--ground:#fff;--text:#000;--soft:#333;--box:#f6f6f6;--edge:#bbb;--user:#eee;--add:#0a4d1d;--del:#8a1014;--link:#123f7a}body{max-width:none;padding:0}h1,h2,h3,h4,summary{break-after:avoid}.table{overflow:visible}}
`

func (f *htmlFormat) begin(w io.Writer, s fyllo.SessionSummary) error {
	title := html.EscapeString(oneLine(s.Title))
	_, err := fmt.Fprintf(w, `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<title>%s</title>
<style>%s</style>
<main>
<h1 dir="auto">%s</h1>
<p class="facts">%s · %s · %s</p>
`, title, style, title, escape(string(s.AgentID)), escape(string(s.SessionID)), moment(s.CreatedAt))
	return err
}

func (f *htmlFormat) message(w io.Writer, m fyllo.Message) error {
	class, words := "agent", f.prose
	if m.Role == fyllo.RoleUser {
		class, words = "user", plain // people mean what they typed
	}
	_, err := fmt.Fprintf(w, "<article class=%q>\n<h2>%s, %s</h2>\n", class, speaker(m), moment(m.CreatedAt))
	for _, p := range m.Parts {
		if err != nil {
			return err
		}
		switch {
		case p.Type == fyllo.PartTool:
			err = f.tool(w, p)
		case p.Type == fyllo.PartAttachment:
			err = f.attachment(w, p.ID, -1, p.Attachment)
		case p.Type == fyllo.PartReasoning:
			_, err = fmt.Fprintf(w, "<details><summary>Reasoning</summary>\n%s</details>\n", words(p.Text))
		case p.ParentID != "":
			_, err = fmt.Fprintf(w, "<details><summary>Subagent</summary>\n%s</details>\n", words(p.Text))
		default:
			_, err = io.WriteString(w, words(p.Text))
		}
	}
	if err == nil {
		_, err = io.WriteString(w, "</article>\n")
	}
	return err
}

func (*htmlFormat) end(w io.Writer) error {
	_, err := io.WriteString(w, "</main>\n</html>\n")
	return err
}

func (f *htmlFormat) tool(w io.Writer, p fyllo.Part) error {
	t := p.Tool
	class := ""
	if t.Status == fyllo.ToolFailed {
		class = ` class="bad"`
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<details><summary><span%s dir=\"auto\">%s</span></summary>\n", class, escape(summary(t)))
	for _, x := range blocks(t) {
		fmt.Fprintf(&b, "<h3>%s</h3>\n<pre>\n", escape(x.name))
		if strings.HasPrefix(x.text, "@@ -") {
			htmlDiff(&b, x.text)
		} else {
			b.WriteString(escape(x.text))
		}
		b.WriteString("</pre>\n")
	}
	_, err := io.WriteString(w, b.String())
	for i := range t.Media {
		if err == nil {
			err = f.attachment(w, p.ID, i, &t.Media[i])
		}
	}
	if err == nil {
		_, err = io.WriteString(w, "</details>\n")
	}
	return err
}

// htmlDiff marks the lines of a diff by colour, beside the sign that they begin with.
func htmlDiff(b *strings.Builder, text string) {
	classes := map[byte]string{'+': "add", '-': "del", '@': "cut", '\\': "cut"}
	for l := range strings.Lines(text) {
		if class := classes[l[0]]; class != "" {
			fmt.Fprintf(b, "<span class=%q>%s</span>", class, escape(l))
		} else {
			b.WriteString(escape(l))
		}
	}
}

func escape(s string) string { return html.EscapeString(clean(s)) }
