import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Client } from './client'
import { FailureError } from './failure'
import { EventStream, type StreamState } from './socket'
import type { StreamEvent, WindowContext } from './types'

class FakeSocket {
  onopen: (() => void) | null = null
  onmessage: ((e: { data: string }) => void) | null = null
  onclose: (() => void) | null = null
  closed = false
  constructor(readonly url: URLSearchParams) {}
  close(): void {
    this.closed = true
  }
  send(...events: [number, string][]): void {
    this.onmessage?.({ data: JSON.stringify(events.map(([seq, type]) => ({ seq, sessionId: 's', type, data: {} }))) })
  }
}

function setup() {
  const sockets: FakeSocket[] = []
  const states: StreamState[] = []
  const got: StreamEvent[][] = []
  let resets = 0
  const core = { run: 'r1', seq: 7, failure: null as FailureError | null, calls: 0 }
  const client = {
    window: null as WindowContext | null,
    register: async () => {
      core.calls++
      if (core.failure) throw core.failure
      return (client.window = { windowId: 'w1', role: 'workspace' as const, run: core.run, seq: core.seq })
    },
  }
  const stream = new EventStream({
    client,
    onEvents: (e) => got.push(e),
    onReset: () => resets++,
    onState: (s) => states.push(s),
    random: () => 1,
    open: (url) => {
      const s = new FakeSocket(new URLSearchParams(url.split('?')[1]))
      sockets.push(s)
      return s as unknown as WebSocket
    },
  })
  return { sockets, states, got, core, stream, resets: () => resets, last: () => sockets.at(-1)! }
}

const settle = () => vi.advanceTimersByTimeAsync(0)

describe('EventStream', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.useRealTimers()
  })

  it('begins at the position of the registration and resumes where it stopped', async () => {
    const x = setup()
    x.stream.connect()
    await settle()
    expect([x.last().url.get('after'), x.last().url.get('run')]).toEqual(['7', 'r1'])
    x.last().onopen?.()
    x.last().send([8, 'delta'], [9, 'delta'])
    await vi.advanceTimersByTimeAsync(300)
    x.last().onclose?.()
    await vi.advanceTimersByTimeAsync(300)
    expect(x.sockets).toHaveLength(2)
    expect([x.last().url.get('after'), x.last().url.get('run')]).toEqual(['9', 'r1'])
    x.stream.close()
  })

  it('gathers what arrives into one flush', async () => {
    const x = setup()
    x.stream.connect()
    await settle()
    x.last().send([8, 'delta'])
    x.last().send([9, 'delta'])
    expect(x.got).toHaveLength(0)
    await vi.advanceTimersByTimeAsync(300)
    expect(x.got.map((e) => e.map((v) => v.seq))).toEqual([[8, 9]])
    x.stream.close()
  })

  it('moves a dense stream in each frame, more rarely when that is costly, and a lone event at once', async () => {
    let cost = 0
    let now = 0
    vi.stubGlobal('document', { visibilityState: 'visible', addEventListener() {}, removeEventListener() {} })
    vi.stubGlobal('performance', { now: () => now })
    vi.stubGlobal('MessageChannel', class {
      port1 = { onmessage: null as (() => void) | null, close() {} }
      port2 = { postMessage: () => ((now += cost), this.port1.onmessage?.()) }
    })
    const frames: (() => void)[] = []
    vi.stubGlobal('requestAnimationFrame', (f: () => void) => frames.push(f))
    vi.stubGlobal('cancelAnimationFrame', () => {})
    /** How many frames of 16 ms pass until an event is handed over. */
    const waited = (x: ReturnType<typeof setup>, seq: number): number => {
      x.last().send([seq, 'delta'])
      const before = x.got.length
      let n = 0
      for (; x.got.length === before; n++) {
        now += 16
        frames.shift()!()
      }
      return n
    }
    const x = setup()
    x.stream.connect()
    await settle()
    cost = 4
    expect(waited(x, 8), 'a lone event').toBe(1)
    cost = 20
    expect(waited(x, 9), 'after 4 ms').toBe(1)
    cost = 900
    expect(waited(x, 10), 'after 20 ms').toBe(2)
    expect(waited(x, 11), 'after 900 ms').toBe(8)
    cost = 4
    now += 5000
    expect(waited(x, 12), 'a lone event again').toBe(1)
    expect(x.got.flat().map((e) => e.seq)).toEqual([8, 9, 10, 11, 12])
    x.stream.close()
  })

  it('backs off from 0.25 s to 5 s and never gives up', async () => {
    const x = setup()
    x.stream.connect()
    await settle()
    const waits: number[] = []
    for (let i = 0; i < 8; i++) {
      const before = x.sockets.length
      x.last().onclose?.()
      let waited = 0
      while (x.sockets.length === before) {
        await vi.advanceTimersByTimeAsync(50)
        waited += 50
      }
      waits.push(waited)
    }
    expect(waits).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000, 5000])
    expect(x.states).toContain('offline')
    x.stream.close()
  })

  it('stops at 401 and tells it from a dead network', async () => {
    const x = setup()
    x.stream.connect()
    await settle()
    x.core.failure = new FailureError({ code: 'NETWORK', message: '' }, 0)
    x.last().onclose?.()
    await vi.advanceTimersByTimeAsync(1000)
    expect(x.states.at(-1)).toBe('offline')
    x.core.failure = new FailureError({ code: 'UNAUTHORIZED', message: '' }, 401)
    await vi.advanceTimersByTimeAsync(6000)
    expect(x.states.at(-1)).toBe('unauthorized')
    const { calls } = x.core
    await vi.advanceTimersByTimeAsync(60_000)
    expect(x.core.calls).toBe(calls)
    x.core.failure = null
    x.stream.connect()
    await settle()
    x.last().onopen?.()
    expect(x.states.at(-1)).toBe('open')
    x.stream.close()
  })

  it('asks with the old run after a restart of Core, and goes on with the new one after the reset', async () => {
    const x = setup()
    x.stream.connect()
    await settle()
    x.last().onopen?.()
    x.last().send([8, 'delta'])
    x.core.run = 'r2'
    x.last().onclose?.()
    await vi.advanceTimersByTimeAsync(300)
    expect(x.last().url.get('run')).toBe('r1')
    x.last().send([3, 'reset'], [4, 'delta'])
    expect(x.resets()).toBe(1)
    await vi.advanceTimersByTimeAsync(300)
    expect(x.got.at(-1)?.map((e) => e.seq)).toEqual([4])
    x.last().onclose?.()
    await vi.advanceTimersByTimeAsync(600)
    expect([x.last().url.get('after'), x.last().url.get('run')]).toEqual(['4', 'r2'])
    x.stream.close()
  })

  it('connects again after the machine slept', async () => {
    const x = setup()
    x.stream.connect()
    await settle()
    x.last().onopen?.()
    vi.setSystemTime(Date.now() + 3_600_000)
    await vi.advanceTimersByTimeAsync(5000)
    expect(x.sockets).toHaveLength(2)
    expect(x.sockets[0]!.closed).toBe(true)
    x.stream.close()
  })

  it('ignores a socket that was replaced, and everything after close', async () => {
    const x = setup()
    x.stream.connect()
    await settle()
    const first = x.last()
    x.stream.connect()
    await settle()
    first.send([99, 'delta'])
    first.onclose?.()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(x.sockets).toHaveLength(2)
    expect(x.got).toHaveLength(0)
    x.stream.close()
    x.last().onclose?.()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(x.sockets).toHaveLength(2)
  })
})

