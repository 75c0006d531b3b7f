import { describe, expect, it } from 'vitest'
import { message } from './testing'
import {
  activeAt, guidesOf, heightOf, itemAt, itemOf, lineOfView, offsetFor, PromptItems, underWay, Wheel, windowAround,
} from './timeline'

const image = (name?: string) => ({ type: 'attachment' as const, attachment: { mime: 'image/png', name } })
const file = (name?: string, uri?: string) => ({ type: 'attachment' as const, attachment: { mime: 'text/plain', name, uri } })
const reminder = (text: string) => ({ type: 'reminder' as const, text })

describe('items (R-CHAT-063)', () => {
  it.each([
    ['text', ['  Fix\n\nthe   bug '], { kind: 'text', text: 'Fix the bug' }],
    ['text before attachments', [image(), 'Look'], { kind: 'text', text: 'Look' }],
    ['text behind a reminder', [reminder('rules'), 'Look'], { kind: 'text', text: 'Look' }],
    ['one image', [image('a.png')], { kind: 'attachments', images: 1, files: [] }],
    ['images', ['  \n', image(), image()], { kind: 'attachments', images: 2, files: [] }],
    ['files', [file('a.txt'), file(undefined, 'file:///x/b.txt'), file()], { kind: 'attachments', images: 0, files: ['a.txt', 'b.txt', ''] }],
    ['both', [image(), file('a.txt')], { kind: 'attachments', images: 1, files: ['a.txt'] }],
  ])('%s', (_, parts, item) => {
    expect(itemOf(message('u', 'user', parts))).toEqual({ key: 'u', ...item })
  })

  it('leaves out what nobody wrote', () => {
    expect(itemOf(message('u', 'user', [reminder('rules')]))).toBeNull()
    expect(itemOf(message('u', 'user', ['  ']))).toBeNull()
    expect(new PromptItems().of([message('a', 'assistant', ['words']), message('u', 'user', [reminder('rules')])])).toEqual([])
  })

  it('cuts a long text without halving a character', () => {
    const item = itemOf(message('u', 'user', [`${'a'.repeat(199)}🚀${'b'.repeat(1e6)}`]))
    expect(item).toMatchObject({ text: 'a'.repeat(199) })
  })

  it('keeps the list while an answer grows', () => {
    const prompts = new PromptItems()
    const user = [message('u1', 'user', ['a']), message('u2', 'user', ['b'])]
    const first = prompts.of([...user, message('m', 'assistant', ['x'])])
    expect(prompts.of([...user, message('m', 'assistant', ['xy'])])).toBe(first)
    expect(prompts.of([...user, message('u3', 'user', ['c'])]).map((i) => i.key)).toEqual(['u1', 'u2', 'u3'])
  })
})

it.each([
  [2, 2, 36], [3, 3, 36], [4, 4, 42], [7, 7, 84], [10, 10, 126], [11, 10, 164], [5000, 10, 164],
])('%i items have %i guides on %i px (R-CHAT-064)', (n, guides, height) => {
  expect([guidesOf(n), heightOf(n)]).toEqual([guides, height])
})

describe('pointing (R-CHAT-065)', () => {
  it('reaches every item, in order, from anywhere', () => {
    for (const n of [2, 3, 10, 11, 163, 5000]) {
      const seen = Array.from({ length: 4 * n + 1 }, (_, i) => itemAt(i / (4 * n), n))
      expect([...new Set(seen)]).toEqual(Array.from({ length: n }, (_, i) => i))
      for (let i = 0; i < n; i++) expect(itemAt(i / (n - 1), n)).toBe(i)
      expect([itemAt(-3, n), itemAt(7, n)]).toEqual([0, n - 1])
    }
  })
})

describe('the window (R-CHAT-066)', () => {
  it.each([
    [0, 12, 0, 5], [1, 12, 0, 5], [2, 12, 0, 5], [3, 12, 1, 6], [9, 12, 7, 12], [11, 12, 7, 12], [0, 2, 0, 2], [1, 3, 0, 3], [4, 5, 0, 5],
  ])('around %i of %i', (index, n, from, to) => {
    expect(windowAround(index, n)).toEqual({ from, to })
  })

  it('holds five entries and the one pointed at', () => {
    for (let n = 2; n < 30; n++) {
      for (let i = 0; i < n; i++) {
        const { from, to } = windowAround(i, n)
        expect(to - from).toBe(Math.min(5, n))
        expect(from >= 0 && to <= n && from <= i && i < to).toBe(true)
      }
    }
  })
})

describe('the active item (R-CHAT-070)', () => {
  it.each([
    [-1, 0], [0, 0], [99, 0], [100, 1], [349, 2], [350, 3], [9e9, 3],
  ])('at the line %i it is %i', (line, active) => {
    const tops = [0, 100, 200, 350]
    expect(activeAt(line, 4, (i) => tops[i]!)).toBe(active)
  })

  it('is what a search through all finds, at the cost of few tops', () => {
    const tops = Array.from({ length: 5000 }, (_, i) => 40 * i + (i % 7) * 5)
    for (let line = -50; line < 200_100; line += 997) {
      let asked = 0
      const active = activeAt(line, tops.length, (i) => (asked++, tops[i]!))
      expect(active).toBe(Math.max(0, tops.findLastIndex((top) => top <= line)))
      expect(asked).toBeLessThan(14)
    }
  })

  it('is the item that was located, however near the next one is', () => {
    const line = lineOfView(600)
    for (let gap = 10; gap < 900; gap += 7) {
      const offset = offsetFor(line, gap)
      expect(offset >= 0 && offset <= line).toBe(true)
      expect(offset + gap).toBeGreaterThan(line)
      if (gap > line + 2) expect(offset).toBe(0)
    }
  })

  it.each([
    [900, 0, true], [-900, 1199, true], [4, 100, true], [3, 100, false], [-3, 100, false], [900, 1200, false],
  ])('stays the target at %i px after %i ms: %s', (distance, elapsed, stays) => {
    expect(underWay(distance, elapsed)).toBe(stays)
  })
})

describe('the wheel (R-CHAT-068)', () => {
  it.each([
    ['notches of a mouse', true, [100, 120, 53, -100], [1, 1, 1, -1]],
    ['lines', false, [3, 3, -3], [1, 1, -1]],
    ['steps of a touchpad', true, [15, 15, 15, 5, -15, -15, -15], [0, 0, 1, 0, 0, 0, -1]],
  ])('%s', (_, inPixels, deltas, steps) => {
    const wheel = new Wheel()
    expect(deltas.map((d) => wheel.turn(d, inPixels))).toEqual(steps)
  })
})
