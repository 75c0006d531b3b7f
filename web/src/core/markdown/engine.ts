import MarkdownIt from 'markdown-it'

/**
 * The one Markdown parser: CommonMark with tables, strikethrough and autolinks; raw HTML stays text (R-CHAT-131, 132).
 * Only addresses with a scheme become links by themselves: "main.rs" and "git@host" are not what their endings say.
 * Every destination is taken as a link; render.ts decides what may be followed.
 */
export const md = new MarkdownIt({ html: false, linkify: true })
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })
md.validateLink = () => true

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
