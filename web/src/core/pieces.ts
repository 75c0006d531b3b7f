import { reveal } from './reveal'

/** A stretch of a line as it is drawn. */
export interface Piece {
  readonly text: string
  /** It changed within the line. */
  readonly marked: boolean
  /** The name under which an invisible or reordering character is shown; `text` is that character. */
  readonly label?: string
}

export interface Pieces {
  readonly pieces: readonly Piece[]
  /** UTF-16 units left out before and after, of a line too long to draw. */
  readonly before: number
  readonly after: number
}

/** What is drawn of one line at most, and how much of it stands before the first change. */
const LIMIT = 5000
const LEAD = 200

/**
 * Parts a line into what is drawn: marked or not, and each hidden character by itself. The texts joined are the line,
 * or the drawn part of a very long one, which begins a little before what changed.
 */
export function piecesOf(line: string, marks: readonly number[]): Pieces {
  let from = 0
  let to = line.length
  if (to > LIMIT) {
    from = whole(line, Math.max(0, Math.min((marks[0] ?? 0) - LEAD, to - LIMIT)))
    to = whole(line, Math.min(to, from + LIMIT))
  }
  const pieces: Piece[] = []
  let at = from
  for (let i = 0; i < marks.length; i += 2) {
    const start = Math.min(Math.max(marks[i]!, at), to)
    const end = Math.min(Math.max(marks[i + 1]!, at), to)
    add(pieces, line, at, start, false)
    add(pieces, line, start, end, true)
    at = end
  }
  add(pieces, line, at, to, false)
  return { pieces, before: from, after: line.length - to }
}

/** Moves a place out of the middle of a surrogate pair. */
function whole(line: string, at: number): number {
  const c = line.charCodeAt(at)
  return c >= 0xdc00 && c < 0xe000 ? at - 1 : at
}

function add(pieces: Piece[], line: string, from: number, to: number, marked: boolean): void {
  const text = line.slice(from, to)
  if (text === '') return
  // A return character is the end of a line only where one ends, which no place in here is.
  const shown = reveal(text + '|')
  if (shown.length === text.length + 1) {
    pieces.push({ text, marked })
    return
  }
  let plain = ''
  let at = 0
  for (const char of text) {
    if (shown.startsWith(char, at)) {
      plain += char
      at += char.length
      continue
    }
    const end = shown.indexOf('⟩', at) + 1
    if (plain) pieces.push({ text: plain, marked })
    pieces.push({ text: char, marked, label: shown.slice(at, end) })
    plain = ''
    at = end
  }
  if (plain) pieces.push({ text: plain, marked })
}
