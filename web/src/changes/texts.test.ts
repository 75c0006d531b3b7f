import { describe, expect, it } from 'vitest'
import type { FileText } from '@/api/types'
import { compare } from '@/core/diff'
import { Texts } from './texts'

const file = (path: string, over: Partial<FileText> = {}): FileText => ({
  path, change: 'modified', version: 'v', segments: 1, oldSize: 1, newSize: 1, texts: [{ old: 'a\n', new: 'b\nc\n' }], ...over,
})
const comparer = { compare: async (_: string, segments: readonly { old?: string; next?: string }[]) => segments.map((s) => compare(s.old, s.next)) }
const never = new AbortController().signal

describe('Texts', () => {
  it('adds up what came and went in all segments (R-CHAT-105)', async () => {
    const texts = new Texts(async (p) => file(p, { texts: [{ old: 'a\n', new: 'b\nc\n' }, { old: 'x\n', new: 'y\n' }] }), comparer)
    expect(await texts.load('/a', never)).toMatchObject({ added: 3, removed: 2, whole: false, coarse: false })
  })

  it('knows line numbers only of whole files (R-CHAT-105)', async () => {
    const load = (over: Partial<FileText>) => new Texts(async (p) => file(p, over), comparer).load('/a', never)
    expect((await load({ change: 'added', texts: [{ new: 'a' }] })).whole).toBe(true)
    expect((await load({ change: 'deleted', texts: [{ old: 'a' }] })).whole).toBe(true)
    expect((await load({ change: 'added', texts: [{ new: 'a' }, { new: 'b' }] })).whole).toBe(false)
    expect((await load({})).whole).toBe(false)
  })

  it('fetches four at a time, in order, and none that is not wanted any more', async () => {
    const asked: string[] = []
    const answers: (() => void)[] = []
    const texts = new Texts((p) => {
      asked.push(p)
      return new Promise((resolve) => answers.push(() => resolve(file(p))))
    }, comparer)
    const stop = new AbortController()
    const first = ['1', '2', '3', '4'].map((p) => texts.load(p, never))
    const fifth = texts.load('5', stop.signal)
    const sixth = texts.load('6', never)
    await expect.poll(() => asked).toEqual(['1', '2', '3', '4'])
    stop.abort()
    answers[1]!()
    await expect(fifth).rejects.toThrow()
    await expect.poll(() => asked).toEqual(['1', '2', '3', '4', '6'])
    answers.forEach((answer) => answer())
    await Promise.all([...first, sixth])
  })
})
