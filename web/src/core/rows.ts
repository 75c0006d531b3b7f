import type { Attachment, Failure, Message, Part, Permission, Tool } from '@/api/types'
import { MarkdownStream, type Block } from './markdown/stream'
import type { SessionView } from './types'

interface RowBase {
  /** Made from ids; the same row keeps it while it streams, after a reload and after older pages came. */
  readonly key: string
  readonly messageId: string
}

/**
 * A row of the transcript: a block, not a message, so that the page holds few elements however long a message grows.
 * Rows are compared by identity; an unchanged row stays the same object.
 */
export type Row =
  | (RowBase & { readonly type: 'user'; readonly text: string; readonly attachments: readonly Attachment[]; readonly at: string })
  | (RowBase & { readonly type: 'markdown'; readonly block: Block })
  | (RowBase & { readonly type: 'code'; readonly block: Block; readonly growing: boolean })
  | (RowBase & { readonly type: 'reasoning'; readonly text: string; readonly active: boolean })
  | (RowBase & {
      readonly type: 'tool'
      readonly partId: string
      readonly tool: Tool
      /** Its turn runs and the call is not final: the title shimmers. */
      readonly active: boolean
      readonly asks: readonly Permission[]
    })
  | (RowBase & {
      /** Two or more thoughts and calls in a row (R-CHAT-077); the key is made from the first. */
      readonly type: 'group'
      readonly items: readonly ActivityRow[]
      readonly active: boolean
    })
  | (RowBase & {
      /** The call of a subagent, on its own line, never grouped (R-CHAT-106). */
      readonly type: 'subagent'
      readonly partId: string
      readonly tool: Tool
      readonly state: 'running' | 'completed' | 'failed' | 'interrupted'
      readonly asks: readonly Permission[]
      /** Its calls and words in part order, each with its depth below the subagent, from 0. */
      readonly children: readonly { readonly depth: number; readonly part: Part }[]
    })
  | (RowBase & {
      /** Closes an answer: when, how long, copy, file changes. Stands also while it streams, once a call changed a file. */
      readonly type: 'foot'
      readonly startedAt: string
      /** "" while it streams. */
      readonly endedAt: string
      readonly hasText: boolean
      readonly changed: boolean
    })
  | (RowBase & { readonly type: 'attachment'; readonly partId: string; readonly attachment: Attachment })
  | (RowBase & {
      readonly type: 'end'
      /** Null for an end without error that is worth a word: stopped, cut, refused. */
      readonly failure: Failure | null
      readonly stopReason: string
      /** The message that "send again" repeats; only at the last turn, and only while nothing runs. */
      readonly retry: string | null
    })

/** A row that may stand in a group. */
export type ActivityRow = Extract<Row, { type: 'reasoning' | 'tool' }>

/** What stands below the rows: the state of the turn, and requests that belong to no tool. */
export interface Footer {
  readonly state: 'idle' | 'waiting' | 'running' | 'cancelling'
  /** Unix ms from which the shown time counts; 0 when unknown. */
  readonly since: number
  readonly lastActivity: number
  readonly asks: readonly Permission[]
  /** A request waits for the user, so the Agent's silence is expected. */
  readonly asking: boolean
}

export interface Rows {
  readonly rows: readonly Row[]
  readonly footer: Footer
  /** Milliseconds until build() should be called again, because a costly part was not brought up to date; else 0. */
  readonly again: number
}

/** What the rows of one message depend on. */
interface Context {
  running: boolean
  asks: readonly Permission[]
  userId: string
  last: boolean
}

interface Entry extends Context {
  message: Message
  rows: readonly Row[]
  stale: boolean
}

/** What build() made last, so that the next call makes only what differs. */
interface Built {
  readonly messages: readonly Message[]
  readonly rows: readonly Row[]
  /** By message: the position behind its last row. */
  readonly ends: readonly number[]
  /** Messages whose rows depend on more than themselves: on the turn, a request, or on being the last. */
  readonly moving: ReadonlySet<string>
}

/** A frame: what an update costs less than is not counted. */
const FRAME = 16
/** Updates of growing texts may take a fifth of the time at most. */
const REST = 4

/**
 * Turns views of one Session into rows. Keeps what it made of each message, so that a delta costs the rows of its
 * message only. Make a new one for another Session.
 */
