/*
 * What of a diagram's source is left out before anything draws it. The rest is only drawn into a picture, which runs
 * and loads nothing; but while it is drawn it stands in the page, where a style or a picture in it would be fetched.
 */

/** Menus of participants: Mermaid opens them by handlers in attributes, which no picture has. */
const menus = /(^|;)[ \t]*links?[ \t]+[^\n:]*:[^\n]*/gim
/** Lines that hold styles: nothing in them needs an escape. */
const styling = /^\s*(?:style|classDef|linkStyle|cssClass|rect|box|Update\w*Style)\b.*$/gm
/** Line breaks and the marks of classes and states; any other tag in a label is words, which must not become HTML. */
const tags = /<<[\w -]{1,40}>>|<br\s*\/?>|<(?=[a-z!?/])/gi
const loading = /\b(url|image-set|-webkit-image-set|cross-fade|src|image|element|paint)\(/gi

/**
 * Takes out directives and configuration, which could switch the strictness off or carry style sheets, and breaks what
 * would load something. A title stays.
 */
export function harmless(source: string): string {
  const text = source.replace(/\r\n?/g, '\n').replace(/^\s*\n/, '')
  const front = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/.exec(text)
  const title = front ? /^title:[ \t]*(.*)$/m.exec(front[1]!)?.[1] : undefined
  const rest = front ? text.slice(front[0].length) : text
  const sequence = /^\s*sequenceDiagram\b/m.test(rest)
  const body = rest
    // Directives may nest braces; they end at the first "}%%".
    .replace(/%%\{[\s\S]*?\}%%/g, '')
    .replace(/%%\{/g, '%% ')
    .replace(menus, (line, before: string) => (sequence ? before : line))
    .replace(styling, (line) => line.replaceAll('\\', ''))
    .replace(loading, '$1 (')
    .replace(tags, (found) => (found === '<' ? '‹' : found))
    // Formulas would come as HTML.
    .replaceAll('$$', '$')
    .replace(/@\{[^{}]*\}/g, shape)
  return title === undefined ? body : `---\ntitle: ${quoted(title)}\n---\n${body}`
}

/** Shapes that are a picture or an icon from elsewhere become plain. */
function shape(data: string): string {
  return data.replace(/\b(?:img|icon)["']?\s*:\s*(?:"[^"]*"|'[^']*'|[^,}\n]+)(?:,|(?=[\n}]))/gi, '')
}

function quoted(title: string): string {
  const bare = title.trim().replace(/^(["'])(.*)\1$/, '$2')
  return JSON.stringify(bare.replaceAll('<', '‹'))
}
