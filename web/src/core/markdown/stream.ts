import { md, normalize, type References } from './engine'
import { LIMITS, lineStarts, parseGroups, softLength, type Group, type Inside, type Limits } from './groups'

/**
 * A top-level block of a Markdown text. Blocks are compared by identity: an unchanged block stays the same object.
 */
export interface Block {
  /** Position among the blocks of its text; committed blocks keep it for ever. */
  readonly index: number
  readonly kind: 'markdown' | 'code'
  /** Markdown source of the block, or the text of the code. */
  readonly text: string
  /** First word of a fence's info string. */
  readonly lang: string
  /** A fence without closing line yet is open; everything else is closed. */
  readonly closed: boolean
  /** Set on every block of a long list, table, paragraph or quote but its first: what it goes on with. */
  readonly part: 'list' | 'table' | 'paragraph' | 'quote' | null
  /** With `part`, the number of its first item or row; else null. The text of a table's part repeats the head. */
  readonly resumes: number | null
  /** Widths in CSS pixels, "120 80", of a table that is drawn in several parts; else "". */
  readonly columns: string
  /** Link definitions of the whole text; a new object when they changed and the block may use them. */
  readonly refs: References | null
}

/** An open fence at column 0: lines are appended to it until one closes it, without any parsing. */
interface OpenFence {
  closing: RegExp
  info: string
  done: string
  partial: string
}

/**
 * Splits a growing Markdown text into top-level blocks. After every update the blocks equal those of a fresh parse of
 * the same text, but only the uncommitted tail is parsed: all blocks except the last two are final, since only those
 * can still be joined or turned into something else by what follows.
 */
export class MarkdownStream {
  private source = ''
  private tail = ''
  private carry = ''
  private readonly committed: Block[] = []
  private readonly refs: References = {}
  private shownRefs: References = {}
  private fence: OpenFence | null = null
  private last: readonly Block[] = []
  /** What the tail goes on with when it begins inside a long block. */
  private inside: Inside | null = null
  /** The last line can only grow: nothing that is added to it changes which blocks there are. */
  private settled = false

  /** @param limits smaller ones in tests */
  constructor(private readonly limits: Limits = LIMITS) {}

  /** The blocks after the last update. */
  get blocks(): readonly Block[] {
    return this.last
  }

  /** The text of the last update. */
  get text(): string {
    return this.source
  }

  /** Takes the whole text; anything but an extension of the text before starts again. */
  update(text: string): readonly Block[] {
    if (text === this.source) return this.last
    // startsWith() compares character by character; equal slices are compared as memory.
    if (text.slice(0, this.source.length) !== this.source) this.reset()
    this.append(text.slice(this.source.length))
    this.source = text
    return this.last
  }

  private reset(): void {
    this.source = this.tail = this.carry = ''
    this.committed.length = 0
    for (const label of Object.keys(this.refs)) delete this.refs[label]
    this.shownRefs = {}
    this.fence = null
    this.last = []
    this.inside = null
    this.settled = false
  }

  private append(added: string): void {
    let text = this.carry + added
    this.carry = text.endsWith('\r') ? '\r' : ''
    if (this.carry) text = text.slice(0, -1)
    text = normalize(text)
    if (this.fence) text = this.feedFence(this.fence, text)
    else if (this.settled && this.grow(text)) return
    this.tail += text
    this.last = this.fence ? [...this.committed, this.fenceBlock(this.fence)] : this.split()
  }

  /** Adds to the last line of the last block without parsing; returns whether that was possible. */
  private grow(text: string): boolean {
    const old = this.last.at(-1)
    if (text === '') return true
    if (!old || text.includes('\n') || `${this.tail.at(-1)}${text}`.includes(']:')) return false
    if (old.text.length + text.length > softLength(this.limits)) return false // it may have to be cut
    this.tail += text
    const refs = old.refs ?? (text.includes('[') ? this.shownRefs : null)
    this.last = this.last.with(-1, { ...old, text: old.text + text, refs })
    return true
  }

