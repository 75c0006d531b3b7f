import { describe, expect, it } from 'vitest'
import { CHANGED, compare, ENDING, lineAt, SAME, type Comparison } from './diff'

declare const process: { cpuUsage(): { user: number; system: number } }

/** A small generator, so that a failure can be repeated. */
function random(seed: number): (n: number) => number {
  return (n) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return Math.floor((seed / 2 ** 32) * n)
  }
}

/** A comparison as text: signs before lines, changed words in brackets. */
function show(old: string | undefined, next: string | undefined): string[] {
  const c = compare(old, next)
  const out: string[] = []
  let x = 0
  let y = 0
  const line = (sign: string, text: string, starts: Uint32Array, at: number, marks: Uint32Array): void => {
    let s = lineAt(text, starts, at).text
    for (let i = marks.length - 3; i >= 0; i -= 3) {
      if (marks[i] === at) s = `${s.slice(0, marks[i + 1])}[${s.slice(marks[i + 1], marks[i + 2])}]${s.slice(marks[i + 2])}`
    }
    out.push(sign + s)
  }
  for (let i = 0; i < c.runs.length; i += 3) {
    const [kind, m, n] = [c.runs[i]!, c.runs[i + 1]!, c.runs[i + 2]!]
    for (let k = 0; k < m; k++) line(kind === SAME ? ' ' : kind === ENDING ? '~' : '-', old ?? '', c.oldStarts, x + k, c.oldMarks)
    if (kind === CHANGED) for (let k = 0; k < n; k++) line('+', next ?? '', c.newStarts, y + k, c.newMarks)
    x += m
    y += n
  }
  return out
}

/** Builds the new text from the old one and the runs, and the old one from the new; what is shared comes from the other side. */
function rebuilt(old: string, next: string, c: Comparison): { old: string; next: string } {
  const got = { old: '', next: '' }
  let x = 0
  let y = 0
  const slice = (text: string, starts: Uint32Array, from: number, count: number) => text.slice(starts[from], starts[from + count])
  for (let i = 0; i < c.runs.length; i += 3) {
    const [kind, m, n] = [c.runs[i]!, c.runs[i + 1]!, c.runs[i + 2]!]
    const a = slice(old, c.oldStarts, x, m)
    const b = slice(next, c.newStarts, y, n)
    got.next += kind === SAME ? a : b
    got.old += kind === SAME ? b : a
    x += m
    y += n
  }
  return got
}

describe('compare', () => {
  it('gives back both texts, at any mix of lines and endings', () => {
    const rnd = random(7)
    const line = () => ['a', 'b', '', '  c', 'deep fox', 'deep dog', '}'][rnd(7)]! + ['\n', '\n', '\n', '\r\n', '\r', ''][rnd(6)]!
    for (let round = 0; round < 1000; round++) {
      const old = Array.from({ length: rnd(30) }, line)
      const next = old.flatMap((l) => [[l], [l], [l], [], [line()], [l, line()]][rnd(6)]!)
      const [a, b] = [old.join(''), next.join('')]
      const c = compare(a, b)
      expect(rebuilt(a, b, c)).toEqual({ old: a, next: b })
      expect(c.added - c.removed).toBe(c.newStarts.length - c.oldStarts.length)
    }
  }, 30_000)

  it('says the same of the same texts, whatever the time it takes', () => {
    const [a, b] = [book(3000, 1), book(3000, 2)]
    expect(compare(a, b)).toEqual(compare(a, b))
  })

  it('marks the words that changed in a line', () => {
    expect(show('const a = load(path)\n', 'const a = await load(path, 1)\n')).toEqual([
      '-const a = load(path)',
      '+const a = [await ]load(path[, 1])',
    ])
    expect(show('s.pos++\n', 's.pos += size\n')).toEqual(['-s.pos[++]', '+s.pos[ += size]'])
    expect(show('修改了文件的内容\n', '修改了目录的内容\n')).toEqual(['-修改了[文件]的内容', '+修改了[目录]的内容'])
    expect(show('ok 👩‍👩‍👧 done\n', 'ok 👩‍👩‍👦 done\n')).toEqual(['-ok [👩‍👩‍👧] done', '+ok [👩‍👩‍👦] done'])
    expect(show('return 1\n', 'throw new Error(text)\n')).toEqual(['-return 1', '+throw new Error(text)'])
  })

  it('pairs the lines of a block that are alike', () => {
    expect(show('alpha(one)\n', 'new line here\nalpha(two)\n')).toEqual(['-alpha([one])', '+new line here', '+alpha([two])'])
  })

  it('marks long lines between their ends, and never inside a character', () => {
    const long = 'x'.repeat(5000)
    const [oldMarks, newMarks] = [compare(`${long}😀${long}`, `${long}😁${long}`)].flatMap((c) => [[...c.oldMarks], [...c.newMarks]])
    expect(oldMarks).toEqual([0, 5000, 5002])
    expect(newMarks).toEqual([0, 5000, 5002])
  })

  it('never shows a change of endings as lines that look the same', () => {
    expect(show('a\nb\nc\n', 'a\r\nb\r\nc\r\n')).toEqual(['~a', '~b', '~c'])
    expect(show('a\nb\nc\n', 'a\r\nB\r\nc\r\n')).toEqual(['~a', '-b', '+B', '~c'])
    const c = compare('a\nb\n', 'a\r\nb\n')
    expect([c.added, c.removed, c.endings, c.mixed]).toEqual([0, 0, 1, true])
    expect(compare('a\nb', 'a\nB').mixed).toBe(false)
  })

  it('shows that a last newline came or went', () => {
    expect(show('a\nb', 'a\nb\n')).toEqual([' a', '~b'])
    expect(show('a', 'a\nb\n')).toEqual(['~a', '+b'])
    const c = compare('x', 'y\n')
    expect(lineAt('x', c.oldStarts, 0)).toEqual({ text: 'x', ending: 'none' })
    expect(lineAt('y\n', c.newStarts, 0)).toEqual({ text: 'y', ending: 'lf' })
  })

  it('takes an absent text as no lines (R-CHAT-102)', () => {
    expect(show(undefined, 'a\n\nb')).toEqual(['+a', '+', '+b'])
    expect(show('a\n', undefined)).toEqual(['-a'])
    expect(show(undefined, '')).toEqual([])
  })

  it('puts an added function between its neighbours, not across them', () => {
    const old = 'func a() {\n\tx()\n}\n\nfunc c() {\n\tx()\n}\n'
    const next = 'func a() {\n\tx()\n}\n\nfunc b() {\n\tx()\n}\n\nfunc c() {\n\tx()\n}\n'
    expect(show(old, next).filter((l) => l.startsWith('+'))).toEqual(['+func b() {', '+\tx()', '+}', '+'])
    const lines = 'if a {\n  one\n}\nif b {\n  one\n}\n'
    expect(show('if b {\n  one\n}\n', lines).filter((l) => l.startsWith('+'))).toEqual(['+if a {', '+  one', '+}'])
  })
})

