import { describe, expect, it } from 'vitest'

import { short, SHORT, shortPath } from './short'

describe('what is too long for a line', () => {
  it('is cut with a sign of it, a path in its middle', () => {
    expect(short('a'.repeat(SHORT))).toBe('a'.repeat(SHORT))
    expect(short('a'.repeat(SHORT) + 'b')).toBe(`${'a'.repeat(SHORT)}…`)
    expect(shortPath(`/${'a'.repeat(SHORT - 1)}`)).toHaveLength(SHORT)
    expect(shortPath(`/begin/${'a'.repeat(300_000)}/end.ts`)).toMatch(/^\/begin\/a{493}…a{493}\/end\.ts$/)
  })

  it('is not cut inside of a character', () => {
    const text = `a${'😀'.repeat(300_000)}`
    expect(short(text)).toBe(`a${'😀'.repeat(499)}…`)
    expect(shortPath(text)).toBe(`a${'😀'.repeat(249)}…${'😀'.repeat(250)}`)
  })
})
