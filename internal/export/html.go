package export

import (
	"fmt"
	"html"
	"strings"

	"fyllocode.dev/fyllo"
)

// htmlFormat is one page that loads and runs nothing. All of the Session is escaped text in it; addresses are no links.
type htmlFormat struct{}

const style = `
:root{color-scheme:light dark;--ground:#fff;--text:#18212c;--soft:#465160;--box:#f4f6f9;--edge:#dde3ea;--user:#e9edf2;--add:#116329;--del:#a3171c;--bad:#b42326}
@media(prefers-color-scheme:dark){:root{--ground:#171d25;--text:#e4eaf1;--soft:#a9b4c2;--box:#1c232c;--edge:#323d4a;--user:#262f3a;--add:#7ee2a0;--del:#ff9a9c;--bad:#ff9a9c}}
*{box-sizing:border-box}
body{max-width:820px;margin:0 auto;padding:24px 16px 64px;background:var(--ground);color:var(--text);font:14px/1.55 system-ui,sans-serif;overflow-wrap:anywhere}
h1{margin:0;font-size:20px;line-height:1.3}
h2{margin:0 0 8px;color:var(--soft);font-size:12px;font-weight:600}
article{margin-top:24px}
.facts{margin:4px 0 0;color:var(--soft);font-size:12px}
.text{white-space:pre-wrap;unicode-bidi:isolate;margin:8px 0}
.user>.text{padding:10px 14px;border-radius:10px;background:var(--user)}
pre{margin:8px 0;padding:10px 12px;border-radius:6px;background:var(--box);font:13px/1.5 ui-monospace,Menlo,Consolas,monospace;white-space:pre-wrap;unicode-bidi:isolate}
details{margin:8px 0;padding:6px 12px;border:1px solid var(--edge);border-radius:6px}
summary{cursor:pointer;color:var(--soft)}
summary .bad{color:var(--bad)}
h3{margin:12px 0 0;color:var(--soft);font-size:12px;font-weight:600}
.add{color:var(--add)}
.del{color:var(--del)}
.cut{color:var(--soft)}
@media print{:root{--ground:#fff;--text:#000;--soft:#333;--box:#f6f6f6;--edge:#bbb;--user:#eee;--add:#0a4d1d;--del:#8a1014}body{max-width:none;padding:0}h1,h2,h3,summary{break-after:avoid}}
`

func (htmlFormat) begin(s fyllo.SessionSummary) (string, error) {
	title := html.EscapeString(oneLine(s.Title))
	return fmt.Sprintf(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<title>%s</title>
<style>%s</style>
<main>
<h1 dir="auto">%s</h1>
<p class="facts">%s · %s · %s</p>
`, title, style, title, escape(string(s.AgentID)), escape(string(s.SessionID)), moment(s.CreatedAt)), nil
}

func (htmlFormat) message(m fyllo.Message) (string, error) {
	var b strings.Builder
	class := "agent"
	if m.Role == fyllo.RoleUser {
		class = "user"
	}
	fmt.Fprintf(&b, "<article class=%q>\n<h2>%s, %s</h2>\n", class, speaker(m), moment(m.CreatedAt))
	for _, p := range m.Parts {
		switch {
		case p.Type == fyllo.PartTool:
			htmlTool(&b, p.Tool)
		case p.Type == fyllo.PartAttachment:
			fmt.Fprintf(&b, "<p class=\"facts\">Attachment: %s</p>\n", escape(attachment(p.Attachment)))
		case p.Type == fyllo.PartReasoning:
			fmt.Fprintf(&b, "<details><summary>Reasoning</summary>\n%s</details>\n", prose(p.Text))
		case p.ParentID != "":
			fmt.Fprintf(&b, "<details><summary>Subagent</summary>\n%s</details>\n", prose(p.Text))
		default:
			b.WriteString(prose(p.Text))
		}
	}
	b.WriteString("</article>\n")
	return b.String(), nil
}

func (htmlFormat) end() string { return "</main>\n</html>\n" }

func htmlTool(b *strings.Builder, t *fyllo.Tool) {
	class := ""
	if t.Status == fyllo.ToolFailed {
		class = ` class="bad"`
	}
	fmt.Fprintf(b, "<details><summary><span%s dir=\"auto\">%s</span></summary>\n", class, escape(summary(t)))
	for _, x := range blocks(t) {
		fmt.Fprintf(b, "<h3>%s</h3>\n<pre>\n", escape(x.name))
		if strings.HasPrefix(x.text, "@@ -") {
			htmlDiff(b, x.text)
		} else {
			b.WriteString(escape(x.text))
		}
		b.WriteString("</pre>\n")
	}
	b.WriteString("</details>\n")
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

// prose writes a text with its fenced code as code; the rest of its Markdown is for the reader's eye.
func prose(text string) string {
	var b, run strings.Builder
	open := ""
	flush := func(tag, end string) {
		if strings.TrimSpace(run.String()) != "" {
			b.WriteString(tag + escape(strings.Trim(run.String(), "\n")) + end)
		}
		run.Reset()
	}
	for l := range strings.Lines(closeFence(text)) {
		mark := fenceOf(l)
		switch {
		case open == "" && mark != "":
			flush(`<div class="text" dir="auto">`, "</div>\n")
			open = mark
		case open != "" && strings.HasPrefix(mark, open) && strings.Trim(l, " \n"+open[:1]) == "":
			flush("<pre>\n", "</pre>\n")
			open = ""
		default:
			run.WriteString(l)
		}
	}
	flush(`<div class="text" dir="auto">`, "</div>\n")
	return b.String()
}

func escape(s string) string { return html.EscapeString(clean(s)) }
