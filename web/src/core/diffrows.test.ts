import { describe, expect, it } from 'vitest'
import { compare, lineAt } from './diff'
import { layout, marksOf, type DiffPart, type DiffRow } from './diffrows'

const part = (old: string | undefined, next: string | undefined): DiffPart => ({ old, next, comparison: compare(old, next) })
const numbered = (n: number, change: (i: number) => string | null = () => null) =>
  Array.from({ length: n }, (_, i) => change(i) ?? `line ${i}`).join('\n') + '\n'

function show(parts: DiffPart[], options: { split?: boolean; open?: string[] } = {}): string[] {
  const rows = layout(parts, { split: options.split ?? false, open: new Set(options.open) })
  const got = rows.slice(0, rows.count)
  expect(got).toHaveLength(rows.count)
  return got.map(({ line }) => text(parts, line))
}

function text(parts: DiffPart[], row: DiffRow): string {
  if (row.kind === 'fold') return `⋯ ${row.id} ${row.count}${row.endings ? ' endings' : ''}`
  if (row.kind === 'part' || row.kind === 'empty') return `<${row.kind} ${row.part}>`
  const { old = '', next = '', comparison: c } = parts[row.part]!
  const left = row.old < 0 ? '' : lineAt(old, c.oldStarts, row.old).text
  const right = row.next < 0 ? '' : lineAt(next, c.newStarts, row.next).text
  const sign = { same: ' ', ending: '~', delete: '-', add: '+', change: '±' }[row.kind]
  return row.kind === 'change' ? `±${left}|${right}` : sign + (left || right)
}

describe('layout', () => {
  it('folds what is far from changes, and opens it', () => {
    const p = [part(numbered(40), numbered(40, (i) => (i === 10 || i === 30 ? 'new' : null)))]
    expect(show(p)).toEqual([
      '⋯ 0:0 7', ' line 7', ' line 8', ' line 9', '-line 10', '+new', ' line 11', ' line 12', ' line 13',
      '⋯ 0:14 13', ' line 27', ' line 28', ' line 29', '-line 30', '+new', ' line 31', ' line 32', ' line 33', '⋯ 0:34 6',
    ])
    expect(show(p, { open: ['0:14'] }).filter((l) => l.startsWith('⋯'))).toEqual(['⋯ 0:0 7', '⋯ 0:34 6'])
    expect(show(p, { open: ['0:0', '0:14', '0:34'] })).toHaveLength(42)
  })

  it('folds nothing that is hardly longer than the fold', () => {
    expect(show([part(numbered(9), numbered(9, (i) => (i === 0 ? 'x' : i === 8 ? 'y' : null)))])).toHaveLength(11)
  })

  it('knows where each change begins, also when it is folded', () => {
    const two = [part(numbered(40), numbered(40, (i) => (i === 10 || i === 30 ? 'new' : null)))]
    expect(layout(two, { split: false, open: new Set() }).changes).toEqual([4, 13])
    const endings = [part(numbered(9), numbered(9).replaceAll('\n', '\r\n'))]
    expect(layout(endings, { split: false, open: new Set() }).changes).toEqual([0])
    expect(layout([part(undefined, '')], { split: false, open: new Set() }).changes).toEqual([0])
  })

  it('puts lines that are alike side by side', () => {
    const p = [part('a\nfirst(1)\nb\nc\n', 'a\nnew\nfirst(2)\nx\nc\n')]
    expect(show(p, { split: true })).toEqual([' a', '±|new', '±first(1)|first(2)', '±b|x', ' c'])
  })

  it('shows segments apart (R-CHAT-105)', () => {
    expect(show([part('p', 'q'), part('r', 's')])).toEqual(['<part 0>', '-p', '+q', '<part 1>', '-r', '+s'])
  })

  it('shows an empty file that came or went (R-CHAT-102)', () => {
    expect(show([part(undefined, '')])).toEqual(['<empty 0>'])
  })

  it('folds many lines of which only the ending changed, so that real edits stand out', () => {
    const crlf = numbered(30, (i) => (i === 20 ? 'new' : null)).replaceAll('\n', '\r\n')
    const p = [part(numbered(30), crlf)]
    expect(show(p)).toEqual(['⋯ 0:0 20 endings', '-line 20', '+new', '⋯ 0:21 9 endings'])
    expect(show(p, { open: ['0:21'] }).slice(3)).toHaveLength(9)
    expect(show([part('a\nb\n', 'a\r\nb\r\n')])).toEqual(['~a', '~b'])
  })

  it('shows every line of both sides once when all is open, in any mode', () => {
    const rnd = (seed: number) => () => ((seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) >>> 16) % 6
    const next = rnd(3)
    for (let round = 0; round < 300; round++) {
      const a = Array.from({ length: next() * 8 }, () => `l${next()}(${next()})\n`)
      const b = a.flatMap((l) => [[l], [l], [], [`l${next()}(x)\r\n`], [l.replace('\n', '\r\n')], [l, 'y\n']][next()]!)
      const p = [part(a.join(''), b.join(''))]
      const open = new Set(Array.from({ length: 80 }, (_, i) => `0:${i}`))
      for (const split of [false, true]) {
        const rows = layout(p, { split, open })
        const lines = rows.slice(0, rows.count).map(({ line }) => line)
        const of = (side: 'old' | 'next') => lines.flatMap((l) => (side in l && (l as { old: number; next: number })[side] >= 0 ? [(l as { old: number; next: number })[side]] : []))
        expect(of('old')).toEqual(a.map((_, i) => i))
        expect(of('next')).toEqual(b.map((_, i) => i))
      }
    }
  })
})

describe('marksOf', () => {
  it('finds the ranges of a line', () => {
    const marks = Uint32Array.from([1, 0, 2, 4, 1, 3, 4, 5, 6, 9, 0, 1])
    expect(marksOf(marks, 4)).toEqual([1, 3, 5, 6])
    expect(marksOf(marks, 2)).toEqual([])
    expect(marksOf(marks, 9)).toEqual([0, 1])
    expect(marksOf(new Uint32Array(), 0)).toEqual([])
  })
})
