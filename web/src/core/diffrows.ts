import { CHANGED, SAME, type Comparison } from './diff'

/** One comparison of a view: the texts, absent as undefined, and what came of comparing them. */
export interface DiffPart {
  readonly old?: string
  readonly next?: string
  readonly comparison: Comparison
}

/** A row of a view. Lines are counted from 0; −1 where the row has no line of that side. */
export type DiffRow =
  | {
      /** `change` stands in a view of two sides only, with an old line, a new line or both. */
      readonly kind: 'same' | 'ending' | 'delete' | 'add' | 'change'
      readonly part: number
      readonly old: number
      readonly next: number
    }
  /** Lines not shown: unchanged ones, or such of which only the ending changed. */
  | { readonly kind: 'fold'; readonly part: number; readonly id: string; readonly count: number; readonly endings: boolean }
  /** Begins another part; the place of parts in the file is not known (R-CHAT-105). */
  | { readonly kind: 'part'; readonly part: number }
  /** A file without text came or went. */
  | { readonly kind: 'empty'; readonly part: number }

export interface LayoutOptions {
  /** Old lines left, new lines right. */
  readonly split: boolean
  /** Ids of the folds that were opened. */
  readonly open: ReadonlySet<string>
}

/** Lines shown around a change. */
const CONTEXT = 3
/** Fewer lines than this are shown instead of folded. */
const WORTH = 4
/** More lines with nothing but another ending are folded. */
const ENDINGS = 6

/** A stretch of rows alike. `old` and `next` are the first lines. */
interface Stretch {
  readonly row: number
  readonly kind: DiffRow['kind']
  readonly part: number
  readonly old: number
  readonly next: number
  readonly count: number
  readonly endings: boolean
}

/**
 * The rows of a view, found by number without being made before: a view of 50,000 lines is a few hundred stretches.
 */
export class DiffRows {
  /** The first row of each change, in order. */
  readonly changes: readonly number[]

  constructor(
    readonly count: number,
    private readonly stretches: readonly Stretch[],
  ) {
    const changes: number[] = []
    let calm = true
    for (const s of stretches) {
      const changed = s.kind === 'empty' || (s.kind === 'fold' ? s.endings : s.kind !== 'same' && s.kind !== 'part')
      if (changed && calm) changes.push(s.row)
      calm = !changed
    }
    this.changes = changes
  }

  at(row: number): DiffRow {
    let lo = 0
    let hi = this.stretches.length - 1
    while (lo < hi) {
      const mid = (lo + hi + 1) >> 1
      if (this.stretches[mid]!.row <= row) lo = mid
      else hi = mid - 1
    }
    const { kind, part, old, next, count, endings, row: first } = this.stretches[lo]!
    const by = row - first
    switch (kind) {
      case 'fold':
        return { kind, part, id: foldId(part, old), count, endings }
      case 'part':
      case 'empty':
        return { kind, part }
      default:
        return { kind, part, old: old < 0 ? -1 : old + by, next: next < 0 ? -1 : next + by }
    }
  }

  /** UTF-16 units of the lines of all rows; costs a step a row. */
  size(parts: readonly DiffPart[]): number {
    let size = 0
    for (let row = 0; row < this.count; row++) {
      const line = this.at(row)
      if (!('old' in line)) continue
      const { oldStarts, newStarts } = parts[line.part]!.comparison
      if (line.old >= 0) size += oldStarts[line.old + 1]! - oldStarts[line.old]!
      if (line.next >= 0) size += newStarts[line.next + 1]! - newStarts[line.next]!
    }
    return size
  }

  /** The rows from `first` up to but not including `end`, with their numbers. */
  slice(first: number, end: number): { row: number; line: DiffRow }[] {
    const rows: { row: number; line: DiffRow }[] = []
    for (let row = Math.max(0, first); row < Math.min(end, this.count); row++) rows.push({ row, line: this.at(row) })
    return rows
  }
}

const foldId = (part: number, old: number): string => `${part}:${old}`

