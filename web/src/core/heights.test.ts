import { describe, expect, it } from 'vitest'
import { guessHeight, Heights } from './heights'
import { RowBuilder } from './rows'
import { message, tool, view } from './testing'

const rows = (keys: string) => [...keys].map((key) => ({ key }))
const tops = (h: Heights<{ key: string }>, n: number) => Array.from({ length: n + 1 }, (_, i) => h.topOf(i))

describe('Heights', () => {
  it('stacks guesses and what was measured', () => {
    const h = new Heights(() => 10)
    h.set(rows('abc'))
    expect(tops(h, 3)).toEqual([0, 10, 20, 30])
    expect(h.measure(1, 25)).toBe(true)
    expect(h.measure(1, 25)).toBe(false)
    expect(tops(h, 3)).toEqual([0, 10, 35, 45])
    expect(h.total).toBe(45)
  })

  it('keeps heights with their rows, wherever others come and go', () => {
    const h = new Heights(() => 10)
    h.set(rows('def'))
    h.measure(0, 1)
    h.measure(1, 2)
    h.measure(2, 3)
    h.set(rows('abdef'))
    expect(tops(h, 5)).toEqual([0, 10, 20, 21, 23, 26])
    h.set(rows('abdxfg'))
    expect(tops(h, 6)).toEqual([0, 10, 20, 21, 31, 34, 44])
    h.set(rows('f'))
    expect(h.total).toBe(3)
    h.set(rows(''))
    expect(h.total).toBe(0)
    h.set(rows('zf'))
    expect(h.total).toBe(20)
  })

  it('says which row a place lies in', () => {
    const h = new Heights(() => 10)
    h.set(rows('abcd'))
    expect([-5, 0, 9, 10, 39, 40, 999].map((y) => h.indexAt(y))).toEqual([0, 0, 0, 1, 3, 3, 3])
    h.measure(1, 0)
    expect(h.indexAt(10)).toBe(2)
    expect(new Heights(() => 1).indexAt(5)).toBe(0)
  })

  it('equals a sum made anew after any changes', () => {
    let seed = 3
    const random = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n
    const h = new Heights((r: { key: string }) => 10 + (Number(r.key) % 7))
    let now: { key: string }[] = []
    const truth = new Map<string, number>()
    let front = 1000
    let back = 1000
    for (let i = 0; i < 120; i++) {
      if (random(3) === 0) now = [...Array.from({ length: random(5) }, () => ({ key: String(--front) })).reverse(), ...now]
      if (random(3) === 0) now = [...now, ...Array.from({ length: random(5) }, () => ({ key: String(back++) }))]
      if (random(9) === 0) now = now.slice(0, -1)
      for (const key of truth.keys()) if (!now.some((r) => r.key === key)) truth.delete(key)
      h.set(now)
      if (now.length > 0) {
        const at = random(now.length)
        truth.set(now[at]!.key, random(90))
        h.measure(at, truth.get(now[at]!.key)!)
      }
      const sums = [0]
      for (const r of now) sums.push(sums.at(-1)! + (truth.get(r.key) ?? 10 + (Number(r.key) % 7)))
      expect(tops(h, now.length)).toEqual(sums)
    }
  })
})

it('guesses more for more', () => {
  const made = new RowBuilder().build(
    view([message('u', 'user', ['hi']), message('m', 'assistant', ['short', tool('c'), `${'long '.repeat(100)}`, '```\n' + 'x\n'.repeat(9000) + '```'])]),
  ).rows
  const [user, short, call, long, code] = made.map(guessHeight)
  expect([user! > 20, short! > 20, call! > 20]).toEqual([true, true, true])
  expect(long).toBeGreaterThan(short! * 3)
  expect(code).toBe(600)
})
