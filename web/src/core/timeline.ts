// What the timeline of prompts decides: which messages stand in it, where its rail is pointed at, and which prompt is read.

import type { Attachment, Message } from '@/api/types'
import { visibleText } from './rows'

/** A summary is one line; what is longer is not seen anyway. UTF-16 units. */
const LONGEST = 200
/** Guides stand for single items up to this many. */
const MOST_GUIDES = 10
/** Entries that the popover shows around the one pointed at. */
const AROUND = 5
/** The line that a prompt passes to be the one that is read, as a part of the view's height. */
const LINE = 0.35
/** A smooth way has arrived when its target is this near, in px, and is given up after this long, in ms. */
const NEAR = 3
const LONG = 1200
/** A wheel turns one item for this many px; one event turns one item at most. */
const NOTCH = 40

/** A prompt in the timeline; the key is that of its row, the message's id. */
export type PromptItem = { readonly key: string } & (
  | { readonly kind: 'text'; readonly text: string }
  | {
      /** The message has no text. Files come with their names, "" when one has none. */
      readonly kind: 'attachments'
      readonly images: number
      readonly files: readonly string[]
    }
)

/** The prompts of a Session (R-CHAT-063). The list stays the same object while its items do. */
export class PromptItems {
  private readonly made = new WeakMap<Message, PromptItem | null>()
  private last: readonly PromptItem[] = []

  of(messages: readonly Message[]): readonly PromptItem[] {
    const next: PromptItem[] = []
    for (const message of messages) {
      const item = message.role === 'user' ? this.item(message) : null
      if (item) next.push(item)
    }
    const { last } = this
    if (next.length !== last.length || next.some((item, i) => item !== last[i])) this.last = next
    return this.last
  }

  private item(message: Message): PromptItem | null {
    let item = this.made.get(message)
    if (item === undefined) this.made.set(message, (item = itemOf(message)))
    return item
  }
}

/** The item of a user message; null when it shows nothing but what the application put in. */
export function itemOf(message: Message): PromptItem | null {
  const key = message.id
  const text = lineOf(visibleText(message))
  if (text) return { key, kind: 'text', text }
  const attachments = message.parts.flatMap((p) => (p.attachment ? [p.attachment] : []))
  if (attachments.length === 0) return null
  const files = attachments.filter((a) => !isImage(a))
  return { key, kind: 'attachments', images: attachments.length - files.length, files: files.map(nameOf) }
}

function lineOf(text: string): string {
  const line = text.trimStart().slice(0, 4 * LONGEST).replace(/\s+/g, ' ').slice(0, LONGEST)
  // No half of a surrogate pair at the end.
  return line.replace(/[\ud800-\udbff]$/, '').trimEnd()
}

function isImage(a: Attachment): boolean {
  return a.mime?.startsWith('image/') ?? false
}

function nameOf(a: Attachment): string {
  return a.name || (a.uri?.split(/[/\\]/).findLast((piece) => piece !== '') ?? '')
}

/** How many guides a rail of n items has (R-CHAT-064). */
export function guidesOf(n: number): number {
  return Math.min(n, MOST_GUIDES)
}

/** The height of a rail of n items in px (R-CHAT-064). */
export function heightOf(n: number): number {
  return n > MOST_GUIDES ? 164 : Math.max(36, 14 * (n - 1))
}

/** The item at a part of the rail's height, 0 at its top and 1 at its bottom; beyond are the first and last (R-CHAT-065). */
export function itemAt(ratio: number, n: number): number {
  return Math.round(Math.min(Math.max(ratio, 0), 1) * (n - 1))
}

/** Nearest position of an item in a list of n. */
export function clamp(index: number, n: number): number {
  return Math.min(Math.max(index, 0), n - 1)
}

/** The entries [from, to) around one; there are five wherever there are five items (R-CHAT-066). */
export function windowAround(index: number, n: number): { from: number; to: number } {
  const size = Math.min(AROUND, n)
  const from = Math.min(Math.max(index - Math.floor(AROUND / 2), 0), n - size)
  return { from, to: from + size }
}

/** How far below the top of a view of this height the line lies that a prompt passes to be active. */
export function lineOfView(height: number): number {
  return LINE * height
}

/**
 * The last of n items whose top is not below the line; before any, the first (R-CHAT-070). Tops do not fall. Asks for few
 * of them.
 */
export function activeAt(line: number, n: number, topOf: (index: number) => number): number {
  let lo = 0
  let hi = n - 1
  while (lo < hi) {
    const middle = Math.ceil((lo + hi) / 2)
    if (topOf(middle) <= line) lo = middle
    else hi = middle - 1
  }
  return lo
}

/**
 * How far below the top of the view a prompt is put: at the top, but not so high that the next one, `gap` px below it,
 * passes the line and is active in its place.
 */
export function offsetFor(line: number, gap: number): number {
  return Math.min(Math.max(line - gap + 2, 0), line)
}

/** Whether the target of a smooth way is still the active item, so far from its place and so long after (R-CHAT-070). */
export function underWay(distance: number, elapsed: number): boolean {
  return Math.abs(distance) > NEAR && elapsed < LONG
}

/** After this many ms a smooth way counts no more, wherever its target is. */
export const longestWay = LONG

/** Counts the notches of a wheel; the small steps of a touchpad add up to one. */
export class Wheel {
  private sum = 0

  /** Takes the movement of one event in px, or in lines or pages, and returns the items to go: -1, 0 or 1. */
  turn(delta: number, inPixels: boolean): number {
    if (Math.sign(delta) !== Math.sign(this.sum)) this.sum = 0
    this.sum += inPixels ? delta : Math.sign(delta) * NOTCH
    if (Math.abs(this.sum) < NOTCH) return 0
    this.sum = 0
    return Math.sign(delta)
  }
}
