import { describe, expect, it, vi } from 'vitest'
import { md, normalize, type Env, type References } from './engine'
import { LIMITS } from './groups'
import { MarkdownStream, splitMarkdown, type Block } from './stream'

/** mulberry32: the same texts in every run. */
function randomOf(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const pieces = [
  'A line of prose with `code`, **bold** and [a link](https://example.com/x).\n',
  'More of it', '\n', '\n\n', '\n\n\n', '- item\n', '- item\n\n  second paragraph\n', '  - nested\n', '* star\n', '1. one\n',
  '2. two\n\n', '10) ten\n', '```go\nfunc main() {}\n```\n', '```', '```\n', '``', '````\n```\ninner\n````\n', '~~~\ntilde\n~~~\n',
  '~~', '~~~ info *x*\n', '    indented code\n', '\tindented with tab\n', '    \n', '  \t\n', '   ', '> quote\n', '> - quoted list\n',
  '>\n', '# Heading\n', '## Heading', '===\n', '---\n', '-', '***\n', '| a | b |\n|---|:-:|\n| 1 | 2 |\n', '|---|\n', '| x |\n',
  '[ref]: https://example.com/ref "title"\n', '[ref]', '[other]: /local\n', "'title'\n", '[x][ref]\n', '[a]: <b\n', '[t]:\n',
  '   ```js\n   x\n   ```\n', '  - ```\n    fenced in list\n', '\\\n', '&amp;', '<div>\n', '中文段落，', '😀\n', '\r\n', '\r', 'x\0y\n',
  '- [ ] todo\n- [x] done\n', '| c | d |\n|:-|-:|\n', '| 1 | `x` |\n| 2 |\n| 3 | 4 | 5 |\n', 'a | b\n--|--\n', '1 | 2\n3 | 4\n5 | 6\n',
  '$$\nx\n+ y\n$$\n', '$$', '$x$ ', '\\[\n', '\\]\n', '\\(a\\)', '```mermaid\ngraph TD\n  A-->B\n```\n', '```math\nx\n', '<!-- x -->\n',
  '<details>\n<summary>s</summary>\n\ntext\n</details>\n', '</div>\n\n', '<b>x</b>', '    - deep\n', '      - deeper\n', '\t- tabbed\n', '1. a\n   - b\n     1. c\n',
  '- a\n  ```js\n  x\n  ```\n', '- a\n\n      code in item\n', '> ```\n> q\n> ```\n', '~~~~\n', '~~~\n', '````md\n```\nx\n```\n', '``\n', '   ~~~\n',
  'word '.repeat(12) + '\n', 'long line of words '.repeat(9), '=====\n', 'two\nlines\n', '[late]: https://late.example\n', 'see [late] and [late][]\n', '[x]:', ' https://x\n',
  '[multi\nline]: /x\n', '[a]: /b "t\nu"\n', '1\n', '10', '. x\n', '#', '# ', '## x #\n', '12345678901. x\n', '\u00a0\n', '\f\n', '\v', '\r\n\r\n', '- x\r\n- y\r\n',
  'lazy\n', '> a\nlazy\n', '* a\n\n\n* b\n', '+ a\n- b\n', '---\n---\n', '| a |\n', '|-|\n', '\\|', '`|`', '+\n', '\n    after\n', 'Setext\n---\n', '* * *\n', '   \n\n', '`` ` ``', '!',
]

function randomText(random: () => number): string {
  let text = ''
  for (let n = 1 + Math.floor(random() * 14); n > 0; n--) text += pieces[Math.floor(random() * pieces.length)]
  return text
}

const plain = (blocks: readonly Block[]) => blocks.map((b) => ({ ...b, refs: b.refs && Object.keys(b.refs).sort() }))

/** Limits that short texts reach too. */
const tiny = { items: 3, rows: 2, units: 60 }

/** HTML of the blocks one by one, as the views render them, and of a parse of the whole text. */
function htmlOf(blocks: readonly Block[]): string {
  return blocks
    .map((b) => {
      if (b.kind === 'code') return `<pre>${b.lang}|${md.utils.escapeHtml(b.text)}</pre>\n`
      return wholeHtml(b.text, { references: Object.create(b.refs ?? {}) as References })
    })
    .join('')
}

function wholeHtml(text: string, env: Env = {}): string {
  const tokens = md.parse(text, env)
  let depth = 0
  let html = ''
  for (let i = 0, from = 0; i < tokens.length; i++) {
    depth += tokens[i]!.nesting
    if (depth > 0) continue
    const t = tokens[i]!
    if (t.type === 'fence' || t.type === 'code_block') {
      const lang = t.type === 'fence' ? (md.utils.unescapeAll(t.info).trim().split(/\s+/, 1)[0] ?? '') : ''
      html += `<pre>${lang}|${md.utils.escapeHtml(t.content)}</pre>\n`
    } else html += md.renderer.render(tokens.slice(from, i + 1), md.options, env)
    from = i + 1
  }
  return html
}

const SEEDS = 500

describe('MarkdownStream', { timeout: 60_000 }, () => {
  it('equals a fresh parse at random prefixes with random chunk sizes', () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = randomOf(seed)
      const text = randomText(random)
      const limits = seed % 2 === 0 ? tiny : LIMITS
      const stream = new MarkdownStream(limits)
      for (let at = 0; at < text.length; ) {
        at = Math.min(text.length, at + 1 + Math.floor(random() * (seed % 3 === 0 ? 40 : 5)))
        const prefix = text.slice(0, at)
        const fresh = new MarkdownStream(limits)
        expect(plain(stream.update(prefix)), JSON.stringify(prefix)).toEqual(plain(fresh.update(prefix)))
      }
    }
  })

  it('renders block by block what a parse of the whole text renders', () => {
    for (let seed = 5001; seed <= 6000; seed++) {
      const text = randomText(randomOf(seed))
      expect(htmlOf(splitMarkdown(text)), JSON.stringify(text)).toBe(wholeHtml(normalize(text)))
    }
  })

  it('renders the same after streaming as a parse of the whole text', () => {
    for (let seed = 8001; seed <= 9000; seed++) {
      const random = randomOf(seed)
      const text = randomText(random).replaceAll('\r', '')
      const stream = new MarkdownStream()
      for (let at = 0; at < text.length; ) {
        at = Math.min(text.length, at + 1 + Math.floor(random() * 12))
        stream.update(text.slice(0, at))
      }
      expect(htmlOf(stream.blocks), JSON.stringify(text)).toBe(wholeHtml(normalize(text)))
    }
  })

  it('splits a long list the same way while it grows, and loses no item', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const random = randomOf(seed)
      const ordered = seed % 2 === 0
      const shapes = ['item', 'item\n\n  more', 'item\n  - nested\n  - too', '', '```\n  code\n  ```', 'lazy\nline']
      const items = Array.from({ length: 30 + Math.floor(random() * 60) }, (_, i) => {
        const shape = shapes[Math.floor(random() * shapes.length)]!
        return (ordered ? `${i + 5}. ${shape.replaceAll('\n  ', '\n    ')}` : `- ${shape}`) + (random() < 0.2 ? '\n\n' : '\n')
      })
      const text = `before\n\n${items.join('')}${seed % 3 === 0 ? '\nafter\n\n1. other\n' : ''}`
      const stream = new MarkdownStream()
      for (let at = 0; at < text.length; ) {
        at = Math.min(text.length, at + 1 + Math.floor(random() * 60))
        const prefix = text.slice(0, at)
        expect(plain(stream.update(prefix)), JSON.stringify(prefix)).toEqual(plain(splitMarkdown(prefix)))
      }
      const count = (html: string) => html.split('<li>').length
      expect(count(htmlOf(stream.blocks)), text).toBe(count(wholeHtml(text)))
      const parts = stream.blocks.filter((b) => b.resumes !== null)
      if (ordered) expect(parts.map((b) => b.resumes)).toEqual(parts.map((_, i) => 25 + 20 * i))
    }
  })

  it('splits a long table into parts that repeat its head and agree in their columns', () => {
    for (let seed = 1; seed <= 30; seed++) {
      const random = randomOf(seed)
      const cell = () => ['a', '**bold** words', '`x|y`', '', '中文', '[l](https://x.example)', '\\| |'][Math.floor(random() * 7)]!
      const rows = 20 + Math.floor(random() * 60)
      const body = Array.from({ length: rows }, (_, i) => `| ${i + 1} | ${cell()} |${random() < 0.2 ? '' : ' x |'}\n`).join('')
      const head = '| n | words | more |\n|--:|---|:-:|\n'
      const text = `before\n\n${head}${body}${seed % 3 === 0 ? '- then a list\n' : ''}`
      const stream = new MarkdownStream()
      for (let at = 0; at < text.length; ) {
        at = Math.min(text.length, at + 1 + Math.floor(random() * 60))
        const prefix = text.slice(0, at)
        expect(plain(stream.update(prefix)), JSON.stringify(prefix)).toEqual(plain(splitMarkdown(prefix)))
      }
      const parts = stream.blocks.filter((b) => b.text.startsWith(head))
      expect(parts.map((b) => b.resumes)).toEqual(parts.map((_, i) => (i === 0 ? null : 1 + LIMITS.rows * i)))
      expect(parts).toHaveLength(Math.ceil(rows / LIMITS.rows))
      const widths = parts.map((b) => b.columns)
      if (parts.length > 1) expect(widths).toEqual(widths.map(() => expect.stringMatching(/^\d+ \d+ \d+$/)))
      else expect(widths).toEqual([''])
      expect(new Set(widths).size).toBe(1)
      const first = htmlOf(parts).match(/<td style="text-align:right">\d+/g)?.map((s) => Number(/\d+$/.exec(s)![0]))
      expect(first).toEqual(Array.from({ length: rows }, (_, i) => i + 1))
    }
  })

  it('splits a long paragraph at line ends, also one that becomes a heading', () => {
    const lines = Array.from({ length: 400 }, (_, i) => `line ${i} of a **long** paragraph (with words)\n`)
    for (const end of ['', '\n', '===\n', '---\n\nafter\n', '- item\n', '|-|\n', '    indented\n2. two\nmore\n\n# x\n']) {
      const text = `first\n\n${lines.join('')}${end}`
      const random = randomOf(text.length)
      const stream = new MarkdownStream()
      for (let at = 0; at < text.length; ) {
        at = Math.min(text.length, at + 1 + Math.floor(random() * 300))
        stream.update(text.slice(0, at))
      }
      expect(plain(stream.blocks)).toEqual(plain(splitMarkdown(text)))
      const parts = stream.blocks.filter((b) => b.text.includes(' of a **long** '))
      expect(parts.map((b) => b.part)).toEqual([null, 'paragraph', 'paragraph'])
      expect(parts.map((b) => b.text).join('')).toContain(lines.join(''))
    }
  })

  it('leaves a paragraph whole that may become a link definition', () => {
    const text = `[a\n${'word\n'.repeat(4000)}`
    expect(splitMarkdown(text)).toHaveLength(1)
    expect(splitMarkdown(`${text}]: /x\n\n[a]`).length).toBeGreaterThan(0)
  })

  it('cuts a paragraph of links, whose first bracket defines nothing', () => {
    const text = '[word](https://x.example/1) '.repeat(2000)
    const stream = new MarkdownStream()
    for (let at = 0; at < text.length; at += 777) stream.update(text.slice(0, at))
    expect(stream.update(text).length).toBeGreaterThan(4)
    expect(plain(stream.blocks)).toEqual(plain(splitMarkdown(text)))
    expect(Math.max(...stream.blocks.map((b) => b.text.length))).toBeLessThan(12_100)
  })

  it('adds to a line without parsing when that changes no block', () => {
    const stream = new MarkdownStream()
    let text = 'before\n\nA line with [a'
    stream.update(text)
    const parse = vi.spyOn(md.block, 'parse')
    for (let i = 0; i < 150; i++) stream.update((text += ' word] [x](https://x.example) `a` **b** | $c$ 1. - # > ~'))
    expect(parse).not.toHaveBeenCalled()
    parse.mockRestore()
    expect(plain(stream.blocks)).toEqual(plain(splitMarkdown(text)))
  })

  it('cuts a line without end and a long quote the same way while they grow, and loses nothing', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const random = randomOf(seed)
      const words = [['word ', '**bold** ', '`code` ', '- ', '1. ', '中文，', '# '], ['中文', '😀', 'AAAA', '**b**'], ['> Line of a quote.\n', '> 2. no list\n', '>\n> - item\n', '> **More** of it.\n']]
      const shape = words[seed % 3]!
      let text = seed % 3 === 2 ? '' : 'Begin '
      while (text.length < 1500) text += shape[Math.floor(random() * shape.length)]
      if (seed % 2 === 0) text += '\n\nAfter.'
      const stream = new MarkdownStream(tiny)
      for (let at = 0; at < text.length; ) {
        at = Math.min(text.length, at + 1 + Math.floor(random() * 30))
        const prefix = text.slice(0, at)
        expect(plain(stream.update(prefix)), JSON.stringify(prefix)).toEqual(plain(new MarkdownStream(tiny).update(prefix)))
      }
      expect(stream.blocks.map((b) => b.text).join('')).toBe(text)
      expect(stream.blocks.length).toBeGreaterThan(10)
      if (seed % 3 === 2) continue // a quote is cut where a line begins with a letter only
      for (const block of stream.blocks) {
        expect(block.text.length, block.text).toBeLessThanOrEqual(tiny.units * 1.5)
        expect(block.text).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$/)
      }
    }
  })

  it('never changes a committed block', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = randomOf(seed)
      const text = randomText(random)
      const stream = new MarkdownStream(seed % 2 === 0 ? tiny : LIMITS)
      let before: readonly Block[] = []
      for (let at = 1; at <= text.length; at++) {
        const now = stream.update(text.slice(0, at))
        for (let i = 0; i < before.length - 3; i++) expect({ ...now[i]!, refs: null }).toEqual({ ...before[i]!, refs: null })
        before = now
      }
    }
  })

  it('keeps the identity of blocks that did not change', () => {
    const stream = new MarkdownStream()
    const first = stream.update('one\n\ntwo\n\nthree')
    const second = stream.update('one\n\ntwo\n\nthree and more')
    expect(second[0]).toBe(first[0])
    expect(second[1]).toBe(first[1])
    expect(second[2]).not.toBe(first[2])
  })

  it('gives blocks with brackets a new identity when a link definition arrives', () => {
    const stream = new MarkdownStream()
    const a = stream.update('see [x]\n\nplain\n\nb\n\nc')
    const b = stream.update('see [x]\n\nplain\n\nb\n\nc\n\n[x]: https://example.com\n')
    expect(b[0]).not.toBe(a[0])
    expect(b[0]!.refs?.X?.href).toBe('https://example.com')
    expect(b[1]).toBe(a[1])
  })

  it('parses little more than the text however it is cut into chunks', () => {
    const line = (i: number) => ({
      prose: `Paragraph ${i} with **bold** and [a link](https://example.com/${i}).\n\n`,
      list: `- Item ${i} with \`code\`\n`,
      table: i === 0 ? '| a | b |\n|---|---|\n' : `| row ${i} | **x** |\n`,
      code: i === 0 ? '```go\n' : `\tx${i} := f(${i})\n`,
      paragraph: `line ${i} of one paragraph\n`,
      line: `word${i} **bold** `,
    })
    for (const shape of ['prose', 'list', 'table', 'code', 'paragraph', 'line'] as const) {
      let text = ''
      for (let i = 0; text.length < 60_000; i++) text += line(i)[shape]
      let parsed = 0
      const parse = vi.spyOn(md.block, 'parse').mockImplementation(function (this: typeof md.block, ...args) {
        parsed += args[0].length
        return Object.getPrototypeOf(this).parse.apply(this, args)
      })
      const stream = new MarkdownStream()
      for (let at = 0; at < text.length; at += 40) stream.update(text.slice(0, at + 40))
      parse.mockRestore()
      // A chunk costs its block, not the text: that is some 1,000 units a chunk instead of 30,000.
      expect(parsed / (text.length / 40), shape).toBeLessThan(shape === 'paragraph' ? 8000 : 1500)
    }
  })

  it('starts again when the text is replaced', () => {
    const stream = new MarkdownStream()
    stream.update('```\nopen')
    expect(plain(stream.update('other'))).toEqual(plain(splitMarkdown('other')))
  })

  it('appends to an open fence without parsing it', () => {
    const stream = new MarkdownStream()
    let text = '```txt\n'
    stream.update(text)
    const parse = vi.spyOn(md.block, 'parse')
    for (let i = 0; i < 500; i++) stream.update((text += 'a line of the fence\n'))
    expect(stream.blocks).toHaveLength(1)
    expect(parse).not.toHaveBeenCalled()
    parse.mockRestore()
    expect(stream.update(`${text}\`\`\`\nafter`).map((b) => b.kind)).toEqual(['code', 'markdown'])
  })
})
