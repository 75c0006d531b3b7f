// @vitest-environment happy-dom
import { mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import type { Footer } from '@/core/rows'
import { loadLanguage, setLanguage } from '@/i18n'

import { transcriptKey, type TranscriptContext } from '../context'
import TurnFooter from './TurnFooter.vue'

const START = Date.parse('2026-01-01T00:00:00Z')
const words = /Working|Still at it|On its way|Making progress/
let shown: VueWrapper[] = []

beforeEach(() => void vi.useFakeTimers({ now: START }))
afterEach(() => {
  for (const wrapper of shown) wrapper.unmount()
  shown = []
  expect(vi.getTimerCount(), 'timers left behind').toBe(0)
  vi.useRealTimers()
  setLanguage('en')
})

const running = (more: Partial<Footer> = {}): Footer => ({ state: 'running', since: START, lastActivity: START, asks: [], asking: false, ...more })

function footer(more: Partial<Footer> = {}) {
  const context = { stop: vi.fn() } as unknown as TranscriptContext
  const wrapper = mount(TurnFooter, { props: { footer: running(more) }, global: { provide: { [transcriptKey as symbol]: context } } })
  shown.push(wrapper)
  const text = (of: string) => (wrapper.find(of).exists() ? wrapper.get(of).text() : '')
  return { wrapper, time: () => text('.turn-time'), label: () => text('.shimmer'), silent: () => text('.turn-silent') }
}

describe('the indicator of a running turn', () => {
  it('shows each second once, from its beginning, however late the timers are R-CHAT-074', async () => {
    vi.setSystemTime(START + 430)
    const { time } = footer()
    const seen: [at: number, text: string][] = []
    for (let ms = 430; ms < 20_000; ms += 10) {
      if (seen.at(-1)?.[1] !== time()) seen.push([ms, time()])
      // A page that was busy comes to its timers late.
      await vi.advanceTimersByTimeAsync(10)
      if (ms % 2000 === 1990) vi.setSystemTime(Date.now() + 7)
    }
    expect(seen.map(([, text]) => text).slice(0, 18)).toEqual(Array.from({ length: 18 }, (_, i) => `${i} s`))
  })

  it('changes its word every 3 s and says nothing of what the Agent does R-CHAT-073', async () => {
    const { label } = footer()
    const seen: string[] = []
    for (let s = 0; s < 15; s++) {
      seen.push(label())
      await vi.advanceTimersByTimeAsync(1000)
    }
    expect(new Set(seen).size).toBe(4)
    for (const [i, word] of seen.entries()) {
      expect(word).toMatch(words)
      if (i > 0) expect(word === seen[i - 1], `the word of second ${i}`).toBe(i % 3 !== 0)
    }
    expect(seen[12]).toBe(seen[0])
  })

  it('writes time in natural units, rounded down R-CHAT-074', async () => {
    const at = (ms: number) => {
      vi.setSystemTime(START + ms)
      return footer().time()
    }
    const s = 1000
    const m = 60 * s
    const h = 60 * m
    const moments = [0, 999, 42 * s + 999, m - 1, m, 12 * m + 8 * s, h - 1, h, h + 59 * s, h + 12 * m, 24 * h - 1, 24 * h, 27 * h, 51 * h]
    expect(moments.map(at)).toEqual([
      ...['0 s', '0 s', '42 s', '59 s', '1 min 00 s', '12 min 08 s', '59 min 59 s', '1 h', '1 h', '1 h 12 min', '23 h 59 min'],
      ...['1 d', '1 d 3 h', '2 d 3 h'],
    ])
    await loadLanguage('zh-CN')
    setLanguage('zh-CN')
    expect(moments.map(at)).toEqual([
      ...['0 秒', '0 秒', '42 秒', '59 秒', '1 分 00 秒', '12 分 08 秒', '59 分 59 秒', '1 小时', '1 小时', '1 小时 12 分', '23 小时 59 分'],
      ...['1 天', '1 天 3 小时', '2 天 3 小时'],
    ])
  })

  it('counts from the first content once that came, and shows no time below zero R-CHAT-074', async () => {
    const { wrapper, time, label } = footer({ state: 'waiting' })
    await vi.advanceTimersByTimeAsync(5400)
    expect([label(), time()]).toEqual(['Waiting for the Agent…', '5 s'])
    await wrapper.setProps({ footer: running({ since: START + 5400 }) })
    expect(time()).toBe('0 s')
    await vi.advanceTimersByTimeAsync(999)
    expect(time()).toBe('0 s')
    await vi.advanceTimersByTimeAsync(1)
    expect(time()).toBe('1 s')
    // The clock of the machine was put back.
    vi.setSystemTime(START - 60_000)
    await wrapper.setProps({ footer: running({ since: START + 1 }) })
    expect(time()).toBe('0 s')
  })

  it('goes with its turn, and the next one has a time of its own R-CHAT-075 R-CHAT-076', async () => {
    const { wrapper, time, label } = footer()
    await vi.advanceTimersByTimeAsync(9000)
    expect(time()).toBe('9 s')
    await wrapper.setProps({ footer: running({ state: 'idle', since: 0, lastActivity: 0 }) })
    expect([label(), time()]).toEqual(['', ''])
    expect(vi.getTimerCount()).toBe(0)
    await vi.advanceTimersByTimeAsync(60_000)
    await wrapper.setProps({ footer: running({ since: Date.now() }) })
    expect(time()).toBe('0 s')
  })

  it('is the same for each Session that runs, at its own time R-CHAT-076', async () => {
    const one = footer()
    await vi.advanceTimersByTimeAsync(4300)
    const two = footer({ since: Date.now() })
    await vi.advanceTimersByTimeAsync(1700)
    expect([one.time(), two.time()]).toEqual(['6 s', '1 s'])
    one.wrapper.unmount()
    await vi.advanceTimersByTimeAsync(300)
    expect(two.time()).toBe('2 s')
    const again = footer()
    expect(again.time()).toBe('6 s')
  })

  it('says from 30 s on how long the Agent was silent, in step with the time', async () => {
    const { wrapper, time, silent } = footer({ lastActivity: START + 2600 })
    await vi.advanceTimersByTimeAsync(32_999)
    expect([time(), silent()]).toEqual(['32 s', ''])
    await vi.advanceTimersByTimeAsync(1)
    expect([time(), silent()]).toEqual(['33 s', '· no activity for 30 s'])
    await wrapper.setProps({ footer: running({ lastActivity: START + 33_000 }) })
    expect(silent()).toBe('')
    await wrapper.setProps({ footer: running({ lastActivity: START, asking: true }) })
    expect(silent()).toBe('')
  })
})
