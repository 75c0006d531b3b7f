import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { Searching, type Searched } from './searching'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

interface Question {
  text: string
  signal: AbortSignal
  answer: (hits: string) => Promise<void>
  fail: () => Promise<void>
}

/** A search whose questions a test answers by hand. `obey` says whether a question ends when it is given up. */
function start(obey: boolean) {
  const shown: Searched<string>[] = []
  const asked: Question[] = []
  const searching = new Searching<string>(
    (text, signal) =>
      new Promise((resolve, reject) => {
        const settled = (settle: () => void) => async () => {
          settle()
          await vi.advanceTimersByTimeAsync(0)
        }
        asked.push({ text, signal, answer: (hits) => settled(() => resolve(hits))(), fail: settled(() => reject(new Error('down'))) })
        if (obey) signal.addEventListener('abort', () => reject(new Error('aborted')))
      }),
    (now) => shown.push(now),
  )
  return { searching, shown, asked, now: () => shown.at(-1) }
}

test('Core is asked after a pause, for the newest text (R-CHAT-021)', async () => {
  const { searching, asked, now } = start(true)
  for (const text of ['n', 'ne', ' nee ']) {
    searching.type(text)
    expect(now()).toEqual({ state: 'waiting' })
    await vi.advanceTimersByTimeAsync(299)
  }
  expect(asked).toHaveLength(0)
  await vi.advanceTimersByTimeAsync(1)
  expect(asked.map((q) => q.text)).toEqual(['nee'])
  await asked[0]!.answer('hits')
  expect(now()).toEqual({ state: 'found', hits: 'hits' })
})

test('typing clears old results, blanks do not, and no text is no query (R-CHAT-019, 021)', async () => {
  const { searching, shown, asked, now } = start(true)
  searching.type('a  b')
  await vi.advanceTimersByTimeAsync(300)
  await asked[0]!.answer('hits')
  searching.type('a b ')
  expect(now()).toEqual({ state: 'found', hits: 'hits' })
  searching.type('a bc')
  expect(now()).toEqual({ state: 'waiting' })
  searching.type('  ')
  expect(now()).toEqual({ state: 'hint' })
  const before = shown.length
  await vi.advanceTimersByTimeAsync(1000)
  expect(shown).toHaveLength(before)
  expect(asked).toHaveLength(1)
})

test('one question runs at a time, and the newest follows it (R-CHAT-021)', async () => {
  const { searching, shown, asked, now } = start(false)
  searching.type('one')
  await vi.advanceTimersByTimeAsync(300)
  for (const text of ['two', 'three', 'four']) {
    searching.type(text)
    await vi.advanceTimersByTimeAsync(300)
  }
  expect(asked).toHaveLength(1)
  expect(asked[0]!.signal.aborted).toBe(true)
  await asked[0]!.answer('old')
  expect(asked.map((q) => q.text)).toEqual(['one', 'four'])
  expect(now()).toEqual({ state: 'waiting' })
  await asked[1]!.answer('new')
  expect(shown.filter((s) => s.state === 'found')).toEqual([{ state: 'found', hits: 'new' }])
})

test('the answer to an old text is never shown, also when it comes during the pause (R-CHAT-021)', async () => {
  const { searching, asked, now } = start(false)
  searching.type('one')
  await vi.advanceTimersByTimeAsync(300)
  searching.type('two')
  await asked[0]!.answer('old')
  expect(now()).toEqual({ state: 'waiting' })
  await vi.advanceTimersByTimeAsync(300)
  await asked[1]!.answer('new')
  expect(now()).toEqual({ state: 'found', hits: 'new' })
})

test('a question that is given up makes way at once (R-CHAT-023)', async () => {
  const { searching, asked, now } = start(true)
  searching.type('one')
  await vi.advanceTimersByTimeAsync(300)
  searching.type('two')
  await vi.advanceTimersByTimeAsync(300)
  expect(asked.map((q) => q.text)).toEqual(['one', 'two'])
  await asked[1]!.answer('new')
  expect(now()).toEqual({ state: 'found', hits: 'new' })
})

test('a failure shows, and is tried again at once (R-CHAT-021)', async () => {
  const { searching, asked, now } = start(true)
  searching.type('one')
  await vi.advanceTimersByTimeAsync(300)
  await asked[0]!.fail()
  expect(now()).toMatchObject({ state: 'failed', error: new Error('down') })
  searching.retry()
  expect(now()).toEqual({ state: 'waiting' })
  await asked[1]!.answer('hits')
  expect(now()).toEqual({ state: 'found', hits: 'hits' })
})

test('nothing is shown after the end (R-CHAT-021)', async () => {
  const { searching, shown, asked } = start(false)
  searching.type('one')
  await vi.advanceTimersByTimeAsync(300)
  const before = shown.length
  searching.end()
  expect(asked[0]!.signal.aborted).toBe(true)
  await asked[0]!.answer('late')
  expect(shown).toHaveLength(before)
})
