import type { Attachment, Diff, Failure, Message, Part, Permission, Tool } from '@/api/types'
import { lineageOf, titled, type Lineage } from './activity'
import { MarkdownStream, type Block } from './markdown/stream'
import { counts, stampOf } from './stamp'
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
  | (RowBase & {
      readonly type: 'user'
      readonly text: string
      readonly attachments: readonly Attachment[]
      /** Of the parts that carry them, in the same order. */
      readonly partIds?: readonly string[]
      readonly at: string
    })
  | (RowBase & { readonly type: 'markdown'; readonly block: Block })
  | (RowBase & { readonly type: 'code'; readonly block: Block; readonly growing: boolean })
  | (RowBase & {
      readonly type: 'reasoning'
      readonly text: string
      /** What the Agent calls this thought; "" when it does not say. */
      readonly title: string
      readonly active: boolean
    })
  | (RowBase & {
      readonly type: 'tool'
      readonly partId: string
      readonly tool: Tool
      /** Its turn runs and the call is not final: the title shimmers. */
      readonly active: boolean
      readonly asks: readonly Ask[]
    })
  | (RowBase & {
      /** Two or more thoughts and calls in a row (R-CHAT-077); the key is that of the first, and stays so. */
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
      /** How many subagents it stands in itself. */
      readonly level: number
      /** Its own and those of everything below it. */
      readonly asks: readonly Ask[]
      /** Everything below it, at any depth, in part order. */
      readonly children: readonly Child[]
    })
  | (RowBase & {
      /** Closes an answer: when, how long, copy, file changes. Stands also while it streams, once a call changed a file. */
      readonly type: 'foot'
      readonly startedAt: string
      /** "" while it streams. */
      readonly endedAt: string
      readonly hasText: boolean
      /** Differs whenever the answer's file changes may differ; "" when no call of it changed a file. */
      readonly stamp: string
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

export type SubagentRow = Extract<Row, { type: 'subagent' }>

/** What a subagent says, as Markdown that its details take apart when they are shown. */
export type WordsRow = RowBase & { readonly type: 'words'; readonly text: string; readonly active: boolean }

/** Something that a subagent did or said. */
export interface Child {
  /** How many subagents it stands in; that of its subagent's row plus one, or more. */
  readonly level: number
  readonly row: ActivityRow | SubagentRow | WordsRow | Extract<Row, { type: 'attachment' }>
}

/** An open request, with the call that it is about. */
export interface Ask {
  readonly permission: Permission
  readonly partId: string
  readonly diffs: readonly Diff[]
}

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
  /** The rows show less than the view holds: build() should be called again in the next frame. */
  readonly again: boolean
}

/** What rows are made of. */
export type Shown = Pick<SessionView, 'messages' | 'permissions' | 'turn'>

/** What the rows of one message depend on. */
interface Context {
  /** Its turn runs. */
  running: boolean
  /** It may still be written to, also before the turn names it. */
  open: boolean
  asks: readonly Permission[]
  userId: string
  last: boolean
}

interface Entry extends Context {
  message: Message
  rows: readonly Row[]
  cells: readonly Cell[]
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

/** What a part is: one of the message itself, one inside of a subagent, or the call of a subagent, itself outside or inside. */
type Place = 'own' | 'child' | 'root' | 'inner'

/** What was made of one part, kept as long as nothing that it depends on changes. */
interface Cell {
  readonly part: Part
  readonly place: Place
  readonly running: boolean
  readonly permissions: readonly Permission[]
  readonly asks: readonly Ask[]
  /** It shows less than its part holds. */
  readonly stale: boolean
  rows: readonly (Row | WordsRow)[]
  child: Child | null
}

const NONE: readonly never[] = []

/** Milliseconds of a frame that showing more text may take; the rest of it belongs to what else the page does. */
const ROOM = 7
/** UTF-16 units by which a text may grow in one build: at first, and at the least and most. */
const STEP = { first: 1 << 10, least: 1 << 8, most: 32 << 10 }
/** However little fits into a frame, of what waits one part in so many is shown with each. */
const PARTS = 120

/**
 * Turns views of one Session into rows. Keeps what it made of each message, so that a delta costs the rows of its
 * message only. Make a new one for another Session.
 */
export class RowBuilder {
  private readonly entries = new Map<string, Entry>()
  private readonly splitters = new Map<string, MarkdownStream>()
  private step = STEP.first
  private again = false
  private last: Built = { messages: [], rows: [], ends: [], moving: new Set() }
  private readonly stale = new Set<string>()
  /** The message at hand shows less than it holds. */
  private rested = false

  /**
   * Tells how many milliseconds the last rows took, from build() until they were painted. Much text at once, as after a
   * pause or from an Agent that writes at full speed, is shown over several frames, in steps that this decides.
   */
  took(time: number): void {
    const fitting = this.step * Math.min(1.25, Math.max(0.5, ROOM / time))
    this.step = Math.min(STEP.most, Math.max(STEP.least, fitting))
  }

  /** Costs the messages that differ from the last view; the rows of the others are copied as they stand. */
  build(view: Shown): Rows {
    this.again = false
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
        const known = old.ends.slice(0, same)
        ends = base === 0 ? known : ends.concat(known.map((end) => base + end))
        i += same - 1
        userId = lastUser(messages, i)
        continue
      }
      const message = messages[i]!
      if (message.role === 'user') userId = isHidden(message) ? '' : message.id
      const asks = view.permissions.filter((p) => p.messageId === message.id && hasTool(message, p.toolCallId))
      for (const p of asks) placed.add(p)
      const busy = view.turn.state !== 'idle'
      const end = i === messages.length - 1
      const running = busy && view.turn.messageId === message.id
      const open = running || (busy && end && !message.end)
      for (const row of this.rowsOf(message, { running, open, asks, userId, last: end && !busy })) rows.push(row)
      ends.push(rows.length)
    }
    if (!this.again) this.step = STEP.first
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
      old.open === c.open &&
      old.last === c.last &&
      old.userId === c.userId &&
      sameList(old.asks, c.asks)
    ) {
      return old.rows
    }
    this.rested = false
    const lineage = message.role === 'user' ? null : lineageOf(message.parts)
    const cells = message.role === 'user' ? NONE : this.cellsOf(message, c, lineage, old?.cells ?? NONE)
    const made = message.role === 'user' ? userRows(message, c) : assistantRows(message, c, lineage, cells)
    // A cell keeps the rows of its part; the others are few.
    const before = new Map(old?.rows.filter(ofNoCell).map((row) => [row.key, row]))
    const rows = made.map((row) => (ofNoCell(row) ? kept(before.get(row.key), row) : row))
    this.entries.set(message.id, { ...c, message, rows, cells, stale: this.rested })
    if (this.rested) this.stale.add(message.id)
    else this.stale.delete(message.id)
    return rows
  }

  /** A cell for each part. A delta touches one of them only; the others stay as they were. */
  private cellsOf(message: Message, c: Context, lineage: Lineage | null, old: readonly Cell[]): Cell[] {
    const { parts } = message
    const byCall = new Map<string, Permission[]>()
    for (const p of c.asks) byCall.set(p.toolCallId ?? '', [...(byCall.get(p.toolCallId ?? '') ?? []), p])
    const growing = c.running ? growingOf(parts, lineage) : new Set<number>()
    let rested = false
    const cells = parts.map((part, i): Cell => {
      const place = placeOf(lineage, i)
      const running = c.running && (part.type === 'tool' || growing.has(i))
      const permissions = (part.tool && byCall.get(part.tool.toolCallId)) ?? NONE
      const was = old[i]
      const same = was && !was.stale && was.part === part && was.place === place && was.running === running
      if (same && sameList(was.permissions, permissions)) return was
      const asks = permissions.map((permission) => ({ permission, partId: part.id, diffs: part.tool?.diffs ?? NONE }))
      this.rested = false
      const made = this.partRows(part, message.id, place, running, asks)
      const rows = isRoot(place) ? (was?.rows ?? NONE) : made.map((row, j) => kept(was?.rows[j], row))
      const stale = this.rested
      rested ||= stale
      return { part, place, running, permissions, asks, stale, rows, child: was?.child ?? null }
    })
    this.rested = rested
    return cells
  }

  private partRows(part: Part, messageId: string, place: Place, running: boolean, asks: readonly Ask[]): readonly (Row | WordsRow)[] {
    const base = { key: part.id, messageId }
    const text = part.text ?? ''
    if (part.type === 'text') {
      if (!hasWords(text)) return NONE
      return place === 'own' ? this.textRows(part, messageId, running) : [{ ...base, type: 'words', text, active: running }]
    }
    if (part.type === 'reasoning' && hasWords(text)) {
      return [{ ...base, type: 'reasoning', text, title: titled(text).title, active: running }]
    }
    if (part.type === 'tool' && part.tool && !isRoot(place)) {
      return [{ ...base, type: 'tool', partId: part.id, tool: part.tool, active: running && unfinished(part.tool), asks }]
    }
    if (part.type === 'attachment' && part.attachment) {
      return [{ ...base, type: 'attachment', partId: part.id, attachment: part.attachment }]
    }
    return NONE
  }

  private textRows(part: Part, messageId: string, growing: boolean): Row[] {
    return this.split(part).map((block) => {
      const base = { key: `${part.id}:${block.index}`, messageId, block }
      return block.kind === 'code' ? { ...base, type: 'code', growing: growing && !block.closed } : { ...base, type: 'markdown' }
    })
  }

  /** The blocks of a text part, which grows by one step at most; the first time it is shown as far as it is. */
  private split(part: Part): readonly Block[] {
    let stream = this.splitters.get(part.id)
    const text = part.text ?? ''
    if (!stream) this.splitters.set(part.id, (stream = new MarkdownStream()))
    else if (text.startsWith(stream.text)) {
      const rest = text.length - stream.text.length
      const step = Math.max(this.step, Math.ceil(rest / PARTS))
      if (rest > step) {
        this.rested = this.again = true
        return stream.update(text.slice(0, wholeUntil(text, stream.text.length + step)))
      }
    }
    return stream.update(text)
  }
}

