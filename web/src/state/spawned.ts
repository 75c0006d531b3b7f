// What the Sessions that are shown have delegated. Core holds the truth: the page asks again whenever Core says that
// something changed, and keeps nothing for longer than it shows it (R-SPAWN-116, 127).

import { getCurrentScope, onScopeDispose, shallowRef, type ShallowRef } from 'vue'

import type { SpawnDetail, SpawnSummary, StreamEvent } from '@/api/types'
import { joined } from '@/core/spawned'

import { client } from './client'
import { codeOf } from './failures'

/** Milliseconds between two readings of what a running child says. */
const pause = 200

/** Called with a spawned Session that changed, "" = any; live = only its running answer has grown. */
type Listener = (sessionId: string, live: boolean) => void

const listeners = new Map<Listener, string>()

function listen(parent: string, heard: Listener): void {
  listeners.set(heard, parent)
  if (getCurrentScope()) onScopeDispose(() => listeners.delete(heard))
}

/** applyToSpawned hands the events of a frame to what is shown of them. */
export function applyToSpawned(events: readonly StreamEvent[]): void {
  if (listeners.size === 0) return
  for (const event of events) {
    if (event.type !== 'spawned') continue
    for (const [heard, parent] of listeners) if (parent === event.sessionId) heard(event.data.sessionId, event.data.live ?? false)
  }
}

/** reloadSpawned has everything that is shown read again, after the stream lost its thread. */
export function reloadSpawned(): void {
  for (const heard of listeners.keys()) heard('', false)
}

/** Runs a reading at most once at a time; asked for meanwhile, it runs once more afterwards, `pause` ms after the last began. */
class Reader {
  private busy = false
  private again = false
  constructor(private readonly read: () => Promise<void>) {}

  async ask(): Promise<void> {
    this.again = true
    if (this.busy) return
    this.busy = true
    while (this.again) {
      this.again = false
      const began = performance.now()
      await this.read()
      const rest = pause - (performance.now() - began)
      if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest))
    }
    this.busy = false
  }
}

/** The spawned Sessions of one Session, in list order (R-SPAWN-119), empty until they are known. */
export function useSpawned(parent: string): Readonly<ShallowRef<readonly SpawnSummary[]>> {
  const list = shallowRef<readonly SpawnSummary[]>([])
  const reader = new Reader(async () => {
    // What cannot be read now is read at the next event; the list is no reason to interrupt anybody.
    const fresh = await client.spawned(parent).catch(() => null)
    if (fresh) list.value = joined(list.value, fresh.spawned)
  })
  listen(parent, (_, live) => void (live || reader.ask()))
  void reader.ask()
  return list
}

/** One spawned Session as a view shows it. */
export interface SpawnedView {
  readonly detail: Readonly<ShallowRef<SpawnDetail | null>>
  /** Why it could not be read last time; null when it could. */
  readonly error: Readonly<ShallowRef<unknown>>
  /** There is no such Session for this parent. */
  readonly gone: Readonly<ShallowRef<boolean>>
  /** Reads again. */
  refresh(): void
}

/** One spawned Session with what was said in the turn that `turn` names ("" = the latest), live as long as the caller is. */
export function useSpawnedDetail(parent: string, child: string, turn: () => string): SpawnedView {
  const detail = shallowRef<SpawnDetail | null>(null)
  const error = shallowRef<unknown>(null)
  const gone = shallowRef(false)
  const reader = new Reader(async () => {
    const wanted = turn()
    try {
      const fresh = await client.spawnedDetail(parent, child, wanted || 'latest')
      if (wanted !== turn()) return // another turn was chosen, and is asked for
      detail.value = joined(detail.value, fresh)
      error.value = null
      gone.value = false
    } catch (e) {
      if (wanted !== turn()) return
      gone.value = codeOf(e) === 'NOT_FOUND' || codeOf(e) === 'CHAT_SESSION_NOT_FOUND'
      error.value = e
    }
  })
  const refresh = (): void => void reader.ask()
  listen(parent, (id) => void ((id === child || id === '') && refresh()))
  refresh()
  return { detail, error, gone, refresh }
}
