import { md, type References } from './engine'

/** When a block becomes several, so that neither parsing nor drawing grows with its length. */
export interface Limits {
  /** Items of a list, rows of a table, UTF-16 units of a paragraph in one block. */
  readonly items: number
  readonly rows: number
  readonly units: number
}

export const LIMITS: Limits = { items: 20, rows: 20, units: 8000 }

/** Where a text goes on inside a block that was cut. */
export interface Inside {
  readonly part: 'list' | 'table' | 'paragraph' | 'quote'
  /** Number of its first item or row; 0 in a paragraph or quote. */
  readonly resumes: number
  /** What makes a text parse as the block it goes on with: the head of a table, a word of a paragraph. */
  readonly head: string
  /** Widths of a table's columns; see Block. */
  readonly columns: string
}

/** A top-level block, or one of the blocks that a long one was cut into. */
export interface Group {
  /** First line. */
  start: number
  /** UTF-16 units of that line that belong to the group before, which a line without end was cut from; else 0. */
  at: number
  /** The line behind the last. */
  end: number
  type: string
  info: string
  content: string
  label: string
  /** Set on all blocks of a long one but its first. */
  inside: Inside | null
  columns: string
}

type Token = ReturnType<typeof md.parse>[number]

/** Runs the block rules only and groups the tokens by top-level block; a long list, table or paragraph makes several. */
export function parseGroups(text: string, references: References, inside: Inside | null, limits: Limits): Group[] {
  const tokens: Token[] = []
  const head = inside?.head ?? ''
  const whole = head + text
  md.block.parse(whole, md, { references }, tokens)
  const lead = head.split('\n').length - 1
  const starts = lineStarts(whole)
  const groups: Group[] = []
  for (let i = 0; i < tokens.length; ) {
    const end = endOf(tokens, i)
    const token = tokens[i]!
    if (token.map) {
      const within = groups.length === 0 ? inside : null
      const group = groupOf(token, within)
      const cut = { text: whole, starts, tokens: tokens.slice(i, end), within, limits }
      groups.push(group, ...cutOf(cut, group))
    }
    i = end
  }
  for (const g of groups) {
    if (lead === 0 && g.start === 0) g.at = Math.max(0, g.at - head.length)
    g.start = Math.max(0, g.start - lead)
    g.end = Math.max(0, g.end - lead)
  }
  return groups
}

interface Cut {
  text: string
  starts: number[]
  tokens: Token[]
  within: Inside | null
  limits: Limits
}

/** Shortens a group that is too long and returns the groups that go on with it. */
function cutOf(cut: Cut, group: Group): Group[] {
  const { type, markup } = cut.tokens[0]!
  if (type === 'bullet_list_open' || type === 'ordered_list_open') return cutList(cut, group)
  if (type === 'table_open') return cutTable(cut, group)
  if (type === 'blockquote_open') return cutQuote(cut, group)
  return type === 'paragraph_open' || (type === 'heading_open' && markup[0] !== '#') ? cutLines(cut, group) : []
}

/** Ends the group at a line, or inside of it, and begins the next there. */
function goOn(all: Group[], line: number, inside: Inside, at = 0): void {
  const last = all.at(-1)!
  all.push({ ...last, start: line, at, inside, columns: inside.columns })
  last.end = at > 0 ? line + 1 : line
}

function cutList({ tokens, within, limits }: Cut, group: Group): Group[] {
  const first = within?.resumes ?? Number(tokens[0]!.attrGet('start') ?? 1)
  const all = [group]
  let depth = 0
  let items = 0
  for (const token of tokens) {
    if (depth === 1 && token.type === 'list_item_open' && token.map) {
      const inside: Inside = { part: 'list', resumes: first + items, head: '', columns: '' }
      if (items > 0 && items % limits.items === 0) goOn(all, token.map[0], inside)
      items++
    }
    depth += token.nesting
  }
  return all.slice(1)
}

function cutTable({ text, starts, tokens, within, limits }: Cut, group: Group): Group[] {
  const rows = tokens.filter((t) => t.type === 'tr_open' && t.level === 2).slice(1)
  if (rows.length <= limits.rows) return []
  const head = within?.head ?? text.slice(starts[group.start], starts[group.start + 2])
  const columns = within?.columns ?? widths(tokens, limits.rows)
  const all = [{ ...group, columns }]
  const first = within?.resumes ?? 1
  for (let i = limits.rows; i < rows.length; i += limits.rows) {
    goOn(all, rows[i]!.map![0], { part: 'table', resumes: first + i, head, columns })
  }
  Object.assign(group, all[0])
  return all.slice(1)
}