describe('Client', () => {
  const context = { windowId: 'w2', role: 'workspace' as const, run: 'r', seq: 1 }

  function clientOf(answers: (path: string, init: RequestInit) => [number, unknown]) {
    const calls: { path: string; window?: string; body?: unknown }[] = []
    const kept = new Map<string, string>()
    const client = new Client({
      storage: {
        getItem: (k) => kept.get(k) ?? null,
        setItem: (k, v) => void kept.set(k, v),
        removeItem: (k) => void kept.delete(k),
      },
      path: () => '/chat',
      fetch: async (input, init = {}) => {
        const path = String(input)
        const headers = init.headers as Record<string, string>
        calls.push({ path, window: headers['X-Fyllo-Window'], body: init.body ? JSON.parse(String(init.body)) : undefined })
        const [status, body] = answers(path, init)
        return new Response(status === 204 ? null : typeof body === 'string' ? body : JSON.stringify(body), { status })
      },
    })
    return { client, calls, kept }
  }

  it('registers first and carries the window id', async () => {
    const { client, calls, kept } = clientOf((p) => (p === '/api/windows' ? [200, context] : [200, { agents: [] }]))
    await client.agents()
    expect(calls.map((c) => [c.path, c.window])).toEqual([
      ['/api/windows', undefined],
      ['/api/agents', 'w2'],
    ])
    expect(kept.get('fyllo.window')).toBe('w2')
  })

  it('registers again once when Core does not know the window', async () => {
    let first = true
    const { client, calls } = clientOf((p) => {
      if (p === '/api/windows') return [200, context]
      if (!first) return [200, { agents: [] }]
      first = false
      return [404, { error: { code: 'WINDOW_UNKNOWN', message: 'x' } }]
    })
    await client.agents()
    expect(calls.map((c) => c.path)).toEqual(['/api/windows', '/api/agents', '/api/windows', '/api/agents'])

    const forever = clientOf((p) => (p === '/api/windows' ? [200, context] : [404, { error: { code: 'WINDOW_UNKNOWN', message: 'x' } }]))
    await expect(forever.client.agents()).rejects.toMatchObject({ failure: { code: 'WINDOW_UNKNOWN' } })
    expect(forever.calls).toHaveLength(4)
  })

  it('turns every failure into one with a code', async () => {
    const failure = { code: 'SESSION_BUSY', message: 'm', hint: 'h', details: { a: 1 } }
    const { client } = clientOf((p) => (p === '/api/windows' ? [200, context] : [409, { error: failure }]))
    await expect(client.cancel('s')).rejects.toMatchObject({ failure, status: 409 })
    const odd = clientOf((p) => (p === '/api/windows' ? [200, context] : [502, '<html>']))
    await expect(odd.client.cancel('s')).rejects.toMatchObject({ failure: { code: 'INTERNAL' }, status: 502 })
    const dead = new Client({ storage: { getItem: () => null, setItem() {}, removeItem() {} }, path: () => '/', fetch: () => Promise.reject(new TypeError('x')) })
    await expect(dead.agents()).rejects.toMatchObject({ failure: { code: 'NETWORK' }, status: 0 })
  })

  it('sends no option when a request is cancelled, and reads bodies as text', async () => {
    const { client, calls } = clientOf((p) => (p === '/api/windows' ? [200, context] : p.includes('/body') ? [200, '{"not":"parsed"}'] : [200, {}]))
    await client.answer('s', 'p', 'r1', null)
    expect(calls.at(-1)?.body).toEqual({ requestId: 'r1' })
    expect(await client.body('s', { part: 'm.1', field: 'output' })).toBe('{"not":"parsed"}')
    expect(calls.at(-1)?.path).toBe('/api/sessions/s/body?part=m.1&field=output')
  })
})
