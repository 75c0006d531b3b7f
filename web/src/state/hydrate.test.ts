import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import type { Message, MessagePage } from '@/api/types'
import { message } from '@/core/testing'
import { Hydration, pageSize } from './hydrate'

/** A Session of which the newest messages are loaded already. */
class Fake {
  readonly shown: string[] = []
  readonly sizes: number[] = []
  asked = 0
  open = 0
  most = 0
  refuse = 0
  cost = 1
  cursor: string | undefined
  private readonly all: Message[]

  constructor(count: number) {
    this.all = Array.from({ length: count }, (_, i) => message(`m${i}`, 'user', ['x']))
    this.cursor = count > 0 ? String(count) : undefined
  }

  readonly port = {
    before: () => this.cursor,
    page: async (before: string, limit: number): Promise<MessagePage> => {
      this.asked++
      this.most = Math.max(this.most, ++this.open)
      await new Promise((resolve) => setTimeout(resolve, 5))
      this.open--
      if (this.refuse-- > 0) throw new Error('refused')
      const from = Math.max(0, Number(before) - limit)
      return { messages: this.all.slice(from, Number(before)), before: from > 0 ? String(from) : undefined, seq: 1 }
    },
    put: async (page: MessagePage): Promise<number> => {
      this.sizes.push(page.messages!.length)
      this.shown.unshift(...page.messages!.map((m) => m.id))
      this.cursor = page.before
      return this.cost * page.messages!.length
    },
  }
}

const ids = (n: number) => Array.from({ length: n }, (_, i) => `m${i}`)

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

describe('Hydration', () => {
  it('loads everything in order, one request at a time', async () => {
    const core = new Fake(1000)
    const h = new Hydration(core.port)
    h.run()
    h.run()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(core.shown).toEqual(ids(1000))
    expect(core.most).toBe(1)
    expect(core.asked).toBe(1000 / pageSize)
    expect(h.active.value).toBe(false)
  })

  it('puts few messages in front when that is costly, and many when it is cheap', async () => {
    const dear = new Fake(400)
    dear.cost = 4
    new Hydration(dear.port).run()
    const cheap = new Fake(4000)
    cheap.cost = 0.01
    new Hydration(cheap.port).run()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(dear.shown).toEqual(ids(400))
    expect(Math.max(...dear.sizes.slice(1))).toBe(8)
    expect(Math.max(...cheap.sizes)).toBe(pageSize)
  })

  it('stops when it is told to, and goes on where it was without asking again', async () => {
    const core = new Fake(200)
    core.cost = 2
    const h = new Hydration(core.port)
    h.run()
    while (core.shown.length === 0) await vi.advanceTimersByTimeAsync(1)
    h.stop()
    await vi.advanceTimersByTimeAsync(60_000)
    const some = core.shown.length
    expect(some).toBeLessThan(100)
    expect(h.active.value).toBe(false)
    h.run()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(core.shown).toEqual(ids(200))
    expect(core.asked).toBe(1)
  })

  it('tries again after longer and longer rests, and at once when it is hurried', async () => {
    const core = new Fake(100)
    core.refuse = 3
    const h = new Hydration(core.port)
    h.run()
    await vi.advanceTimersByTimeAsync(500)
    expect([core.asked, h.failed.value]).toEqual([1, true])
    await vi.advanceTimersByTimeAsync(1000)
    expect(core.asked).toBe(2)
    await vi.advanceTimersByTimeAsync(1000)
    expect(core.asked).toBe(2)
    h.hurry()
    await vi.advanceTimersByTimeAsync(100)
    expect(core.asked).toBe(3)
    await vi.advanceTimersByTimeAsync(60_000)
    expect([core.shown.length, h.failed.value]).toEqual([100, false])
  })

  it('forgets a page when the Session was read anew and begins elsewhere', async () => {
    const core = new Fake(600)
    core.cost = 4
    const h = new Hydration(core.port)
    h.run()
    while (core.shown.length === 0) await vi.advanceTimersByTimeAsync(1)
    core.shown.length = 0
    core.cursor = '300'
    await vi.advanceTimersByTimeAsync(60_000)
    expect(core.shown).toEqual(ids(300))
  })
})