export class RowBuilder {
  private readonly entries = new Map<string, Entry>()
  private readonly splitters = new Map<string, MarkdownStream>()
  private now = 0
  private notBefore = 0
  private again = 0
  private last: Built = { messages: [], rows: [], ends: [], moving: new Set() }
  private readonly stale = new Set<string>()
  /** The message at hand shows less than it holds. */
  private rested = false

  /** @param clock milliseconds; performance.now() in the page */
  constructor(private readonly clock: () => number = () => performance.now()) {}

  /**
   * Tells what showing the last rows cost in milliseconds, from build() to the painted page. A growing text is one
   * list or paragraph in the worst case, which is parsed and drawn again at each update, so costly updates must come
   * more rarely.
   */
  rest(cost: number): void {
    this.notBefore = REST * cost > FRAME ? this.clock() + REST * cost : 0
  }

  /** Costs the messages that differ from the last view; the rows of the others are copied as they stand. */
  build(view: SessionView): Rows {
    this.now = this.clock()
    this.again = 0
    const old = this.last
    const { messages } = view
    const moving = movingIn(view)
    let rows: Row[] = []
    let ends: number[] = []
    const placed = new Set<Permission>()
    // Older messages are put in front of the first known one, new ones behind the last.
    const front = old.messages[0] ? Math.max(0, messages.indexOf(old.messages[0])) : 0
    let same = 0
    while (same < old.messages.length && old.messages[same] === messages[front + same]) {
      const id = old.messages[same]!.id
      if (moving.has(id) || old.moving.has(id) || this.stale.has(id)) break
      same++
    }
    let userId = ''
    for (let i = 0; i < messages.length; i++) {
      if (i === front && same > 0) {
        const base = rows.length
        rows = rows.concat(old.rows.slice(0, old.ends[same - 1]))
        ends = ends.concat(old.ends.slice(0, same).map((end) => base + end))
        i += same - 1
        userId = messages.slice(0, i + 1).findLast((m) => m.role === 'user')?.id ?? ''
        continue
      }
      const message = messages[i]!
      if (message.role === 'user') userId = message.id
      const asks = view.permissions.filter((p) => p.messageId === message.id && hasTool(message, p.toolCallId))
      for (const p of asks) placed.add(p)
      const running = view.turn.state !== 'idle' && view.turn.messageId === message.id
      const last = i === messages.length - 1 && view.turn.state === 'idle'
      for (const row of this.rowsOf(message, { running, asks, userId, last })) rows.push(row)
      ends.push(rows.length)
    }
    this.last = { messages, rows, ends, moving }
    return { rows, footer: footerOf(view, placed), again: this.again }
  }

  private rowsOf(message: Message, c: Context): readonly Row[] {
    const old = this.entries.get(message.id)
    if (
      old &&
      !old.stale &&
      old.message === message &&
      old.running === c.running &&
      old.last === c.last &&
      old.userId === c.userId &&
      sameList(old.asks, c.asks)
    ) {
      return old.rows
    }
    this.rested = false
    const made = message.role === 'user' ? userRows(message, c) : this.assistantRows(message, c)
    const rows = made.map((row, i) => {
      const was = old?.rows[i]
      return was && sameRow(was, row) ? was : row
    })
    this.entries.set(message.id, { ...c, message, rows, stale: this.rested })
    if (this.rested) this.stale.add(message.id)
    else this.stale.delete(message.id)
    return rows
  }

  private assistantRows(message: Message, c: Context): Row[] {
    const rows: Row[] = []
    const lastPart = message.parts.at(-1)
    for (const part of message.parts) {
      const active = c.running && part === lastPart
      if (part.type === 'text') this.textRows(part, message.id, active, rows)
      else this.otherRow(part, message.id, { ...c, running: part.type === 'tool' ? c.running : active }, rows)
    }
    const end = endRow(message, c)
    if (end) rows.push(end)
    return rows
  }

  private textRows(part: Part, messageId: string, growing: boolean, rows: Row[]): void {
    for (const block of this.split(part)) {
      const base = { key: `${part.id}:${block.index}`, messageId, block }
      rows.push(block.kind === 'code' ? { ...base, type: 'code', growing: growing && !block.closed } : { ...base, type: 'markdown' })
    }
  }

