/*
 * Addresses in Markdown: which words are addresses by themselves, and how a destination is written. Takes the place of
 * linkify-it, mdurl and punycode.js, whose tables would be a tenth of the first load (see vite.config.ts): only
 * addresses with a scheme become links by themselves, since "main.rs" and "git@host" are not what their endings say.
 */

/** What markdown-it asks of the object that finds addresses. */
interface Found {
  index: number
  lastIndex: number
  schema: string
  text: string
  url: string
}

// An address ends at blanks, quotes, controls and at the punctuation that stands between Chinese and Japanese words.
const inside = '[^\\s<>"`\\p{Cc}\\p{Cf}\\u3000-\\u303F\\uFF01\\uFF08\\uFF09\\uFF0C\\uFF0E\\uFF1A\\uFF1B\\uFF1F\\uFF5C-\\uFF65]'
const address = `(https?:\\/\\/(?=[\\p{L}\\p{N}[])|mailto:(?=[\\p{L}\\p{N}]))${inside}+`
const anywhere = new RegExp(`(?<![a-z0-9.+-])${address}`, 'giu')
const atStart = new RegExp(`^${address}`, 'iu')
const pairs: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

/** Ends an address where a bracket closes that was opened before it, and leaves off the punctuation of a sentence. */
function trimmed(url: string): string {
  const open: string[] = []
  let end = 0
  for (; end < url.length; end++) {
    const char = url[end]!
    if ('([{'.includes(char)) open.push(char)
    else if (pairs[char] !== undefined && open.pop() !== pairs[char]) break
  }
  while (end > 0 && /[.,:;!?'*_~|\\([{]/.test(url[end - 1]!)) end--
  return url.slice(0, end)
}

function found(match: RegExpMatchArray | null): Found | null {
  if (!match) return null
  const url = trimmed(match[0])
  const schema = match[1]!
  const index = match.index ?? 0
  return url.length > schema.length ? { index, lastIndex: index + url.length, schema, text: url, url } : null
}

export const addresses = {
  test: (text: string): boolean => /https?:\/\/|mailto:/i.test(text) && text.match(anywhere) !== null,
  match: (text: string): Found[] => [...text.matchAll(anywhere)].map(found).filter((f) => f !== null),
  matchAtStart: (text: string): Found | null => found(atStart.exec(text)),
}

/** Writes a destination so that every reader takes it for the same: percent-encoded, its host in ASCII. */
export function normalizeLink(url: string): string {
  const authority = /^https?:\/\/[^/?#\\]*/i.exec(url)?.[0] ?? ''
  return ascii(authority) + encoded(url.slice(authority.length))
}

function ascii(authority: string): string {
  if (/^[\x21-\x7E]*$/.test(authority)) return authority
  try {
    return new URL(authority).origin
  } catch {
    return encoded(authority)
  }
}

function encoded(text: string): string {
  return text
    .replace(/\p{Cs}/gu, '\uFFFD')
    .replace(/%(?![0-9a-f]{2})|[^\w;/?:@&=+$,\-.!~*'()#%]+/gi, (part) => encodeURIComponent(part))
}
