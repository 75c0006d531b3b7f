/** The text that an element shows, with the way back to its nodes. */
export interface Words {
  readonly text: string
  /** A range of the page for a stretch of the text. */
  range(start: number, end: number): Range
}

/** Text of a node from `from` on stands at `at`. An element stands as a whole. */
interface Chunk {
  readonly node: Text | Element
  readonly from: number
  readonly at: number
}

/** What is shown beside the words: labels, buttons, where a link goes, a head that is seen elsewhere. */
const beside = '.code-head, .md-code-head, .md-host, .md-image a, .md-part thead, button:not(.md-path), svg'
const blocks = /^(P|LI|UL|OL|H[1-6]|TABLE|THEAD|TBODY|TR|TD|TH|PRE|DIV|BLOCKQUOTE|BR|HR|ARTICLE)$/
/** Where blanks and line ends are shown as they are. */
const verbatim = 'pre, .user-words, .md-source, .virtual-lines, .fold-title'

/** Reads the words of some elements in the way core/find.ts reads a row: blanks as they are seen, blocks parted. */
export function wordsOf(roots: readonly Element[]): Words {
  const chunks: Chunk[] = []
  let text = ''
  const part = (): void => {
    if (text !== '' && !text.endsWith('\n')) text += '\n'
  }

  function add(node: Text, exact: boolean): void {
    const { data } = node
    if (exact) {
      chunks.push({ node, from: 0, at: text.length })
      text += data
      return
    }
    const runs = /[ \t\r\n\f]+/g
    let from = 0
    const take = (to: number): void => {
      if (to <= from) return
      chunks.push({ node, from, at: text.length })
      text += data.slice(from, to).replace(/[\t\r\n\f]/g, ' ')
    }
    for (let run = runs.exec(data); run; run = runs.exec(data)) {
      const seen = run.index > from || !/(^|\s)$/.test(text.slice(-1))
      take(run.index + (seen ? 1 : 0))
      from = run.index + run[0].length
    }
    take(data.length)
  }

  function walk(el: Element, exact: boolean): void {
    if (el.matches(beside)) return
    const block = blocks.test(el.tagName)
    if (block) part()
    if (el instanceof HTMLElement && el.dataset.tex) {
      chunks.push({ node: el, from: 0, at: text.length })
      text += el.dataset.tex
    } else {
      const kept = exact || el.matches(verbatim)
      for (const child of el.childNodes) {
        if (child instanceof Text) add(child, kept)
        else if (child instanceof Element) walk(child, kept)
      }
    }
    if (block) part()
  }

  for (const root of roots) {
    part()
    walk(root, root.closest(verbatim) !== null)
  }
  return { text, range: (start, end) => rangeOf(chunks, start, end) }
}

function rangeOf(chunks: readonly Chunk[], start: number, end: number): Range {
  const range = document.createRange()
  const first = chunkAt(chunks, start)
  const last = chunkAt(chunks, end - 1)
  if (first.node instanceof Text) range.setStart(first.node, Math.min(first.from + start - first.at, first.node.length))
  else range.setStartBefore(first.node)
  if (last.node instanceof Text) range.setEnd(last.node, Math.min(last.from + end - last.at, last.node.length))
  else range.setEndAfter(last.node)
  return range
}

function chunkAt(chunks: readonly Chunk[], position: number): Chunk {
  let from = 0
  let to = chunks.length - 1
  while (from < to) {
    const mid = (from + to + 1) >> 1
    if (chunks[mid]!.at <= position) from = mid
    else to = mid - 1
  }
  return chunks[from]!
}
