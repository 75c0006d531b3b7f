import { describe, expect, it } from 'vitest'
import type { Body, Diff, Part, Permission, Tool } from '@/api/types'
import { changesOf, countsOf, groupIcon, kindOf, placesOf, titled } from './activity'
import { reduce } from './reduce'
import { RowBuilder, type ActivityRow, type Row, type SubagentRow } from './rows'
import { at, event, message, tool, view } from './testing'

const thought = (text = 'hm'): Omit<Part, 'id'> => ({ type: 'reasoning', text })
const streaming = { state: 'streaming' as const, messageId: 'm1' }

/** The rows of one answer, without its foot. */
function rowsOf(parts: Parameters<typeof message>[2], running = false, builder = new RowBuilder()): Row[] {
  const m = message('m1', 'assistant', parts, running ? {} : { end: { stopReason: 'end_turn', at } })
  return builder.build(view([], { live: m, turn: running ? streaming : { state: 'idle' } })).rows.filter((r) => r.type !== 'foot')
}

/** Rows in short: a group as the list of its items. */
function shape(rows: readonly Row[]): unknown[] {
  return rows.map((r) => (r.type === 'group' ? r.items.map((i) => i.key) : `${r.type} ${r.key}`))
}

function group(rows: readonly Row[]): Extract<Row, { type: 'group' }> {
  const found = rows.find((r) => r.type === 'group')
  if (!found) throw new Error('no group')
  return found
}

function subagents(rows: readonly Row[]): SubagentRow[] {
  return rows.filter((r) => r.type === 'subagent')
}

/** A generator of the same numbers in each run. */
function numbers(seed: number): (below: number) => number {
  return (below) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below
}

