import MarkdownIt from 'markdown-it'
import { addresses, normalizeLink } from './links'
import { math } from './math'

/**
 * The one Markdown parser: CommonMark with tables, strikethrough and autolinks; raw HTML stays text (R-CHAT-131, 132).
 * Every destination is taken as a link; render.ts decides what may be followed.
 */
export const md = new MarkdownIt({ html: false, linkify: true })
md.linkify = addresses as unknown as typeof md.linkify
md.normalizeLink = normalizeLink
md.normalizeLinkText = (url) => url
md.validateLink = () => true
md.use(math)

/** What a parse reads and writes besides tokens. */
export type Env = Parameters<typeof md.parse>[1]

export interface Reference {
  title: string
  href: string
}

export type References = Record<string, Reference>

/** What markdown-it does to a text before it looks at blocks. A lone "\r" at the end may be half of "\r\n". */
export function normalize(text: string): string {
  return text.replace(/\r\n?/g, '\n').replaceAll('\0', '\uFFFD')
}

/** Lists and quotes deeper than this (two levels each) are text: nobody reads them, and the page would have to draw them. */
const DEEPEST = 40

// The parser itself would drop what is nested deeper than its limit.
md.block.ruler.before('table', 'fyllo_deep', (state, startLine, endLine) => {
  if (state.level < DEEPEST) return false
  let next = startLine + 1
  while (next < endLine && !state.isEmpty(next) && state.sCount[next]! >= state.blkIndent) next++
  state.line = next
  state.push('paragraph_open', 'p', 1).map = [startLine, next]
  const inline = state.push('inline', '', 0)
  inline.content = state.getLines(startLine, next, state.blkIndent, false).trim()
  inline.map = [startLine, next]
  inline.children = []
  state.push('paragraph_close', 'p', -1)
  return true
})
