// The list of Sessions: pages on demand, kept current by events.

import { ref, shallowRef } from 'vue'

import type { SessionSummary, StreamEvent } from '@/api/types'

import { client } from './client'
import { SessionList } from './list'

/** Rows of a page; the first screen of the list, and room to scroll. */
const pageSize = 60
/** Rows of the largest page. Pinned Sessions which the first page had no room for come in such ones; others in pages that
 * double what is loaded, so that the end of a long list is a few of them away. */
const largePage = 500

let list = new SessionList()
let generation = 0

/** The loaded Sessions in list order: every pinned one, and the newest of the others. */
export const sessions = shallowRef<readonly SessionSummary[]>([])

/** How many Sessions the Workspace has. */
export const sessionTotal = ref(0)

/** State of the first pages. */
export const sessionsState = ref<'loading' | 'ready' | 'failed'>('loading')

/** Why the last page did not come; null when it did. */
export const sessionsError = shallowRef<unknown>(null)

/** Whether loadMoreSessions would bring more. */
export const moreSessions = ref(false)

let loadingMore = false

/** loadSessions forgets the list and reads its beginning. What is shown stays until that is there. */
export async function loadSessions(): Promise<void> {
  const mine = ++generation
  const next = new SessionList()
  list = next
  sessionsError.value = null
  if (sessions.value.length === 0) sessionsState.value = 'loading'
  try {
    const page = await client.sessions(undefined, pageSize)
    if (mine !== generation) return
    next.addPage(page)
    while (next.morePinned) {
      const more = await client.sessions(next.next, largePage)
      if (mine !== generation) return
      next.addPage(more)
    }
    sessionsState.value = 'ready'
    show()
  } catch (error) {
    if (mine !== generation) return
    sessionsError.value = error
    sessionsState.value = 'failed'
  }
}

/** loadMoreSessions reads the next page, if there is one and none is on its way. */
export async function loadMoreSessions(): Promise<void> {
  if (loadingMore || !list.next) return
  const mine = generation
  loadingMore = true
  try {
    const page = await client.sessions(list.next, Math.min(largePage, Math.max(pageSize, sessions.value.length)))
    if (mine === generation) list.addPage(page)
    sessionsError.value = null
    show()
  } catch (error) {
    sessionsError.value = error
  } finally {
    loadingMore = false
  }
}

/** sessionOf returns what the list knows about a Session. */
export function sessionOf(id: string): SessionSummary | undefined {
  return list.get(id)
}

/** applyToSessions takes the events of a frame that concern the list. */
export function applyToSessions(events: readonly StreamEvent[]): void {
  let changed = false
  for (const event of events) {
    if (event.type === 'session') list.upsert(event.data, event.seq)
    else if (event.type === 'session.removed' && event.sessionId) list.remove(event.sessionId, event.seq)
    else continue
    changed = true
  }
  if (changed && sessionsState.value === 'ready') show()
}

/** putSession takes the answer to a change that this window made, ahead of its event. */
export function putSession(summary: SessionSummary): void {
  list.put(summary)
  show()
}

function show(): void {
  sessions.value = list.sorted()
  sessionTotal.value = list.total
  moreSessions.value = list.next !== ''
}