describe('groups', () => {
  it('joins two or more thoughts and calls, and leaves one alone (R-CHAT-077)', () => {
    expect(shape(rowsOf([tool('a')]))).toEqual(['tool m1.0'])
    expect(shape(rowsOf([thought()]))).toEqual(['reasoning m1.0'])
    expect(shape(rowsOf([thought(), tool('a'), tool('b')]))).toEqual([['m1.0', 'm1.1', 'm1.2']])
    expect(shape(rowsOf([thought(), 'so', tool('a')]))).toEqual(['reasoning m1.0', 'markdown m1.1:0', 'tool m1.2'])
  })

  it('breaks at text that is not blank, at attachments and at subagents (R-CHAT-078)', () => {
    const picture: Omit<Part, 'id'> = { type: 'attachment', attachment: { name: 'a.png' } }
    const rows = rowsOf([tool('a'), tool('b'), 'x', tool('c'), tool('d'), picture, tool('e'), tool('r', { subagent: {} }), tool('f')])
    expect(shape(rows)).toEqual([
      ['m1.0', 'm1.1'], 'markdown m1.2:0', ['m1.3', 'm1.4'], 'attachment m1.5', 'tool m1.6', 'subagent m1.7', 'tool m1.8',
    ])
    // A link definition shows nothing, and is text all the same.
    expect(shape(rowsOf([tool('a'), '[a]: /b', tool('b')]))).toEqual(['tool m1.0', 'tool m1.2'])
  })

  it('ends with the message (R-CHAT-077)', () => {
    const v = view([message('m1', 'assistant', [tool('a')]), message('m2', 'assistant', [tool('b')])])
    expect(shape(new RowBuilder().build(v).rows)).toEqual(['tool m1.0', 'foot m1:foot', 'tool m2.0', 'foot m2:foot'])
  })

  it('is neither broken nor joined by what nobody sees (R-CHAT-078)', () => {
    const hidden = tool('k', { parentToolCallId: 'r' })
    const blank = [' \n\u00a0', thought(' \n')]
    expect(shape(rowsOf([tool('r', { subagent: {} }), tool('a'), hidden, ...blank, tool('b')]))).toEqual([
      'subagent m1.0', ['m1.1', 'm1.5'],
    ])
    expect(shape(rowsOf([tool('r', { subagent: {} }), tool('a'), hidden, ...blank]))).toEqual(['subagent m1.0', 'tool m1.1'])
  })

  it('has the key of its first part, and keeps it as items come (R-CHAT-079)', () => {
    const parts = [thought(), tool('a'), tool('b'), tool('c')]
    const seen = [1, 2, 3, 4].map((n) => rowsOf(parts.slice(0, n), true)[0]!.key)
    expect(new Set(seen)).toEqual(new Set(['m1.0']))
  })

  it('counts by category in the order in which they first came (R-CHAT-080)', () => {
    const parts = [
      thought(), tool('1', { kind: 'edit' }), tool('2', { kind: 'read' }), tool('3', { kind: 'think' }), tool('4', { kind: 'edit' }),
      tool('5', { kind: 'what' as Tool['kind'] }), tool('6', { kind: 'other' }), tool('7', { kind: 'toString' as Tool['kind'] }),
    ]
    expect(countsOf(group(rowsOf(parts)).items)).toEqual([
      { kind: 'think', n: 2 }, { kind: 'edit', n: 2 }, { kind: 'read', n: 1 }, { kind: 'other', n: 3 },
    ])
  })

  it('takes the icon of the last working tool, else of the last tool, else of a thought (R-CHAT-081)', () => {
    const busy = { status: 'in_progress' as const }
    const icon = (parts: Parameters<typeof rowsOf>[0]) => groupIcon(group(rowsOf(parts, true)).items)
    expect(icon([tool('a', { kind: 'edit', ...busy }), tool('b', { kind: 'search', ...busy }), tool('c', { kind: 'read' })])).toBe('search')
    expect(icon([tool('a', { kind: 'edit' }), tool('b', { kind: 'fetch' }), thought()])).toBe('fetch')
    expect(icon([thought(), thought()])).toBe('think')
  })

  it('works while one of its items does, and not in a message that has ended (R-CHAT-081, 095)', () => {
    const parts = [tool('a', { status: 'pending' }), tool('b'), tool('c', { status: 'failed' })]
    expect(group(rowsOf(parts, true)).active).toBe(true)
    expect(group(rowsOf(parts, false)).active).toBe(false)
    expect(group(rowsOf([tool('a'), tool('b')], true)).active).toBe(false)
    expect(group(rowsOf([tool('a'), thought()], true)).active).toBe(true)
  })

  it('keeps the objects of its items when one more comes', () => {
    const b = new RowBuilder()
    let v = view([], { live: message('m1', 'assistant', [tool('a'), tool('b')]), turn: streaming })
    const one = group(b.build(v).rows).items
    v = reduce(v, [event(11, 'part', { messageId: 'm1', index: 2, part: { id: 'm1.2', ...tool('c') } })])
    const two = group(b.build(v).rows).items
    expect(two).toHaveLength(3)
    expect(two[0]).toBe(one[0])
    expect(two[1]).toBe(one[1])
    const row = group(b.build(v).rows)
    expect(group(b.build(reduce(v, [event(12, 'turn', streaming)])).rows)).toBe(row)
  })

  it('shows the parts in order, whatever they are (R-CHAT-077, 096)', () => {
    const random = numbers(3)
    for (let run = 0; run < 200; run++) {
      const parts = anyParts(random)
      const rows = rowsOf(parts)
      const shown = rows.flatMap((r): readonly Row[] => (r.type === 'group' ? r.items : [r])).map((r) => Number(/^m1\.(\d+)/.exec(r.key)?.[1]))
      expect(shown).toEqual([...shown].sort((a, b) => a - b))
      // Nothing that shows stands in a group, and something does between a group and the next.
      const runs = rows.map((r): readonly Row[] => (r.type === 'group' ? r.items : r.type === 'tool' || r.type === 'reasoning' ? [r] : []))
      for (const [i, run] of runs.entries()) {
        if (rows[i]!.type === 'group') expect(run.length).toBeGreaterThan(1)
        for (const [j, item] of run.entries()) if (j > 0) expect(textBetween(parts, run[j - 1]!, item)).toBe(false)
        const next = runs[i + 1]?.[0]
        if (run.length > 0 && next) expect(textBetween(parts, run.at(-1)!, next)).toBe(true)
      }
    }
  })

  it('is the same live and after a reload, at any order of events (R-CHAT-096)', () => {
    const random = numbers(11)
    for (let run = 0; run < 60; run++) {
      const m = message('m1', 'assistant', anyParts(random))
      const live = new RowBuilder()
      let v = view([], { live: message('m1', 'assistant'), turn: streaming })
      let seq = 10
      for (const [index, part] of m.parts.entries()) {
        // A call comes without its parent, its kind and its end first.
        const early = part.tool ? { ...part, tool: { ...part.tool, parentToolCallId: undefined, status: 'pending' as const } } : part
        v = reduce(v, [event(++seq, 'part', { messageId: 'm1', index, part: early })])
        live.build(v)
        if (random(3) === 0) v = reduce(v, [event(++seq, 'part', { messageId: 'm1', index, part })])
        live.build(v)
      }
      for (const index of m.parts.map((_, i) => i).sort(() => random(3) - 1)) {
        v = reduce(v, [event(++seq, 'part', { messageId: 'm1', index, part: m.parts[index]! })])
        live.build(v)
      }
      const fresh = new RowBuilder().build(view([], { live: m, turn: streaming })).rows
      expect(live.build(v).rows).toEqual(fresh)
    }
  })

  it('makes nothing of 2,000 calls again when one more comes', () => {
    const b = new RowBuilder()
    let read = 0
    const watch = (t: Tool): Tool => new Proxy(t, { get: (of, key) => (key === 'status' && read++, Reflect.get(of, key) as unknown) })
    const many = Array.from({ length: 2000 }, (_, i) => ({ type: 'tool' as const, tool: watch(tool(`c${i}`).tool!) }))
    let v = view([], { live: message('m1', 'assistant', many), turn: streaming })
    const before = group(b.build(v).rows)
    read = 0
    for (let i = 0; i < 20; i++) {
      const index = 2000 + i
      v = reduce(v, [event(11 + i, 'part', { messageId: 'm1', index, part: { id: `m1.${index}`, ...tool(`c${index}`) } })])
      b.build(v)
    }
    const after = group(b.build(v).rows)
    expect(after.items).toHaveLength(2020)
    expect(after.items.slice(0, 2000).every((item, i) => item === before.items[i])).toBe(true)
    expect(read).toBe(0)
  })
})

