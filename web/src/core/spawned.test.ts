import { describe, expect, it } from 'vitest'

import type { Message, SpawnSummary } from '@/api/types'

import { joined, parted, stateOf } from './spawned'

const summary = (s: Partial<SpawnSummary>): SpawnSummary => ({
  sessionId: 'session-1', agentId: 'a', agentName: 'A', scope: { kind: 'folder', name: 'p' }, status: 'idle', updatedAt: '2026-01-01T00:00:00Z', ...s,
})

describe('stateOf (R-SPAWN-120)', () => {
  it.each([
    [{ status: 'starting', mode: 'sync' }, 'starting'],
    [{ status: 'running', mode: 'sync' }, 'running'],
    [{ status: 'idle', mode: 'background' }, 'completed'],
    [{ status: 'idle' }, 'unsent'],
    [{ status: 'error', mode: 'sync' }, 'failed'],
    [{ status: 'expired', mode: 'sync' }, 'expired'],
    [{ status: 'interrupted', mode: 'sync' }, 'interrupted'],
  ])('%j is %s', (s, want) => expect(stateOf(summary(s))).toBe(want))
})

describe('joined', () => {
  it('keeps what says the same', () => {
    const old = { a: { x: 1, y: [1, { z: 'q' }] }, b: [{ n: 1 }, { n: 2 }] }
    const fresh = structuredClone(old)
    expect(joined(old, fresh)).toBe(old)
    fresh.b[1]!.n = 3
    const next = joined(old, fresh)
    expect(next).toEqual(fresh)
    expect(next.a).toBe(old.a)
    expect(next.b[0]).toBe(old.b[0])
    expect(next.b[1]).not.toBe(old.b[1])
  })

  it('sees what was added, what is gone, and another kind of value', () => {
    for (const [old, fresh] of [
      [{ a: 1 }, { a: 1, b: 2 }], [{ a: 1, b: 2 }, { a: 1 }], [[1], [1, 2]], [[1, 2], [1]], [{ a: [] }, { a: {} }],
      [{ a: undefined }, {}], [null, { a: 1 }], [{ a: 1 }, null], [[], {}], ['1', 1],
    ] as [unknown, unknown][]) {
      expect(joined(old, fresh)).toEqual(fresh)
    }
  })
})

it('an answer is parted in what was done and what was said; a subagent said nothing itself (R-SPAWN-121)', () => {
  const message = {
    id: 'm', role: 'assistant', createdAt: '', updatedAt: '',
    parts: [
      { id: 'm.0', type: 'reasoning', text: 'hm' }, { id: 'm.1', type: 'text', text: 'a' }, { id: 'm.2', type: 'tool', tool: {} },
      { id: 'm.3', type: 'text', text: 'inner', parentToolCallId: 'x' }, { id: 'm.4', type: 'attachment', attachment: {} },
    ],
  } as unknown as Message
  const { did, said } = parted(message)
  expect(did.parts.map((p) => p.id)).toEqual(['m.0', 'm.2', 'm.3'])
  expect(said.parts.map((p) => p.id)).toEqual(['m.1', 'm.4'])
})
