import type { Diff, Part, Tool, ToolKind } from '@/api/types'
import type { ActivityRow } from './rows'

/** The closed vocabulary of tool kinds, in no order that matters (R-CHAT-088). */
const kinds: Record<ToolKind, true> = {
  read: true,
  write: true,
  edit: true,
  delete: true,
  move: true,
  search: true,
  execute: true,
  think: true,
  fetch: true,
  switch_mode: true,
  other: true,
}

/** The kind of a call as the page knows it; a kind of a newer Core counts as other. */
export function kindOf(tool: Tool): ToolKind {
  return Object.hasOwn(kinds, tool.kind) ? tool.kind : 'other'
}

/** How many items of a group belong to one category. Thoughts and calls of the kind `think` share one. */
export interface Count {
  readonly kind: ToolKind
  readonly n: number
}

/** The items of a group by category, in the order in which the categories first came (R-CHAT-080). */
export function countsOf(items: readonly ActivityRow[]): Count[] {
  const counts = new Map<ToolKind, number>()
  for (const item of items) {
    const kind = iconOf(item)
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return [...counts].map(([kind, n]) => ({ kind, n }))
}

/** The kind whose icon stands for a group: its last working tool, else its last tool, else a thought (R-CHAT-081). */
export function groupIcon(items: readonly ActivityRow[]): ToolKind {
  const last = items.findLast((item) => item.type === 'tool' && item.active) ?? items.findLast((item) => item.type === 'tool')
  return last ? iconOf(last) : 'think'
}

/** The kind whose icon an item has; a thought has that of `think`. */
export function iconOf(item: ActivityRow): ToolKind {
  return item.type === 'tool' ? kindOf(item.tool) : 'think'
}

/** A longer line in bold is no title. */
const LONGEST_TITLE = 300

/** A thought that begins with a line in bold: the line without its asterisks, "" when there is none, and what follows. */
export function titled(text: string): { title: string; rest: string } {
  const head = /^\s*\*\*([^*\n]+)\*\*[ \t]*(?:\r?\n|$)/.exec(text)
  const title = head?.[1]?.trim() ?? ''
  return title === '' || title.length > LONGEST_TITLE ? { title: '', rest: text } : { title, rest: text.slice(head![0].length) }
}

/** What a call did to a file. */
export interface FileChange {
  readonly path: string
  readonly change: 'add' | 'update' | 'delete'
}

/** The paths of a call's own diffs in the order they came, with what the call did to each as a whole (R-CHAT-086). */
export function changesOf(tool: Tool): FileChange[] {
  const files = new Map<string, { before: boolean; after: boolean }>()
  for (const diff of tool.diffs ?? []) {
    const { before, after } = existence(diff)
    files.set(diff.path, { before: files.get(diff.path)?.before ?? before, after })
  }
  return [...files].map(([path, { before, after }]) => ({ path, change: !after ? 'delete' : before ? 'update' : 'add' }))
}

/** Whether the file was there before and after a diff. The Agent's hint decides, where there is one (R-CHAT-101, 102). */
function existence({ kind, old, new: next }: Diff): { before: boolean; after: boolean } {
  if (kind === 'add') return { before: false, after: true }
  if (kind === 'delete') return { before: true, after: false }
  if (kind === 'update' || kind === 'modify') return { before: true, after: true }
  const emptied = old !== undefined && old.size > 0 && next?.size === 0
  return { before: old !== undefined, after: next !== undefined && !emptied }
}

/** A place that a call touched. */
export interface Place {
  readonly path: string
  /** Undefined when the Agent named none. */
  readonly line: number | undefined
  /** What is shown: the path, with its line if it has one. */
  readonly text: string
  /** The path is absolute: POSIX, a Windows drive, or a UNC share. */
  readonly absolute: boolean
}

/** The places of a call in the order they came, each once (R-CHAT-087). */
export function placesOf(tool: Tool): Place[] {
  const places = new Map<string, Place>()
  for (const { path, line } of tool.locations ?? []) {
    const text = line ? `${path}:${line}` : path
    if (!places.has(text)) places.set(text, { path, line: line || undefined, text, absolute: isAbsolute(path) })
  }
  return [...places.values()]
}

function isAbsolute(path: string): boolean {
  return /^(\/(?!\/)|[A-Za-z]:[\\/]|\\\\[^\\]+\\[^\\]+)/.test(path)
}

/** How the parts of a message hang together. */
export interface Lineage {
  /** Index of the part of the subagent that a part belongs to; −1 for what stands in the message itself. */
  readonly parent: readonly number[]
  /** How many subagents a part stands in; 0 for what stands in the message itself. */
  readonly level: readonly number[]
  /** The part is the call of a subagent (R-CHAT-106). */
  readonly root: readonly boolean[]
}

/**
 * Finds the subagents of a message; null when there is none, which is quick to tell. Core names a parent only where the
 * link is safe (R-CHAT-108), so this only guards against what would hide or repeat a part: a parent that is not there,
 * and a cycle. Both leave an ordinary part.
 */
export function lineageOf(parts: readonly Part[]): Lineage | null {
  if (!parts.some((p) => p.tool?.subagent || parentId(p))) return null
  const calls = new Map<string, number>()
  for (const [i, p] of parts.entries()) if (p.tool) calls.set(p.tool.toolCallId, i)
  const parent = parts.map((p) => calls.get(parentId(p)) ?? -1)
  const level = new Array<number>(parts.length).fill(-1)
  for (let i = 0; i < parts.length; i++) measure(i, parent, level)
  const root = parts.map((p) => p.tool?.subagent !== undefined)
  for (const p of parent) if (p >= 0) root[p] = true
  return { parent, level, root }
}

/** Fills in the level of a part and of all above it; a cycle is cut at every part that it holds. */
function measure(start: number, parent: number[], level: number[]): void {
  const path: number[] = []
  const on = new Set<number>()
  let i = start
  while (i >= 0 && level[i]! < 0 && !on.has(i)) {
    path.push(i)
    on.add(i)
    i = parent[i]!
  }
  if (i >= 0 && on.has(i)) for (const k of path.slice(path.indexOf(i))) parent[k] = -1
  for (const k of path.reverse()) level[k] = parent[k]! < 0 ? 0 : level[parent[k]!]! + 1
}

/** The call id of the subagent that a part belongs to, "" for none. */
function parentId(part: Part): string {
  return part.tool?.parentToolCallId || part.parentToolCallId || ''
}