function textBetween(parts: readonly (string | Omit<Part, 'id'>)[], a: Row, b: Row): boolean {
  const [from, to] = [a, b].map((r) => Number(r.key.split('.')[1]))
  return parts.slice(from! + 1, to).some((p) => typeof p === 'string' && p.trim() !== '')
}

/** Parts of all sorts: texts that show and that do not, thoughts, calls, subagents and what belongs to them. */
function anyParts(random: (below: number) => number): (string | Omit<Part, 'id'>)[] {
  const id = (): string => `c${random(12)}`
  return Array.from({ length: random(14) }, (_, i) => {
    switch (random(9)) {
      case 0:
        return 'text\n\nmore'
      case 1:
        return ' \n'
      case 2:
        return thought()
      case 3:
        return thought(' ')
      case 4:
        return tool(`c${i}`, { subagent: {} })
      case 5:
        return tool(`c${i}`, { parentToolCallId: id() })
      case 6:
        return { type: 'text', text: 'child', parentToolCallId: id() }
      case 7:
        return '[a]: /b'
      default:
        return tool(`c${i}`)
    }
  })
}

describe('subagents', () => {
  it('stand alone, also several in a row, and hold what names them in part order (R-CHAT-106, 110)', () => {
    const rows = rowsOf([
      tool('a'), tool('r', { subagent: {} }), tool('s', { subagent: {} }),
      tool('1', { parentToolCallId: 's' }), tool('2', { parentToolCallId: 'r' }),
      { type: 'text', text: 'of r', parentToolCallId: 'r' }, { type: 'reasoning', text: 'of s', parentToolCallId: 's' },
      tool('b'),
    ])
    expect(shape(rows)).toEqual(['tool m1.0', 'subagent m1.1', 'subagent m1.2', 'tool m1.7'])
    const children = subagents(rows).map((s) => s.children.map((c) => `${c.level} ${c.row.type} ${c.row.key}`))
    expect(children).toEqual([['1 tool m1.4', '1 words m1.5'], ['1 tool m1.3', '1 reasoning m1.6']])
  })

  it('speak side by side: the last words of each may grow, until its call is final (R-CHAT-111)', () => {
    const parts = (done: Tool['status']) => [
      tool('r', { subagent: {}, status: 'in_progress' }), tool('s', { subagent: {}, status: done }), '```\ncode',
      { type: 'text' as const, text: 'of r', parentToolCallId: 'r' }, { type: 'reasoning' as const, text: 'of s', parentToolCallId: 's' },
    ]
    const live = (done: Tool['status'], running: boolean) => {
      const rows = rowsOf(parts(done), running)
      const spoken = subagents(rows).flatMap((s) => s.children.map((c) => 'active' in c.row && c.row.active))
      return [...spoken, ...rows.flatMap((r) => (r.type === 'code' ? [r.growing] : []))]
    }
    expect(live('in_progress', true)).toEqual([true, true, true])
    expect(live('completed', true)).toEqual([true, false, true])
    expect(live('in_progress', false)).toEqual([false, false, false])
  })

  it('indent by depth, at any depth and in any order (R-CHAT-108, 110)', () => {
    const rows = rowsOf([
      tool('deep', { parentToolCallId: 'inner' }), tool('inner', { subagent: {}, parentToolCallId: 'r' }),
      tool('r', { subagent: {} }), tool('flat', { parentToolCallId: 'r' }),
    ])
    const [r] = subagents(rows)
    expect(shape(rows)).toEqual(['subagent m1.2'])
    expect(r?.children.map((c) => [c.level, c.row.type, c.row.key])).toEqual([
      [2, 'tool', 'm1.0'], [1, 'subagent', 'm1.1'], [1, 'tool', 'm1.3'],
    ])
    const inner = r?.children[1]?.row
    expect(inner?.type === 'subagent' && [inner.level, inner.children.map((c) => c.row.key)]).toEqual([1, ['m1.0']])
  })

  it('include a call that only its children name (R-CHAT-106)', () => {
    expect(shape(rowsOf([tool('r'), tool('k', { parentToolCallId: 'r' })]))).toEqual(['subagent m1.0'])
  })

  it('take a child when its parent is told late (R-CHAT-108)', () => {
    const b = new RowBuilder()
    const parts = [tool('r', { subagent: {} }), tool('a'), tool('k')]
    let v = view([], { live: message('m1', 'assistant', parts), turn: streaming })
    expect(shape(b.build(v).rows)).toEqual(['subagent m1.0', ['m1.1', 'm1.2']])
    v = reduce(v, [event(11, 'part', { messageId: 'm1', index: 2, part: { id: 'm1.2', ...tool('k', { parentToolCallId: 'r' }) } })])
    expect(shape(b.build(v).rows)).toEqual(['subagent m1.0', 'tool m1.1'])
  })

  it('lose nothing to a link that leads nowhere or in a circle (R-CHAT-108)', () => {
    const rows = rowsOf([
      tool('a', { parentToolCallId: 'gone' }), 'x', tool('b', { parentToolCallId: 'b' }), 'x',
      tool('c', { parentToolCallId: 'd' }), 'x', tool('d', { parentToolCallId: 'c' }), 'x', tool('e', { parentToolCallId: 'c' }),
    ])
    expect(shape(rows).filter((r) => !String(r).startsWith('markdown'))).toEqual(['tool m1.0', 'tool m1.2', 'subagent m1.4', 'tool m1.6'])
    expect(subagents(rows)[0]?.children.map((c) => c.row.key)).toEqual(['m1.8'])
  })

  it('are running, completed, failed or interrupted (R-CHAT-111)', () => {
    const state = (running: boolean, extra: Partial<Tool>) => subagents(rowsOf([tool('r', { subagent: {}, ...extra })], running))[0]?.state
    expect(state(true, { status: 'pending' })).toBe('running')
    expect(state(true, { status: 'in_progress' })).toBe('running')
    expect(state(true, { status: 'completed' })).toBe('completed')
    expect(state(false, { status: 'failed' })).toBe('failed')
    expect(state(false, { status: 'in_progress' })).toBe('interrupted')
    expect(state(true, { status: 'in_progress', interrupted: true })).toBe('interrupted')
  })

  it('show the requests of everything below them (R-CHAT-111, decision 1)', () => {
    const ask = (id: string, toolCallId: string): Permission =>
      ({ id, sessionId: 's1', messageId: 'm1', title: '', options: [], requestedAt: at, toolCallId })
    const diffs: Diff[] = [{ path: '/a' }]
    const parts = [
      tool('r', { subagent: {} }), tool('s', { subagent: {}, parentToolCallId: 'r' }), tool('k', { parentToolCallId: 's', diffs }),
    ]
    const permissions = [ask('p1', 'k'), ask('p2', 'r'), ask('p3', 'elsewhere')]
    const { rows, footer } = new RowBuilder().build(view([], { live: message('m1', 'assistant', parts), permissions, turn: streaming }))
    expect(subagents(rows)[0]?.asks.map((a) => [a.permission.id, a.partId])).toEqual([['p2', 'm1.0'], ['p1', 'm1.2']])
    expect(subagents(rows)[0]?.asks[1]?.diffs).toBe(diffs)
    expect(footer.asks.map((p) => p.id)).toEqual(['p3'])
  })

  it('stay the same object while something else grows', () => {
    const b = new RowBuilder()
    const parts = [tool('r', { subagent: {} }), tool('k', { parentToolCallId: 'r' }), 'text']
    let v = view([], { live: message('m1', 'assistant', parts), turn: streaming })
    const one = b.build(v).rows[0]
    v = reduce(v, [event(11, 'delta', { messageId: 'm1', partId: 'm1.2', index: 2, kind: 'text', at: 4, text: ' more' })])
    expect(b.build(v).rows[0]).toBe(one)
    v = reduce(v, [event(12, 'part', { messageId: 'm1', index: 3, part: { id: 'm1.3', ...tool('l', { parentToolCallId: 'r' }) } })])
    const two = subagents(b.build(v).rows)[0]
    expect(two?.children[0]).toBe(subagents([one!])[0]?.children[0])
    expect(two?.children).toHaveLength(2)
  })
})