  private otherRow(part: Part, messageId: string, c: Context, rows: Row[]): void {
    const base = { key: part.id, messageId }
    if (part.type === 'reasoning' && part.text?.trim()) {
      rows.push({ ...base, type: 'reasoning', text: part.text, active: c.running })
    } else if (part.type === 'tool' && part.tool) {
      const { tool } = part
      const active = c.running && !tool.interrupted && tool.status !== 'completed' && tool.status !== 'failed'
      const asks = c.asks.filter((p) => p.toolCallId === tool.toolCallId)
      rows.push({ ...base, type: 'tool', partId: part.id, tool, active, asks })
    } else if (part.type === 'attachment' && part.attachment) {
      rows.push({ ...base, type: 'attachment', partId: part.id, attachment: part.attachment })
    }
  }

  /** The blocks of a text part, brought up to date unless the last update was so costly that they must rest. */
  private split(part: Part): readonly Block[] {
    let stream = this.splitters.get(part.id)
    const text = part.text ?? ''
    if (stream && stream.text !== text && this.now < this.notBefore) {
      this.rested = true
      this.again = this.notBefore - this.now
      return stream.blocks
    }
    if (!stream) this.splitters.set(part.id, (stream = new MarkdownStream()))
    return stream.update(text)
  }
}

/** Ids of the messages whose rows may change although the messages stay the same. */
function movingIn(view: SessionView): ReadonlySet<string> {
  const ids = new Set(view.permissions.map((p) => p.messageId))
  const last = view.messages.at(-1)
  if (last) ids.add(last.id)
  if (view.turn.messageId) ids.add(view.turn.messageId)
  return ids
}

/** What a user wrote, without what the application injected (R-CHAT-157, 158). */
export function visibleText(message: Message): string {
  return message.parts
    .filter((p) => p.type === 'text')
    .map((p) => p.text ?? '')
    .join('\n\n')
}

function userRows(message: Message, c: Context): Row[] {
  const attachments = message.parts.flatMap((p) => (p.attachment ? [p.attachment] : []))
  const base = { messageId: message.id }
  const rows: Row[] = [
    { ...base, key: message.id, type: 'user', text: visibleText(message), attachments, at: message.createdAt },
  ]
  const end = endRow(message, c)
  if (end) rows.push(end)
  return rows
}

/** Endings that are worth a row: errors, and every stop that is not the plain end of an answer. */
function endRow(message: Message, c: Context): Row | null {
  const end = message.end
  if (!end || (!end.error && (!end.stopReason || end.stopReason === 'end_turn'))) return null
  return {
    key: `${message.id}:end`,
    messageId: message.id,
    type: 'end',
    failure: end.error ?? null,
    stopReason: end.stopReason ?? '',
    retry: end.error && c.last && c.userId ? c.userId : null,
  }
}

function footerOf(view: SessionView, placed: ReadonlySet<Permission>): Footer {
  const { turn } = view
  const states = { idle: 'idle', waiting: 'waiting', streaming: 'running', cancelling: 'cancelling' } as const
  const state = states[turn.state] ?? 'idle'
  const from = state === 'waiting' ? turn.startedAt : (turn.firstContentAt ?? turn.startedAt)
  return {
    state,
    since: timeOf(from),
    lastActivity: timeOf(turn.lastActivityAt ?? turn.startedAt),
    asks: view.permissions.filter((p) => !placed.has(p)),
    asking: view.permissions.length > 0,
  }
}

function timeOf(at: string | undefined): number {
  const ms = at ? Date.parse(at) : 0
  return Number.isFinite(ms) ? ms : 0
}

function hasTool(message: Message, callId: string | undefined): boolean {
  return callId !== undefined && callId !== '' && message.parts.some((p) => p.tool?.toolCallId === callId)
}

function sameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((x, i) => x === b[i])
}

function sameRow(a: Row, b: Row): boolean {
  const x = a as unknown as Record<string, unknown>
  const y = b as unknown as Record<string, unknown>
  for (const k in y) {
    const v = x[k]
    const w = y[k]
    if (v !== w && !(Array.isArray(v) && Array.isArray(w) && sameList(v, w))) return false
  }
  return true
}
