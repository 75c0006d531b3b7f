import type {
  Damage,
  Delta,
  Message,
  MessagePage,
  Part,
  PartEvent,
  Permission,
  PermissionClosed,
  SessionDetail,
  SessionSummary,
  StreamEvent,
  TagsEvent,
  TurnEndEvent,
} from '@/api/types'
import type { SessionView } from './types'

type Draft = { -readonly [K in keyof SessionView]: SessionView[K] }

/**
 * Makes a view from the two snapshots of a Session. The page must have been asked for after the detail was answered:
 * what happened in between is then in the page, in later events, or in both, and never in neither.
 */
export function openView(detail: SessionDetail, page: MessagePage): SessionView {
  const live = detail.live && cleanMessage(detail.live)
  const messages = (page.messages ?? []).map(cleanMessage)
  const growing = new Set<string>()
  if (live) {
    growing.add(live.id)
    const at = messages.findIndex((m) => m.id === live.id)
    if (at >= 0) messages[at] = live
    else messages.push(live)
  }
  return {
    sessionId: detail.sessionId,
    seq: detail.seq,
    summary: summaryOf(detail),
    messages,
    growing,
    before: page.before || undefined,
    turn: detail.turn,
    permissions: detail.permissions ?? [],
    usage: detail.usage,
    config: detail.configOptions ?? [],
    commands: detail.commands ?? [],
    plan: detail.plan ?? [],
    policy: detail.permissionPolicy || 'ask',
    scope: detail.scope,
    stale: detail.staleReason,
    queue: queueOf(detail.queue),
    damage: page.damage ?? [],
    torn: false,
    removed: false,
  }
}

/** Puts an older page in front. A message that is already there is kept as it is. */
export function prepend(view: SessionView, page: MessagePage): SessionView {
  const known = new Set(view.messages.map((m) => m.id))
  const older = (page.messages ?? []).filter((m) => !known.has(m.id)).map(cleanMessage)
  return {
    ...view,
    messages: [...older, ...view.messages],
    before: page.before || undefined,
    damage: [...(page.damage ?? []), ...view.damage],
  }
}

/**
 * Joins a Session that was read anew to what is known of it: the older messages stay, so that nobody loses the place
 * at which they read. When the two do not meet, only what was read anew is left.
 */
export function rejoin(old: SessionView, fresh: SessionView): SessionView {
  const first = fresh.messages[0]?.id
  const at = old.messages.findIndex((m) => m.id === first)
  if (at < 0 || fresh.before === undefined) return fresh
  const known = new Set(fresh.damage.map(placeOf))
  return {
    ...fresh,
    messages: [...old.messages.slice(0, at), ...fresh.messages],
    before: old.before,
    damage: [...old.damage.filter((d) => !known.has(placeOf(d))), ...fresh.damage],
  }
}

function placeOf(d: Damage): string {
  return `${d.file}:${d.offset}`
}

/**
 * Applies a batch of stream events in order and returns the same view when none of them concerns it. One call per
 * frame copies each touched list once, however many events the batch holds.
 */
export function reduce(view: SessionView, events: readonly StreamEvent[]): SessionView {
  let step: Step | null = null
  for (const event of events) {
    if (event.sessionId !== view.sessionId || event.seq <= (step?.draft.seq ?? view.seq)) continue
    step ??= new Step(view)
    step.draft.seq = event.seq
    step.apply(event)
  }
  return step ? step.draft : view
}

/** One batch: a draft view whose lists and messages are copied at the first change and then changed in place. */
class Step {
  readonly draft: Draft
  private list: Message[] | null = null
  private growing: Set<string> | null = null
  private readonly fresh = new Map<string, Message>()

  constructor(view: SessionView) {
    this.draft = { ...view }
  }

  apply(event: StreamEvent): void {
    const v = this.draft
    switch (event.type) {
      case 'session':
        v.summary = event.data
        break
      case 'session.removed':
        v.removed = true
        break
      case 'message':
        this.put(cleanMessage(event.data))
        break
      case 'delta':
        this.delta(event.data)
        break
      case 'part':
        this.part(event.data)
        break
      case 'tags':
        this.tags(event.data)
        break
      case 'turn':
        v.turn = event.data
        break
      case 'turn.end':
        this.end(event.data)
        break
      case 'permission':
        v.permissions = upsert(v.permissions, event.data)
        break
      case 'permission.closed':
        this.closed(event.data)
        break
      case 'config':
        v.config = event.data.options ?? []
        break
      case 'commands':
        v.commands = event.data.commands ?? []
        break
      case 'usage':
        v.usage = event.data
        break
      case 'plan':
        v.plan = event.data.entries ?? []
        break
      case 'queue':
        v.queue = queueOf(event.data)
        break
      case 'activity':
        if (v.turn.state !== 'idle') v.turn = { ...v.turn, lastActivityAt: event.data.at }
        break
    }
  }