describe('the foot of an answer', () => {
  const diffs: Diff[] = [{ path: '/a' }]
  function foot(parts: Parameters<typeof message>[2], running: boolean, extra: Parameters<typeof message>[3] = {}) {
    const m = message('m1', 'assistant', parts, extra)
    const { rows } = new RowBuilder().build(view([], { live: m, turn: running ? streaming : { state: 'idle' } }))
    const at = rows.findIndex((r) => r.type === 'foot')
    if (at >= 0) expect(at).toBe(rows.length - 1)
    return rows[at]
  }

  it('tells when it began and ended', () => {
    const end = { stopReason: 'cancelled', at: '2026-03-04T10:00:07Z' }
    expect(foot(['hi'], false, { end })).toMatchObject({ startedAt: at, endedAt: end.at, hasText: true, stamp: '' })
    expect(foot([tool('a')], false, { updatedAt: '2026-03-04T10:00:03Z' })).toMatchObject({ endedAt: '2026-03-04T10:00:03Z', hasText: false })
  })

  it('stands while the answer streams only once a call changed a file', () => {
    expect(foot(['hi', tool('a')], true)).toBeUndefined()
    expect(foot(['hi', tool('a', { diffs, status: 'in_progress' })], true)).toMatchObject({ endedAt: '', stamp: expect.stringMatching(/./) as string })
  })

  it('does not close an answer that the turn has not named yet', () => {
    const m = message('m1', 'assistant', ['hi'])
    expect(new RowBuilder().build(view([m], { turn: { state: 'waiting' } })).rows.map((r) => r.type)).toEqual(['markdown'])
  })

  it('counts no change of a subagent, of a failed call, or of one that never finished (R-CHAT-097, 098)', () => {
    const end = { stopReason: 'end_turn', at }
    const changed = (...parts: Omit<Part, 'id'>[]) => foot(parts, false, { end })
    expect(changed(tool('r', { subagent: {}, diffs }), tool('k', { parentToolCallId: 'r', diffs }))).toMatchObject({ stamp: '' })
    expect(changed(tool('a', { diffs, status: 'failed' }))).toMatchObject({ stamp: '' })
    expect(changed(tool('a', { diffs, status: 'in_progress', interrupted: true }))).toMatchObject({ stamp: '' })
    expect(changed(tool('a', { diffs: [] }), tool('b', { diffs }))).toMatchObject({ stamp: expect.stringMatching(/./) as string })
  })

  it('knows no text of a subagent', () => {
    const words: Omit<Part, 'id'> = { type: 'text', text: 'child', parentToolCallId: 'r' }
    expect(foot([tool('r', { subagent: {} }), words, ' '], false)).toMatchObject({ hasText: false })
  })
})

