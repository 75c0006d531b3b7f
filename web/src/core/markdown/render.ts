import { reveal, revealProse } from '../reveal'
import { md, type Env, type References } from './engine'
import type { MathMeta } from './math'
import type { Block } from './stream'
import { hostOf, misleads, safeImage, targetOf } from './targets'

export { safeImage, targetOf, type Target } from './targets'

/** Words that rendered Markdown needs, in the language of the page. */
export interface RenderLabels {
  copy: string
  formula: string
  /** "Open image at {host}" */
  openImage: string
  table: string
  /** "Table, from row {n}" */
  tableFrom: string
  task: string
}

interface RenderEnv extends Env {
  references: References
  labels: RenderLabels
  block: RenderBlock
  /** What the open links were turned into, innermost last. */
  links?: ('a' | 'button' | 'span')[]
  /** The host that the open link really goes to, when its words say another. */
  host?: string
}

export type RenderBlock = Pick<Block, 'text' | 'refs' | 'part' | 'resumes' | 'columns'>

/**
 * Renders one block of Markdown to HTML. The output still goes through DOMPurify in MdBlock.vue; this side keeps raw
 * HTML as text and decides what links and images become.
 */
export function renderMarkdown(block: RenderBlock, labels: RenderLabels): string {
  const env: RenderEnv = { references: Object.create(block.refs ?? {}) as References, labels, block }
  if (block.part !== 'paragraph') return md.render(block.text, env)
  // Alone, a line from the middle of a paragraph could be taken for a list or for code.
  return `<p>${md.renderInline(block.text.trim().replace(/\n[ \t]+/g, '\n'), env)}</p>\n`
}

const escape = md.utils.escapeHtml
const rules = md.renderer.rules

rules.text = (tokens, i, _options, env) => {
  const inLink = ((env as RenderEnv).links?.length ?? 0) > 0
  return escape((inLink ? reveal : revealProse)(tokens[i]!.content))
}
rules.code_inline = (tokens, i) => `<code>${escape(reveal(tokens[i]!.content))}</code>`

rules.link_open = (tokens, i, _options, env) => {
  const e = env as RenderEnv
  const href = String(tokens[i]!.attrGet('href') ?? '')
  const target = targetOf(href)
  e.links ??= []
  if (target?.kind === 'external') {
    e.links.push('a')
    const words = wordsOf(tokens, i)
    e.host = misleads(target.href, words) ? hostOf(target.href) : ''
    const title = e.host ? target.href : (tokens[i]!.attrGet('title') ?? '')
    const tip = title ? ` title="${escape(String(title))}"` : ''
    return `<a href="${escape(target.href)}" target="_blank" rel="noopener noreferrer"${tip}>`
  }
  if (target) {
    e.links.push('button')
    return pathButton(target)
  }
  e.links.push('span')
  return `<span class="md-ref" title="${escape(reveal(href))}">`
}

rules.link_close = (_tokens, _i, _options, env) => {
  const e = env as RenderEnv
  const tag = e.links?.pop() ?? 'span'
  const host = tag === 'a' && e.host ? ` <span class="md-host">${escape(e.host)}</span>` : ''
  if (host) e.host = ''
  return `${host}</${tag}>`
}

/** What a link shows: the words between its tokens. */
function wordsOf(tokens: Parameters<typeof md.renderer.render>[0], open: number): string {
  let words = ''
  for (let i = open + 1; i < tokens.length && tokens[i]!.type !== 'link_close'; i++) words += tokens[i]!.content
  return words
}

function pathButton(target: { path: string; line?: number; column?: number }): string {
  const line = target.line ? ` data-line="${target.line}"` : ''
  const column = target.column ? ` data-column="${target.column}"` : ''
  const title = escape(reveal(target.line ? `${target.path}:${target.line}` : target.path))
  return `<button type="button" class="md-path" title="${title}" data-path="${escape(target.path)}"${line}${column}>`
}

/** A picture from elsewhere is never fetched, since its address can carry data away: words stand for it (R-CHAT-132). */
rules.image = (tokens, i, options, env) => {
  const token = tokens[i]!
  const e = env as RenderEnv
  const src = String(token.attrGet('src') ?? '')
  const alt = md.renderer.renderInlineAsText(token.children ?? [], options, env)
  if (safeImage(src)) return `<img src="${escape(src)}" alt="${escape(alt)}" loading="lazy">`
  const words = escape(reveal(alt === '' ? src : alt))
  // A link in a link would break the outer one; there the words are enough.
  const target = (e.links?.length ?? 0) === 0 ? targetOf(src) : null
  if (target?.kind === 'path') return `${pathButton(target)}${words}</button>`
  if (target?.kind !== 'external') return `<span class="md-image" title="${escape(reveal(src))}">${words}</span>`
  const open = escape(e.labels.openImage.replace('{host}', () => hostOf(target.href)))
  const link = `<a href="${escape(target.href)}" target="_blank" rel="noopener noreferrer">${open}</a>`
  return `<span class="md-image"><span>${words}</span> ${link}</span>`
}

