import { align, type Same } from './align'
import { slide } from './slide'
import { ALIKE, likeness, marks, words } from './words'

/*
 * Compares two texts by lines. A line is what stands before "\n" or "\r\n"; the ending is compared as well, so a file
 * whose endings changed never looks as if nothing had happened. Everything is numbers in typed arrays, so that a
 * result goes from a worker to the page without being copied.
 */

/** What a run of lines is. `ending`: the same text on both sides, ended differently. */
export const SAME = 0
export const ENDING = 1
export const CHANGED = 2

export interface Comparison {
  /** Triples: SAME, ENDING or CHANGED; lines of the old text; lines of the new text. In order, without gaps. */
  runs: Uint32Array<ArrayBuffer>
  /** Where each line of the old and of the new text begins, in UTF-16 units, and the length of the text. */
  oldStarts: Uint32Array<ArrayBuffer>
  newStarts: Uint32Array<ArrayBuffer>
  /** Pairs of an old and a new line that are the same line, changed. Sorted. */
  pairs: Uint32Array<ArrayBuffer>
  /** Triples: line, start and end of what changed within a paired line. Sorted. */
  oldMarks: Uint32Array<ArrayBuffer>
  newMarks: Uint32Array<ArrayBuffer>
  /** Lines that came and went; lines of which only the ending changed are counted apart. */
  added: number
  removed: number
  endings: number
  /** Columns of the longest line, wide characters counted twice. */
  columns: number
  /** More than one kind of line ending is in use, so changed lines have to name theirs. */
  mixed: boolean
  /** A stretch was too costly to compare and is given as replaced. */
  coarse: boolean
}

/** How a line ends: with "\n", with "\r\n", or not at all. */
export type Ending = 'lf' | 'crlf' | 'none'

/** Pairs of lines that one comparison looks at in all, and in one block of changed lines. */
const LOOKS = 200_000
const BLOCK = 1600
/** UTF-16 units that are compared word by word in all; lines after that have no marks. */
const MARKED = 2_000_000

/** Compares two texts; an absent one is undefined and has no lines. Pure, and bounded in cost by counts, not by time. */
export function compare(old: string | undefined, next: string | undefined): Comparison {
  const a = new Lines(old ?? '')
  const b = new Lines(next ?? '')
  const ids = new Map<string, number>()
  const { same, coarse } = align(a.ids(ids), b.ids(ids))
  ids.clear()
  const runs = runsOf(slide(same, a.texts, b.texts), a, b)
  const within = new Within(a, b)
  const counts = [0, 0, 0]
  let added = 0
  let x = 0
  let y = 0
  for (let i = 0; i < runs.length; i += 3) {
    const [kind, m, n] = [runs[i]!, runs[i + 1]!, runs[i + 2]!]
    counts[kind]! += m
    if (kind === CHANGED) {
      added += n
      within.block(x, x + m, y, y + n)
    }
    x += m
    y += n
  }
  return {
    runs: Uint32Array.from(runs),
    oldStarts: a.starts,
    newStarts: b.starts,
    pairs: Uint32Array.from(within.pairs),
    oldMarks: Uint32Array.from(within.oldMarks),
    newMarks: Uint32Array.from(within.newMarks),
    added,
    removed: counts[CHANGED]!,
    endings: counts[ENDING]!,
    columns: Math.max(a.columns(), b.columns()),
    mixed: new Set([...a.endings(), ...b.endings()]).size > 1,
    coarse,
  }
}

/** The text of a line without its ending, and the ending. */
export function lineAt(text: string, starts: Uint32Array, line: number): { text: string; ending: Ending } {
  const end = starts[line + 1]!
  const start = starts[line]!
  const ending = endingAt(text, start, end)
  return { text: text.slice(start, end - endingLength[ending]), ending }
}

const endingLength: Record<Ending, number> = { none: 0, lf: 1, crlf: 2 }

function endingAt(text: string, start: number, end: number): Ending {
  if (end === start || text.charCodeAt(end - 1) !== 10) return 'none'
  return end - start > 1 && text.charCodeAt(end - 2) === 13 ? 'crlf' : 'lf'
}

/** The buffers of a comparison, to be handed over instead of copied. */
export function buffersOf(c: Comparison): ArrayBuffer[] {
  return [c.runs, c.oldStarts, c.newStarts, c.pairs, c.oldMarks, c.newMarks].map((x) => x.buffer)
}

/** A text parted into lines. */
class Lines {
  readonly starts: Uint32Array<ArrayBuffer>
  readonly texts: string[] = []

  constructor(readonly text: string) {
    const starts = [0]
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
    if (starts.at(-1) !== text.length) starts.push(text.length)
    this.starts = Uint32Array.from(starts)
    for (let i = 0; i + 1 < starts.length; i++) this.texts.push(lineAt(text, this.starts, i).text)
  }

