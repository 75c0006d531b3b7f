import { describe, expect, it } from 'vitest'
import { md } from './engine'
import { addresses, normalizeLink } from './links'

/** The addresses that become links by themselves. */
function found(text: string): string[] {
  const html = md.render(text)
  return [...html.matchAll(/href="([^"]*)"/g)].map((m) => m[1]!.replaceAll('&amp;', '&'))
}

describe('autolinks (R-CHAT-131)', () => {
  it.each([
    ['see https://example.com/a?b=1&c=2#d.', ['https://example.com/a?b=1&c=2#d']],
    ['(https://en.wikipedia.org/wiki/Go_(game))', ['https://en.wikipedia.org/wiki/Go_(game)']],
    ['[https://a.example/x]', ['https://a.example/x']],
    ['**https://a.example/x**', ['https://a.example/x']],
    ['"https://a.example/x", said', ['https://a.example/x']],
    ['见https://例え.jp/路径。然后', ['https://xn--r8jz45g.jp/%E8%B7%AF%E5%BE%84']],
    ['（https://a.example/x）', ['https://a.example/x']],
    ['http://localhost:8080/x and http://[::1]:80/', ['http://localhost:8080/x', 'http://[::1]:80/']],
    ['mailto:ana@example.com, or <ana@example.com>', ['mailto:ana@example.com', 'mailto:ana@example.com']],
    ['HTTPS://A.example/x!', ['HTTPS://A.example/x']],
    ['https://a.example/x_y_z', ['https://a.example/x_y_z']],
    ['main.rs README.md git@github.com:x/y a@b.example www.example.com ftp://x.example javascript://x', []],
    ['https:// http://. https://)', []],
    ['xhttps://a.example', []],
    ['`https://a.example/x`', []],
    ['[x](https://b.example) https://a.example', ['https://b.example', 'https://a.example']],
    ['[https://a.example](https://b.example)', ['https://b.example']],
    ['words and [https://a.example/x](https://b.example/y) more', ['https://b.example/y']],
    ['words ![https://a.example/x](https://b.example/y)', []],
    ['see (https://a.example/x(y)z), {https://a.example/q}', ['https://a.example/x(y)z', 'https://a.example/q']],
    ['https://a.example/(x', ['https://a.example/(x']],
  ])('%s', (text, hrefs) => {
    expect(found(text)).toEqual(hrefs)
  })

  it('shows an address as it was written', () => {
    expect(md.render('https://xn--80ak6aa92e.com/')).toContain('>https://xn--80ak6aa92e.com/</a>')
  })

  it.each([
    ['https://a.example/a b"c<d>', 'https://a.example/a%20b%22c%3Cd%3E'],
    ['/a%20b%zz', '/a%20b%25zz'],
    ['https://ex\u202Eample.com/', 'https://ex%E2%80%AEample.com/'],
    ['/\uD800x', '/%EF%BF%BDx'],
    ['mailto:ü@x.example', 'mailto:%C3%BC@x.example'],
  ])('writes %j as %s', (url, written) => {
    expect(normalizeLink(url)).toBe(written)
  })

  it('finds where an address stands', () => {
    expect(addresses.match('a https://b.example. c')).toEqual([
      { index: 2, lastIndex: 19, schema: 'https://', text: 'https://b.example', url: 'https://b.example' },
    ])
  })
})

describe('texts made to cost much', () => {
  const shapes: Record<string, string> = {
    quotes: '>'.repeat(5000) + ' deep',
    lists: Array.from({ length: 500 }, (_, i) => `${'  '.repeat(i)}- level ${i}`).join('\n'),
    'list markers': '- '.repeat(5000) + 'deep',
    brackets: '['.repeat(20_000),
    images: '!['.repeat(10_000),
    links: '[a]('.repeat(10_000),
    emphasis: '*a_ '.repeat(10_000),
    stars: '*'.repeat(20_000) + 'a',
    ticks: Array.from({ length: 400 }, (_, i) => '`'.repeat(i)).join(' '),
    strikes: '~~a '.repeat(10_000),
    addresses: 'https://a.example/('.repeat(4000),
    'one address': `https://a.example/${'('.repeat(20_000)}${')'.repeat(20_000)}`,
    'closing brackets': `https://a.example/${')'.repeat(50_000)}`,
    dots: `https://a.example/${'.'.repeat(50_000)}`,
    entities: '&amp'.repeat(20_000),
    'angle brackets': '<a'.repeat(20_000),
    'table head': `${'|a'.repeat(3000)}|\n${'|-'.repeat(3000)}|\n${'|\n'.repeat(2000)}`,
    references: '[a]: /x\n'.repeat(5000),
    escapes: '\\('.repeat(20_000),
    'display escapes': '\\[ '.repeat(20_000),
    dollars: '$a '.repeat(20_000),
    'double dollars': '$$'.repeat(20_000),
    'math lines': '$$\n'.repeat(5000),
  }

  it.each(Object.keys(shapes))('%s end soon', { timeout: 60_000 }, (name) => {
    // Time of the processor, which does not count who else uses the machine.
    const { cpuUsage } = (globalThis as unknown as { process: { cpuUsage(since?: object): { user: number } } }).process
    const before = cpuUsage()
    md.render(shapes[name]!)
    expect(cpuUsage(before).user / 1e6).toBeLessThan(1.5)
  })

  it('loses no word however deep it stands', () => {
    const html = md.render(shapes['lists']!)
    expect(html.match(/level \d+/g)).toHaveLength(500)
    expect(md.render(shapes['quotes']!)).toContain('deep')
    expect(html.split('<ul>').length).toBeLessThan(25)
  })
})