/** A text of lines that mostly differ from each other, as code does. */
function book(lines: number, seed: number): string {
  const rnd = random(seed)
  return Array.from({ length: lines }, (_, i) => (i % 5 === 4 ? '}' : i % 7 === 0 ? '' : `  call_${rnd(1e6)}(arg${rnd(50)}, ${i})`)).join('\n')
}

describe('the cost of compare', { timeout: 60_000 }, () => {
  /** The comparison and the milliseconds of computing that it took, which other work on the machine hardly changes. */
  const timed = (a: string, b: string): [Comparison, number] => {
    const now = () => (({ user, system }) => (user + system) / 1000)(process.cpuUsage())
    const start = now()
    const c = compare(a, b)
    return [c, now() - start]
  }
  const old = book(50_000, 1)
  const rnd = random(9)
  const report = (what: string, ms: number) => console.log(`${what}: ${ms.toFixed(0)} ms`)

  it('of 500 edits in 50,000 lines is small, and every edit is found', () => {
    const lines = old.split('\n')
    for (let i = 0; i < 500; i++) lines[i * 100 + rnd(100)] = `  changed_${i}()`
    const [c, ms] = timed(old, lines.join('\n'))
    report('500 edits', ms)
    expect(c.coarse).toBe(false)
    expect([c.added, c.removed]).toEqual([500, 500])
    expect(ms).toBeLessThan(2000) // the worker takes less than 500 ms; the machine may be slow and the code cold
  })

  it.each([
    ['a new text', book(50_000, 2)],
    ['the lines the other way round', old.split('\n').reverse().join('\n')],
    ['blank lines between', old.replaceAll('\n', '\n\n')],
    ['few kinds of lines', Array.from({ length: 50_000 }, () => 'abcdefgh'[rnd(8)]).join('\n')],
    ['every line a little changed', old.replaceAll('call', 'run')],
    ['one line of everything', old.replaceAll('\n', ' ')],
  ])('of a file rewritten as %s is bounded', (what, next) => {
    const [c, ms] = timed(old, next)
    report(what, ms)
    expect(rebuilt(old, next, c)).toEqual({ old, next })
    expect(ms).toBeLessThan(10_000)
  })

  it('of a text of few kinds of lines is bounded, and the answer says that it is coarse', () => {
    const kinds = () => Array.from({ length: 50_000 }, () => 'abcdefgh'[rnd(8)]).join('\n')
    const [a, b] = [kinds(), kinds()]
    const [c, ms] = timed(a, b)
    report('few kinds on both sides', ms)
    expect(c.coarse).toBe(true)
    expect(rebuilt(a, b, c)).toEqual({ old: a, next: b })
    expect(ms).toBeLessThan(10_000)
  })

  it('of many costly stretches is bounded', () => {
    const stretch = (i: number) => [...Array.from({ length: 100 }, () => 'abcd'[rnd(4)]), `anchor ${i}`].join('\n')
    const text = () => Array.from({ length: 400 }, (_, i) => stretch(i)).join('\n')
    const [a, b] = [text(), text()]
    const [c, ms] = timed(a, b)
    report('many stretches', ms)
    expect(rebuilt(a, b, c)).toEqual({ old: a, next: b })
    expect(ms).toBeLessThan(10_000)
  })
})
