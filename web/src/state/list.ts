// The Sessions of the Workspace as the sidebar lists them. Pages and events may arrive in any order; the stream
// position of each says which is newer.

import type { SessionPage, SessionSummary } from '@/api/types'

/** A Session with the time of its last change in Unix ms, which is read once and not at every sort. */
interface Known {
  summary: SessionSummary
  at: number
}

/** SessionList merges pages of the list with events, newest knowledge first. */
export class SessionList {
  private byId = new Map<string, Known>()
  private eventSeq = new Map<string, number>()
  /** Sessions that an event told of before any page did: the event's position and when the Session was made. */
  private met = new Map<string, { seq: number; createdAt: number }>()
  /** The positions of removals. */
  private removals: number[] = []
  private counted = { total: 0, seq: 0 }
  /** The last change that the first page told of; a Session that was made later is a new one. */
  private newest: number | null = null

  /** The cursor of the next page; "" when everything is loaded. */
  next = ''

  /** Whether pages to come may hold pinned Sessions; all of them come before the others. */
  morePinned = false

  /** addPage takes a page; a Session that an event after the page's position spoke of keeps what the event said. */
  addPage(page: SessionPage): void {
    const rows = page.sessions ?? []
    this.next = page.next ?? ''
    this.morePinned = this.next !== '' && (rows.at(-1)?.pinned ?? false)
    this.counted = { total: page.total, seq: page.seq }
    this.newest ??= Math.max(...rows.map((s) => Date.parse(s.updatedAt)))
    for (const s of rows) {
      if ((this.eventSeq.get(s.sessionId) ?? 0) <= page.seq) this.set(s)
    }
  }

  /** upsert takes a `session` event. */
  upsert(summary: SessionSummary, seq: number): void {
    if (!this.byId.has(summary.sessionId)) {
      this.met.set(summary.sessionId, { seq, createdAt: Date.parse(summary.createdAt) })
    }
    this.set(summary)
    this.eventSeq.set(summary.sessionId, seq)
  }

  /** put takes the answer to a change, which has no stream position of its own; events go on counting. */
  put(summary: SessionSummary): void {
    if (this.byId.has(summary.sessionId)) this.set(summary)
  }

  /** remove takes a `session.removed` event. */
  remove(id: string, seq: number): void {
    this.byId.delete(id)
    this.eventSeq.set(id, seq)
    this.removals.push(seq)
  }

  /** get returns the Session if it is known. */
  get(id: string): SessionSummary | undefined {
    return this.byId.get(id)?.summary
  }

  /**
   * total says how many Sessions the Workspace has: what the last page said, and what happened since. An event about a
   * Session that no page has told of may be about an old one, further down than what is loaded.
   */
  get total(): number {
    const { total, seq } = this.counted
    const newest = this.newest ?? -Infinity
    const made = [...this.met.values()].filter((m) => m.seq > seq && m.createdAt > newest).length
    const gone = this.removals.filter((at) => at > seq).length
    return Math.max(total + made - gone, this.byId.size)
  }

  /** sorted returns the Sessions in list order: pinned ones first, then by last change, ties by id (R-CHAT-008). */
  sorted(): SessionSummary[] {
    return [...this.byId.values()].sort(inListOrder).map((k) => k.summary)
  }

  private set(summary: SessionSummary): void {
    this.byId.set(summary.sessionId, { summary, at: Date.parse(summary.updatedAt) })
  }
}

function inListOrder(a: Known, b: Known): number {
  if (a.summary.pinned !== b.summary.pinned) return a.summary.pinned ? -1 : 1
  return b.at - a.at || (a.summary.sessionId < b.summary.sessionId ? -1 : 1)
}