  /** Appends to the open fence; returns what stands behind it once it is closed. */
  private feedFence(fence: OpenFence, text: string): string {
    let rest = fence.partial + text
    let from = 0
    for (let nl = rest.indexOf('\n'); nl >= 0; nl = rest.indexOf('\n', from)) {
      const line = rest.slice(from, nl)
      from = nl + 1
      if (fence.closing.test(line)) {
        fence.partial = ''
        fence.done += rest.slice(0, from - line.length - 1)
        this.commit({ ...this.fenceBlock(fence), closed: true })
        this.fence = null
        return rest.slice(from)
      }
    }
    fence.done += rest.slice(0, from)
    rest = rest.slice(from)
    fence.partial = rest
    return ''
  }

  private fenceBlock(fence: OpenFence): Block {
    // A last line that would close the fence does so unless more of the line comes; blanks alone are no line yet.
    const closed = fence.closing.test(fence.partial)
    const shown = closed || /^[ \t]*$/.test(fence.partial) ? '' : fence.partial
    const block = codeBlock(this.committed.length, fence.info, fence.done + shown, closed)
    const old = this.last[block.index]
    return old && sameBlock(old, block) ? old : block
  }

  private commit(block: Block): void {
    const old = this.last[block.index]
    this.committed.push(old && sameBlock(old, block) ? old : block)
  }

  private split(): readonly Block[] {
    const lines = lineStarts(this.tail)
    const references: References = Object.create(this.refs) as References
    const groups = parseGroups(this.tail, references, this.inside, this.limits)
    this.publishRefs(references)
    const keep = Math.max(0, groups.length - (goesOn(groups.at(-1), lines, this.tail) ? 1 : 2))
    const begin = (g: Group | undefined): number => (g ? (lines[g.start] ?? this.tail.length) + g.at : this.tail.length)
    const source = (i: number): string => this.tail.slice(begin(groups[i]), begin(groups[i + 1]))
    for (let i = 0; i < keep; i++) {
      const g = groups[i]!
      if (g.type === 'reference_definition') this.keepRef(g.label, references)
      else this.commit(this.makeBlock(this.committed.length, g, source(i)))
    }
    const shown: Block[] = []
    for (let i = keep; i < groups.length; i++) {
      const g = groups[i]!
      if (g.type === 'reference_definition') continue
      const block = this.makeBlock(this.committed.length + shown.length, g, source(i))
      const old = this.last[block.index]
      shown.push(old && sameBlock(old, block) ? old : block)
    }
    const result = [...this.committed, ...shown]
    this.settled = settledLine(this.tail, groups.at(-1), shown.at(-1))
    this.cut(groups, keep, begin, references)
    return result
  }

  /** Drops the committed part of the tail; a last block that is an open fence at column 0 leaves parsing altogether. */
  private cut(groups: Group[], keep: number, begin: (g: Group | undefined) => number, references: References): void {
    const last = groups.at(-1)
    const opened = last && openFence(last, this.tail.slice(begin(last)))
    if (last && opened) {
      for (let i = keep; i < groups.length - 1; i++) {
        const g = groups[i]!
        const text = this.tail.slice(begin(g), begin(groups[i + 1]))
        if (g.type === 'reference_definition') this.keepRef(g.label, references)
        else this.commit(this.makeBlock(this.committed.length, g, text))
      }
      this.fence = opened
      this.tail = ''
      this.inside = null
    } else if (keep > 0) {
      this.inside = groups[keep]!.inside
      this.tail = this.tail.slice(begin(groups[keep]))
    }
  }

  private keepRef(label: string, references: References): void {
    const ref = references[label]
    if (ref && !(label in this.refs)) this.refs[label] = ref
  }

