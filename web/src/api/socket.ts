import { soon } from '@/core/soon'
import { FailureError } from './failure'
import type { StreamEvent, WindowContext } from './types'

/**
 * State of the event stream. `unauthorized`: the cookie is missing or belongs to an older Core, and only a fresh
 * one-time link helps; no attempts are made until connect() is called again.
 */
export type StreamState = 'connecting' | 'open' | 'offline' | 'unauthorized'

export interface StreamOptions {
  client: { readonly window: WindowContext | null; register(): Promise<WindowContext> }
  /**
   * Events in order, at most one call in two frames (four a second in a hidden tab). When calls are costly they come
   * more rarely, so that most of the time is left for scrolling and typing. What comes alone is handed over at once.
   */
  onEvents: (events: StreamEvent[]) => void
  /**
   * What was missed cannot be replayed: fetch every snapshot again. Events that arrive before a snapshot does must
   * be kept and reduced into it; reduce() drops those that it already holds.
   */
  onReset: () => void
  onState: (state: StreamState) => void
  /** For tests. */
  open?: (url: string) => WebSocket
  random?: () => number
}

const FIRST_DELAY = 250
const MAX_DELAY = 5000
/** A connection that lived this long was good; the next failure starts at the first delay again. */
const SETTLED = 3000
/** The clock is looked at this often; a much larger step means that the machine slept. */
const TICK = 5000
const SLEPT = 20000
const HIDDEN_FLUSH = 250
/** Flushes come with each frame while they are cheap: little at a time fits into one, and much does not. In ms. */
const SHORTEST_GAP = 14
/** A flush, from its begin until it is painted, takes one part in this many of the time. */
const SHARE = 2
/** However costly flushes are, events never wait longer than this, in ms. */
const LONGEST_GAP = 120

/**
 * The event stream of this window: connects, resumes where it stopped, and never gives up except when Core refuses
 * the cookie. A browser does not tell why a WebSocket failed, so every attempt after the first starts with the
 * registration call, which does: 401 is unauthorized, no answer is offline.
 */
export class EventStream {
  private state: StreamState = 'connecting'
  private socket: WebSocket | null = null
  private generation = 0
  private attempt = 0
  private after = 0
  private run = ''
  private started = false
  private retry: ReturnType<typeof setTimeout> | undefined
  private tick: ReturnType<typeof setInterval> | undefined
  private lastTick = 0
  private buffer: StreamEvent[] = []
  private frame = 0
  private notBefore = 0
  private timer: ReturnType<typeof setTimeout> | undefined
  private readonly o: StreamOptions

  constructor(options: StreamOptions) {
    this.o = options
  }

  /** Starts, or tries again at once. The client must be registered, or becomes so. */
  connect(): void {
    if (!this.started) {
      this.started = true
      this.lastTick = Date.now()
      this.tick = setInterval(() => this.watchClock(), TICK)
      globalThis.addEventListener?.('online', this.wake)
      globalThis.document?.addEventListener('visibilitychange', this.shown)
    }
    this.attempt = 0
    void this.dial()
  }

  close(): void {
    this.started = false
    this.generation++
    clearTimeout(this.retry)
    clearInterval(this.tick)
    globalThis.removeEventListener?.('online', this.wake)
    globalThis.document?.removeEventListener('visibilitychange', this.shown)
    this.dropFlush()
    this.buffer = []
    this.socket?.close()
    this.socket = null
  }

  private readonly wake = (): void => {
    if (this.state !== 'unauthorized') this.connect()
  }

  private readonly shown = (): void => {
    if (document.visibilityState !== 'visible') return
    if (this.buffer.length > 0) this.flush()
    if (this.state === 'offline') this.connect()
  }

  private watchClock(): void {
    const now = Date.now()
    const slept = now - this.lastTick > SLEPT
    this.lastTick = now
    if (slept) this.wake()
  }

  private setState(state: StreamState): void {
    if (state === this.state && state !== 'connecting') return
    this.state = state
    this.o.onState(state)
  }

  private async dial(): Promise<void> {
    clearTimeout(this.retry)
    const mine = ++this.generation
    this.socket?.close()
    this.socket = null
    if (this.state !== 'offline') this.setState('connecting')
    let context = this.o.client.window
    if (!context || this.run !== '') {
      try {
        context = await this.o.client.register()
      } catch (err) {
        if (mine === this.generation) this.refused(err)
        return
      }
      if (mine !== this.generation) return
    }
    if (this.run === '') {
      this.run = context.run
      this.after = context.seq
    }
    this.listen(mine, context)
  }

  private listen(mine: number, context: WindowContext): void {
    const query = new URLSearchParams({ window: context.windowId, after: String(this.after), run: this.run })
    const url = `/api/stream?${query}`
    const socket = this.o.open ? this.o.open(url) : new WebSocket(absolute(url))
    this.socket = socket
    let opened = 0
    socket.onopen = () => {
      if (mine !== this.generation) return
      opened = Date.now()
      this.setState('open')
    }
    socket.onmessage = (e: MessageEvent<string>) => {
      if (mine === this.generation) this.take(JSON.parse(e.data) as StreamEvent[], context.run)
    }
    socket.onclose = () => {
      if (mine !== this.generation) return
      if (opened > 0 && Date.now() - opened > SETTLED) this.attempt = 0
      this.later()
    }
  }

  private refused(err: unknown): void {
    if (err instanceof FailureError && (err.status === 401 || err.status === 403)) this.setState('unauthorized')
    else this.later()
  }

  private later(): void {
    this.socket = null
    this.generation++
    this.setState('offline')
    const full = Math.min(MAX_DELAY, FIRST_DELAY * 2 ** this.attempt++)
    const delay = full * (0.5 + 0.5 * (this.o.random ?? Math.random)())
    this.retry = setTimeout(() => void this.dial(), delay)
  }

  private take(events: StreamEvent[], run: string): void {
    for (const event of events) {
      this.after = event.seq
      if (event.type === 'reset') {
        this.run = run
        this.buffer = []
        this.o.onReset()
      } else {
        this.buffer.push(event)
      }
    }
    this.plan()
  }

  /** One flush a frame at most; a hidden tab paints no frames, so a timer stands in. */
  private plan(): void {
    if (this.frame !== 0 || this.timer !== undefined || this.buffer.length === 0) return
    const hidden = globalThis.document?.visibilityState !== 'visible'
    if (hidden || typeof requestAnimationFrame !== 'function') {
      this.timer = setTimeout(() => this.flush(), HIDDEN_FLUSH)
    } else {
      this.frame = requestAnimationFrame(() => this.flushInFrame())
    }
  }

  /** Flushes, unless the last flush is still to be rested from; measures until the frame was painted. */
  private flushInFrame(): void {
    const begin = performance.now()
    if (begin < this.notBefore) {
      this.frame = 0
      this.plan()
      return
    }
    this.notBefore = begin + SHORTEST_GAP // until the cost is known
    this.flush()
    soon(() => {
      const cost = performance.now() - begin
      this.notBefore = begin + Math.min(cost + LONGEST_GAP, Math.max(SHORTEST_GAP, SHARE * cost))
    })
  }

  private dropFlush(): void {
    if (this.frame !== 0) cancelAnimationFrame(this.frame)
    clearTimeout(this.timer)
    this.frame = 0
    this.timer = undefined
  }

  private flush(): void {
    this.dropFlush()
    const events = this.buffer
    this.buffer = []
    if (events.length > 0) this.o.onEvents(events)
  }
}

function absolute(path: string): string {
  return `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${path}`
}