/** The id of the last user message up to a position, "" when there is none. */
function lastUser(messages: readonly Message[], to: number): string {
  for (let i = to; i >= 0; i--) if (messages[i]!.role === 'user') return isHidden(messages[i]!) ? '' : messages[i]!.id
  return ''
}

/** The position itself, or the one before when it is inside of a surrogate pair. */
function wholeUntil(text: string, at: number): number {
  const unit = text.charCodeAt(at - 1)
  return unit >= 0xd800 && unit < 0xdc00 ? at - 1 : at
}

/** Ids of the messages whose rows may change although the messages stay the same. */
function movingIn(view: Shown): ReadonlySet<string> {
  const ids = new Set(view.permissions.map((p) => p.messageId))
  const last = view.messages.at(-1)
  if (last) ids.add(last.id)
  if (view.turn.messageId) ids.add(view.turn.messageId)
  return ids
}

/** The text of a message, without what the application injected (R-CHAT-157, 158) and what subagents said. */
export function visibleText(message: Message): string {
  return message.parts
    .filter((p) => p.type === 'text' && !p.parentToolCallId && p.text?.trim())
    .map((p) => p.text ?? '')
    .join('\n\n')
}

function assistantRows(message: Message, c: Context, lineage: Lineage | null, cells: readonly Cell[]): Row[] {
  if (lineage) gatherSubagents(message, c, lineage, cells)
  const rows: Row[] = []
  let run: ActivityRow[] = []
  const flush = (): void => {
    const [first] = run
    if (first) rows.push(run.length > 1 ? groupOf(first, run) : first)
    run = []
  }
  for (const { part, place, rows: own } of cells) {
    if (place === 'child' || place === 'inner') continue
    // A text may show nothing, as link definitions do, and still stand between two calls.
    if (part.type === 'text' && hasWords(part.text ?? '')) flush()
    for (const row of own) {
      if (row.type === 'words') continue
      if (row.type === 'tool' || row.type === 'reasoning') run.push(row)
      else {
        flush()
        rows.push(row)
      }
    }
  }
  flush()
  const end = endRow(message, c)
  if (end) rows.push(end)
  const foot = footRow(message, c, cells)
  if (foot) rows.push(foot)
  return rows
}

