import { describe, expect, it } from 'vitest'
import { md } from './engine'
import type { MathMeta } from './math'

/** The formulas of a text; display ones in double brackets. */
function formulas(text: string): string[] {
  const out: string[] = []
  for (const token of md.parse(text, {})) {
    for (const t of [token, ...(token.children ?? [])]) {
      const meta = t.type.startsWith('math_') ? (t.meta as MathMeta) : null
      if (meta) out.push(meta.display ? `[[${meta.tex}]]` : meta.tex)
    }
  }
  return out
}

describe('formulas', () => {
  it.each([
    ['Let $x$ be and $y^2$, so ($z$).', ['x', 'y^2', 'z']],
    ['$$E = mc^2$$', ['[[E = mc^2]]']],
    ['in line $$ a + b $$ here', ['[[a + b]]']],
    ['\\(a\\) and \\[ b = c \\]', ['a', '[[b = c]]']],
    ['$$\na\n+ b\n= c\n$$', ['[[a\n+ b\n= c]]']],
    ['text:\n$$\na\n- b\n$$\nmore', ['[[a\n- b]]']],
    ['\\[\n\\begin{aligned}\n# x\n\\end{aligned}\n\\]', ['[[\\begin{aligned}\n# x\n\\end{aligned}]]']],
    ['- item\n  $$\n  a\n  $$\n- next', ['[[a]]']],
    ['> $$\n> a\n> $$', ['[[a]]']],
    ['$a \\$ b$', ['a \\$ b']],
    ['**$x$** and _$y$_', ['x', 'y']],
    ['| $a$ | b |\n|---|---|\n| 1 | $c$ |', ['a', 'c']],
    ['$5$ and $3.5$', ['5', '3.5']],
    ['$-$ $+$', ['-', '+']],
    ['中文$x^2$中文', ['x^2']],
  ])('%j has %j', (text, found) => {
    expect(formulas(text)).toEqual(found)
  })

  it.each([
    'It costs $5 and $10.',
    'from $5-$10, US$5 or A$6',
    '$5 apples and 3$ change',
    'echo $HOME and $PATH',
    '$HOME/$USER:$PATH',
    '${a}-${b}$',
    'pid $$ and parent $$ here',
    '`$x$` and ``$$y$$``',
    '```\n$x$\n```',
    '    $x$',
    '$ x $',
    '$x $y',
    '\\$x$ and $x\\$',
    '$a `b$ c`',
    '\\(see below\\) and \\[note\\](url)',
    '\\[text with = sign\\](https://x.example)',
    'a $ b',
    '$$$$',
    '$x\n\ny$',
    'S$x$',
  ])('%j has none', (text) => {
    expect(formulas(text)).toEqual([])
  })

  it('ends a block that nothing closes at a blank line', () => {
    const tokens = md.parse('$$\na\n\n# after', {})
    expect(tokens.map((t) => t.type)).toEqual(['math_block', 'heading_open', 'inline', 'heading_close'])
    expect(tokens[0]!.meta).toEqual({ tex: '', display: true, source: '$$\na' })
  })
})
