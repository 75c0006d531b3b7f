import { searchText, type FindPart, type Query } from '@/core/find'
import { reveal } from '@/core/reveal'
import type { Row } from '@/core/rows'
import { wordsOf } from './words'

/** The occurrences in a part that are in the page: the first of them is number `first` of the part. */
export interface Places {
  readonly first: number
  readonly ranges: readonly Range[]
}

/** Rows of a box of long code: their height, and how much of a line stands in one; see VirtualLines.vue. */
const LINE = 19
const LINE_WIDTH = 1000

const none: Places = { first: 0, ranges: [] }

/** The element of a part in that of its row; null while the group that it stands in does not show it. */
export function elementOf(rowElement: Element, row: Row, part: FindPart): Element | null {
  return row.type === 'group' ? rowElement.querySelector(`[data-fold="${CSS.escape(part.key)}"]`) : rowElement
}

/** Where a part's occurrences are shown. */
export function placesOf(element: Element, part: FindPart, query: Query): Places {
  const box = part.type === 'code' ? element.querySelector('.virtual-lines') : null
  const words = wordsOf(rootsOf(element, part, box))
  const found = query.ranges(words.text)
  const ranges: Range[] = []
  for (let i = 0; i < found.length; i += 2) ranges.push(words.range(found[i]!, found[i + 1]!))
  return ranges.length === 0 ? none : { first: box ? countBefore(box, part, query) : 0, ranges }
}

function rootsOf(element: Element, part: FindPart, box: Element | null): Element[] {
  const all = (selectors: string): Element[] => [...element.querySelectorAll(selectors)].slice(0, 1)
  switch (part.type) {
    case 'user':
      return all('.user-text')
    case 'markdown':
      return all('.md')
    case 'code':
      return box ? [box] : all('.code-text')
    case 'tool':
      return part.tool.title || part.tool.name ? all('.fold-title') : []
    case 'subagent':
      return part.tool.title || part.tool.name ? all('.title') : []
    case 'reasoning':
      return [...(part.title ? all('.fold-title') : []), ...(hasMore(part) ? all('.reasoning') : [])]
    case 'end':
      return all('.end-text')
    default:
      return []
  }
}

/** A thought that is only a title says it again when it is open. */
function hasMore(part: FindPart): boolean {
  return part.type !== 'reasoning' || searchText(part).length > reveal(part.title).length + 1
}

/** How many occurrences stand in the lines above those that a box of long code has drawn. */
function countBefore(box: Element, part: FindPart, query: Query): number {
  const code = box.querySelector('code')
  const shift = Number(/translateY\(([\d.]+)px\)/.exec(code?.style.transform ?? '')?.[1] ?? 0)
  const text = searchText(part)
  const from = lineStarts(text)[Math.round(shift / LINE)] ?? 0
  return query.count(text.slice(0, from))
}

/** Brings the line of an occurrence into view in a box of long code; returns whether there is one. */
export function showLine(element: Element, part: FindPart, query: Query, nth: number): boolean {
  const box = part.type === 'code' ? element.querySelector('.virtual-lines') : null
  if (!box) return false
  const text = searchText(part)
  const start = query.ranges(text)[2 * nth] ?? 0
  const line = lineStarts(text).findLastIndex((at) => at <= start)
  const top = line * LINE
  if (top < box.scrollTop || top + 2 * LINE > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 3
  return true
}

function lineStarts(text: string): number[] {
  const starts: number[] = []
  for (let at = 0; at <= text.length; ) {
    const nl = text.indexOf('\n', at)
    const end = nl < 0 ? text.length : nl
    starts.push(at)
    for (let from = at + LINE_WIDTH; from < end; from += LINE_WIDTH) starts.push(from)
    at = end + 1
  }
  return starts
}

/** Scrolls the boxes between a range and the transcript, such as wide tables and long thoughts, so that it is seen. */
export function showInside(range: Range, outer: Element): void {
  const node = range.startContainer
  for (let el = node instanceof Element ? node : node.parentElement; el && el !== outer; el = el.parentElement) {
    const style = getComputedStyle(el)
    const at = range.getBoundingClientRect()
    const box = el.getBoundingClientRect()
    if (/auto|scroll/.test(style.overflowY) && el.scrollHeight > el.clientHeight + 1 && (at.top < box.top || at.bottom > box.bottom)) {
      el.scrollTop += at.top - box.top - el.clientHeight / 3
    }
    if (/auto|scroll/.test(style.overflowX) && el.scrollWidth > el.clientWidth + 1 && (at.left < box.left || at.right > box.right)) {
      el.scrollLeft += at.left - box.left - el.clientWidth / 3
    }
  }
}

/** Whether something is cut off by a box that does not scroll: a title of more than two lines. */
export function isCut(range: Range): boolean {
  const node = range.startContainer
  const title = (node instanceof Element ? node : node.parentElement)?.closest('.fold-title')
  return !!title && range.getBoundingClientRect().bottom > title.getBoundingClientRect().bottom + 1
}

/** Closed lines of a group have about this height; see GroupBody.vue. */
const ITEM = 32

/** Scrolls the box of a long group until it has mounted one of its lines. */
export async function mountItem(rowElement: Element, row: Row, part: FindPart, frame: () => Promise<unknown>): Promise<void> {
  const box = rowElement.querySelector('.group.many')
  if (!box || row.type !== 'group') return
  const index = new Map(row.items.map((item, i) => [item.key, i]))
  const wanted = index.get(part.key) ?? 0
  for (let tries = 0; tries < 30 && !elementOf(rowElement, row, part); tries++) {
    const shown = [...box.querySelectorAll<HTMLElement>('[data-fold]')].flatMap((el) => index.get(el.dataset.fold ?? '') ?? [])
    const nearest = shown.reduce((best, i) => (Math.abs(i - wanted) < Math.abs(best - wanted) ? i : best), shown[0] ?? 0)
    if (shown.length > 0) box.scrollTop += (wanted - nearest) * ITEM
    await frame()
  }
}
