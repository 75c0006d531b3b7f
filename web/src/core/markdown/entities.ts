/*
 * Stands in for the package "entities" in the build (see vite.config.ts): the browser knows the 2,231 names already,
 * and the table would be a tenth of the first load. markdown-it asks for one whole reference at a time.
 */
const known = new Map<string, string>()

/** Decodes one character reference with its semicolon; what is none comes back unchanged. */
export function decodeHTMLStrict(reference: string): string {
  let text = known.get(reference)
  if (text === undefined) {
    const read = new DOMParser().parseFromString(reference, 'text/html').body.textContent ?? ''
    // HTML also knows some names without semicolon ("&notit;" is "¬it;"); CommonMark does not.
    text = read.endsWith(';') && reference.toLowerCase() !== '&semi;' ? reference : read
    known.set(reference, text)
  }
  return text
}
