// The Sessions of the Workspace as the sidebar lists them. Pages and events may arrive in any order; the stream
// position of each says which is newer.

import type { SessionPage, SessionSummary } from '@/api/types'

/** SessionList merges pages of the list with events, newest knowledge first. */
export class SessionList {
  private byId = new Map<string, SessionSummary>()
  private eventSeq = new Map<string, number>()

  /** The cursor of the next page; "" when everything is loaded. */
  next = ''

  /** How many Sessions the Workspace has, as far as known. */
  total = 0

  /** addPage takes a page; a Session that an event after the page's position spoke of keeps what the event said. */
  addPage(page: SessionPage): void {
    this.next = page.next ?? ''
    this.total = page.total
    for (const s of page.sessions ?? []) {
      if ((this.eventSeq.get(s.sessionId) ?? 0) <= page.seq) this.byId.set(s.sessionId, s)
    }
    this.total = Math.max(this.total, this.byId.size)
  }

  /** upsert takes a `session` event. */
  upsert(summary: SessionSummary, seq: number): void {
    if (!this.byId.has(summary.sessionId)) this.total++
    this.byId.set(summary.sessionId, summary)
    this.eventSeq.set(summary.sessionId, seq)
  }

  /** put takes the answer to a change, which has no stream position of its own; events go on counting. */
  put(summary: SessionSummary): void {
    if (this.byId.has(summary.sessionId)) this.byId.set(summary.sessionId, summary)
  }

  /** remove takes a `session.removed` event. */
  remove(id: string, seq: number): void {
    if (this.byId.delete(id)) this.total = Math.max(0, this.total - 1)
    this.eventSeq.set(id, seq)
  }

  /** get returns the Session if it is known. */
  get(id: string): SessionSummary | undefined {
    return this.byId.get(id)
  }

  /** sorted returns the Sessions by last change, newest first, ties by id (R-CHAT-008). */
  sorted(): SessionSummary[] {
    const keyed = [...this.byId.values()].map((s) => ({ s, at: Date.parse(s.updatedAt) }))
    keyed.sort((a, b) => b.at - a.at || (a.s.sessionId < b.s.sessionId ? -1 : 1))
    return keyed.map((k) => k.s)
  }
}
