// Sessions that are open or were open a moment ago: each a view that snapshots begin and events continue. Switching
// back shows the view at once; late answers belong to their own Session and never to the one shown now (R-CHAT-006).

import { ref, shallowRef } from 'vue'

import type { BodyQuery, MediaQuery, Policy, StreamEvent } from '@/api/types'
import { openView, prepend, reduce } from '@/core/reduce'
import type { SessionView } from '@/core/types'
import { t } from '@/i18n'

import { client } from './client'
import { codeOf } from './failures'
import { failed } from './toasts'

const pageSize = 60
const kept = 5

/** Codes that say that there is no such Session here, whatever the cause (R-CHAT-003). */
const goneCodes = new Set(['CHAT_SESSION_NOT_FOUND', 'NOT_FOUND', 'FORBIDDEN', 'INVALID_REQUEST'])

/** One Session as a page shows it. Fits TranscriptStore. */
export class OpenSession {
  readonly view = shallowRef<SessionView | null>(null)
  readonly loadingOlder = shallowRef(false)
  readonly state = ref<'loading' | 'ready' | 'failed' | 'gone'>('loading')
  readonly error = shallowRef<unknown>(null)

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

  /** loadOlder puts the page before the first message in front. */
  async loadOlder(): Promise<void> {
    const before = this.view.value?.before
    if (!before || this.loadingOlder.value) return
    this.loadingOlder.value = true
    try {
      const page = await client.messages(this.sessionId, before, pageSize)
      const view = this.view.value
      if (view && view.before === before) this.view.value = prepend(view, page)
    } catch (error) {
      failed(t('chat.older.failed'), error)
    } finally {
      this.loadingOlder.value = false
    }
  }

  /** setPolicy changes how permission requests are answered (decision 1). Rejects when Core refused. */
  async setPolicy(policy: Policy): Promise<void> {
    await client.updateSession(this.sessionId, { policy })
    if (this.view.value) this.view.value = { ...this.view.value, policy }
  }

  loadBody = (query: BodyQuery): Promise<string> => client.body(this.sessionId, query)
  loadMedia = (query: MediaQuery): Promise<Blob> => client.media(this.sessionId, query)

  private async fetch(): Promise<void> {
    try {
      const detail = await client.session(this.sessionId)
      const page = await client.messages(this.sessionId, undefined, pageSize)
      this.view.value = openView(detail, page)
      this.state.value = 'ready'
      this.error.value = null
      this.drain()
    } catch (error) {
      this.waiting = []
      this.error.value = error
      this.state.value = goneCodes.has(codeOf(error)) ? 'gone' : 'failed'
    }
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
  for (const old of opened.keys()) {
    if (opened.size <= kept) break
    opened.delete(old)
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
