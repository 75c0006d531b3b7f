// Finding words in a transcript. The browser's own find sees only the rows that are mounted.

import { titled } from './activity'
import { plainWords, type MarkdownTools } from './markdown/plain'
import { reveal } from './reveal'
import type { ActivityRow, Row } from './rows'

/** A text made ready for comparing. */
interface Folded {
  readonly text: string
  /** By position in `text`: the position in the text it was made of; null when they are the same. */
  readonly at: Uint32Array | null
}

/** A letter with its marks, or a syllable of Hangul: what composes to one character. */
const composing = /[\u1100-\u115F][\u1160-\u11A7]*[\u11A8-\u11FF]*\p{M}*|\P{M}\p{M}*|\p{M}+/gu

/**
 * Makes equal what a reader takes for equal: composed and decomposed letters, kinds of blanks and, unless case
 * matters, capital and small letters. Every unit stays one unit, except where letters are composed, which `at` undoes.
 */
function fold(text: string, matchCase: boolean): Folded {
  if (text.normalize('NFC') === text) return { text: foldUnits(text, matchCase), at: null }
  let out = ''
  const at: number[] = []
  for (const { 0: piece, index } of text.matchAll(composing)) {
    const made = foldUnits(piece.normalize('NFC'), matchCase)
    // What stays as it was keeps its positions; what is composed begins where its letter begins.
    for (let i = 0; i < made.length; i++) at.push(made.length === piece.length ? index + i : index)
    out += made
  }
  at.push(text.length)
  return { text: out, at: Uint32Array.from(at) }
}

/** toLowerCase() makes two units of İ and looks at what stands around a sigma; nothing else changes a length. */
function foldUnits(text: string, matchCase: boolean): string {
  const blanks = text.replace(/[\t\u00A0\u2007\u202F]/g, ' ')
  return matchCase ? blanks : blanks.replace(/İ/g, 'i').toLowerCase().replace(/ς/g, 'σ')
}

/** What is looked for. */
export class Query {
  private readonly needle: string

  constructor(
    words: string,
    private readonly matchCase: boolean,
  ) {
    this.needle = foldUnits(words.normalize('NFC'), matchCase)
  }

  get empty(): boolean {
    return this.needle === ''
  }

  /** Whether what this finds lies in a text only if the other finds something there too. */
  narrows(other: Query): boolean {
    return !other.empty && this.matchCase === other.matchCase && this.needle.includes(other.needle)
  }

  /** Where it stands in a text, as [start, end, start, end, …] in UTF-16 units; occurrences do not overlap. */
  ranges(text: string): number[] {
    const found: number[] = []
    this.each(text, (start, end, at) => {
      if (!at) found.push(start, end)
      else {
        // A match that ends inside of a composed letter takes all of it.
        let to = end
        while (at[to] === at[end - 1]) to++
        found.push(at[start]!, at[to]!)
      }
    })
    return found
  }

  /** How often it stands in a text. */
  count(text: string): number {
    let n = 0
    this.each(text, () => n++)
    return n
  }

  private each(text: string, found: (start: number, end: number, at: Uint32Array | null) => void): void {
    const size = this.needle.length
    if (size === 0 || text === '') return
    const folded = fold(text, this.matchCase)
    for (let i = folded.text.indexOf(this.needle); i >= 0; i = folded.text.indexOf(this.needle, i + size)) found(i, i + size, folded.at)
  }
}

/** What is found as a whole: a row, or a line of a group. */
export type FindPart = Exclude<Row, { type: 'group' }> | ActivityRow

let tools: MarkdownTools | null = null

/** Says what Markdown is read with; before the first search. */
export function readWith(markdown: MarkdownTools): void {
  tools = markdown
}

function plain(block: Parameters<typeof plainWords>[0]): string {
  return tools ? plainWords(block, tools) : block.text
}

const texts = new WeakMap<FindPart, string>()

/** The text of a row as it is shown, or would be if it were open. Rows are values: what was made of one is kept. */
export function searchText(part: FindPart): string {
  let text = texts.get(part)
  if (text === undefined) texts.set(part, (text = makeText(part)))
  return text
}