  private messages(): Message[] {
    if (!this.list) this.draft.messages = this.list = [...this.draft.messages]
    return this.list
  }

  private grow(id: string): void {
    if (this.draft.growing.has(id)) return
    if (!this.growing) this.draft.growing = this.growing = new Set(this.draft.growing)
    this.growing.add(id)
  }

  private put(message: Message): void {
    const list = this.messages()
    const at = indexOf(list, message.id)
    if (at >= 0) list[at] = message
    else {
      list.push(message)
      this.grow(message.id)
    }
    this.fresh.delete(message.id)
  }

  /** The message with the id, copied so that this batch may change it; made when it does not exist. */
  private open(id: string): Message {
    const ready = this.fresh.get(id)
    if (ready) return ready
    const list = this.messages()
    const at = indexOf(list, id)
    const old = at >= 0 ? list[at] : undefined
    const now = new Date().toISOString()
    const copy: Message = old
      ? { ...old, parts: [...old.parts] }
      : { id, role: 'assistant', createdAt: now, updatedAt: now, parts: [] }
    if (old) list[at] = copy
    else {
      list.push(copy)
      this.grow(id)
    }
    this.fresh.set(id, copy)
    return copy
  }

  private delta(d: Delta): void {
    const known = indexOf(this.draft.messages, d.messageId) >= 0
    if (known && !this.draft.growing.has(d.messageId)) return
    const parts = this.open(d.messageId).parts
    pad(parts, d.messageId, d.index)
    const old = parts[d.index]
    const text = old?.text ?? ''
    // Core joins deltas that pile up, so one may begin inside what the snapshot held; a hole cannot come by itself.
    if (d.at > text.length) this.draft.torn = true
    else parts[d.index] = { ...(old ?? { id: d.partId, type: d.kind }), text: text + d.text.slice(text.length - d.at) }
  }

  private part(p: PartEvent): void {
    const parts = this.open(p.messageId).parts
    pad(parts, p.messageId, p.index)
    parts[p.index] = p.part
  }

  private tags(t: TagsEvent): void {
    if (indexOf(this.draft.messages, t.messageId) < 0) return
    const parts = this.open(t.messageId).parts
    const part = parts[t.index]
    if (part) parts[t.index] = { ...part, tags: t.tags }
  }

  private end(e: TurnEndEvent): void {
    const id = e.messageId || e.userMessageId
    if (indexOf(this.draft.messages, id) >= 0) this.open(id).end = e.end
    this.draft.turn = { state: 'idle' }
    this.draft.permissions = []
  }

  /** Takes the request off the open ones and notes the decision at its tool. */
  private closed(c: PermissionClosed): void {
    const v = this.draft
    v.permissions = v.permissions.filter((p) => p.id !== c.note.id)
    if (!c.toolCallId || indexOf(v.messages, c.messageId) < 0) return
    const parts = this.open(c.messageId).parts
    const at = parts.findLastIndex((p) => p.tool?.toolCallId === c.toolCallId)
    const part = parts[at]
    if (!part?.tool) return
    const notes = (part.tool.permissions ?? []).filter((n) => n.id !== c.note.id)
    parts[at] = { ...part, tool: { ...part.tool, permissions: [...notes, c.note] } }
  }
}

/** Looks from the end: events concern the last messages. */
function indexOf(list: readonly Message[], id: string): number {
  for (let i = list.length - 1; i >= 0; i--) if (list[i]?.id === id) return i
  return -1
}

/** Fills positions that were never told about, so that every part keeps the index Core gave it. */
function pad(parts: Part[], messageId: string, index: number): void {
  while (parts.length < index) parts.push({ id: `${messageId}.${parts.length}`, type: 'text', text: '' })
}

function upsert(list: readonly Permission[], p: Permission): Permission[] {
  const at = list.findIndex((x) => x.id === p.id)
  return at < 0 ? [...list, p] : list.with(at, p)
}

function queueOf(q: SessionDetail['queue']): SessionView['queue'] {
  return { entries: q.entries ?? [], held: q.held || undefined, failure: q.failure }
}

function cleanMessage(m: Message): Message {
  return m.parts ? m : { ...m, parts: [] }
}

function summaryOf(d: SessionDetail): SessionSummary {
  const { sessionId, workspaceId, title, agentId, agentName, mode, pinned, running, attention, createdAt, updatedAt } = d
  return { sessionId, workspaceId, title, agentId, agentName, mode, pinned, running, attention, createdAt, updatedAt }
}
