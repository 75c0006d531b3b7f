import { describe, expect, it } from 'vitest'
import { piecesOf } from './pieces'

const show = (line: string, marks: number[] = []) =>
  piecesOf(line, marks).pieces.map((p) => (p.marked ? `[${p.label ?? p.text}]` : (p.label ?? p.text)))
const joined = (line: string, marks: number[] = []) => piecesOf(line, marks).pieces.map((p) => p.text).join('')

describe('piecesOf', () => {
  it('parts a line at its marks', () => {
    expect(show('abcdef', [0, 1, 3, 5])).toEqual(['[a]', 'bc', '[de]', 'f'])
    expect(show('abc')).toEqual(['abc'])
    expect(show('', [])).toEqual([])
  })

  it('names what nobody sees, and keeps the text itself', () => {
    const trojan = 'if (a) {\u202E // x\u2066 } \u001B[31m'
    expect(show(trojan)).toEqual(['if (a) {', '⟨U+202E⟩', ' // x', '⟨U+2066⟩', ' } ', '⟨U+001B⟩', '[31m'])
    expect(joined(trojan, [3, 12])).toBe(trojan)
    expect(show('over\rwritten\r')).toEqual(['over', '⟨U+000D⟩', 'written', '⟨U+000D⟩'])
    expect(show('⟨U+202E⟩ 👩‍👩‍👧 ❤️', [])).toEqual(['⟨U+202E⟩ 👩‍👩‍👧 ❤️'])
    expect(show('a\u200Bb', [1, 2])).toEqual(['a', '[⟨U+200B⟩]', 'b'])
  })

  it('draws of a very long line the part that changed', () => {
    const line = 'x'.repeat(20_000) + 'y' + 'x'.repeat(20_000)
    const { pieces, before, after } = piecesOf(line, [20_000, 20_001])
    expect([before, after]).toEqual([19_800, 15_201])
    expect(pieces.map((p) => p.text.length)).toEqual([200, 1, 4799])
    expect(piecesOf('z'.repeat(9000), [])).toMatchObject({ before: 0, after: 4000 })
    expect(piecesOf('z'.repeat(9000), [8990, 9000])).toMatchObject({ before: 4000, after: 0 })
  })

  it('never cuts a character in two', () => {
    const { pieces } = piecesOf('😀'.repeat(6000), [4001 * 2, 4002 * 2])
    expect(pieces.map((p) => p.text).join('')).toMatch(/^(?:😀)+$/u)
  })
})