  /** A number for each line; equal texts have equal numbers. */
  ids(known: Map<string, number>): Int32Array {
    return Int32Array.from(this.texts, (line) => {
      let id = known.get(line)
      if (id === undefined) known.set(line, (id = known.size))
      return id
    })
  }

  ending(line: number): Ending {
    return endingAt(this.text, this.starts[line]!, this.starts[line + 1]!)
  }

  /** The kinds of endings in use; that the last line has none is no kind. */
  endings(): Set<Ending> {
    const found = new Set<Ending>()
    for (let i = 0; i < this.texts.length && found.size < 2; i++) found.add(this.ending(i))
    found.delete('none')
    return found
  }

  columns(): number {
    return this.texts.reduce((most, line) => Math.max(most, columnsOf(line)), 0)
  }
}

/** Columns that a line takes at most in a fixed-width font, with a tab every four. */
function columnsOf(line: string): number {
  let n = 0
  for (let i = 0; i < line.length; i++) {
    const c = line.charCodeAt(i)
    if (c === 9) n += 4 - (n % 4)
    else if (c < 32 || (c >= 0x2000 && c < 0x2070)) n += 8 // may be invisible, and is then shown by its name
    else n += c < 0x1100 || (c >= 0xd800 && c < 0xe000) ? 1 : 2
  }
  return n
}

function runsOf(same: readonly Same[], a: Lines, b: Lines): number[] {
  const runs: number[] = []
  const push = (kind: number, m: number, n: number): void => {
    if (m + n > 0) runs.push(kind, m, n)
  }
  let x = 0
  let y = 0
  for (const s of same) {
    push(CHANGED, s.a - x, s.b - y)
    let from = 0
    for (let i = 1; i <= s.count; i++) {
      const kind = a.ending(s.a + from) === b.ending(s.b + from) ? SAME : ENDING
      if (i < s.count && (a.ending(s.a + i) === b.ending(s.b + i) ? SAME : ENDING) === kind) continue
      push(kind, i - from, i - from)
      from = i
    }
    x = s.a + s.count
    y = s.b + s.count
  }
  push(CHANGED, a.texts.length - x, b.texts.length - y)
  return runs
}

/** Finds in blocks of changed lines which old line became which new one, and what changed within. */
class Within {
  readonly pairs: number[] = []
  readonly oldMarks: number[] = []
  readonly newMarks: number[] = []
  private looks = LOOKS
  private marked = MARKED

  constructor(
    private readonly a: Lines,
    private readonly b: Lines,
  ) {}

  block(x: number, xEnd: number, y: number, yEnd: number): void {
    const cells = (xEnd - x) * (yEnd - y)
    if (cells === 0) return
    if (cells === 1 || cells > Math.min(BLOCK, this.looks)) {
      for (; x < xEnd && y < yEnd; x++, y++) this.pair(x, y)
      return
    }
    this.looks -= cells
    for (const [i, j] of bestPairs(this.a.texts.slice(x, xEnd), this.b.texts.slice(y, yEnd))) this.pair(x + i, y + j)
  }

  private pair(x: number, y: number): void {
    this.pairs.push(x, y)
    const [a, b] = [this.a.texts[x]!, this.b.texts[y]!]
    this.marked -= a.length + b.length
    if (this.marked < 0) return
    const [left, right] = marks(a, b)
    for (let i = 0; i < left.length; i += 2) this.oldMarks.push(x, left[i]!, left[i + 1]!)
    for (let i = 0; i < right.length; i += 2) this.newMarks.push(y, right[i]!, right[i + 1]!)
  }
}

/** The pairing, in order, of lines that are most alike. */
function bestPairs(a: readonly string[], b: readonly string[]): [number, number][] {
  const x = a.map(shortWords)
  const y = b.map(shortWords)
  const width = y.length + 1
  const best = new Float64Array((x.length + 1) * width)
  const alike = new Float64Array(x.length * y.length)
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) {
      const like = likeness(x[i]!, y[j]!)
      alike[i * y.length + j] = like
      const both = like < ALIKE ? 0 : like + best[(i + 1) * width + j + 1]!
      best[i * width + j] = Math.max(both, best[(i + 1) * width + j]!, best[i * width + j + 1]!)
    }
  }
  const pairs: [number, number][] = []
  for (let i = 0, j = 0; i < x.length && j < y.length; ) {
    const here = best[i * width + j]!
    if (here === best[(i + 1) * width + j]) i++
    else if (here === best[i * width + j + 1]) j++
    else pairs.push([i++, j++])
  }
  return pairs
}

/** Enough of a line to tell what it is like. */
const shortWords = (line: string): string[] => words(line.slice(0, 400))