describe('kinds', () => {
  it('are a closed list (R-CHAT-088)', () => {
    const kind = (k: string) => kindOf({ kind: k } as Tool)
    expect(['read', 'switch_mode', 'Read', '', 'toString', 'constructor'].map(kind)).toEqual(['read', 'switch_mode', 'other', 'other', 'other', 'other'])
  })
})

describe('the title of a thought', () => {
  it.each([
    ['**Reading the code**', 'Reading the code'],
    ['\n\n**Summary**\n', 'Summary'],
    ['**Title**\nbody **bold**', 'Title'],
    ['**Title** \r\n\r\nbody', 'Title'],
    ['**Bold** and more', ''],
    ['**Not yet', ''],
    ['I **think**', ''],
    ['****', ''],
    ['', ''],
  ])('of %j is %j', (text, title) => {
    expect(titled(text).title).toBe(title)
    const [row] = rowsOf([{ type: 'reasoning', text: text || 'x' }]) as ActivityRow[]
    expect(row).toMatchObject({ title: text ? title : '' })
  })

  it('does not stand in what follows', () => {
    expect(titled('\n**Title**\n\nbody')).toEqual({ title: 'Title', rest: '\nbody' })
    expect(titled('**Bold** and more').rest).toBe('**Bold** and more')
  })
})

