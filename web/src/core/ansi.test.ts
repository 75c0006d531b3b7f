import { describe, expect, it } from 'vitest'
import { joined, Lines, plainText, shownLine, stretches, styleOf } from './ansi'

const E = '\u001B'
const lines = (text: string) => new Lines(true).update(text)
/** Lines with their colours in front of each span: "<red>x<>". */
function show(text: string): string {
  return lines(text)
    .map(({ text, spans }) => {
      let out = ''
      let at = 0
      for (let i = 0; i < spans.length; i += 3) {
        const s = styleOf(spans[i + 2]!)
        const name = [s.color, s.ground && `on ${s.ground}`, s.underline && 'under', s.strike && 'strike'].filter(Boolean).join(' ')
        out += `${text.slice(at, spans[i])}<${name}>${text.slice(spans[i], spans[i + 1])}<>`
        at = spans[i + 1]!
      }
      return out + text.slice(at)
    })
    .join('\n')
}

/** mulberry32 */
function randomOf(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

describe('terminal output (R-CHAT-082)', () => {
  it.each([
    [`${E}[31mred${E}[0m plain`, '<red>red<> plain'],
    [`${E}[1;32mok${E}[m`, '<green>ok<>'],
    [`${E}[91mbright${E}[39m`, '<red>bright<>'],
    [`${E}[90mgray`, '<gray>gray<>'],
    [`${E}[2mdim${E}[22m not`, '<gray>dim<> not'],
    [`${E}[30mblack ${E}[37mwhite ${E}[97mbright`, 'black white bright'],
    [`${E}[41mon red${E}[49m`, '<on red>on red<>'],
    [`${E}[7minverse${E}[27m`, '<on gray>inverse<>'],
    [`${E}[4munder${E}[24;9mstrike${E}[29m`, '<under>under<><strike>strike<>'],
    [`${E}[38;5;196mred${E}[38;5;46mgreen${E}[38;5;244mgray${E}[38;5;255mwhite`, '<red>red<><green>green<><gray>gray<>white'],
    [`${E}[38;2;0;0;255mblue${E}[38;2;10;10;10mblack`, '<blue>blue<>black'],
    [`${E}[38:2:255:255:0myellow`, '<yellow>yellow<>'],
    [`${E}[31mover\ntwo lines${E}[0m`, '<red>over<>\n<red>two lines<>'],
    [`${E}[31;m reset by empty`, ' reset by empty'],
    ['10%\r50%\r100%', '100%'],
    ['long line\rshort', 'shortline'],
    [`long line\r${E}[Kshort`, 'short'],
    [`abc${E}[1Kd`, '   d'],
    [`abc${E}[2K${E}[1Gd`, 'd'],
    [`${E}[31mred${E}[0m\rR`, 'R<red>ed<>'],
    [`${E}[31mabcdef${E}[32m\r${E}[2Cxx`, '<red>ab<><green>xx<><red>ef<>'],
    ['a\r\nb\r\n', 'a\nb\n'],
    ['ab\b\bX', 'Xb'],
    [`a${E}[3Cb`, 'a   b'],
    ['ding\u0007 dong', 'ding dong'],
  ])('%j shows %j', (text, shown) => {
    expect(show(text)).toBe(shown)
  })

  it.each([
    [`${E}]8;;https://evil.example${E}\\link${E}]8;;${E}\\`, 'link'],
    [`${E}]8;;javascript:alert(1)\u0007link${E}]8;;\u0007`, 'link'],
    [`${E}]0;title\u0007text`, 'text'],
    [`${E}]52;c;cGFzdGU=\u0007text`, 'text'],
    [`${E}P1;2q payload ${E}\\text`, 'text'],
    [`${E}[2J${E}[H${E}[10;10H${E}[3A${E}[?25l${E}[?1049htext`, 'text'],
    [`${E}[6n${E}[c${E}Z${E}7${E}8${E}=${E}>${E}(B${E}#8text`, 'text'],
    [`${E}[99999999999999999999Ca`, `${' '.repeat(4096)}a`],
    [`${E}[99999999999999999999Da`, 'a'],
    [`${E}[${'1;'.repeat(40)}31mx`, 'x'],
    [`${E}]never ends\nnext`, 'never ends\nnext'],
    [`${E}[${'9'.repeat(5000)}\nx`, `${'9'.repeat(5000)}\nx`],
    [`a${E}\nb`, 'a\nb'],
    ['a\u009B31mb', 'ab'],
    [`${E}${E}${E}[31mx`, 'x'],
    ['\u0000\u0001', '\u0000\u0001'],
  ])('%j is harmless', (text, plain) => {
    expect(plainText(text)).toBe(plain)
  })

  it('is the same however the text is cut into chunks', () => {
    const parts = [`${E}[31m`, `${E}[0m`, 'word ', '\n', '\r', '\r\n', `${E}[K`, `${E}]8;;x\u0007`, `${E}]0;t${E}\\`, '\b', `${E}[2C`, '中文', '😀', `${E}`, '[', 'm', `${E}[1;4;48;5;20m`]
    for (let seed = 1; seed <= 400; seed++) {
      const random = randomOf(seed)
      let text = ''
      for (let n = Math.floor(random() * 30); n >= 0; n--) text += parts[Math.floor(random() * parts.length)]
      const growing = new Lines(true)
      for (let at = 0; at < text.length; ) {
        at = Math.min(text.length, at + 1 + Math.floor(random() * 6))
        growing.update(text.slice(0, at))
      }
      expect(growing.all, JSON.stringify(text)).toEqual(lines(text))
    }
  })

  it('starts again when the text is another', () => {
    const l = new Lines(true)
    l.update(`${E}[31mold\nlines`)
    expect(l.update('new')).toEqual([{ text: 'new', spans: [] }])
  })

  it('costs what is added, also when one line is written over for ever', () => {
    const shapes = {
      progress: 'progress 50% [=====>     ]\r'.repeat(40_000),
      'one long line': `${'x'.repeat(500_000)}${'\ry'.repeat(5000)}`,
      colours: `${E}[31mred${E}[0m plain\n`.repeat(50_000),
      escapes: E.repeat(100_000),
      'open links': `${E}]8;;`.repeat(50_000),
      steps: `a${E}[4000C${E}[4000D`.repeat(3000),
    }
    for (const [name, text] of Object.entries(shapes)) {
      const { cpuUsage } = (globalThis as unknown as { process: { cpuUsage(since?: object): { user: number } } }).process
      const before = cpuUsage()
      new Lines(true).update(text)
      expect(cpuUsage(before).user / 1e6, name).toBeLessThan(2)
    }
  }, 60_000)

  it('names hidden characters and keeps colours where they belong', () => {
    expect(shownLine({ text: 'a\u202Eb', spans: [2, 3, 1] })).toEqual({ text: 'a⟨U+202E⟩b', spans: [9, 10, 1] })
    expect(joined([{ text: 'x', spans: [0, 1, 1] }, { text: 'yz', spans: [1, 2, 2] }])).toEqual({ text: 'x\nyz', spans: [0, 1, 1, 3, 4, 2] })
  })

  it('cuts a long line into stretches without losing a unit or halving a character', () => {
    const line = { text: `ab😀${'x'.repeat(10)}`, spans: [1, 5, 2] }
    expect(stretches(line, 3).map((l) => l.text)).toEqual(['ab', '😀x', 'xxx', 'xxx', 'xxx'])
    expect(stretches(line, 3).map((l) => l.spans)).toEqual([[1, 2, 2], [0, 3, 2], [], [], []])
    expect(stretches(line, 100)).toEqual([line])
  })

  it('leaves a text that is no terminal’s alone', () => {
    expect(new Lines(false).update(`a\r${E}[31m\n\nb`).map((l) => l.text)).toEqual([`a\r${E}[31m`, '', 'b'])
  })
})
