// One measured page, and the words in which figures are told.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { CDPSession, Page } from '@playwright/test'

import { test as base, expect } from '../fixtures.ts'
import { readTrace, type Tasks } from './trace.ts'
import { install, type Observed, type Probe } from './probe.ts'

export { expect }

/** One measured value; budgets are upper bounds. `ratio` says it in the unit `of` of this run. */
export interface Figure {
  what: string
  value: number
  unit: string
  must?: number
  aim?: number
  ratio?: number
  of?: string
}

/** What a page did during an action: as it saw itself, and as the trace of the browser tells. */
export interface Run extends Observed, Tasks {}

type Window = { probe: Probe; benchUnit: { fresh(text: string): number; loop(): number } }

/** A directory in which traces are kept that developer tools can open. */
const traces = process.env.FYLLO_BENCH_TRACES

export class Lab {
  /** ms of the fixed loop, on this page now: the speed of the machine. */
  loop = 0

  constructor(
    readonly page: Page,
    private readonly cdp: CDPSession,
  ) {}

  /** tell reports a figure. */
  tell(what: string, value: number, unit: string, budget: Partial<Figure> = {}): void {
    const figure = { what, value, unit, ...budget }
    test.info().annotations.push({ type: 'figure', description: JSON.stringify({ scenario: test.info().title, ...figure }) })
  }

  /** calibrate loads the units into the page and measures the loop, the least of five. */
  async calibrate(): Promise<void> {
    await this.page.evaluate(readFileSync(process.env.E2E_BENCH_UNIT!, 'utf8') + ';globalThis.benchUnit = benchUnit')
    this.loop = await this.page.evaluate(() => {
      const w = globalThis as unknown as Window
      return Math.min(...Array.from({ length: 5 }, () => w.benchUnit.loop()))
    })
  }

  /** fresh is what parsing and rendering a Markdown text once costs in this page, in ms, the least of three. */
  fresh(text: string): Promise<number> {
    return this.page.evaluate((text) => {
      const w = globalThis as unknown as Window
      return Math.min(...Array.from({ length: 3 }, () => w.benchUnit.fresh(text)))
    }, text)
  }

