import { reveal, revealProse } from '../reveal'
import type { md as parser, References } from './engine'
import type { MathMeta } from './math'
import type { safeImage, RenderBlock } from './render'
import type { MarkdownStream } from './stream'

type Token = ReturnType<typeof parser.parse>[number]

/**
 * What the transcript reads Markdown with. It is handed in, since it is loaded with the transcript: a second part of the
 * page that imports it would move it to a file of its own, which makes the first load larger.
 */
export interface MarkdownTools {
  readonly md: typeof parser
  readonly safeImage: typeof safeImage
  readonly MarkdownStream: typeof MarkdownStream
}

/**
 * The words that a block of Markdown shows, without its syntax: what render.ts writes, as text. Words that stand side
 * by side are parted as they are on the page: by a blank inside of a paragraph, by a line end between blocks, items and
 * cells. A formula is its TeX.
 */
export function plainWords(block: RenderBlock, tools: MarkdownTools): string {
  const { md } = tools
  const env = { references: Object.create(block.refs ?? {}) as References }
  if (block.part === 'paragraph') {
    return inline(md.parseInline(block.text.trim().replace(/\n[ \t]+/g, '\n'), env)[0]?.children ?? [], tools)
  }
  const lines: string[] = []
  // The parts of a long table repeat its head, which is seen in the first only.
  let hidden = false
  for (const token of md.parse(block.text, env)) {
    if (token.type === 'thead_open') hidden = block.part === 'table'
    else if (token.type === 'thead_close') hidden = false
    else if (hidden) continue
    else if (token.type === 'inline') lines.push(inline(token.children ?? [], tools))
    else if (token.type === 'fence' || token.type === 'code_block') lines.push(reveal(token.content))
    else if (token.type === 'math_block') lines.push(formula(token.meta as MathMeta))
  }
  return lines.join('\n')
}

function inline(tokens: readonly Token[], tools: MarkdownTools): string {
  let words = ''
  let links = 0
  for (const token of tokens) {
    if (token.type === 'text') words += (links > 0 ? reveal : revealProse)(token.content)
    else if (token.type === 'code_inline') words += reveal(token.content)
    else if (token.type === 'softbreak') words += ' '
    else if (token.type === 'hardbreak') words += '\n'
    else if (token.type === 'link_open') links++
    else if (token.type === 'link_close') links--
    else if (token.type === 'image') words += image(token, tools)
    else if (token.type === 'math_inline') words += formula(token.meta as MathMeta)
  }
  return words.replace(/[ \t\r\f]+/g, ' ')
}

function image(token: Token, { md, safeImage }: MarkdownTools): string {
  const src = String(token.attrGet('src') ?? '')
  if (safeImage(src)) return ''
  const alt = md.renderer.renderInlineAsText(token.children ?? [], md.options, {})
  return reveal(alt === '' ? src : alt)
}

function formula({ tex, source }: MathMeta): string {
  return tex || revealProse(source)
}
