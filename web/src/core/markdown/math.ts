import type MarkdownIt from 'markdown-it'

/** What a formula's token tells the renderer. */
export type MathMeta = {
  tex: string
  display: boolean
  /** As it was written, with its delimiters. */
  source: string
}

/** Longer than this nothing between two dollars is a formula. */
const LONGEST = 2000

// What tells a formula from words between dollars or escaped brackets.
const mathematical = /[\\^_=+*/<>{}|&\d-]/
const prose = (tex: string): boolean => !mathematical.test(tex) && /\p{L}{4,}/u.test(tex)
/** "$5 apples and 3$": an amount of money, not a formula. */
const money = /^[\d.,]+\s+[a-z]{2,}/i

/**
 * Formulas: $…$ and \(…\) in a line, $$…$$ and \[…\] on their own. The rules for delimiters keep amounts of money and
 * shell variables what they are: what opens is not followed by a blank, what closes not preceded by one nor followed
 * by a letter or digit (Chinese stands without blanks), and any other dollar between them says that there is no formula. A block that nothing closes
 * ends at a blank line and is shown as it was written.
 */
export function math(md: InstanceType<typeof MarkdownIt>): void {
  md.inline.ruler.before('escape', 'math_inline', (state, silent) => {
    const first = state.src.charCodeAt(state.pos)
    if (first !== 0x24 && first !== 0x5c) return false
    const found = formulaAt(state.src, state.pos, Math.min(state.posMax, state.pos + LONGEST))
    if (!found) return false
    if (!silent) state.push('math_inline', '', 0).meta = found
    state.pos += found.source.length
    return true
  })

  md.block.ruler.before(
    'fence',
    'math_block',
    (state, startLine, endLine, silent) => {
      if (state.sCount[startLine]! - state.blkIndent >= 4) return false
      const lineAt = (n: number): string => state.src.slice(state.bMarks[n]! + state.tShift[n]!, state.eMarks[n]).trimEnd()
      const first = state.src.charCodeAt(state.bMarks[startLine]! + state.tShift[startLine]!)
      if (first !== 0x24 && first !== 0x5c) return false
      const opening = lineAt(startLine)
      const closing = opening === '$$' ? '$$' : opening === '\\[' ? '\\]' : ''
      if (closing === '') return false
      if (silent) return true
      let next = startLine + 1
      let closed = false
      while (!closed && next < endLine && !state.isEmpty(next) && state.sCount[next]! >= state.blkIndent) {
        closed = lineAt(next++).endsWith(closing)
      }
      const source = state.getLines(startLine, next, state.blkIndent, false).trim()
      const tex = closed ? source.slice(2, -2).trim() : ''
      state.line = next
      const token = state.push('math_block', '', 0)
      token.map = [startLine, next]
      token.meta = { tex, display: true, source } satisfies MathMeta
      return true
    },
    { alt: ['paragraph', 'reference', 'blockquote', 'list'] },
  )
}

function formulaAt(src: string, pos: number, max: number): MathMeta | null {
  const opening = src.slice(pos, pos + 2)
  if (opening === '\\(' || opening === '\\[') return bracketed(src, pos, max, opening)
  if (opening === '$$') return between(src, pos, indexOf(src, '$$', pos + 2, max), max, true)
  return opening[0] === '$' ? inLine(src, pos, max) : null
}

function inLine(src: string, pos: number, max: number): MathMeta | null {
  if (/[a-z0-9$]/i.test(src[pos - 1] ?? '') || /[\s{]/.test(src[pos + 1] ?? ' ')) return null
  let end = pos + 1
  while (end < max && src[end] !== '$') end += src[end] === '\\' ? 2 : 1
  if (/\s/.test(src[end - 1]!) || /[a-z0-9{$]/i.test(src[end + 1] ?? '')) return null
  const found = between(src, pos, end, max, false)
  return found && !money.test(found.tex) ? found : null
}

function bracketed(src: string, pos: number, max: number, opening: string): MathMeta | null {
  const display = opening === '\\['
  const found = between(src, pos, indexOf(src, display ? '\\]' : '\\)', pos + 2, max), max, display)
  // "\[x\](y)" is no link rather than a formula.
  return display && found && (!mathematical.test(found.tex) || /[([:]/.test(src[pos + found.source.length] ?? '')) ? null : found
}

/** Looks no further than a formula may be long, since a text may hold many openings and no closing. */
function indexOf(src: string, what: string, from: number, max: number): number {
  const at = src.slice(from, max).indexOf(what)
  return at < 0 ? -1 : from + at
}

function between(src: string, pos: number, end: number, max: number, display: boolean): MathMeta | null {
  const width = src[pos] === '$' && !display ? 1 : 2
  if (end < 0 || end + width > max) return null
  const tex = src.slice(pos + width, end).trim()
  if (tex === '' || tex.includes('`') || prose(tex)) return null
  return { tex, display, source: src.slice(pos, end + width) }
}