// The page has its own h1 and h2; headings of a message stand below them.
function heading(tag: string): string {
  return `h${Math.min(6, Number(tag.slice(1)) + 2)}`
}
rules.heading_open = (tokens, i) => `<${heading(tokens[i]!.tag)}>`
rules.heading_close = (tokens, i) => `</${heading(tokens[i]!.tag)}>\n`

// The parts of a long table are tables of their own: fixed widths make one of them to the eye, and their heads, which
// are the same, are seen in the first only.
rules.table_open = (_tokens, i, _options, env) => {
  const { labels, block } = env as RenderEnv
  const goesOn = i === 0 && block.part === 'table'
  const label = goesOn ? labels.tableFrom.replace('{n}', String(block.resumes)) : labels.table
  const box = `<div class="md-table" tabindex="0" role="group" aria-label="${escape(label)}">`
  if (i !== 0 || block.columns === '') return `${box}<table>\n`
  const widths = block.columns.split(' ').map(Number)
  const total = widths.reduce((a, b) => a + b, 0)
  const columns = widths.map((w) => `<col width="${w}">`).join('')
  return `${box}<table class="md-fixed${goesOn ? ' md-part' : ''}" width="${total}"><colgroup>${columns}</colgroup>\n`
}
rules.table_close = () => '</table></div>\n'

function cell(tag: 'td' | 'th'): NonNullable<(typeof rules)['td_open']> {
  return (tokens, i) => {
    const align = /text-align:\s*(left|center|right)/.exec(String(tokens[i]!.attrGet('style') ?? ''))?.[1]
    return align ? `<${tag} align="${align}">` : `<${tag}>`
  }
}
rules.td_open = cell('td')
rules.th_open = cell('th')

/** Code inside a list or quote; a block of its own is drawn by CodeBlock.vue. Copy gives the text itself. */
function nestedCode(content: string, info: string, labels: RenderLabels): string {
  const lang = md.utils.unescapeAll(info).trim().split(/\s+/, 1)[0] ?? ''
  const button = `<button type="button" class="md-copy" data-copy="code">${escape(labels.copy)}</button>`
  const shown = reveal(content)
  const source = shown === content ? '' : ` data-source="${escape(content)}"`
  return `<div class="md-code"${source}><div class="md-code-head"><span>${escape(reveal(lang))}</span>${button}</div><pre tabindex="0"><code>${escape(shown)}</code></pre></div>\n`
}
rules.fence = (tokens, i, _o, env) => nestedCode(tokens[i]!.content, tokens[i]!.info, (env as RenderEnv).labels)
rules.code_block = (tokens, i, _o, env) => nestedCode(tokens[i]!.content, '', (env as RenderEnv).labels)

rules.ordered_list_open = (tokens, i, _options, env) => {
  const { part, resumes } = (env as RenderEnv).block
  const start = i === 0 && part === 'list' ? (resumes ?? 1) : Number(tokens[i]!.attrGet('start') ?? 1)
  return start === 1 ? '<ol>\n' : `<ol start="${start}">\n`
}

/** A formula is its source until math.ts of the view has drawn it. */
function formula({ tex, display, source }: MathMeta, label: string): string {
  const way = display ? ` data-display="true" tabindex="0" role="group" aria-label="${escape(label)}"` : ''
  return `<span class="md-math" data-tex="${escape(tex)}"${way}>${escape(revealProse(source))}</span>`
}
rules.math_inline = (tokens, i, _o, env) => formula(tokens[i]!.meta as MathMeta, (env as RenderEnv).labels.formula)
rules.math_block = (tokens, i, _o, env) => {
  const meta = tokens[i]!.meta as MathMeta
  return meta.tex ? `<p>${formula(meta, (env as RenderEnv).labels.formula)}</p>\n` : `<p class="md-source">${escape(revealProse(meta.source))}</p>\n`
}

// Task lists: a box in front of an item's first paragraph when that begins with "[ ] " or "[x] ".
md.core.ruler.after('inline', 'fyllo_tasks', (state) => {
  const tokens = state.tokens
  for (let i = 2; i < tokens.length; i++) {
    const inline = tokens[i]!
    if (inline.type !== 'inline' || tokens[i - 2]!.type !== 'list_item_open') continue
    const first = inline.children?.[0]
    const box = first?.type === 'text' ? /^\[([ xX])\]\s/.exec(first.content) : null
    if (!first || !box) continue
    first.content = first.content.slice(box[0].length)
    const mark = new state.Token('fyllo_task', '', 0)
    mark.meta = { done: box[1] !== ' ' }
    inline.children!.unshift(mark)
    tokens[i - 2]!.attrJoin('class', 'md-task')
  }
})
rules.fyllo_task = (tokens, i, _o, env) => {
  const done = (tokens[i]!.meta as { done: boolean }).done
  return `<input type="checkbox" aria-label="${escape((env as RenderEnv).labels.task)}" disabled${done ? ' checked' : ''}> `
}