/** Lays out the rows of comparisons that belong to one file. */
export function layout(parts: readonly DiffPart[], options: LayoutOptions): DiffRows {
  const rows = new Layout(options)
  parts.forEach((part, i) => rows.add(part, i, parts.length > 1))
  return new DiffRows(rows.count, rows.stretches)
}

/** The marked ranges of a line: start, end, start, end, … */
export function marksOf(marks: Uint32Array, line: number): number[] {
  let lo = 0
  let hi = marks.length / 3
  while (lo < hi) {
    const mid = (lo + hi) >> 1
    if (marks[mid * 3]! < line) lo = mid + 1
    else hi = mid
  }
  const found: number[] = []
  for (let i = lo * 3; marks[i] === line; i += 3) found.push(marks[i + 1]!, marks[i + 2]!)
  return found
}

class Layout {
  readonly stretches: Stretch[] = []
  count = 0
  private part = 0

  constructor(private readonly options: LayoutOptions) {}

  add({ comparison }: DiffPart, part: number, titled: boolean): void {
    const { runs } = comparison
    this.part = part
    if (titled) this.push('part', 0, 0, 1, 1)
    if (runs.length === 0) this.push('empty', 0, 0, 1, 1)
    let [old, next] = [0, 0]
    let pair = 0
    for (let i = 0; i < runs.length; i += 3) {
      const [kind, m, n] = [runs[i]!, runs[i + 1]!, runs[i + 2]!]
      if (kind === SAME) this.same(old, next, m, i > 0, i + 3 < runs.length)
      else if (kind !== CHANGED) this.endings(old, next, m)
      else if (this.options.split) pair = this.sides(comparison, pair, old, old + m, next, next + n)
      else {
        this.push('delete', old, -1, m)
        this.push('add', -1, next, n)
      }
      old += m
      next += n
    }
  }

  private same(old: number, next: number, count: number, after: boolean, before: boolean): void {
    const head = after ? CONTEXT : 0
    const tail = before ? CONTEXT : 0
    const hidden = count - head - tail
    if (hidden < WORTH || this.options.open.has(foldId(this.part, old + head))) {
      this.push('same', old, next, count)
      return
    }
    this.push('same', old, next, head)
    this.push('fold', old + head, next + head, 1, hidden)
    this.push('same', old + head + hidden, next + head + hidden, tail)
  }

  private endings(old: number, next: number, count: number): void {
    const fold = count > ENDINGS && !this.options.open.has(foldId(this.part, old))
    if (fold) this.push('fold', old, next, 1, count, true)
    else this.push('ending', old, next, count)
  }

  /** Puts pairs side by side, and what stands between two pairs in the order it comes. Returns the next pair. */
  private sides(c: Comparison, pair: number, old: number, oldEnd: number, next: number, nextEnd: number): number {
    const upTo = (x: number, y: number): void => {
      const both = Math.min(x - old, y - next)
      this.push('change', old, next, both)
      this.push('change', old + both, -1, x - old - both)
      this.push('change', -1, next + both, y - next - both)
      old = x
      next = y
    }
    for (; pair < c.pairs.length && c.pairs[pair]! < oldEnd; pair += 2) {
      upTo(c.pairs[pair]!, c.pairs[pair + 1]!)
      this.push('change', old++, next++, 1)
    }
    upTo(oldEnd, nextEnd)
    return pair
  }

  private push(kind: Stretch['kind'], old: number, next: number, rows: number, count = rows, endings = false): void {
    if (rows === 0) return
    const last = this.stretches.at(-1)
    const joins =
      last?.kind === kind && kind !== 'fold' && kind !== 'part' && kind !== 'empty' && last.part === this.part &&
      follows(last.old, last.count, old) && follows(last.next, last.count, next)
    if (joins) this.stretches[this.stretches.length - 1] = { ...last, count: last.count + count }
    else this.stretches.push({ row: this.count, kind, part: this.part, old, next, count, endings })
    this.count += rows
  }
}

/** Whether a stretch that ended at `from + count` goes on at `at`; no line goes on with no line. */
const follows = (from: number, count: number, at: number): boolean => (from < 0 ? at < 0 : at === from + count)
