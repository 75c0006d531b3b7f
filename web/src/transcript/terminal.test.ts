import { describe, expect, it } from 'vitest'
import { TINT, terminalColors, terminalLooks } from './terminal'

// The tokens of the page that they stand on or with; see styles/tokens.css.
const ground = ['#f4f6f9', '#12171e']
const text = ['#18212c', '#e4e9ef']

function channels(color: string): number[] {
  return [1, 3, 5].map((i) => Number.parseInt(color.slice(i, i + 2), 16))
}

function luminance(rgb: readonly number[]): number {
  const [r, g, b] = rgb.map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
}

function contrast(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p)
  return (x! + 0.05) / (y! + 0.05)
}

describe('colours of terminal output (R-CHAT-082)', () => {
  it.each(Object.entries(terminalColors))('%s can be read in light and dark', (_, pair) => {
    for (const i of [0, 1]) {
      expect(contrast(channels(pair[i]!), channels(ground[i]!))).toBeGreaterThanOrEqual(4.5)
      const tint = channels(pair[i]!).map((v, c) => (v * TINT + channels(ground[i]!)[c]! * (100 - TINT)) / 100)
      expect(contrast(channels(text[i]!), tint)).toBeGreaterThanOrEqual(4.5)
    }
  })

  it('makes rules of nothing but colours of ours', () => {
    for (let style = 1; style < 256; style++) {
      expect(terminalLooks(style)).toMatch(/^(?:(?:background-)?color: light-dark\([#a-z0-9 ,%()-]+\))?(?:; )?(?:text-decoration: (?:underline)? ?(?:line-through)?)?$/)
    }
    expect(terminalLooks(2)).toBe('color: light-dark(#1b6e34, #6cc98a)')
  })
})
