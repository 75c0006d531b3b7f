import { describe, expect, it } from 'vitest'
import { elapsed } from './elapsed'
import { prepend, reduce } from './reduce'
import { RowBuilder, type Rows, visibleText } from './rows'
import { Stick } from './stick'
import { at, event, message, tool, view } from './testing'

const keys = (b: RowBuilder, v: Parameters<RowBuilder['build']>[0]) => b.build(v).rows.map((r) => r.key)

describe('RowBuilder', () => {
  it('makes a row of every block', () => {
    const v = view([
      message('u1', 'user', ['hi']),
      message('m1', 'assistant', [{ type: 'reasoning', text: 'hm' }, 'one\n\ntwo\n\n```go\nx\n```', tool('c1'), '  \n']),
    ])
    const { rows } = new RowBuilder().build(v)
    expect(rows.map((r) => r.type)).toEqual(['user', 'reasoning', 'markdown', 'markdown', 'code', 'tool', 'foot'])
    expect(new Set(rows.map((r) => r.key)).size).toBe(rows.length)
  })

  it('gives live, reloaded and stored views the same rows and keys (R-CHAT-096)', () => {
    const text = 'para\n\n- a\n- b\n\n```ts\nlet x\n```\n\nend'
    const live = new RowBuilder()
    let v = view([message('u1', 'user', ['hi'])])
    for (let i = 0; i < text.length; i++) {
      v = reduce(v, [event(11 + i, 'delta', { messageId: 'm1', partId: 'm1.0', index: 0, kind: 'text', at: i, text: text[i]! })])
      live.build(v)
    }
    const stored = view([message('u1', 'user', ['hi']), message('m1', 'assistant', [text])])
    const strip = (b: RowBuilder, x: typeof v) => b.build(x).rows.filter((r) => r.type !== 'foot').map((r) => JSON.stringify(r))
    expect(strip(live, v).slice(1)).toEqual(strip(new RowBuilder(), stored).slice(1))
  })

  it('keeps the identity of rows that did not change', () => {
    const b = new RowBuilder()
    const v = view([message('u1', 'user', ['hi'])], { live: message('m1', 'assistant', ['a\n\nb\n\nc']) })
    const one = b.build(v).rows
    const two = b.build(reduce(v, [event(11, 'delta', { messageId: 'm1', partId: 'm1.0', index: 0, kind: 'text', at: 7, text: 'd' })])).rows
    expect(two.slice(0, 3)).toEqual(one.slice(0, 3))
    for (let i = 0; i < 3; i++) expect(two[i]).toBe(one[i])
    expect(two[3]).not.toBe(one[3])
  })

  it('keeps keys when an older page comes', () => {
    const b = new RowBuilder()
    const v = view([message('u2', 'user', ['b'])], {}, { before: 'x' })
    const before = keys(b, v)
    expect(keys(b, prepend(v, { messages: [message('u1', 'user', ['a'])], seq: 1 })).slice(1)).toEqual(before)
  })

  it('makes the rows of a fresh builder after any changes', () => {
    let seed = 7
    const random = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n
    const made = (i: number) => (i % 2 ? message(`m${i}`, 'assistant', ['a', tool(`c${i}`)]) : message(`m${i}`, 'user', [`q${i}`]))
    let first = 100
    let next = 104
    let seq = 10
    const b = new RowBuilder()
    let v = view(Array.from({ length: 4 }, (_, i) => made(first + i)), {}, { before: 'x' })
    const live = () => `m${next - 1}`
    const changes = [
      () => (v = prepend(v, { messages: [made(first - 2), made(first - 1)], seq: 1, before: 'x' })) && (first -= 2),
      () => (v = reduce(v, [event(++seq, 'message', made(next))])) && next++,
      () => (v = reduce(v, [event(++seq, 'delta', { messageId: live(), partId: `${live()}.9`, index: 3, kind: 'text', at: 0, text: 'hi' })])),
      () => (v = reduce(v, [event(++seq, 'turn', { state: 'streaming', messageId: `m${first + random(next - first)}` })])),
      () => (v = reduce(v, [event(++seq, 'turn', { state: 'idle' })])),
      () => {
        const id = `m${first + random(next - first)}`
        const toolCallId = id.replace('m', 'c')
        v = reduce(v, [event(++seq, 'permission', { id: `p${random(3)}`, sessionId: 's1', messageId: id, toolCallId, title: 'May I?', options: [], requestedAt: at })])
      },
      () => (v = { ...v, permissions: [] }),
      () => (v = { ...v, messages: v.messages.map((m) => (random(4) === 0 ? { ...m, end: { error: { code: 'X', message: 'x' }, at } } : m)) }),
    ]
    for (let i = 0; i < 80; i++) {
      changes[random(changes.length)]!()
      const { rows, footer } = b.build(v)
      const fresh = new RowBuilder().build(v)
      expect(JSON.stringify([rows, footer])).toBe(JSON.stringify([fresh.rows, fresh.footer]))
    }
  })

  it('copies the rows of a long transcript instead of making them', () => {
    const b = new RowBuilder()
    let v = view(Array.from({ length: 4000 }, (_, i) => message(`m${i}`, i % 2 ? 'assistant' : 'user', ['a'])))
    b.build(v)
    let read = 0
    const watched = v.messages.map((m) => new Proxy(m, { get: (t, k) => (k === 'parts' && read++, Reflect.get(t, k)) }))
    v = { ...v, messages: watched }
    b.build(v)
    read = 0
    b.build(reduce(v, [event(11, 'message', message('new', 'user', ['b']))]))
    expect(read).toBeLessThan(4)
  })

  it('never shows reminders (R-CHAT-157)', () => {
    const m = message('u1', 'user', [{ type: 'reminder', text: 'secret' }, 'hello'])
    expect(visibleText(m)).toBe('hello')
    expect(JSON.stringify(new RowBuilder().build(view([m])).rows)).not.toContain('secret')
  })

  it('lets only unfinished tools of the running message shimmer (R-CHAT-083, 095)', () => {
    const parts = [tool('c1', { status: 'in_progress' }), tool('c2'), tool('c3', { status: 'pending', interrupted: true })]
    const active = (running: boolean) => {
      const turn = running ? { state: 'streaming' as const, messageId: 'm1' } : { state: 'idle' as const }
      const { rows } = new RowBuilder().build(view([], { live: message('m1', 'assistant', parts), turn }))
      return rows.flatMap((r) => (r.type === 'group' ? r.items : [])).map((r) => r.active)
    }
    expect(active(true)).toEqual([true, false, false])
    expect(active(false)).toEqual([false, false, false])
  })

  it('places a request at its tool, and below the rows when there is none', () => {
    const base = { sessionId: 's1', messageId: 'm1', title: '', options: [], requestedAt: at }
    const permissions = [{ ...base, id: 'p1', toolCallId: 'c1' }, { ...base, id: 'p2' }]
    const { rows, footer } = new RowBuilder().build(view([], { live: message('m1', 'assistant', [tool('c1')]), permissions }))
    expect(rows.flatMap((r) => (r.type === 'tool' ? r.asks : []))).toEqual([{ permission: permissions[0], partId: 'm1.0', diffs: [] }])
    expect(footer.asks.map((p) => p.id)).toEqual(['p2'])
  })

  it('offers to send again at the last failed turn only, and not while one runs', () => {
    const end = { error: { code: 'AGENT_EXITED', message: 'gone' }, at }
    const messages = [message('u1', 'user', ['a']), message('m1', 'assistant', ['x'], { end }), message('u2', 'user', ['b'], { end })]
    const retries = (state: 'idle' | 'waiting') =>
      new RowBuilder().build(view(messages, { turn: { state } })).rows.flatMap((r) => (r.type === 'end' ? [r.retry] : []))
    expect(retries('idle')).toEqual([null, 'u2'])
    expect(retries('waiting')).toEqual([null, null])
  })

  it('says nothing about a plain end', () => {
    const m = message('m1', 'assistant', ['x'], { end: { stopReason: 'end_turn', at } })
    expect(new RowBuilder().build(view([m])).rows.map((r) => r.type)).toEqual(['markdown', 'foot'])
  })

  it('counts the wait from the prompt and the work from the first content (decision 13, R-CHAT-074)', () => {
    const turn = { startedAt: at, firstContentAt: '2026-03-04T10:00:05Z', lastActivityAt: '2026-03-04T10:00:09Z' }
    const footer = (state: 'waiting' | 'streaming') => new RowBuilder().build(view([], { turn: { state, ...turn } })).footer
    expect(footer('waiting').since).toBe(Date.parse(at))
    expect(footer('streaming').since).toBe(Date.parse(at) + 5000)
    expect(footer('streaming').lastActivity).toBe(Date.parse(at) + 9000)
  })

  it('shows much new text over several builds, in steps as large as fit into a frame', () => {
    const b = new RowBuilder()
    const grown = (rows: Rows) => rows.rows.reduce((n, row) => n + (row.type === 'markdown' ? row.block.text.length : 0), 0)
    const line = 'Words and a face 😀.\n\n'
    const text = line.repeat(4000)
    let v = view([], { live: message('m1', 'assistant', [text.slice(0, 40_000)]) })
    expect(grown(b.build(v)), 'the first time').toBe(40_000)
    v = reduce(v, [event(11, 'delta', { messageId: 'm1', partId: 'm1.0', index: 0, kind: 'text', at: 40_000, text: text.slice(40_000) })])
    let shown = 40_000
    const steps = [4, 8, 6, 1000].map((time) => {
      const rows = b.build(v)
      expect(rows.again).toBe(true)
      expect(JSON.stringify(rows.rows)).not.toContain('\\ud83d"') // half a face
      b.took(time)
      const step = grown(rows) - shown
      shown += step
      return step
    })
    expect(steps).toEqual([1024, 1280, 1119, 1306])
    for (let n = 0; b.build(v).again; n++) {
      expect(n, 'a slow page does not wait for ever either').toBeLessThan(300)
      b.took(1000)
    }
    expect(grown(b.build(v))).toBe(text.length)
    expect(b.build(v)).toMatchObject({ again: false })
  })
})

