import { describe, expect, it } from 'vitest'
import { unified } from './diff'

const show = (old: string | undefined, next: string | undefined) =>
  unified(old, next)?.map((l) => ({ add: '+', delete: '-', same: ' ', gap: '~' })[l.kind] + l.text)

describe('unified', () => {
  it('shows a new and a deleted file whole', () => {
    expect(show(undefined, 'a\nb\n')).toEqual(['+a', '+b'])
    expect(show('a\n', undefined)).toEqual(['-a'])
    expect(show(undefined, '')).toEqual([])
  })

  it('keeps three lines around a change and marks what lies between', () => {
    const lines = Array.from({ length: 30 }, (_, i) => `l${i}`)
    const next = lines.map((l, i) => (i === 4 || i === 25 ? l + '!' : l))
    const got = show(lines.join('\n'), next.join('\n'))!
    expect(got.slice(0, 5)).toEqual([' l1', ' l2', ' l3', '-l4', '+l4!'])
    expect(got.filter((l) => l === '~')).toHaveLength(1)
    expect(got).not.toContain(' l15')
  })

  it('leaves out the mark of a missing last newline', () => {
    expect(show('a', 'b')).toEqual(['-a', '+b'])
  })

  it('gives up on a comparison that takes too long', () => {
    const many = (seed: number) => Array.from({ length: 20000 }, (_, i) => String((i * seed) % 9973)).join('\n')
    expect(unified(many(7), many(13))).toBeNull()
  })
})