  /** watch measures what the page does until the action is over and two frames have been painted. */
  async watch(name: string, action: () => Promise<unknown>, look: { rows: boolean } = { rows: false }): Promise<Run> {
    const trace = await startTrace(this.cdp)
    await this.page.evaluate((rows) => (globalThis as unknown as Window).probe.start(rows), look.rows)
    await action()
    await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))))
    const observed = await this.page.evaluate(() => (globalThis as unknown as Window).probe.stop())
    const events = await trace()
    if (traces) writeFileSync(join(traces, `${name.replace(/\W+/g, '-')}.json`), JSON.stringify({ traceEvents: events }))
    return { ...observed, ...readTrace(events) }
  }

  /** idle is the share of frames that this page misses when it does nothing. */
  async idle(): Promise<number> {
    const run = await this.watch('idle', () => this.page.waitForTimeout(1500))
    return run.missed / (run.frames + run.missed)
  }

  /** shown resolves when a text is in view and the conversation at its end. */
  async shown(text: string): Promise<void> {
    await this.page.evaluate((text) => (globalThis as unknown as Window).probe.shown(text, false), text)
  }

  /** paint does something and returns ms from the click, or from the begin of the navigation, until shown() is painted. */
  async paint(text: string, from: 'click' | 'navigation', action: () => Promise<unknown>): Promise<number> {
    await action()
    return this.page.evaluate(
      async ([text, from]) => {
        const { probe } = globalThis as unknown as Window
        const at = await probe.shown(text!, true)
        return from === 'click' ? at - probe.clicked : at
      },
      [text, from],
    )
  }

  /** wholeHistory resolves when the page has read the first message of a Session; call it before it is opened. */
  async wholeHistory(session: string): Promise<void> {
    await this.page.waitForResponse(
      async (r) => {
        if (!r.url().includes(`/api/sessions/${session}/messages`)) return false
        const body = (await r.json().catch(() => ({ before: 'gone' }))) as { before?: string }
        return !body.before
      },
      { timeout: 120_000 },
    )
  }

  /** rest waits until the conversation has not changed for a while. */
  async rest(ms = 500): Promise<void> {
    await this.page.evaluate(
      (ms) =>
        new Promise<void>((done) => {
          const log = document.querySelector('[role=log]') ?? document.body
          let timer = setTimeout(end, ms)
          const seen = new MutationObserver(() => {
            clearTimeout(timer)
            timer = setTimeout(end, ms)
          })
          seen.observe(log, { childList: true, subtree: true, characterData: true })
          function end(): void {
            seen.disconnect()
            done()
          }
        }),
      ms,
    )
  }

  /** shiftDuring returns by how many pixels a row in the middle of the view moved, at most, until something is over. */
  async shiftDuring(over: Promise<unknown>): Promise<number> {
    await this.page.evaluate(() => {
      const w = globalThis as unknown as { shift: number; following: boolean }
      const log = document.querySelector('[role=log]')!.getBoundingClientRect()
      const row = document.elementFromPoint(log.left + log.width / 2, log.top + log.height / 2)!.closest('.row')!
      const top = row.getBoundingClientRect().top
      w.shift = 0
      w.following = true
      const look = (): void => {
        if (!w.following) return
        w.shift = Math.max(w.shift, row.isConnected ? Math.abs(row.getBoundingClientRect().top - top) : 9999)
        requestAnimationFrame(look)
      }
      look()
    })
    await over
    await this.rest()
    return this.page.evaluate(() => {
      const w = globalThis as unknown as { shift: number; following: boolean }
      w.following = false
      return w.shift
    })
  }

  /** memory collects garbage and returns MB of JavaScript and the elements that are alive, attached or not. */
  async memory(): Promise<{ heap: number; nodes: number }> {
    for (let i = 0; i < 2; i++) await this.cdp.send('HeapProfiler.collectGarbage')
    const { usedSize } = await this.cdp.send('Runtime.getHeapUsage')
    const { nodes } = await this.cdp.send('Memory.getDOMCounters')
    return { heap: usedSize / 2 ** 20, nodes }
  }

  /** task is the budget of the longest task of a run. */
  task(run: Run): Partial<Figure> {
    return { must: 100, aim: 50, ratio: run.longestCPU / this.loop, of: 'loops' }
  }

  /** tellSmooth reports what every scenario has to keep. idle is what idle() returned, if it was asked. */
  tellSmooth(run: Run, idle?: number): void {
    const all = run.frames + run.missed
    const missed = (100 * run.missed) / all
    // Of a second, a single frame is too large a part to be judged.
    const budget = all >= 60 ? { must: 5 } : {}
    this.tell('longest task, CPU', run.longestCPU, 'ms', this.task(run))
    this.tell('longest task, wall', run.longestWall, 'ms')
    if (idle !== undefined) this.tell(`frames dropped, of ${all}`, missed, '%', { ...budget, ratio: 100 * idle, of: '% idle' })
    this.tell('elements', run.elements, '', { must: 2000, aim: 300 })
    if (traces) console.log(`    longest: ${run.within}`)
  }

  /** tellUnits reports what the ratios of this page count in. */
  tellUnits(): void {
    this.tell('1 loop', this.loop, 'ms')
  }
}

async function startTrace(cdp: CDPSession): Promise<() => Promise<TraceEvent[]>> {
  const events: TraceEvent[] = []
  const take = ({ value }: { value: unknown[] }): number => events.push(...(value as TraceEvent[]))
  cdp.on('Tracing.dataCollected', take)
  // What tells the parts of a task apart costs time itself.
  const included = ['disabled-by-default-devtools.timeline', ...(traces ? ['devtools.timeline', 'v8'] : [])]
  await cdp.send('Tracing.start', {
    transferMode: 'ReportEvents',
    // A full buffer would drop what comes first.
    traceConfig: { includedCategories: included, excludedCategories: ['*'], traceBufferSizeInKb: 512 << 10 },
  })
  return async () => {
    const done = new Promise((resolve) => cdp.once('Tracing.tracingComplete', resolve))
    await cdp.send('Tracing.end')
    await done
    cdp.off('Tracing.dataCollected', take)
    return events
  }
}

export interface TraceEvent {
  name: string
  cat: string
  ph: string
  pid: number
  tid: number
  ts: number
  dur?: number
  tdur?: number
  args?: { name?: string; data?: Record<string, unknown> }
}

export const test = base.extend<{ lab: Lab }>({
  page: async ({ page }, use) => {
    await page.addInitScript(install)
    await use(page)
  },
  lab: async ({ page }, use) => {
    await use(new Lab(page, await page.context().newCDPSession(page)))
  },
})