function groupOf(first: ActivityRow, items: readonly ActivityRow[]): Row {
  return { key: first.key, messageId: first.messageId, type: 'group', items, active: items.some((i) => i.active) }
}

/** Makes the card of each subagent out of the cells below it, the innermost first since they are children too. */
function gatherSubagents(message: Message, c: Context, lineage: Lineage, cells: readonly Cell[]): void {
  const { parent, level } = lineage
  const below = new Map<number, number[]>()
  for (let i = 0; i < cells.length; i++) {
    if (lineage.root[i] && !below.has(i)) below.set(i, [])
    for (let up = parent[i]!; up >= 0; up = parent[up]!) {
      const list = below.get(up)
      if (list) list.push(i)
      else below.set(up, [i])
    }
  }
  for (const [root, members] of [...below].sort(([a], [b]) => level[b]! - level[a]!)) {
    const cell = cells[root]!
    const { tool } = cell.part
    if (!tool) continue
    const children = members.flatMap((i) => childOf(cells[i]!, level[i]!) ?? NONE)
    const asks = [...cell.asks, ...members.flatMap((i) => cells[i]!.asks)]
    const base = { key: cell.part.id, messageId: message.id, partId: cell.part.id, level: level[root]! }
    const row: Row = { ...base, type: 'subagent', tool, state: stateOf(tool, c.running), asks, children }
    const was = cell.rows[0]
    cell.rows = was?.type === 'subagent' && sameRow(was, row) ? cell.rows : [row]
  }
}

