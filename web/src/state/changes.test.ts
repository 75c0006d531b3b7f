import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Diff, FileChanges } from '@/api/types'
import { stampOf } from '@/core/stamp'
import { message, tool } from '@/core/testing'

vi.mock('./client', () => ({ client: { changes: vi.fn() } }))

import { changesOf } from './changes'
import { client } from './client'

const ask = vi.mocked(client.changes)
const list = (path: string): FileChanges => ({
  messageId: 'm',
  changes: [{ path, change: 'added', version: path, segments: 1, oldSize: 0, newSize: 1 }],
})
const diffs: Diff[] = [{ path: '/a', new: { text: 'x', size: 1 } }]

describe('stampOf', () => {
  const stamp = (over: Parameters<typeof tool>[1], running = false) => stampOf(message('m', 'assistant', [tool('c', over)]), running)

  it('is the same for the same diffs, and empty without any', () => {
    expect(stamp({ diffs })).toBe(stamp({ diffs }))
    expect(stamp({ diffs: [] })).toBe('')
    expect(stamp({})).toBe('')
  })

  it('differs with everything that decides about the list (R-CHAT-097, 098, 104)', () => {
    const stamps = [
      stamp({ diffs }),
      stamp({ diffs: [...diffs] }),
      stamp({ diffs, status: 'failed' }),
      stamp({ diffs, parentToolCallId: 'p' }),
      stamp({ diffs }, true),
    ]
    expect(new Set(stamps).size).toBe(stamps.length)
  })
})

describe('changesOf', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    vi.useRealTimers()
    ask.mockReset()
  })

  it('asks once for a stamp', async () => {
    ask.mockImplementation((_, id) => Promise.resolve(list(`/${id}`)))
    const [a, b, other] = await Promise.all([changesOf('s', 'once', '1'), changesOf('s', 'once', '1'), changesOf('s', 'other', '1')])
    expect(a).toBe(b)
    expect(a.changes[0]!.path).toBe('/once')
    expect(other.changes[0]!.path).toBe('/other')
    expect(ask).toHaveBeenCalledTimes(2)
  })

  it('asks at intervals while stamps change, and only for the newest (R-CHAT-104)', async () => {
    ask.mockImplementation(() => Promise.resolve(list(`/${ask.mock.calls.length}`)))
    expect((await changesOf('s', 'live', '1')).changes[0]!.path).toBe('/1')
    const rest = Promise.all(['2', '3', '4'].map((stamp) => changesOf('s', 'live', stamp)))
    await vi.advanceTimersByTimeAsync(150)
    expect(ask).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(60)
    expect(ask).toHaveBeenCalledTimes(2)
    expect((await rest).map((r) => r.changes[0]!.path)).toEqual(['/2', '/2', '/2'])
  })

  it('asks again after a failure', async () => {
    ask.mockRejectedValueOnce(new Error('gone')).mockResolvedValueOnce(list('/b'))
    await expect(changesOf('s', 'fails', '1')).rejects.toThrow('gone')
    const again = changesOf('s', 'fails', '1')
    await vi.advanceTimersByTimeAsync(300)
    expect((await again).changes).toHaveLength(1)
  })
})
