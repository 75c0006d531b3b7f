// Loads what lies before the newest messages of a Session while the page has nothing better to do, so that the scroll
// bar, the timeline and find know all of it.

import { ref } from 'vue'

import type { Message, MessagePage } from '@/api/types'

/** Messages of one request. */
export const pageSize = 200

/** What putting messages in front may cost in ms; a task of the page must stay below 50. */
const budget = 16
const least = 8

/** How long a failed request is let rest, in ms; doubled by each further failure. */
const firstRest = 1000
const longestRest = 30_000

/** What a Hydration needs of its Session. */
export interface HydrationPort {
  /** Cursor of the page before the first message; undefined when there is none, or nothing is loaded yet. */
  before(): string | undefined
  page(before: string, limit: number): Promise<MessagePage>
  /** Puts a page, or the end of one, in front. Resolves when it is shown, with what that cost in ms. */
  put(page: MessagePage): Promise<number>
}

/** The loading of one Session's older messages: one request at a time, put in front by small pieces. */
export class Hydration {
  /** It works, or rests after a failure. */
  readonly active = ref(false)
  /** The last request failed; it is tried again by itself. */
  readonly failed = ref(false)

  private wanted = false
  private failures = 0
  private size = 24
  private endRest: (() => void) | null = null
  /** A page that is not wholly in front yet; `before` is where it was asked for. */
  private rest: { before: string; page: MessagePage; messages: Message[] } | null = null

  constructor(private readonly port: HydrationPort) {}

  /** run starts it, or goes on with it; nothing happens when all is loaded. */
  run(): void {
    this.wanted = true
    if (!this.active.value) void this.loop()
  }

  /** stop lets it end after the piece at hand. What was fetched is kept for the next run. */
  stop(): void {
    this.wanted = false
    this.endRest?.()
  }

  /** hurry tries again at once after a failure: somebody looks at the place. */
  hurry(): void {
    this.endRest?.()
  }

  private async loop(): Promise<void> {
    this.active.value = true
    try {
      await idle()
      for (let before = this.next(); before !== undefined; before = this.next()) {
        await this.step(before)
        await idle()
      }
    } finally {
      this.active.value = false
      this.failed.value = false
    }
  }

  private next(): string | undefined {
    return this.wanted ? this.port.before() : undefined
  }

  private async step(before: string): Promise<void> {
    if (this.rest?.before !== before) {
      const page = await this.fetch(before)
      // Meanwhile the Session may have been read anew, and its first message be another one.
      if (!page || this.port.before() !== before) return
      this.rest = { before, page, messages: [...(page.messages ?? [])] }
      return
    }
    const { page, messages } = this.rest
    const piece = messages.splice(-this.size)
    const last = messages.length === 0
    if (last) this.rest = null
    const cost = await this.port.put(last ? { ...page, messages: piece } : { ...page, messages: piece, before, damage: [] })
    const fits = Math.round((this.size * budget) / Math.max(cost, 1))
    this.size = Math.min(Math.max(fits, least), 2 * this.size, pageSize)
  }

  private async fetch(before: string): Promise<MessagePage | null> {
    try {
      const page = await this.port.page(before, pageSize)
      this.failures = 0
      this.failed.value = false
      return page
    } catch {
      this.failed.value = true
      await this.sleep(Math.min(firstRest * 2 ** this.failures++, longestRest))
      return null
    }
  }

  private async sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.endRest = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.endRest = null
  }
}

/** Resolves when the page is idle, or soon anyway: a streaming answer leaves little idle time. */
function idle(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof requestIdleCallback === 'function') requestIdleCallback(() => resolve(), { timeout: 100 })
    else setTimeout(resolve, 16)
  })
}
