/*
 * Characters that nobody sees but that change what is read or run: bidirectional controls (a path that reads
 * backwards), zero-width and filler characters (two names that look the same), control characters, and the tag and
 * variation characters that carry hidden text.
 */
const hidden =
  '\\u0000-\\u0008\\u000B\\u000C\\u000E-\\u001F\\u007F-\\u009F\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F' +
  '\\u200B-\\u200F\\u2028-\\u202E\\u2060-\\u206F\\u3164\\uFE00-\\uFE0F\\uFEFF\\uFFA0\\uFFF9-\\uFFFB' +
  '\\u{1BCA0}-\\u{1BCA3}\\u{1D173}-\\u{1D17A}\\u{E0000}-\\u{E0FFF}'

/** What writing needs of them: emoji sequences, joiners inside words of scripts that are written with them. */
const pictograph = '\\p{Extended_Pictographic}\\p{Emoji_Modifier}'
const joining =
  '\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Mongolian}\\p{Script=Devanagari}\\p{Script=Bengali}\\p{Script=Gurmukhi}' +
  '\\p{Script=Gujarati}\\p{Script=Oriya}\\p{Script=Tamil}\\p{Script=Telugu}\\p{Script=Kannada}\\p{Script=Malayalam}' +
  '\\p{Script=Sinhala}\\p{Script=Khmer}'
const fair = [
  `(?<=[${pictograph}]\\uFE0F?)\\u200D(?=[${pictograph}])`,
  `(?<=(?![\\0-\\x7F])[\\p{Emoji}\\p{So}\\p{Sm}])[\\uFE0E\\uFE0F]`,
  '(?<=[0-9#*])\\uFE0F(?=\\u20E3)',
  `(?<=[${joining}]\\p{M}*)[\\u200C\\u200D](?=[${joining}])`,
  '(?<=\\p{Script=Han})[\\uFE00-\\uFE02\\u{E0100}-\\u{E01EF}]',
  '(?<=\\u{1F3F4})[\\u{E0030}-\\u{E0039}\\u{E0061}-\\u{E007A}]{3,6}\\u{E007F}',
].join('|')

const some = new RegExp(`[${hidden}]|\\r(?!\\n|$)`, 'u')
const each = new RegExp(`(${fair})|[${hidden}]|\\r(?!\\n|$)`, 'gu')

/** The part of them that has no place in prose either; marks and isolates do, in Arabic and Hebrew. */
const inProse = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u202A-\u202E]/
const eachInProse = new RegExp(inProse, 'g')

function mark(char: string): string {
  return `⟨U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`
}

/**
 * Makes invisible and reordering characters visible, as ⟨U+202E⟩, so that what is read is what is there. For titles,
 * paths, code and diffs; what is copied stays the text itself. Tabs and line ends are untouched, and so are joiners
 * and variation selectors where writing needs them. Costs one test when there is nothing to show.
 */
export function reveal(text: string): string {
  return some.test(text) ? text.replace(each, (char, fair?: string) => (fair === undefined ? mark(char) : char)) : text
}

/** The same for prose, where only control characters and the old directional overrides are shown. */
export function revealProse(text: string): string {
  return inProse.test(text) ? text.replace(eachInProse, mark) : text
}
