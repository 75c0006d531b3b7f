import { describe, expect, it } from 'vitest'
import { renderMarkdown, type RenderBlock } from './render'
import { splitMarkdown } from './stream'
import { misleads, targetOf } from './targets'

const labels = { copy: 'Copy', formula: 'Formula', openImage: 'Open image at {host}', table: 'Table', tableFrom: 'Table, from row {n}', task: 'Task' }
const block = (text: string): RenderBlock => ({ text, refs: null, part: null, resumes: null, columns: '' })
const html = (text: string): string => renderMarkdown(block(text), labels)
const all = (text: string): string =>
  splitMarkdown(text)
    .map((b) => renderMarkdown(b, labels))
    .join('')

describe('links (R-CHAT-132)', () => {
  it.each([
    ['https://x.example', 'external'],
    ['mailto:a@b.example', 'external'],
    ['/a/b.go', 'path'],
    ['C:\\a\\b.go', 'path'],
    ['C:%5Ca%5Cb.go', 'path'],
    ['c:/a', 'path'],
    ['file:///a', 'path'],
    ['//x/y', undefined],
    ['/%2Fevil.example/x', undefined],
    ['a/b', undefined],
    ['javascript:x', undefined],
    ['ftp://x', undefined],
    ['file://host/share', undefined],
    ['https:\\\\evil.example', undefined],
  ])('%s is %s', (href, kind) => {
    expect(targetOf(href)?.kind).toBe(kind)
  })

  it.each([
    ['https://evil.example/', 'https://bank.example/login', true],
    ['https://evil.example/', 'www.bank.example', true],
    ['https://evil.example/', 'google.com', true],
    ['https://evil.example/', 'goo\u200Bgle.com', true],
    ['https://evil.example/', 'https://google.com\u202E', true],
    ['https://google.com@evil.example/', 'click', true],
    ['https://xn--80ak6aa92e.com/', 'https://www.apple.com/', true],
    ['https://xn--80ak6aa92e.com/', 'here', true],
    ['https://', 'x', true],
    ['https://google.com/search', 'google.com', false],
    ['https://www.google.com/search', 'https://google.com', false],
    ['https://github.com/a/b/blob/main/main.rs', 'main.rs', false],
    ['https://github.com/a/b', 'the repository', false],
    ['https://github.com/a/b#L1', 'README.md', false],
    ['mailto:ana@x.example', 'ana@x.example', false],
  ])('%s behind %j misleads: %s', (href, words, is) => {
    expect(misleads(href, words)).toBe(is)
  })

  it('says where a link goes when its words say another host', () => {
    const out = html('[https://bank.example/](https://evil.example/x "https://bank.example/")')
    expect(out).toContain('title="https://evil.example/x"')
    expect(out).toContain('<span class="md-host">evil.example</span></a>')
    expect(html('[docs](https://ok.example/x "a title")')).toContain('title="a title">docs</a>')
  })

  it('shows what is invisible in code, links and prose', () => {
    expect(html('`a\u200Bb` [x\u200By](https://ok.example) z\u202Ez')).toBe(
      '<p><code>a⟨U+200B⟩b</code> <a href="https://ok.example" target="_blank" rel="noopener noreferrer">x⟨U+200B⟩y</a> z⟨U+202E⟩z</p>\n',
    )
    expect(html('- x\n\n  ```\n  a\u202Eb\n  ```')).toContain('data-source="a\u202Eb\n"')
  })
})

describe('images (R-CHAT-132)', () => {
  it('names the host of a remote image and asks for no byte of it', () => {
    const out = html('![a chart](https://img.example:8443/p.png?data=secret)')
    expect(out).not.toContain('<img')
    expect(out).toContain('<span>a chart</span> <a href="https://img.example:8443/p.png?data=secret" target="_blank" rel="noopener noreferrer">Open image at img.example:8443</a>')
  })

  it('makes a local image a path and keeps words in a link', () => {
    expect(html('![shot](/tmp/a.png)')).toContain('<button type="button" class="md-path" title="/tmp/a.png" data-path="/tmp/a.png">shot</button>')
    expect(html('[![badge](https://img.example/b.svg)](https://ok.example)').match(/<a /g)).toHaveLength(1)
  })
})

describe('long blocks', () => {
  const rows = Array.from({ length: 50 }, (_, i) => `| ${i + 1} | word |\n`).join('')

  it('draws the parts of a table with the same widths and one visible head', () => {
    const out = all(`| n | w |\n|--:|---|\n${rows}`)
    expect(out.match(/<table/g)).toHaveLength(3)
    expect(new Set(out.match(/<table[^>]*width="\d+"><colgroup>.*?<\/colgroup>/g)?.map((t) => t.replace(/class="[^"]*"/, ''))).size).toBe(1)
    expect(out.match(/md-part/g)).toHaveLength(2)
    expect([...out.matchAll(/aria-label="([^"]*)"/g)].map((m) => m[1])).toEqual(['Table', 'Table, from row 21', 'Table, from row 41'])
    expect(out.match(/<td/g)).toHaveLength(100)
  })

  it('leaves the widths of a short table to the browser', () => {
    expect(html('| a |\n|---|\n| b |')).not.toContain('<col')
  })

  it('goes on with a paragraph whatever its lines begin with', () => {
    const out = renderMarkdown({ ...block('    2. not code\n- **b**\n'), part: 'paragraph' }, labels)
    expect(out).toBe('<p>2. not code\n- <strong>b</strong></p>\n')
  })

  it('goes on counting', () => {
    expect(renderMarkdown({ ...block('21. x\n'), part: 'list', resumes: 21 }, labels)).toContain('<ol start="21">')
  })
})

describe('formulas', () => {
  it('are their source until they are drawn', () => {
    expect(html('a $x^2$ b')).toBe('<p>a <span class="md-math" data-tex="x^2">$x^2$</span> b</p>\n')
    expect(html('$$\nx < y\n$$')).toBe(
      '<p><span class="md-math" data-tex="x &lt; y" data-display="true" tabindex="0" role="group" aria-label="Formula">$$\nx &lt; y\n$$</span></p>\n',
    )
    expect(html('$$\nopen')).toBe('<p class="md-source">$$\nopen</p>\n')
  })
})

describe('everything of GFM (R-CHAT-131)', () => {
  it.each([
    ['~~gone~~', '<s>gone</s>'],
    ['- [ ] a\n- [x] b', '<input type="checkbox" aria-label="Task" disabled> a'],
    ['- [ ] a\n- [x] b', '<input type="checkbox" aria-label="Task" disabled checked> b'],
    ['| a |\n|:-:|\n| b |', '<td align="center">b</td>'],
    ['https://a.example/x', '>https://a.example/x</a>'],
    ['<b>x</b>', '&lt;b&gt;x&lt;/b&gt;'],
    ['# T', '<h3>T</h3>'],
    ['a  \nb', 'a<br>\nb'],
    ['> q', '<blockquote>'],
    ['***', '<hr>'],
  ])('%j', (text, part) => {
    expect(html(text)).toContain(part)
  })
})
