// Find in a Session (R-CHAT-007): what a row's text is, and what counts as an occurrence.
import { describe, expect, it, vi } from 'vitest'
import { hitAt, Query, readWith, Search, searchBySlices, searchText, type Found } from './find'
import { md } from './markdown/engine'
import { safeImage } from './markdown/render'
import { MarkdownStream } from './markdown/stream'
import { RowBuilder, type Row } from './rows'
import { message, tool, view } from './testing'

readWith({ md, safeImage, MarkdownStream })

const rowsOf = (...texts: string[]): readonly Row[] => new RowBuilder().build(view([message('a1', 'assistant', texts)])).rows
const wordsOf = (markdown: string): string[] =>
  rowsOf(markdown)
    .flatMap((row) => (row.type === 'group' ? [] : [searchText(row)]))
    .filter((text) => text !== '')

function whole(search: Search, rows: readonly Row[]): Found {
  const work = search.over(rows)
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

const find = (rows: readonly Row[], words: string, matchCase = false): Found => whole(new Search(new Query(words, matchCase)), rows)

describe('the text of a row', () => {
  it('is what Markdown shows, not its syntax', () => {
    expect(wordsOf('A **bold** and `code` [link](https://example.com/hidden) word\nnext line')).toEqual(['A bold and code link word next line'])
    expect(wordsOf('# Title\n\n- [x] one\n- two\n\n> quoted')).toEqual(['Title', 'one\ntwo', 'quoted'])
    expect(wordsOf('| a | b |\n|---|---|\n| left | *right* |')).toEqual(['a\nb\nleft\nright'])
    expect(wordsOf('a &amp; b \\* c<br>')).toEqual(['a & b * c<br>'])
    expect(wordsOf('![a picture](https://example.com/x.png) and $x^2$')).toEqual(['a picture and x^2'])
    expect(wordsOf('see [the docs][1]\n\n[1]: https://example.com')).toEqual(['see the docs'])
  })

  it('is the code of a fence, also inside of a list', () => {
    expect(wordsOf('```go\nfunc main() {}\n```')).toEqual(['func main() {}\n'])
    expect(wordsOf('- item\n\n  ```\n  inner\n  ```')[0]).toContain('inner')
  })

  it('has the head of a long table once', () => {
    const rows = rowsOf(`| Headword | b |\n|---|---|\n${'| cell | c |\n'.repeat(400)}`)
    expect(rows.length).toBeGreaterThan(2)
    expect(find(rows, 'headword').total).toBe(1)
    expect(find(rows, 'cell').total).toBe(400)
  })

  it('is that of users, thoughts, calls in groups, subagents and failures', () => {
    const error = { code: 'AGENT_CRASHED', message: 'It crashed badly' }
    const rows = new RowBuilder().build(
      view([
        message('u1', 'user', ['Plain *stars*']),
        message('a1', 'assistant', [
          { type: 'reasoning', text: '**Planning ahead**\nI *think* so' },
          tool('t1', { title: 'Read main.go' }),
          'Text',
          tool('t2', { title: 'Explore widely', subagent: {} }),
        ], { end: { at: '2026-03-04T10:00:00Z', error } as never }),
      ]),
    ).rows
    for (const words of ['*stars*', 'planning ahead', 'i think so', 'read MAIN', 'explore widely', 'crashed badly']) {
      expect(find(rows, words).total, words).toBe(1)
    }
    const { hits } = find(rows, 'main.go')
    expect(hits[0]!.row.type).toBe('group')
    expect(hits[0]!.part.type).toBe('tool')
    expect(find(rows, '**').total).toBe(0)
  })
})

describe('an occurrence', () => {
  const at = (text: string, words: string, matchCase = false): string[] => {
    const r = new Query(words, matchCase).ranges(text)
    return Array.from({ length: r.length / 2 }, (_, i) => text.slice(r[2 * i], r[2 * i + 1]))
  }

  it('knows case only when it is asked to', () => {
    expect(at('Go go GO', 'go')).toEqual(['Go', 'go', 'GO'])
    expect(at('Go go GO', 'go', true)).toEqual(['go'])
  })

  it('stands where it stands behind letters whose small form is longer', () => {
    expect(at('İİİ İstanbul is', 'istanbul')).toEqual(['İstanbul'])
    expect(at('İİ needle', 'needle')).toEqual(['needle'])
    expect(at('istanbul', 'İSTANBUL')).toEqual(['istanbul'])
    expect(at('Straße ẞ', 'STRAßE')).toEqual(['Straße'])
    expect(at('Straße ẞ', 'ß')).toEqual(['ß', 'ẞ'])
    expect(at('ΟΔΟΣ οδος', 'οδοσ')).toEqual(['ΟΔΟΣ', 'οδος'])
  })

  it('is found composed and decomposed', () => {
    expect(at('cafe\u0301 x', 'CAFÉ')).toEqual(['cafe\u0301'])
    expect(at('café x', 'cafe\u0301')).toEqual(['café'])
    expect(at('\u1112\u1161\u11ab\u1100\u1173\u11af!', '한글')).toEqual(['\u1112\u1161\u11ab\u1100\u1173\u11af'])
    expect(at('e\u0301e\u0301 z', 'z')).toEqual(['z'])
  })

  it('may be of other scripts and of emoji', () => {
    expect(at('我们在查找会话', '查找')).toEqual(['查找'])
    expect(at('a 🚀🚀 b', '🚀')).toEqual(['🚀', '🚀'])
    expect(at('non\u00A0breaking', 'n b')).toEqual(['n\u00A0b'])
  })

  it('keeps the length of every character that is folded', () => {
    const query = new Query('|', false)
    const moved: string[] = []
    for (let c = 0; c < 0x20000; c++) {
      const char = String.fromCodePoint(c)
      if (char === '|' || (c >= 0xd800 && c < 0xe000) || char.normalize('NFC') !== char) continue
      if (query.ranges(`${char}|`)[0] !== char.length) moved.push(`U+${c.toString(16)}`)
    }
    expect(moved).toEqual([])
  })

  it('agrees with a naive search', () => {
    const letters = ['a', 'B', 'ß', 'İ', 'i', 'Σ', ' ', '🚀', '中', 'b', '\n']
    let seed = 7
    const random = (n: number): number => (seed = (seed * 48271) % 2147483647) % n
    const some = (n: number): string => Array.from({ length: n }, () => letters[random(letters.length)]!).join('')
    const same = (a: string, b: string): boolean => {
      const small = (c: string): string => (c === 'İ' ? 'i' : c.toLowerCase())
      return [...a].map(small).join('') === [...b].map(small).join('')
    }
    for (let k = 0; k < 3000; k++) {
      const text = some(random(40))
      const words = some(1 + random(2)).replace('\n', 'a')
      const naive: number[] = []
      for (let i = 0; i + words.length <= text.length; ) {
        if (same(text.slice(i, i + words.length), words)) {
          naive.push(i, i + words.length)
          i += words.length
        } else i++
      }
      expect(new Query(words, false).ranges(text), JSON.stringify([text, words])).toEqual(naive)
    }
  })
})

describe('a search', () => {
  const many = (n: number): readonly Row[] =>
    Array.from({ length: n }, (_, i) => {
      const text = `Message ${i} of many: ${i % 3 ? 'apple' : 'apple pear apple'}`
      return { key: `m${i}`, messageId: `m${i}`, type: 'user', text, attachments: [], at: '' }
    })

  it('counts in order, and finds the n-th again', () => {
    const found = find(many(50), 'apple')
    const all = found.hits.flatMap((hit) => Array.from({ length: hit.count }, (_, i) => hit.before + i))
    expect(all).toEqual(Array.from({ length: found.total }, (_, i) => i))
    for (let n = 0; n < found.total; n++) {
      const hit = hitAt(found, n)!
      expect(n).toBeGreaterThanOrEqual(hit.before)
      expect(n).toBeLessThan(hit.before + hit.count)
    }
    expect(hitAt(found, found.total)).toBeNull()
    expect(hitAt(found, -1)).toBeNull()
  })

  it('counts what changed only, and agrees with a fresh one', () => {
    const counted = vi.spyOn(Query.prototype, 'count')
    const builder = new RowBuilder()
    const messages = [message('u', 'user', ['one needle']), message('a', 'assistant', ['first\n\nsecond needle'])]
    const search = new Search(new Query('needle', false))
    expect(whole(search, builder.build(view(messages)).rows).total).toBe(2)
    const older = [message('o', 'user', ['an older needle']), ...messages]
    const grown = [...older.slice(0, 2), message('a', 'assistant', ['first\n\nsecond needle needle'])]
    counted.mockClear()
    const rows = builder.build(view(grown)).rows
    expect(whole(search, rows)).toEqual(find(rows, 'needle'))
    const fresh = counted.mock.calls.length
    counted.mockClear()
    whole(search, rows)
    expect(counted).not.toHaveBeenCalled()
    expect(fresh).toBeLessThan(2 * rows.length)
    counted.mockRestore()
  })

  it('that narrows another looks only where that found something, and finds the same', () => {
    const rows = many(60)
    const wide = new Search(new Query('p', false))
    whole(wide, rows)
    for (const [words, matchCase] of [['pe', false], ['pear a', false], ['x', false], ['Pe', true]] as const) {
      expect(whole(new Search(new Query(words, matchCase), wide), rows)).toEqual(find(rows, words, matchCase))
    }
  })

  it('of 10,000 messages works by slices, and can be given up', async () => {
    const rows = many(10_000)
    let now = 0
    let pauses = 0
    const how = { slice: 8, clock: () => (now += 0.05), pause: async () => void pauses++, wanted: () => true }
    const found = await searchBySlices(new Search(new Query('pear', false)).over(rows), how)
    expect(found?.total).toBe(3334)
    expect(pauses).toBeGreaterThan(50)
    const left = await searchBySlices(new Search(new Query('pear', false)).over(rows), { ...how, wanted: () => pauses++ < 60 })
    expect(left).toBeNull()
  })
})
