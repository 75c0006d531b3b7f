import type { Same } from './align'

/*
 * A block of added or removed lines can often stand in several places: when the line before it equals its last one,
 * it may as well begin a line earlier. Which place reads best is told by indentation and blank lines; the weights are
 * those of Git's indent heuristic.
 */

/** How far a block is moved at most. */
const FAR = 100

interface Score {
  indent: number
  penalty: number
}

/** Moves blocks of lines that only came or only went to where they read best. The lines shared stay equal lines. */
export function slide(same: readonly Same[], a: readonly string[], b: readonly string[]): Same[] {
  const runs = same.map((s) => ({ ...s }))
  for (let i = 0; i + 1 < runs.length; i++) {
    const before = runs[i]!
    const after = runs[i + 1]!
    const aGap = after.a - before.a - before.count
    const bGap = after.b - before.b - before.count
    if ((aGap === 0) === (bGap === 0)) continue
    const side = aGap > 0 ? 'a' : 'b'
    const lines = aGap > 0 ? a : b
    const by = shift(lines, before[side] + before.count, after[side], before.count, after.count)
    before.count += by
    after.a += by
    after.b += by
    after.count -= by
  }
  return runs.filter((r) => r.count > 0)
}

/** By how many lines the block [from, to) is to move; `up` and `down` shared lines surround it and one must stay. */
function shift(lines: readonly string[], from: number, to: number, up: number, down: number): number {
  let lo = 0
  while (-lo < Math.min(up - 1, FAR) && lines[from + lo - 1] === lines[to + lo - 1]) lo--
  let hi = 0
  while (hi < Math.min(down - 1, FAR) && lines[from + hi] === lines[to + hi]) hi++
  let best = hi
  let least: Score | null = null
  for (let by = lo; by <= hi; by++) {
    const [top, bottom] = [scoreOf(lines, from + by), scoreOf(lines, to + by)]
    const score = { indent: top.indent + bottom.indent, penalty: top.penalty + bottom.penalty }
    if (least && 60 * Math.sign(score.indent - least.indent) + score.penalty - least.penalty > 0) continue
    least = score
    best = by
  }
  return best
}

/** How bad it is to begin or end a block before the line `at`. */
function scoreOf(lines: readonly string[], at: number): Score {
  const above = solid(lines, at - 1, -1)
  const here = indentOf(lines[at])
  const below = solid(lines, at + 1, 1)
  const after = here < 0 ? 1 + below.blanks : 0
  const blanks = above.blanks + after
  const indent = here >= 0 ? here : below.indent
  let penalty = 6 * after - 30 * blanks
  if (above.indent < 0 && above.blanks === 0) penalty += 1
  if (at >= lines.length) penalty += 21
  if (indent >= 0 && above.indent >= 0 && indent !== above.indent) {
    if (indent > above.indent) penalty += blanks > 0 ? 10 : -4
    else if (below.indent > indent) penalty += blanks > 0 ? 17 : 24
    else penalty += blanks > 0 ? 17 : 23
  }
  return { indent: Math.max(indent, 0), penalty }
}

/** The indent of the next line that is not blank, −1 without one, and the blank lines before it. */
function solid(lines: readonly string[], at: number, step: 1 | -1): { indent: number; blanks: number } {
  let blanks = 0
  for (; blanks < 20 && lines[at] !== undefined; at += step, blanks++) {
    const indent = indentOf(lines[at])
    if (indent >= 0) return { indent, blanks }
  }
  return { indent: -1, blanks }
}

/** Columns before the first character that is no blank; −1 for a blank line and outside of the text. */
function indentOf(line: string | undefined): number {
  let n = 0
  for (const c of line ?? '') {
    if (c === ' ') n++
    else if (c === '\t') n += 8 - (n % 8)
    else return n
  }
  return -1
}
