// Sessions that are open or were open a moment ago: each a view that snapshots begin and events continue. Switching
// back shows the view at once; late answers belong to their own Session and never to the one shown now (R-CHAT-006).

import { computed, nextTick, ref, shallowRef } from 'vue'

import type { BodyQuery, MediaQuery, MessagePage, Policy, StreamEvent } from '@/api/types'
import { openView, prepend, reduce, rejoin } from '@/core/reduce'
import type { SessionView } from '@/core/types'

import { changesOf } from './changes'
import { client } from './client'
import { ConfigChanges } from './config'
import { codeOf } from './failures'
import { Hydration } from './hydrate'

/** Messages that are read before anything shows. */
const newest = 60
/** How many Sessions are kept, and with how many messages in all, beside the one shown. */
const kept = 5
const keptMessages = 20_000

/** Codes that say that there is no such Session here, whatever the cause (R-CHAT-003). */
const goneCodes = new Set(['CHAT_SESSION_NOT_FOUND', 'NOT_FOUND', 'FORBIDDEN', 'INVALID_REQUEST'])

/** One Session as a page shows it. Fits TranscriptStore. */
export class OpenSession {
  readonly view = shallowRef<SessionView | null>(null)
  readonly state = ref<'loading' | 'ready' | 'failed' | 'gone'>('loading')
  readonly error = shallowRef<unknown>(null)
  /** Whether all messages are in the view. */
  readonly complete = computed(() => this.view.value !== null && this.view.value.before === undefined)

  private shown = false
  private readonly hydration = new Hydration({
    before: () => this.view.value?.before,
    page: (before, limit) => client.messages(this.sessionId, before, limit),
    put: (page) => this.putOlder(page),
  })
  /** Older messages are on their way, or will be. */
  readonly loadingOlder = this.hydration.active
  /** They could not be loaded; it is tried again by itself. */
  readonly olderFailed = this.hydration.failed

  /** Changes of the configuration that are on their way. */
  readonly changes = new ConfigChanges((id, value) => client.setConfig(this.sessionId, id, value))

  private loading: Promise<void> | null = null
  /** Events that came while a snapshot was on its way. */
  private waiting: StreamEvent[] = []

  constructor(readonly sessionId: string) {}

  /** load reads the snapshots, or joins the load in flight. A view that is already shown stays until then. */
  load(): Promise<void> {
    this.loading ??= this.fetch().finally(() => (this.loading = null))
    return this.loading
  }

  /** feed takes the events of a frame; while a snapshot is on its way they wait for it. */
  feed(events: readonly StreamEvent[]): void {
    this.waiting.push(...events)
    if (!this.loading) this.drain()
  }

  /** show says whether the page shows this Session; while it does, older messages are loaded. */
  show(shown: boolean): void {
    this.shown = shown
    if (shown) this.hydration.run()
    else this.hydration.stop()
  }

  /** loadOlder tries at once what failed: the user has come to the first message that is loaded. */
  loadOlder(): void {
    this.hydration.hurry()
  }

  /** setPolicy changes how permission requests are answered (decision 1). Rejects when Core refused. */
  async setPolicy(policy: Policy): Promise<void> {
    await client.updateSession(this.sessionId, { policy })
    if (this.view.value) this.view.value = { ...this.view.value, policy }
  }

  loadBody = (query: BodyQuery): Promise<string> => client.body(this.sessionId, query)
  loadMedia = (query: MediaQuery): Promise<Blob> => client.media(this.sessionId, query)

  countChanges = async (messageId: string, stamp: string): Promise<number> =>
    (await changesOf(this.sessionId, messageId, stamp)).changes.length

  private async fetch(): Promise<void> {
    try {
      const detail = await client.session(this.sessionId)
      const page = await client.messages(this.sessionId, undefined, newest)
      const fresh = openView(detail, page)
      this.view.value = this.view.value ? rejoin(this.view.value, fresh) : fresh
      this.state.value = 'ready'
      this.error.value = null
      this.drain()
      if (this.shown) this.hydration.run()
    } catch (error) {
      this.waiting = []
      this.error.value = error
      this.state.value = goneCodes.has(codeOf(error)) ? 'gone' : 'failed'
    }
  }

  private async putOlder(page: MessagePage): Promise<number> {
    const started = performance.now()
    if (this.view.value) this.view.value = prepend(this.view.value, page)
    await nextTick()
    return performance.now() - started
  }

  private drain(): void {
    const view = this.view.value
    if (!view) return
    const next = reduce(view, this.waiting)
    this.waiting = []
    this.view.value = next
    if (next.removed) this.state.value = 'gone'
    else if (next.torn && !view.torn) void this.load() // a hole in the text: take new snapshots
  }
}

const opened = new Map<string, OpenSession>()

/** openSession returns the Session's view, loading it if it is not at hand. */
export function openSession(id: string): OpenSession {
  let session = opened.get(id)
  if (!session || session.state.value === 'gone') session = new OpenSession(id)
  opened.delete(id)
  opened.set(id, session)
  let messages = 0
  const others = [...opened].slice(0, -1).reverse()
  for (const [i, [old, { view }]] of others.entries()) {
    messages += view.value?.messages.length ?? 0
    if (i + 1 >= kept || messages > keptMessages) opened.delete(old)
  }
  if (session.state.value !== 'ready') {
    session.state.value = 'loading'
    void session.load()
  }
  return session
}

/** applyToOpen hands the events of a frame to the Sessions that they belong to. */
export function applyToOpen(events: readonly StreamEvent[]): void {
  for (const [id, session] of opened) {
    const mine = events.filter((e) => e.sessionId === id)
    if (mine.length > 0) session.feed(mine)
  }
}

/** reloadOpen reads the Session shown now again and forgets the others, after the stream lost its thread. */
export function reloadOpen(shown: string | null): void {
  for (const [id, session] of opened) {
    if (id === shown) void session.load()
    else opened.delete(id)
  }
}
