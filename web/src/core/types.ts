import type {
  Command,
  ConfigOption,
  Damage,
  Failure,
  Message,
  Permission,
  PlanEntry,
  Policy,
  Queued,
  Scope,
  SessionSummary,
  Turn,
  Usage,
} from '@/api/types'

/**
 * Everything a page knows about one Session. Values are never changed in place: every change makes a new view that
 * shares what stayed the same, so views and messages can be compared by identity. Keep it in a shallowRef.
 */
export interface SessionView {
  readonly sessionId: string
  /** Stream position up to which events are in this view; events at or below it are skipped. */
  readonly seq: number
  readonly summary: SessionSummary
  /** Loaded messages in transcript order; the one being written is the last. */
  readonly messages: readonly Message[]
  /** Ids of messages that events may still extend. Text deltas for any other stored message are already in it. */
  readonly growing: ReadonlySet<string>
  /** Cursor of the page before the first message; undefined when the beginning is loaded. */
  readonly before?: string
  readonly turn: Turn
  /** Open permission requests, oldest first. */
  readonly permissions: readonly Permission[]
  readonly usage?: Usage
  readonly config: readonly ConfigOption[]
  readonly commands: readonly Command[]
  readonly plan: readonly PlanEntry[]
  /** Messages that wait for the end of the turn, and why they are held, if they are. */
  readonly queue: { readonly entries: readonly Queued[]; readonly held?: string; readonly failure?: Failure }
  readonly policy: Policy
  readonly scope?: Scope
  /** Why no prompt can be sent to this Session any more (R-WS-073); undefined when one can. */
  readonly stale?: Failure
  /** Unreadable stretches of the record (R-WS-131). */
  readonly damage: readonly Damage[]
  /**
   * A joined delta began before the snapshot and ended after it, so its text is in the view in part and cannot be
   * taken apart: fetch the snapshots again.
   */
  readonly torn: boolean
  /** The Session was deleted. */
  readonly removed: boolean
}
