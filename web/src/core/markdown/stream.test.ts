import { describe, expect, it, vi } from 'vitest'
import { md, normalize, type Env, type References } from './engine'
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
  '- [ ] todo\n- [x] done\n', '+\n', '\n    after\n', 'Setext\n---\n', '* * *\n', '   \n\n', '`` ` ``', '!',
]

function randomText(random: () => number): string {
  let text = ''
  for (let n = 1 + Math.floor(random() * 14); n > 0; n--) text += pieces[Math.floor(random() * pieces.length)]
  return text
}

const plain = (blocks: readonly Block[]) =>
  blocks.map(({ index, kind, text, lang, closed, resumes }) => ({ index, kind, text, lang, closed, resumes }))

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

describe('MarkdownStream', () => {
  it('equals a fresh parse at random prefixes with random chunk sizes', () => {
    for (let seed = 1; seed <= 800; seed++) {
      const random = randomOf(seed)
      const text = randomText(random)
      const stream = new MarkdownStream()
      for (let at = 0; at < text.length; ) {
        at = Math.min(text.length, at + 1 + Math.floor(random() * (seed % 3 === 0 ? 40 : 5)))
        const prefix = text.slice(0, at)
        const fresh = new MarkdownStream()
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

  it('never changes a committed block', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = randomOf(seed)
      const text = randomText(random)
      const stream = new MarkdownStream()
      let before: readonly Block[] = []
      for (let at = 1; at <= text.length; at++) {
        const now = stream.update(text.slice(0, at))
        for (let i = 0; i < before.length - 3; i++) expect(plain([now[i]!])).toEqual(plain([before[i]!]))
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