function makeText(part: FindPart): string {
  switch (part.type) {
    case 'user':
      return [part.text, ...part.attachments.map((a) => a.name || a.uri || a.mime || '')].join('\n')
    case 'markdown':
      return plain(part.block)
    case 'code':
      return reveal(part.block.text)
    case 'tool':
    case 'subagent':
      return reveal(part.tool.title || part.tool.name || '')
    case 'reasoning':
      return [reveal(part.title), thought(part.text)].join('\n')
    case 'end':
      return part.failure && part.failure.code !== 'TURN_INTERRUPTED'
        ? [part.failure.message, part.failure.hint ?? '', part.failure.code].join('\n')
        : ''
    default:
      return ''
  }
}

/** What a thought says below its title. */
function thought(text: string): string {
  const { rest } = titled(text)
  if (!/\S/.test(rest)) return ''
  if (!tools) return rest
  return new tools.MarkdownStream()
    .update(`${rest}\n`)
    .map((block) => (block.kind === 'code' ? reveal(block.text) : plain(block)))
    .join('\n')
}

/** A part in which something was found. */
export interface Hit {
  /** Index of its row. */
  readonly index: number
  readonly row: Row
  readonly part: FindPart
  readonly count: number
  /** How many were found in front of it. */
  readonly before: number
}

/** What was found in some rows, in their order. */
export interface Found {
  readonly rows: readonly Row[]
  readonly hits: readonly Hit[]
  readonly total: number
}

/** The search for one query. It keeps what it counted, so that only rows that are new or changed cost anything again. */
export class Search {
  private readonly counts = new WeakMap<FindPart, number>()

  /** @param wider a search whose query this one narrows: where that found nothing there is nothing to look for */
  constructor(
    readonly query: Query,
    private wider: Search | null = null,
  ) {
    if (wider && !query.narrows(wider.query)) this.wider = null
    // One step back is enough, and holds no chain of searches.
    if (wider) wider.wider = null
  }

  /** Looks through the rows, giving way after each; the last value is the whole, those before are what there is so far. */
  *over(rows: readonly Row[]): Generator<Found, Found> {
    const hits: Hit[] = []
    let total = 0
    for (let index = 0; index < rows.length; index++) {
      const row = rows[index]!
      for (const part of row.type === 'group' ? row.items : [row]) {
        const count = this.countIn(part)
        if (count > 0) hits.push({ index, row, part, count, before: total })
        total += count
      }
      yield { rows, hits, total }
    }
    return { rows, hits, total }
  }

  private countIn(part: FindPart): number {
    let count = this.counts.get(part)
    if (count === undefined) {
      count = this.wider?.counts.get(part) === 0 ? 0 : this.query.count(searchText(part))
      this.counts.set(part, count)
    }
    return count
  }
}

/** How a search gives way to the page. */
export interface Slices {
  /** Longest stretch of work, in ms. */
  readonly slice: number
  /** Milliseconds. */
  clock(): number
  pause(): Promise<void>
  /** Whether somebody still wants the answer. */
  wanted(): boolean
  /** Told before each pause. */
  soFar?(found: Found): void
}

/** Runs a search by slices. Null when it was not wanted to the end. */
export async function searchBySlices(work: Generator<Found, Found>, how: Slices): Promise<Found | null> {
  for (let began = how.clock(); ; ) {
    const { done, value } = work.next()
    if (done) return value
    if (how.clock() - began < how.slice) continue
    how.soFar?.(value)
    await how.pause()
    if (!how.wanted()) return null
    began = how.clock()
  }
}

/** The hit that holds the n-th occurrence of all, from 0; null when there are fewer. */
export function hitAt(found: Found, n: number): Hit | null {
  let from = 0
  let to = found.hits.length
  while (from < to) {
    const mid = (from + to) >> 1
    if (found.hits[mid]!.before + found.hits[mid]!.count <= n) from = mid + 1
    else to = mid
  }
  return n < 0 ? null : (found.hits[from] ?? null)
}