  /** New definitions give every block with a bracket a new identity, so that views draw its links. */
  private publishRefs(references: References): void {
    const now: References = {}
    for (const label in references) now[label] = references[label]!
    if (sameRefs(now, this.shownRefs)) return
    this.shownRefs = now
    for (let i = 0; i < this.committed.length; i++) {
      const block = this.committed[i]!
      if (block.refs) this.committed[i] = { ...block, refs: now }
    }
  }

  private makeBlock(index: number, g: Group, source: string): Block {
    if (g.type === 'fence') return codeBlock(index, g.info, g.content, fenceClosed(g, source))
    if (g.type === 'code_block') return codeBlock(index, '', g.content, true)
    const refs = source.includes('[') ? this.shownRefs : null
    const { inside, columns } = g
    const text = inside?.part === 'table' ? inside.head + source : source
    return { index, kind: 'markdown', text, lang: '', closed: true, part: inside?.part ?? null, resumes: inside?.resumes ?? null, columns, refs }
  }
}

/** Splits a text that will not grow. */
export function splitMarkdown(text: string): readonly Block[] {
  const stream = new MarkdownStream()
  // A lone "\r" at the end is a line end once nothing follows.
  return stream.update(text.endsWith('\r') ? `${text}\n` : text)
}

function codeBlock(index: number, info: string, text: string, closed: boolean): Block {
  const lang = md.utils.unescapeAll(info).trim().split(/\s+/, 1)[0] ?? ''
  return { index, kind: 'code', text, lang, closed, part: null, resumes: null, columns: '', refs: null }
}

function sameBlock(a: Block, b: Block): boolean {
  return (
    a.index === b.index &&
    a.kind === b.kind &&
    a.closed === b.closed &&
    a.refs === b.refs &&
    a.part === b.part &&
    a.resumes === b.resumes &&
    a.columns === b.columns &&
    a.lang === b.lang &&
    a.text === b.text
  )
}

function sameRefs(a: References, b: References): boolean {
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((k) => a[k]!.href === b[k]?.href && a[k]!.title === b[k]?.title)
}

/** Whether a group goes on with a long block for certain: its first line is whole, so what came before is final. */
function goesOn(g: Group | undefined, lines: readonly number[], tail: string): boolean {
  if (!g?.inside) return false
  const second = lines[g.start + 1]
  return g.at > 0 || (second !== undefined && second < tail.length)
}

/**
 * Whether the last line of a text belongs to its last block whatever is added to the line: a letter behind the marks
 * at its beginning decides what it is. Code and formulas end at what a line ends with, and a link definition may take
 * several lines.
 */
function settledLine(tail: string, g: Group | undefined, block: Block | undefined): boolean {
  if (!g || !block || block.kind === 'code' || g.type === 'reference_definition' || g.type === 'math_block') return false
  return /\p{L}/u.test(tail.slice(tail.lastIndexOf('\n') + 1)) && !block.text.includes(']:')
}

function closingLine(marker: string): RegExp {
  return new RegExp(`^ {0,3}\\${marker[0]}{${marker.length},}[ \\t]*$`)
}

function markerOf(source: string): string {
  return /^ {0,3}(`{3,}|~{3,})/.exec(source)?.[1] ?? '```'
}

function fenceClosed(g: Group, source: string): boolean {
  const lines = source.split('\n').slice(0, g.end - g.start)
  return lines.length > 1 && closingLine(markerOf(source)).test(lines.at(-1) ?? '')
}

/** The state of a fence at column 0 whose opening line is complete and which nothing closed; otherwise null. */
function openFence(g: Group, source: string): OpenFence | null {
  if (g.type !== 'fence' || source.startsWith(' ') || source.startsWith('\t')) return null
  const nl = source.indexOf('\n')
  if (nl < 0 || fenceClosed(g, source)) return null
  const body = source.slice(nl + 1)
  const partialAt = body.lastIndexOf('\n') + 1
  return {
    closing: closingLine(markerOf(source)),
    info: g.info,
    done: body.slice(0, partialAt),
    partial: body.slice(partialAt),
  }
}
