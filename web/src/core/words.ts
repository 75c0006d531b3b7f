import { diffArrays } from 'diff'

/** Ranges [start, end, start, end, …] in UTF-16 units. */
export type Ranges = readonly number[]

/** Longer lines are compared from their ends only. */
const LONG = 2000
/** The longest script searched for between two lines, in words. */
const EDITS = 200
/** How much two lines must share to be called the same line, changed: 0 nothing, 1 all. */
export const ALIKE = 0.3

const ascii = /^[\t -~]*$/
const asciiWord = /[A-Za-z0-9_]+|[\t ]+|[-+*/%=<>!&|^~?:]+|./g
/* A word, a run of blanks, an operator, or one character as a reader sees it. Han and Kana have no blanks between words. */
const word =
  /(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}\p{M}_])+|\s+|[-+*/%=<>!&|^~?:]+|\p{RI}\p{RI}|.(?:[\p{M}\p{Emoji_Modifier}\uFE0F]|\u200D.)*/gsu

/** Splits a line into what is compared; joined, the words are the line. */
export function words(line: string): string[] {
  return line.match(ascii.test(line) ? asciiWord : word) ?? []
}

/** What two lines share, from 0 to 1, whatever the order; blanks do not count. */
export function likeness(a: readonly string[], b: readonly string[]): number {
  const counts = new Map<string, number>()
  let total = 0
  for (const w of a) {
    if (w.trim() === '') continue
    counts.set(w, (counts.get(w) ?? 0) + 1)
    total += w.length
  }
  let shared = 0
  for (const w of b) {
    if (w.trim() === '') continue
    total += w.length
    const n = counts.get(w) ?? 0
    if (n === 0) continue
    counts.set(w, n - 1)
    shared += 2 * w.length
  }
  return total === 0 ? 1 : shared / total
}

/**
 * What differs between two versions of a line, as ranges of each. Empty for a pair that has too little in common for
 * marks to help: there the whole line says it.
 */
export function marks(a: string, b: string): [Ranges, Ranges] {
  if (a.length > LONG || b.length > LONG) return ends(a, b)
  const x = words(a)
  const y = words(b)
  if (likeness(x, y) < ALIKE) return [[], []]
  const changes = diffArrays(x, y, { maxEditLength: EDITS })
  if (!changes) return ends(a, b)
  const left = new Marker(a)
  const right = new Marker(b)
  for (const { value, added, removed } of changes) {
    const length = value.reduce((n, w) => n + w.length, 0)
    if (!added) left.add(length, removed)
    if (!removed) right.add(length, added)
  }
  return [left.ranges, right.ranges]
}

/** Collects ranges; two with only blanks between them become one. */
class Marker {
  readonly ranges: number[] = []
  private at = 0

  constructor(private readonly line: string) {}

  add(length: number, marked: boolean): void {
    const from = this.at
    this.at += length
    if (!marked) return
    const last = this.ranges.length - 1
    if (last > 0 && this.line.slice(this.ranges[last], from).trim() === '') this.ranges[last] = this.at
    else this.ranges.push(from, this.at)
  }
}

/** What lies between the common beginning and the common end; never parts a surrogate pair. */
function ends(a: string, b: string): [Ranges, Ranges] {
  const most = Math.min(a.length, b.length)
  let head = 0
  while (head < most && a.charCodeAt(head) === b.charCodeAt(head)) head++
  if (head > 0 && isHigh(a.charCodeAt(head - 1))) head--
  let tail = 0
  while (tail < most - head && a.charCodeAt(a.length - 1 - tail) === b.charCodeAt(b.length - 1 - tail)) tail++
  if (tail > 0 && isLow(a.charCodeAt(a.length - tail))) tail--
  const range = (s: string): Ranges => (s.length - tail > head ? [head, s.length - tail] : [])
  return [range(a), range(b)]
}

const isHigh = (c: number): boolean => c >= 0xd800 && c < 0xdc00
const isLow = (c: number): boolean => c >= 0xdc00 && c < 0xe000