function childOf(cell: Cell, level: number): Child | null {
  const row = cell.rows[0]
  if (!row || row.type === 'user' || row.type === 'markdown' || row.type === 'code') return null
  if (row.type === 'group' || row.type === 'foot' || row.type === 'end') return null
  if (cell.child?.row !== row || cell.child.level !== level) cell.child = { level, row }
  return cell.child
}

function stateOf(tool: Tool, running: boolean): SubagentRow['state'] {
  if (tool.status === 'completed' || tool.status === 'failed') return tool.status
  return running && !tool.interrupted ? 'running' : 'interrupted'
}

function unfinished(tool: Tool): boolean {
  return !tool.interrupted && tool.status !== 'completed' && tool.status !== 'failed'
}

/**
 * The parts whose text may still grow: the last of each speaker, since subagents speak side by side. One whose call is
 * final says nothing more.
 */
function growingOf(parts: readonly Part[], lineage: Lineage | null): Set<number> {
  if (!lineage) return new Set([parts.length - 1])
  const last = new Map(parts.map((_, i) => [lineage.parent[i]!, i]))
  for (const speaker of last.keys()) {
    const tool = parts[speaker]?.tool
    if (tool && !unfinished(tool)) last.delete(speaker)
  }
  return new Set(last.values())
}

/** The last row of an answer. One that is still written has it only for the changes that it can already show. */
function footRow(message: Message, c: Context, cells: readonly Cell[]): Row | null {
  const ended = message.end !== undefined || !c.open
  const changed = cells.some(({ part: { tool }, place }) => place === 'own' && !!tool?.diffs?.length && counts(tool, !ended))
  if (!ended && !changed) return null
  return {
    key: `${message.id}:foot`,
    messageId: message.id,
    type: 'foot',
    startedAt: message.createdAt,
    endedAt: ended ? (message.end?.at ?? message.updatedAt) : '',
    hasText: cells.some(({ part, place }) => place === 'own' && part.type === 'text' && hasWords(part.text ?? '')),
    stamp: changed ? stampOf(message, !ended) : '',
  }
}

/** The row is made of several parts, or of none. */
function ofNoCell(row: Row): boolean {
  return row.type === 'group' || row.type === 'foot' || row.type === 'end' || row.type === 'user'
}

function placeOf(lineage: Lineage | null, i: number): Place {
  const inside = lineage !== null && lineage.parent[i]! >= 0
  if (lineage?.root[i]) return inside ? 'inner' : 'root'
  return inside ? 'child' : 'own'
}

function isRoot(place: Place): boolean {
  return place === 'root' || place === 'inner'
}

function hasWords(text: string): boolean {
  return /\S/.test(text)
}

/** A message that Core itself sent to the Agent; its parts stay there (R-SPAWN-108). */
function isHidden(message: Message): boolean {
  return message.parts.length === 0
}

function userRows(message: Message, c: Context): Row[] {
  if (isHidden(message)) return []
  const carriers = message.parts.filter((p) => p.attachment)
  const attachments = carriers.map((p) => p.attachment!)
  const partIds = carriers.map((p) => p.id)
  const base = { messageId: message.id }
  const rows: Row[] = [
    { ...base, key: message.id, type: 'user', text: visibleText(message), attachments, partIds, at: message.createdAt },
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

function footerOf(view: Shown, placed: ReadonlySet<Permission>): Footer {
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
  if (a === b) return true
  return a.length === b.length && a.every((x, i) => x === b[i])
}

/** The row that was there before, when nothing of it changed. */
function kept<T extends Row | WordsRow>(was: T | undefined, row: T): T {
  return was && (was === row || sameRow(was, row)) ? was : row
}

function sameRow(a: Row | WordsRow, b: Row | WordsRow): boolean {
  const x = a as unknown as Record<string, unknown>
  const y = b as unknown as Record<string, unknown>
  for (const k in y) {
    const v = x[k]
    const w = y[k]
    if (v !== w && !(Array.isArray(v) && Array.isArray(w) && sameList(v, w))) return false
  }
  return true
}