describe('the changes of a call (R-CHAT-086, 101, 102)', () => {
  const body = (text: string): Body => ({ text, size: text.length })
  const change = (...diffs: Omit<Diff, 'path'>[]) =>
    changesOf({ diffs: diffs.map((d) => ({ path: '/a', ...d })) } as Tool).map((c) => c.change).join()

  it.each<[string, Omit<Diff, 'path'>[], string]>([
    ['no old text', [{ new: body('x') }], 'add'],
    ['an empty new file', [{ new: body('') }], 'add'],
    ['both texts', [{ old: body('x'), new: body('y') }], 'update'],
    ['an empty old text', [{ old: body(''), new: body('y') }], 'update'],
    ['no new text', [{ old: body('x') }], 'delete'],
    ['a text that became empty', [{ old: body('x'), new: body('') }], 'delete'],
    ['a hint that it was updated', [{ kind: 'update', old: body('x'), new: body('') }], 'update'],
    ['a hint of an update without old text', [{ kind: 'modify', new: body('x') }], 'update'],
    ['a hint that it is new', [{ kind: 'add', old: body(''), new: body('x') }], 'add'],
    ['a hint that it is gone', [{ kind: 'delete', old: body('x'), new: body('') }], 'delete'],
    ['a hint of a newer Agent', [{ kind: 'odd', old: body('x'), new: body('y') }], 'update'],
    ['new, then edited', [{ new: body('x') }, { old: body('x'), new: body('y') }], 'add'],
    ['edited, then gone', [{ old: body('x'), new: body('y') }, { kind: 'delete' }], 'delete'],
    ['gone, then new', [{ kind: 'delete', old: body('x') }, { kind: 'add', new: body('y') }], 'update'],
    ['new, then gone', [{ new: body('x') }, { kind: 'delete' }], 'delete'],
  ])('%s', (_, diffs, want) => expect(change(...diffs)).toBe(want))

  it('name each path once, in the order they came', () => {
    const diffs: Diff[] = [{ path: '/b', new: body('x') }, { path: '/a', old: body('x'), new: body('y') }, { path: '/b', old: body('x'), new: body('y') }]
    expect(changesOf({ diffs } as Tool)).toEqual([{ path: '/b', change: 'add' }, { path: '/a', change: 'update' }])
  })
})

describe('the places of a call (R-CHAT-087)', () => {
  it('stand once each, with their line', () => {
    const locations = [{ path: '/a', line: 3 }, { path: '/a' }, { path: '/a', line: 3 }, { path: '/a', line: 4 }, { path: '/a' }]
    expect(placesOf({ locations } as Tool).map((p) => [p.text, p.line])).toEqual([['/a:3', 3], ['/a', undefined], ['/a:4', 4]])
  })

  it.each([
    ['/a/b', true], ['C:\\a', true], ['d:/a', true], ['\\\\host\\share', true],
    ['a/b', false], ['./a', false], ['~/a', false], ['//host/a', false], ['C:a', false], ['\\\\host', false], ['file:///a', false], ['', false],
  ])('%s is absolute: %s', (path, absolute) => {
    expect(placesOf({ locations: [{ path }] } as Tool)[0]?.absolute).toBe(absolute)
  })
})