/** A bracket at the beginning that is no link definition, whatever follows: its label is not followed by a colon. */
const noDefinition = /^ {0,3}\[(?:[^[\]\\]|\\[^])*(?:\[|\][^:])/

/** A paragraph is cut where a line ends, else inside of a line. One that may still become a link definition is not. */
function cutLines({ text, starts, within, limits }: Cut, group: Group): Group[] {
  const begin = starts[group.start]!
  const end = starts[group.end] ?? text.length
  if (!within && /^ {0,3}\[/.test(text.slice(begin, begin + 4)) && !noDefinition.test(text.slice(begin, end))) return []
  const all = [group]
  let line = group.start
  // The word that stands for what came before is no part of the length.
  for (let from = begin + (within?.head.length ?? 0); ; ) {
    from = cutBehind(text, from, end, limits)
    if (from < 0) break
    while ((starts[line + 1] ?? text.length + 1) <= from) line++
    const at = from - starts[line]!
    goOn(all, line, { part: 'paragraph', resumes: 0, head: at > 0 ? 'x' : 'x\n', columns: '' }, at)
  }
  // Only the last part can be underlined to a heading.
  for (const g of all.slice(0, -1)) g.type = 'paragraph_open'
  return all.slice(1)
}

/**
 * Where a paragraph is cut that goes from one position to another: behind the first line end after so many units. When
 * there is none for a fourth more, behind the next blank, and where there is none either, anywhere. -1: it is not yet.
 */
function cutBehind(text: string, from: number, to: number, limits: Limits): number {
  const { units } = limits
  const soft = from + softLength(limits)
  const hard = from + Math.ceil(units * 1.5)
  const lineEnd = text.indexOf('\n', from + units - 1)
  let cut = lineEnd >= 0 && lineEnd < soft ? lineEnd + 1 : -1
  if (cut < 0 && soft < to) {
    const blank = text.slice(soft, Math.min(hard, to)).search(/\s/)
    if (blank >= 0) cut = soft + blank + 1
    else if (hard < to) cut = isLow(text.charCodeAt(hard)) ? hard - 1 : hard
  }
  return cut >= 0 && cut < to && /\S/.test(text.slice(cut, to)) ? cut : -1
}

/** From this length on a paragraph is cut inside of a line. */
export function softLength(limits: Limits): number {
  return Math.ceil(limits.units * 1.25)
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}

/** A quote is cut where a block inside begins, and in its paragraphs at lines that begin with a letter, which begins no other block. */
function cutQuote({ text, starts, tokens, limits }: Cut, group: Group): Group[] {
  const all = [group]
  let from = starts[group.start]!
  let depth = 0
  for (const token of tokens) {
    if (depth === 1 && token.map && token.nesting >= 0) {
      const [first, end] = token.map
      const last = token.type === 'paragraph_open' ? end : first + 1
      for (let line = first; line < last; line++) {
        const start = starts[line]!
        if (start - from < limits.units / 2 || !/^ {0,3}>/.test(text.slice(start, start + 4))) continue
        if (line > first && !/^ {0,3}> ?\p{L}/u.test(text.slice(start, start + 7))) continue
        goOn(all, line, { part: 'quote', resumes: 0, head: '', columns: '' })
        from = start
      }
    }
    depth += token.nesting
  }
  return all.slice(1)
}

/** In pixels: a character of a wide font at the page's size, and what a cell has beside its words. */
const CHARACTER = 8.5
const PADDING = 22
const NARROWEST = 64
const WIDEST = 360
/** What a table may take before it scrolls: the column of the transcript. */
const ROOM = 818

/**
 * Widths for a table that is drawn in several parts, whose columns must agree without knowing each other: what the
 * longest of the first cells needs, and less for the widest columns when that is too much.
 */
function widths(tokens: Token[], rows: number): string {
  const need: number[] = []
  let column = -1
  let row = -1
  for (const t of tokens) {
    if (t.type === 'tr_open') {
      if (++row > rows) break
      column = -1
    } else if (t.type === 'inline') {
      need[++column] = Math.max(need[column] ?? 0, cells(t.content))
    }
  }
  const wide = need.map((n) => Math.min(WIDEST, Math.max(NARROWEST, Math.ceil(n * CHARACTER + PADDING))))
  const total = wide.reduce((a, b) => a + b, 0)
  const most = fitting(wide)
  return wide.map((w) => (total > ROOM ? Math.min(w, most) : w)).join(' ')
}

/** The width that no column may exceed so that all fit, but not less than is readable. */
function fitting(wide: number[]): number {
  for (let most = WIDEST; most > 120; most -= 10) {
    if (wide.reduce((sum, w) => sum + Math.min(w, most), 0) <= ROOM) return most
  }
  return 120
}

/** How many characters wide a cell's words are, roughly: its marks take none, Chinese characters two. */
function cells(markdown: string): number {
  const words = markdown.replace(/\]\([^)]*\)/g, '').replace(/[*`[\]~]/g, '')
  return words.length + (words.match(/[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60]/g)?.length ?? 0)
}

function endOf(tokens: Token[], from: number): number {
  let depth = 0
  for (let i = from; i < tokens.length; i++) {
    depth += tokens[i]!.nesting
    if (depth <= 0) return i + 1
  }
  return tokens.length
}

function groupOf(token: Token, inside: Inside | null): Group {
  const [start, end] = token.map ?? [0, 0]
  const label = String((token.meta as { label?: string } | null)?.label ?? '')
  const { type, info, content } = token
  return { start, at: 0, end, type, info, content, label, inside, columns: inside?.columns ?? '' }
}

/** Where each line of a text begins. */
export function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}
