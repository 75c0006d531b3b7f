import { afterEach, describe, expect, it, vi } from 'vitest'
import { compare } from '@/core/diff'
import { Comparer, useComparer, type DiffWorker } from './comparer'
import type { DiffRequest } from './diff.worker'

/** A worker that answers when it is told to. */
class Manual implements DiffWorker {
  onmessage: DiffWorker['onmessage'] = null
  onerror: DiffWorker['onerror'] = null
  readonly asked: DiffRequest[] = []
  ended = false

  postMessage(request: DiffRequest): void {
    this.asked.push(request)
  }

  terminate(): void {
    this.ended = true
  }

  answer(ok = true): void {
    const { id, segments } = this.asked.at(-1)!
    const comparisons = ok ? segments.map((s) => compare(s.old, s.next)) : null
    this.onmessage?.({ data: { id, comparisons } } as MessageEvent)
  }
}

function setUp() {
  const workers: Manual[] = []
  const comparer = new Comparer(() => {
    workers.push(new Manual())
    return workers.at(-1)!
  })
  return { comparer, workers }
}

const texts = [{ old: 'a', next: 'b' }]

describe('Comparer', () => {
  it('starts the worker at the first comparison and does one at a time', async () => {
    const { comparer, workers } = setUp()
    expect(workers).toHaveLength(0)
    const one = comparer.compare('1', texts)
    const two = comparer.compare('2', [...texts, ...texts])
    expect(workers[0]!.asked).toHaveLength(1)
    workers[0]!.answer()
    expect((await one)[0]!.added).toBe(1)
    expect(workers[0]!.asked).toHaveLength(2)
    workers[0]!.answer()
    expect(await two).toHaveLength(2)
    expect(workers).toHaveLength(1)
  })

  it('compares equal keys once, while it runs and afterwards', async () => {
    const { comparer, workers } = setUp()
    const both = Promise.all([comparer.compare('k', texts), comparer.compare('k', texts)])
    workers[0]!.answer()
    const [a, b] = await both
    expect(a).toBe(b)
    expect(await comparer.compare('k', texts)).toBe(a)
    expect(workers[0]!.asked).toHaveLength(1)
  })

  it('drops what nobody waits for', async () => {
    const { comparer, workers } = setUp()
    const first = comparer.compare('1', texts)
    const stop = new AbortController()
    const dropped = comparer.compare('2', texts, stop.signal)
    const third = comparer.compare('3', texts)
    stop.abort()
    await expect(dropped).rejects.toThrow('nobody waits')
    workers[0]!.answer()
    await first
    workers[0]!.answer()
    await third
    expect(workers[0]!.asked).toHaveLength(2)
    await expect(comparer.compare('4', texts, AbortSignal.abort())).rejects.toThrow('nobody waits')
    expect(workers[0]!.asked).toHaveLength(2)
  })

  it('says what failed and goes on with a new worker', async () => {
    const { comparer, workers } = setUp()
    const failed = comparer.compare('1', texts)
    workers[0]!.answer(false)
    await expect(failed).rejects.toThrow('could not be compared')
    const broken = comparer.compare('2', texts)
    workers[0]!.onerror?.({} as ErrorEvent)
    await expect(broken).rejects.toThrow('worker failed')
    const again = comparer.compare('2', texts)
    workers[1]!.answer()
    expect(await again).toHaveLength(1)
  })

  it('frees everything when closed (R-CHAT-104)', async () => {
    const { comparer, workers } = setUp()
    const known = comparer.compare('1', texts)
    workers[0]!.answer()
    await known
    const waiting = comparer.compare('2', texts)
    comparer.close()
    await expect(waiting).rejects.toThrow('ended')
    expect(workers[0]!.ended).toBe(true)
    void comparer.compare('1', texts).catch(() => undefined)
    expect(workers[1]!.asked).toHaveLength(1)
  })
})

describe('useComparer', () => {
  afterEach(() => vi.unstubAllGlobals())

  it('ends the worker with its last user', () => {
    const ended = vi.fn()
    vi.stubGlobal('Worker', class {
      postMessage = vi.fn()
      terminate = ended
    })
    const [a, b] = [useComparer(), useComparer()]
    expect(a.comparer).toBe(b.comparer)
    void a.comparer.compare('k', texts).catch(() => undefined)
    a.release()
    a.release()
    expect(ended).not.toHaveBeenCalled()
    b.release()
    expect(ended).toHaveBeenCalledOnce()
    const c = useComparer()
    expect(c.comparer).not.toBe(a.comparer)
    c.release()
  })
})
