import { md, type Env, type References } from './engine'
import type { Block } from './stream'

/** Words that rendered Markdown needs, in the language of the page. */
export interface RenderLabels {
  copy: string
  image: string
  table: string
}

interface RenderEnv extends Env {
  references: References
  labels: RenderLabels
  /** Number of the first item, when the block goes on with a list. */
  resumes: number | null
  /** What the open links were turned into, innermost last. */
  links?: ('a' | 'button' | 'span')[]
}

/** A destination that a link in a transcript may have. */
export type Target =
  | { kind: 'external'; href: string }
  | { kind: 'path'; path: string; line?: number; column?: number }

/**
 * Says what a destination is: an external address (http, https, mailto), an absolute local path, or null for
 * everything else, which stays text (R-CHAT-132).
 */
export function targetOf(href: string): Target | null {
  const address = href.trim()
  if (/^(https?:\/\/[^/]|mailto:[^/])/i.test(address)) return { kind: 'external', href: address }
  const local = /^file:\/\/(?:localhost)?(\/.*)$/i.exec(address)?.[1] ?? address
  if (!/^(\/(?!\/)|[A-Za-z]:[\\/])/.test(local)) return null
  const place = /^(.+?)(?::(\d{1,9})(?::(\d{1,9}))?|#L(\d{1,9}))?$/.exec(decoded(local))
  const path = place?.[1]
  if (!path) return null
  const line = Number(place[2] ?? place[4] ?? 0) || undefined
  return { kind: 'path', path, line, column: Number(place[3] ?? 0) || undefined }
}

/** Images that may be shown without asking anyone: safe raster types in the text itself, and blobs of this page. */
export function safeImage(src: string): boolean {
  return /^data:image\/(?:png|jpe?g|gif|webp|avif);base64,[a-z0-9+/=\s]+$/i.test(src) || /^blob:/i.test(src)
}

/**
 * Renders one block of Markdown to HTML. The output still goes through DOMPurify in MdBlock.vue; this side keeps raw
 * HTML as text and decides what links and images become.
 */
export function renderMarkdown(block: Pick<Block, 'text' | 'refs' | 'resumes'>, labels: RenderLabels): string {
  const env: RenderEnv = { references: Object.create(block.refs ?? {}) as References, labels, resumes: block.resumes }
  return md.render(block.text, env)
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const escape = md.utils.escapeHtml
const rules = md.renderer.rules

rules.link_open = (tokens, i, _options, env) => {
  const e = env as RenderEnv
  const href = String(tokens[i]!.attrGet('href') ?? '')
  const title = tokens[i]!.attrGet('title')
  const target = targetOf(href)
  e.links ??= []
  if (target?.kind === 'external') {
    e.links.push('a')
    const tip = title ? ` title="${escape(String(title))}"` : ''
    return `<a href="${escape(target.href)}" target="_blank" rel="noopener noreferrer"${tip}>`
  }
  if (target) {
    e.links.push('button')
    const line = target.line ? ` data-line="${target.line}"` : ''
    const column = target.column ? ` data-column="${target.column}"` : ''
    return `<button type="button" class="md-path" data-path="${escape(target.path)}"${line}${column}>`
  }
  e.links.push('span')
  return `<span class="md-ref" title="${escape(href)}">`
}

rules.link_close = (_tokens, _i, _options, env) => `</${(env as RenderEnv).links?.pop() ?? 'span'}>`

rules.image = (tokens, i, options, env) => {
  const token = tokens[i]!
  const e = env as RenderEnv
  const src = String(token.attrGet('src') ?? '')
  const alt = md.renderer.renderInlineAsText(token.children ?? [], options, env)
  if (safeImage(src)) return `<img src="${escape(src)}" alt="${escape(alt)}" loading="lazy">`
  const words = escape(alt === '' ? src : alt)
  // A link in a link would break the outer one; there the words are enough.
  const target = (e.links?.length ?? 0) === 0 ? targetOf(src) : null
  if (target?.kind !== 'external') return `<span class="md-image" title="${escape(src)}">${words}</span>`
  const name = `${escape(e.labels.image)}: ${words}`
  return `<a class="md-image" href="${escape(target.href)}" target="_blank" rel="noopener noreferrer">${name}</a>`
}

// The page has its own h1 and h2; headings of a message stand below them.
function heading(tag: string): string {
  return `h${Math.min(6, Number(tag.slice(1)) + 2)}`
}
rules.heading_open = (tokens, i) => `<${heading(tokens[i]!.tag)}>`
rules.heading_close = (tokens, i) => `</${heading(tokens[i]!.tag)}>\n`

rules.table_open = (_tokens, _i, _options, env) =>
  `<div class="md-table" tabindex="0" role="group" aria-label="${escape((env as RenderEnv).labels.table)}"><table>`
rules.table_close = () => '</table></div>\n'

function cell(tag: 'td' | 'th'): NonNullable<(typeof rules)['td_open']> {
  return (tokens, i) => {
    const align = /text-align:\s*(left|center|right)/.exec(String(tokens[i]!.attrGet('style') ?? ''))?.[1]
    return align ? `<${tag} align="${align}">` : `<${tag}>`
  }
}
rules.td_open = cell('td')
rules.th_open = cell('th')

/** Code inside a list or quote; a block of its own is drawn by CodeBlock.vue. */
function nestedCode(content: string, info: string, labels: RenderLabels): string {
  const lang = md.utils.unescapeAll(info).trim().split(/\s+/, 1)[0] ?? ''
  const button = `<button type="button" class="md-copy" data-copy="code">${escape(labels.copy)}</button>`
  return `<div class="md-code"><div class="md-code-head"><span>${escape(lang)}</span>${button}</div><pre tabindex="0"><code>${escape(content)}</code></pre></div>\n`
}
rules.fence = (tokens, i, _o, env) =>
  nestedCode(tokens[i]!.content, tokens[i]!.info, (env as RenderEnv).labels)
rules.code_block = (tokens, i, _o, env) => nestedCode(tokens[i]!.content, '', (env as RenderEnv).labels)

rules.ordered_list_open = (tokens, i, _options, env) => {
  const { resumes } = env as RenderEnv
  const start = i === 0 && resumes !== null ? resumes : Number(tokens[i]!.attrGet('start') ?? 1)
  return start === 1 ? '<ol>\n' : `<ol start="${start}">\n`
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
rules.fyllo_task = (tokens, i) => {
  const done = (tokens[i]!.meta as { done: boolean }).done
  return `<input type="checkbox" disabled${done ? ' checked' : ''}> `
}
