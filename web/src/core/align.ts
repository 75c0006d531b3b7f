import { diffArrays } from 'diff'

/** A stretch that two sequences share: `count` items from `a` in the first and from `b` in the second. */
export interface Same {
  a: number
  b: number
  count: number
}

/** What the search for shortest scripts may cost in all, in squared edits; beyond it a stretch counts as replaced. */
const COST = 2_000_000
/** The longest script searched for in one stretch. */
const EDITS = 1000
/** How often a stretch may be parted at items that occur once in it. */
const DEPTH = 40

/**
 * Finds what two sequences of small numbers from 0 share, in order. Items that occur once on both sides are matched
 * first, since they say most about what belongs together; between them the shortest script is searched. The cost is
 * bounded by counts and never by time, so the same input has always the same answer. `coarse` tells that a stretch
 * was too costly and is given as replaced.
 */
export function align(a: Int32Array, b: Int32Array): { same: Same[]; coarse: boolean } {
  const aligner = new Aligner(a, b)
  aligner.range(0, a.length, 0, b.length, 0)
  return { same: aligner.same, coarse: aligner.coarse }
}

class Aligner {
  readonly same: Same[] = []
  coarse = false
  private left = COST
  private readonly inA: Int32Array
  private readonly inB: Int32Array
  private readonly place: Int32Array

  constructor(
    private readonly a: Int32Array,
    private readonly b: Int32Array,
  ) {
    let top = 0
    for (const x of a) if (x > top) top = x
    for (const x of b) if (x > top) top = x
    this.inA = new Int32Array(top + 1)
    this.inB = new Int32Array(top + 1)
    this.place = new Int32Array(top + 1)
  }

  /** Aligns a[aLo, aHi) with b[bLo, bHi). */
  range(aLo: number, aHi: number, bLo: number, bHi: number, depth: number): void {
    const { a, b } = this
    let head = 0
    const most = Math.min(aHi - aLo, bHi - bLo)
    while (head < most && a[aLo + head] === b[bLo + head]) head++
    let tail = 0
    while (tail < most - head && a[aHi - 1 - tail] === b[bHi - 1 - tail]) tail++
    this.emit(aLo, bLo, head)
    if (most > head + tail) this.inner(aLo + head, aHi - tail, bLo + head, bHi - tail, depth)
    this.emit(aHi - tail, bHi - tail, tail)
  }

  private inner(aLo: number, aHi: number, bLo: number, bHi: number, depth: number): void {
    const anchors = depth < DEPTH ? increasing(this.unique(aLo, aHi, bLo, bHi)) : []
    if (anchors.length === 0) {
      this.search(aLo, aHi, bLo, bHi)
      return
    }
    for (const [at, to] of anchors) {
      this.range(aLo, at, bLo, to, depth + 1)
      this.emit(at, to, 1)
      aLo = at + 1
      bLo = to + 1
    }
    this.range(aLo, aHi, bLo, bHi, depth + 1)
  }

  /** The pairs of places of items that occur once on both sides, by their place in a. */
  private unique(aLo: number, aHi: number, bLo: number, bHi: number): [number, number][] {
    const { a, b, inA, inB, place } = this
    for (let i = aLo; i < aHi; i++) inA[a[i]!]!++
    for (let i = bLo; i < bHi; i++) {
      inB[b[i]!]!++
      place[b[i]!] = i
    }
    const found: [number, number][] = []
    for (let i = aLo; i < aHi; i++) if (inA[a[i]!] === 1 && inB[a[i]!] === 1) found.push([i, place[a[i]!]!])
    for (let i = aLo; i < aHi; i++) inA[a[i]!] = 0
    for (let i = bLo; i < bHi; i++) inB[b[i]!] = 0
    return found
  }

  private search(aLo: number, aHi: number, bLo: number, bHi: number): void {
    const maxEditLength = Math.min(EDITS, Math.floor(Math.sqrt(this.left)))
    const changes = diffArrays(Array.from(this.a.subarray(aLo, aHi)), Array.from(this.b.subarray(bLo, bHi)), { maxEditLength })
    if (!changes) {
      this.left -= maxEditLength * maxEditLength
      this.coarse = true
      return
    }
    let edits = 0
    for (const { count, added, removed } of changes) {
      if (added || removed) edits += count
      else this.emit(aLo, bLo, count)
      if (!added) aLo += count
      if (!removed) bLo += count
    }
    this.left = Math.max(0, this.left - edits * edits)
  }

  private emit(a: number, b: number, count: number): void {
    if (count === 0) return
    const last = this.same.at(-1)
    if (last && last.a + last.count === a && last.b + last.count === b) last.count += count
    else this.same.push({ a, b, count })
  }
}

/** The longest selection of pairs, ordered by their first number, whose second numbers grow. */
function increasing(pairs: readonly [number, number][]): [number, number][] {
  const ends: number[] = [] // for each length, the pair that ends the best selection of it
  const before = new Int32Array(pairs.length)
  for (let i = 0; i < pairs.length; i++) {
    let lo = 0
    let hi = ends.length
    while (lo < hi) {
      const mid = (lo + hi) >> 1
      if (pairs[ends[mid]!]![1] < pairs[i]![1]) lo = mid + 1
      else hi = mid
    }
    before[i] = lo > 0 ? ends[lo - 1]! : -1
    ends[lo] = i
  }
  const best: [number, number][] = []
  for (let i = ends.at(-1) ?? -1; i >= 0; i = before[i]!) best.push(pairs[i]!)
  return best.reverse()
}