describe('elapsed (R-CHAT-074)', () => {
  const s = 1000
  const m = 60 * s
  const h = 60 * m
  const d = 24 * h
  it.each([
    [-5, 'elapsed.s', { s: 0 }],
    [999, 'elapsed.s', { s: 0 }],
    [42 * s + 999, 'elapsed.s', { s: 42 }],
    [59 * s, 'elapsed.s', { s: 59 }],
    [m, 'elapsed.ms', { m: 1, s: '00' }],
    [12 * m + 8 * s, 'elapsed.ms', { m: 12, s: '08' }],
    [h - 1, 'elapsed.ms', { m: 59, s: '59' }],
    [h, 'elapsed.h', { h: 1 }],
    [h + 59 * s, 'elapsed.h', { h: 1 }],
    [h + 12 * m, 'elapsed.hm', { h: 1, m: 12 }],
    [d - 1, 'elapsed.hm', { h: 23, m: 59 }],
    [d, 'elapsed.d', { d: 1 }],
    [d + 3 * h, 'elapsed.dh', { d: 1, h: 3 }],
  ])('%d ms is %s %o', (ms, key, params) => {
    expect(elapsed(ms)).toEqual({ key, params })
  })
})

describe('Stick (R-CHAT-007)', () => {
  it('follows the end within 48 px only', () => {
    const stick = new Stick()
    stick.scrolled(1000, 0, 1500)
    stick.scrolled(900, 100, 1500)
    expect(stick.stuck).toBe(false)
    stick.scrolled(940, 60, 1500)
    expect(stick.stuck).toBe(false)
    stick.scrolled(955, 45, 1500)
    expect(stick.stuck).toBe(true)
  })

  it('leaves at a small turn of the wheel upwards and stays away', () => {
    const stick = new Stick()
    stick.scrolled(1000, 0, 1500)
    stick.leave()
    stick.scrolled(990, 10, 1500)
    expect(stick.stuck).toBe(false)
  })

  it('stays when the content grows under it', () => {
    const stick = new Stick()
    stick.scrolled(1000, 0, 1500)
    stick.scrolled(1000, 500, 2000)
    expect(stick.stuck).toBe(true)
  })

  it('stays when rows shrank, the browser moved the view for it, and more came before the event', () => {
    const stick = new Stick()
    stick.scrolled(1853, 0, 2584)
    stick.scrolled(1729, 112, 2572)
    expect(stick.stuck).toBe(true)
  })

  it('leaves when a person drags while the content changes', () => {
    const stick = new Stick()
    stick.scrolled(1853, 0, 2584)
    stick.hold(true)
    stick.scrolled(1729, 112, 2572)
    expect(stick.stuck).toBe(false)
  })
})
