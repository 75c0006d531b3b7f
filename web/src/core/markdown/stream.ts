import { md, normalize, type References } from './engine'

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
  /** Set on every block of a long list but its first: the number of its first item, which only ordered lists show. */
  readonly resumes: number | null
  /** Link definitions of the whole text; a new object when they changed and the block may use them. */
  readonly refs: References | null
}

interface Group {
  /** First line. */
  start: number
  /** The line behind the last. */
  end: number
  resumes: number | null
  type: string
  info: string
  content: string
  label: string
}

/** A list with more items than this becomes several blocks, so that neither parsing nor the page grows with it. */
const ITEMS = 20

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
  /** The tail begins inside a list: the number of its first item. */
  private resumes: number | null = null

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
    if (!text.startsWith(this.source)) this.reset()
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
    this.resumes = null
  }

  private append(added: string): void {
    let text = this.carry + added
    this.carry = text.endsWith('\r') ? '\r' : ''
    if (this.carry) text = text.slice(0, -1)
    text = normalize(text)
    if (this.fence) text = this.feedFence(this.fence, text)
    this.tail += text
    this.last = this.fence ? [...this.committed, this.fenceBlock(this.fence)] : this.split()
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
    const groups = parseGroups(this.tail, references, this.resumes)
    this.publishRefs(references)
    const keep = Math.max(0, groups.length - 2)
    const offset = (line: number): number => lines[line] ?? this.tail.length
    const source = (i: number): string => {
      const next = groups[i + 1]
      return this.tail.slice(offset(groups[i]!.start), next ? offset(next.start) : this.tail.length)
    }
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
    this.cut(groups, keep, offset, references)
    return result
  }

  /** Drops the committed part of the tail; a last block that is an open fence at column 0 leaves parsing altogether. */
  private cut(groups: Group[], keep: number, offset: (line: number) => number, references: References): void {
    const last = groups.at(-1)
    const opened = last && openFence(last, this.tail.slice(offset(last.start)))
    if (last && opened) {
      for (let i = keep; i < groups.length - 1; i++) {
        const g = groups[i]!
        const text = this.tail.slice(offset(g.start), offset(groups[i + 1]!.start))
        if (g.type === 'reference_definition') this.keepRef(g.label, references)
        else this.commit(this.makeBlock(this.committed.length, g, text))
      }
      this.fence = opened
      this.tail = ''
      this.resumes = null
    } else if (keep > 0) {
      this.resumes = groups[keep]!.resumes
      this.tail = this.tail.slice(offset(groups[keep]!.start))
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
    return { index, kind: 'markdown', text: source, lang: '', closed: true, resumes: g.resumes, refs }
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
  return { index, kind: 'code', text, lang, closed, resumes: null, refs: null }
}

function sameBlock(a: Block, b: Block): boolean {
  return (
    a.index === b.index &&
    a.kind === b.kind &&
    a.closed === b.closed &&
    a.refs === b.refs &&
    a.resumes === b.resumes &&
    a.lang === b.lang &&
    a.text === b.text
  )
}

function sameRefs(a: References, b: References): boolean {
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((k) => a[k]!.href === b[k]?.href && a[k]!.title === b[k]?.title)
}

/**
 * Runs the block rules only and groups the tokens by top-level block; a long list makes several groups.
 *
 * @param resumes number of the first item when the text begins inside a list
 */
function parseGroups(text: string, references: References, resumes: number | null): Group[] {
  const tokens: ReturnType<typeof md.parse> = []
  md.block.parse(text, md, { references }, tokens)
  const groups: Group[] = []
  let depth = 0
  let items = 0
  let first = 1
  for (const token of tokens) {
    if (depth === 0 && token.map) {
      groups.push(groupOf(token, groups.length === 0 ? resumes : null))
      items = 0
      first = groups.at(-1)!.resumes ?? Number(token.attrGet('start') ?? 1)
    } else if (depth === 1 && token.type === 'list_item_open' && token.map) {
      if (items > 0 && items % ITEMS === 0) {
        const group = groups.at(-1)!
        groups.push({ ...group, start: token.map[0], resumes: first + items })
        group.end = token.map[0]
      }
      items++
    }
    depth += token.nesting
  }
  return groups
}

function groupOf(token: ReturnType<typeof md.parse>[number], resumes: number | null): Group {
  const [start, end] = token.map ?? [0, 0]
  const label = String((token.meta as { label?: string } | null)?.label ?? '')
  return { start, end, resumes, type: token.type, info: token.info, content: token.content, label }
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
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
