import type { Attachment } from '@/api/types'

import { mediaKind } from './media'
import type { Row } from './rows'

/** Something in a list. */
interface Keyed {
  readonly key: string
}

/**
 * Where the rows of a list stand, in CSS pixels from the top of the first: heights that were measured, and guesses for
 * rows that were never shown. A height belongs to a row's key, so rows may come and go anywhere.
 */
export class Heights<T extends Keyed> {
  private rows: readonly T[] = []
  private sizes: number[] = []
  /** tops[i] is right for i ≤ valid. */
  private tops = new Float64Array(1)
  private valid = 0

  constructor(private readonly guess: (row: T) => number) {}

  /** Height of all rows. */
  get total(): number {
    return this.topOf(this.rows.length)
  }

  /** Takes new rows; those that were there keep their heights. */
  set(next: readonly T[]): void {
    const { rows: old, sizes } = this
    const front = old[0] ? indexOf(next, old[0].key, 0) : -1
    let same = 0
    if (front >= 0) {
      // The same row most often, and then no text is compared.
      while (same < old.length && (old[same] === next[front + same] || old[same]!.key === next[front + same]?.key)) same++
    }
    const rest = new Map<string, number>()
    for (let i = same; i < old.length; i++) rest.set(old[i]!.key, sizes[i]!)
    const known = (row: T): number => rest.get(row.key) ?? this.guess(row)
    if (front === 0) {
      sizes.length = same
      for (let i = same; i < next.length; i++) sizes.push(known(next[i]!))
    } else {
      const before = front > 0 ? next.slice(0, front).map(known) : []
      this.sizes = before.concat(sizes.slice(0, same), next.slice(Math.max(front, 0) + same).map(known))
    }
    this.rows = next
    this.valid = front === 0 ? Math.min(this.valid, same) : 0
    if (this.tops.length <= next.length) {
      const tops = new Float64Array(Math.ceil(next.length * 1.5) + 1)
      tops.set(this.tops)
      this.tops = tops
    }
  }

  /** Notes what a row measures; false when that was known. */
  measure(index: number, height: number): boolean {
    if (Math.abs(height - this.sizes[index]!) < 0.01) return false
    this.sizes[index] = height
    this.valid = Math.min(this.valid, index)
    return true
  }

  /** The top of a row; the index behind the last gives the height of all. */
  topOf(index: number): number {
    const to = Math.min(index, this.rows.length)
    for (; this.valid < to; this.valid++) this.tops[this.valid + 1] = this.tops[this.valid]! + this.sizes[this.valid]!
    return this.tops[to]!
  }

  /** The row that a place lies in; the first or last for places outside. */
  indexAt(top: number): number {
    this.topOf(this.rows.length)
    let low = 0
    let high = this.rows.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.tops[middle]! <= top) low = middle
      else high = middle - 1
    }
    return low
  }

  /** The position of a row, -1 when it is gone; found at once where it was looked for. */
  indexOf(key: string, near: number): number {
    return indexOf(this.rows, key, near)
  }
}

function indexOf(rows: readonly Keyed[], key: string, near: number): number {
  return rows[near]?.key === key ? near : rows.findIndex((r) => r.key === key)
}

/** Characters in a line of the column, and what lines measure. */
const CHARS = 105
const LINE = 22
const CODE_LINE = 19
/** Long blocks are cut. */
const MOST = 600

/** What the files of a user's message take at least: pictures stand beside each other, files below each other. */
export function filesHeight(files: readonly Attachment[]): number {
  const pictures = files.filter((a) => mediaKind(a) === 'image').length
  return Math.ceil(pictures / 3) * 164 + (files.length - pictures) * 28
}

/** What a row that was never shown may measure. */
export function guessHeight(row: Row): number {
  switch (row.type) {
    case 'markdown':
      return Math.min(lines(row.block.text) * LINE + 8, MOST)
    case 'code':
      return Math.min(lines(row.block.text, Infinity) * CODE_LINE + 60, MOST)
    case 'user':
      return Math.min(lines(row.text, 85), 25) * 20 + 40 + filesHeight(row.attachments)
    case 'subagent':
    case 'end':
      return 64
    default:
      return 32
  }
}

function lines(text: string, chars = CHARS): number {
  let n = 0
  let from = 0
  for (let nl = text.indexOf('\n'); nl >= 0 && n < 40; nl = text.indexOf('\n', from)) {
    n += Math.max(1, Math.ceil((nl - from) / chars))
    from = nl + 1
  }
  return n + Math.max(from < text.length ? 1 : 0, Math.ceil((text.length - from) / chars))
}
