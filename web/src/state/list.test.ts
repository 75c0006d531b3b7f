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

  it('lists pinned Sessions first, whatever changed last R-CHAT-008', () => {
    const list = new SessionList()
    list.addPage({ sessions: [{ ...at('p', 1), pinned: true }, at('a', 9), at('b', 5)], total: 3, seq: 1 })
    expect(ids(list)).toEqual(['p', 'a', 'b'])
    list.upsert({ ...at('b', 5), pinned: true }, 2)
    expect(ids(list)).toEqual(['b', 'p', 'a'])
    list.upsert({ ...at('p', 1), pinned: false }, 3)
    expect(ids(list)).toEqual(['b', 'a', 'p'])
  })

  it('knows when all pinned Sessions are there', () => {
    const list = new SessionList()
    list.addPage({ sessions: [{ ...at('p', 1), pinned: true }], total: 9, next: 'x', seq: 1 })
    expect(list.morePinned).toBe(true)
    list.addPage({ sessions: [{ ...at('q', 1), pinned: true }, at('a', 3)], total: 9, next: 'y', seq: 1 })
    expect(list.morePinned).toBe(false)
    const all = new SessionList()
    all.addPage({ sessions: [{ ...at('p', 1), pinned: true }], total: 1, seq: 1 })
    expect(all.morePinned).toBe(false)
  })

  const made = (id: string, minute: number) => ({ ...at(id, minute), createdAt: at(id, minute).updatedAt })

  it('counts what is created and removed', () => {
    const list = new SessionList()
    list.addPage({ sessions: [at('a', 1)], total: 40, next: 'x', seq: 1 })
    list.upsert(made('b', 2), 2)
    list.upsert(made('b', 3), 3)
    expect(list.total).toBe(41)
    list.remove('a', 4)
    expect(list.total).toBe(40)
    list.remove('far', 5)
    expect(list.total).toBe(39)
    list.addPage({ sessions: [at('c', 0)], total: 39, next: 'y', seq: 5 })
    expect(list.total).toBe(39)
    expect(list.next).toBe('y')
  })

  it('does not count an old Session that an event tells of first', () => {
    const list = new SessionList()
    list.addPage({ sessions: [at('a', 5)], total: 40, next: 'x', seq: 1 })
    list.upsert({ ...at('old', 6), createdAt: '2025-01-01T00:00:00Z' }, 2)
    expect(list.total).toBe(40)
    expect(ids(list)).toEqual(['old', 'a'])
  })

  it('counts once what both an event and a page tell of', () => {
    const list = new SessionList()
    list.upsert(made('b', 7), 3)
    list.addPage({ sessions: [made('b', 7), at('a', 1)], total: 2, seq: 2 })
    expect(list.total).toBe(2)
  })
})
