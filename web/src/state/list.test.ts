import { describe, expect, it } from 'vitest'

import { session } from '@/testing/core'

import { SessionList } from './list'

const at = (id: string, minute: number) =>
  session(id, { updatedAt: `2026-01-01T00:${String(minute).padStart(2, '0')}:00.5Z` })

function ids(list: SessionList): string[] {
  return list.sorted().map((s) => s.sessionId)
}

describe('SessionList', () => {
  it('sorts by last change, ties by id R-CHAT-008', () => {
    const list = new SessionList()
    list.addPage({ sessions: [at('b', 1), at('c', 2), at('a', 1)], total: 3, seq: 5 })
    expect(ids(list)).toEqual(['c', 'a', 'b'])
    list.upsert(at('b', 3), 6)
    expect(ids(list)).toEqual(['b', 'c', 'a'])
  })

  it('compares times and not their texts', () => {
    const list = new SessionList()
    const sessions = [
      session('whole', { updatedAt: '2026-01-01T00:00:01Z' }),
      session('parts', { updatedAt: '2026-01-01T00:00:01.25Z' }),
    ]
    list.addPage({ sessions, total: 2, seq: 1 })
    expect(ids(list)).toEqual(['parts', 'whole'])
  })

  it('keeps what an event said over a page that is older', () => {
    const list = new SessionList()
    list.upsert({ ...at('a', 9), title: 'new' }, 8)
    list.remove('b', 9)
    list.addPage({ sessions: [at('a', 1), at('b', 1)], total: 2, seq: 7 })
    expect(list.sorted().map((s) => s.title)).toEqual(['new'])
  })

  it('counts what is created and removed', () => {
    const list = new SessionList()
    list.addPage({ sessions: [at('a', 1)], total: 40, next: 'x', seq: 1 })
    list.upsert(at('b', 2), 2)
    list.upsert(at('b', 3), 3)
    expect(list.total).toBe(41)
    list.remove('a', 4)
    expect(list.total).toBe(40)
    expect(list.next).toBe('x')
  })
})
