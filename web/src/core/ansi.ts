import { reveal } from './reveal'

/** A line as a terminal would show it. */
export interface Line {
  readonly text: string
  /** Triples: from, to (UTF-16 units of `text`) and a style. */
  readonly spans: readonly number[]
}

/** Hues that text and its ground can have; what terminals call black and white is the page's own. */
export const hues = ['', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'gray'] as const
export type Hue = (typeof hues)[number]

/** A style of a span, packed in a number by `Lines` and unpacked by `styleOf`. */
export interface Style {
  readonly color: Hue
  readonly ground: Hue
  readonly underline: boolean
  readonly strike: boolean
}

export function styleOf(style: number): Style {
  return { color: hues[style & 7]!, ground: hues[(style >> 3) & 7]!, underline: (style & 64) !== 0, strike: (style & 128) !== 0 }
}

const PLAIN: readonly number[] = []
/** What a sequence may be long before it is no sequence, and how far the cursor moves within a line. */
const LONGEST = 2048
const WIDEST = 4096

const special = /[\u0007\b\r\u001B\u009B]/
const stop = /[\u0007\b\n\r\u001B\u009B]/g
const control = /(?:\u001B\[|\u009B)([0-?]{0,256})[ -/]{0,4}([@-~])/y
const words = new RegExp(`\\u001B[\\]PX^_][^\\u0007\\u001B\\u009C\\n]{0,${LONGEST}}(?:\\u0007|\\u001B\\\\|\\u009C)`, 'y')
const begun = /^(?:\u001B(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001B\u009C\n]*\u001B?|[ -/]*)|\u009B[0-?]*[ -/]*)$/
const other = /\u001B[ -/]{0,4}[0-OQ-WYZ`-~]/y

/**
 * The lines of a growing text. With `terminal`, escape sequences become styles (colours) or nothing (links, titles,
 * moves of the cursor), and what "\r" and backspace write over is written over, as in a terminal; nothing of it can do
 * more than that. What is added costs what is added.
 */
export class Lines {
  /** All lines; only the last still changes, and the list is another one when the text began again. Never empty. */
  all: Line[] = [{ text: '', spans: PLAIN }]
  private source = ''
  private carry = ''
  private text = ''
  private spans: number[] = []
  private column = 0
  private style = 0
  private dim = false
  private inverse = false

  constructor(private readonly terminal: boolean) {}

  /** Takes the whole text. Anything but an extension of the text before starts again. */
  update(text: string): readonly Line[] {
    if (text.slice(0, this.source.length) !== this.source) this.reset()
    const added = text.slice(this.source.length)
    this.source = text
    if (this.terminal) this.write(added)
    else this.addLines(added)
    return this.all
  }

  private reset(): void {
    this.all = []
    this.source = this.carry = this.text = ''
    this.spans = []
    this.column = this.style = 0
    this.dim = this.inverse = false
    this.show()
  }

  private addLines(text: string): void {
    for (let from = 0; ; ) {
      const nl = text.indexOf('\n', from)
      this.text += nl < 0 ? text.slice(from) : text.slice(from, nl)
      if (nl < 0) break
      this.newLine()
      from = nl + 1
    }
    this.column = this.text.length
    this.show()
  }

  private newLine(): void {
    this.show()
    this.all.push({ text: '', spans: PLAIN })
    this.text = ''
    this.spans = []
    this.column = 0
  }

  /** Puts the line that is being written into the list. */
  private show(): void {
    const spans = this.spans.length > 0 ? this.spans.slice() : PLAIN
    this.all[Math.max(0, this.all.length - 1)] = { text: this.text, spans }
  }

  private write(added: string): void {
    const plain = this.carry === '' && this.style === 0 && !this.dim && !this.inverse && this.column === this.text.length
    if (plain && added.search(special) < 0) return this.addLines(added)
    const text = this.carry + added
    this.carry = ''
    for (let at = 0; at < text.length; ) {
      stop.lastIndex = at
      const next = stop.exec(text)?.index ?? text.length
      if (next > at) this.print(text.slice(at, next))
      if (next === text.length) break
      at = this.act(text, next)
    }
    this.show()
  }

  /** Does what a special character asks for; returns where the text goes on. */
  private act(text: string, at: number): number {
    switch (text[at]) {
      case '\n':
        this.newLine()
        return at + 1
      case '\r':
        if (at + 1 === text.length) {
          this.carry = '\r' // whether it ends the line or begins it again is not known yet
          return at + 1
        }
        // A very long line is not kept to be written over piece by piece.
        if (this.text.length > WIDEST && text[at + 1] !== '\n') this.clear()
        this.column = 0
        return at + 1
      case '\b':
        this.column = Math.max(0, this.column - 1)
        return at + 1
      case '\u0007':
        return at + 1
      default:
        return this.sequence(text, at)
    }
  }

  private sequence(text: string, at: number): number {
    control.lastIndex = words.lastIndex = other.lastIndex = at
    const found = control.exec(text)
    if (found) {
      this.control(found[1]!, found[2]!)
      return control.lastIndex
    }
    if (words.test(text)) return words.lastIndex
    if (other.test(text)) return other.lastIndex
    if (text.length - at < LONGEST && begun.test(text.slice(at))) {
      this.carry = text.slice(at) // the rest of it may come
      return text.length
    }
    return at + (/[\]PX^_[]/.test(text[at + 1] ?? '') ? 2 : 1)
  }

  private control(params: string, final: string): void {
    const n = Number.parseInt(params, 10)
    const count = Math.min(n > 0 ? n : 1, WIDEST)
    if (final === 'm') this.look(params.split(/[;:]/, 64).map((p) => Number(p) || 0))
    else if (final === 'K') this.erase(n)
    else if (final === 'C') this.column = Math.min(this.column + count, WIDEST)
    else if (final === 'D') this.column = Math.max(0, this.column - count)
    else if (final === 'G') this.column = count - 1
  }

  private erase(what: number): void {
    if (what === 2) this.clear()
    else if (what === 1) {
      const column = this.column
      this.column = 0
      this.put(' '.repeat(Math.min(column, this.text.length)), 0)
      this.column = column
    } else if (this.column < this.text.length) {
      this.text = this.text.slice(0, this.column)
      this.spans = cutSpans(this.spans, 0, this.column)
    }
  }

  private clear(): void {
    this.text = ''
    this.spans = []
  }

  private print(text: string): void {
    let style = this.style
    if (this.dim && (style & 7) === 0) style |= 7
    if (this.inverse && ((style >> 3) & 7) === 0) style |= 7 << 3
    this.put(text, style)
  }

  private put(text: string, style: number): void {
    if (this.column > this.text.length) this.text += ' '.repeat(this.column - this.text.length)
    const from = this.column
    const to = from + text.length
    if (from === this.text.length) {
      this.text += text
    } else {
      const rest = cutSpans(this.spans, to, this.text.length)
      this.text = this.text.slice(0, from) + text + this.text.slice(to)
      this.spans = cutSpans(this.spans, 0, from)
      this.addSpan(from, to, style)
      for (let i = 0; i < rest.length; i += 3) this.addSpan(rest[i]!, rest[i + 1]!, rest[i + 2]!)
      this.column = to
      return
    }
    this.addSpan(from, to, style)
    this.column = to
  }

  private addSpan(from: number, to: number, style: number): void {
    if (style === 0) return
    const end = this.spans.length
    if (end > 0 && this.spans[end - 2] === from && this.spans[end - 1] === style) this.spans[end - 2] = to
    else this.spans.push(from, to, style)
  }

  /** Select Graphic Rendition: the parameters change the style of what follows. */
  private look(params: readonly number[]): void {
    for (let i = 0; i < params.length; i++) {
      const p = params[i]!
      if (p === 38 || p === 48) {
        const hue = params[i + 1] === 5 ? hueOf256(params[i + 2] ?? 0) : hueOf(params[i + 2] ?? 0, params[i + 3] ?? 0, params[i + 4] ?? 0)
        this.paint(p === 48, hue)
        i += params[i + 1] === 5 ? 2 : 4
      } else this.simple(p)
    }
  }

  private simple(p: number): void {
    const ten = Math.floor(p / 10)
    if (p === 0) {
      this.style = 0
      this.dim = this.inverse = false
    } else if (p === 2 || p === 22) this.dim = p === 2
    else if (p === 7 || p === 27) this.inverse = p === 7
    else if (p === 4 || p === 24) this.flag(64, p === 4)
    else if (p === 9 || p === 29) this.flag(128, p === 9)
    else if ([3, 4].includes(ten) && p % 10 !== 8) this.paint(ten === 4, p % 10 < 7 ? (p % 10) : 0)
    else if ([9, 10].includes(ten) && p % 10 < 8) this.paint(ten === 10, p % 10 === 0 ? 7 : p % 10 === 7 ? 0 : p % 10)
  }

  private flag(bit: number, on: boolean): void {
    this.style = on ? this.style | bit : this.style & ~bit
  }

  private paint(ground: boolean, hue: number): void {
    this.style = ground ? (this.style & ~56) | (hue << 3) : (this.style & ~7) | hue
  }
}

/** The part of spans between two columns. */
function cutSpans(spans: readonly number[], from: number, to: number): number[] {
  const out: number[] = []
  for (let i = 0; i < spans.length; i += 3) {
    const start = Math.max(spans[i]!, from)
    const end = Math.min(spans[i + 1]!, to)
    if (start < end) out.push(start, end, spans[i + 2]!)
  }
  return out
}

function hueOf256(n: number): number {
  if (n < 8) return n % 7
  if (n < 16) return n === 8 ? 7 : (n - 8) % 7
  if (n >= 232) return n < 250 && n > 238 ? 7 : 0
  const level = (v: number): number => (v === 0 ? 0 : 55 + 40 * v)
  const c = n - 16
  return hueOf(level(Math.floor(c / 36)), level(Math.floor(c / 6) % 6), level(c % 6))
}

/** The nearest hue of a colour; hardly coloured ones are gray or plain. */
function hueOf(r: number, g: number, b: number): number {
  const max = Math.max(r, g, b)
  const min = Math.min(r, g, b)
  if (max - min < 40) return max > 90 && max < 200 ? 7 : 0
  const sixth = max === r ? ((g - b) / (max - min) + 6) % 6 : max === g ? (b - r) / (max - min) + 2 : (r - g) / (max - min) + 4
  return [1, 3, 2, 6, 4, 5][Math.round(sixth) % 6]!
}

/** What lines show: invisible characters by name, and their spans where they then are. */
export function shownLine(line: Line): Line {
  const text = reveal(line.text)
  if (text === line.text || line.spans.length === 0) return text === line.text ? line : { text, spans: PLAIN }
  const spans = line.spans.map((n, i) => (i % 3 === 2 ? n : reveal(line.text.slice(0, n)).length))
  return { text, spans }
}

/** Joins lines to one text with spans of its own. */
export function joined(lines: readonly Line[]): Line {
  const spans: number[] = []
  let at = 0
  let text = ''
  for (const [i, line] of lines.map(shownLine).entries()) {
    for (let k = 0; k < line.spans.length; k += 3) spans.push(at + line.spans[k]!, at + line.spans[k + 1]!, line.spans[k + 2]!)
    text += i === lines.length - 1 ? line.text : `${line.text}\n`
    at = text.length
  }
  return { text, spans }
}

/** Cuts a line into stretches that can be drawn without wrapping. */
export function stretches(line: Line, width: number): readonly Line[] {
  if (line.text.length <= width) return [line]
  const out: Line[] = []
  for (let from = 0; from < line.text.length; ) {
    let to = Math.min(from + width, line.text.length)
    const code = line.text.charCodeAt(to - 1)
    if (to < line.text.length && code >= 0xd800 && code < 0xdc00) to--
    const spans = cutSpans(line.spans, from, to).map((n, i) => (i % 3 === 2 ? n : n - from))
    out.push({ text: line.text.slice(from, to), spans })
    from = to
  }
  return out
}

/** A text as a terminal leaves it, without colours: what is copied from an output. */
export function plainText(text: string): string {
  return new Lines(true).update(text).map((l) => l.text).join('\n')
}
