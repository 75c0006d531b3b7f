import { describe, expect, it } from 'vitest'

import { commandEntries, commandHint, complete, firstShown, matching, triggerAt } from './completion'

/** The text with "|" where the caret stands. */
function at(marked: string) {
  const caret = marked.indexOf('|')
  return triggerAt(marked.replace('|', ''), caret)
}

describe('where a completion is asked for R-CHAT-050', () => {
  it.each([
    ['/|', '/', 0, ''],
    ['/pl|', '/', 0, 'pl'],
    ['/pl|an', '/', 0, 'pl'],
    ['first\n/re|', '/', 6, 're'],
    ['/re|\nlast', '/', 0, 're'],
    ['/mcp:server:do|', '/', 0, 'mcp:server:do'],
    ['/计划|', '/', 0, '计划'],
    ['@|', '@', 0, ''],
    ['look at @src/m|', '@', 8, 'src/m'],
    ['看一下@src|', '@', 3, 'src'],
    ['(@src|)', '@', 1, 'src'],
    ['a\n@b|', '@', 2, 'b'],
  ])('%j', (marked, kind, start, query) => {
    expect(at(marked)).toMatchObject({ kind, start, query })
  })

  it.each(['|', 'a|', '|/plan', ' /plan|', 'a /plan|', '/plan |', '/plan arg|', 'ana@example.org|', 'a.@b|', '@@b|', 'http://u@h|', '@src now|', '\n|'])(
    'nowhere in %j',
    (marked) => expect(at(marked)).toBeNull(),
  )

  it('takes the whole word, also what stands behind the caret', () => {
    expect(at('/pl|an now')).toMatchObject({ start: 0, end: 5 })
    expect(at('see @s|rc/main.go, then')).toMatchObject({ start: 4, end: 16 })
  })
})

describe('which entries fit R-CHAT-050', () => {
  const entries = commandEntries([
    { name: 'review' },
    { name: 'plan', description: 'Makes a plan' },
    { name: 'Preview' },
    { name: 'plan', description: 'The newer plan' },
  ])

  it('lists each command once, in the order of the Agent, as it was told last', () => {
    expect(entries).toEqual([
      { value: 'review', label: '/review', detail: undefined },
      { value: 'plan', label: '/plan', detail: 'The newer plan' },
      { value: 'Preview', label: '/Preview', detail: undefined },
    ])
  })

  it.each([
    ['', ['review', 'plan', 'Preview']],
    ['p', ['plan', 'Preview']],
    ['RE', ['review', 'Preview']],
    ['view', ['review', 'Preview']],
    ['x', []],
    ['.*', []],
  ])('prefix before substring: %j', (query, values) => {
    expect(matching(entries, query).map((e) => e.value)).toEqual(values)
  })
})

describe('what the text is after a choice', () => {
  it.each([
    ['/pl|', 'plan', '/plan |'],
    ['/pl|an', 'plan', '/plan |'],
    ['/pl| rest', 'plan', '/plan |rest'],
    ['one\n/p|\ntwo', 'plan', 'one\n/plan |\ntwo'],
    ['see @m| and', 'src/main.go', 'see @src/main.go |and'],
    ['(@m|)', 'src/main.go', '(@src/main.go |)'],
    ['@m|，然后', 'src/main.go', '@src/main.go |，然后'],
  ])('%j and %j', (marked, value, result) => {
    const text = marked.replace('|', '')
    const { start, end, insert } = complete(text, at(marked)!, value)
    expect(`${text.slice(0, start)}${insert}|${text.slice(end)}`).toBe(result)
  })
})

it.each([
  ['/plan ', 'what to plan'],
  ['/plan', ''],
  ['/plan it', ''],
  ['/other ', ''],
  ['/bare ', ''],
  ['x /plan ', ''],
])('the hint of %j is %j R-CHAT-050', (text, hint) => {
  expect(commandHint(text, [{ name: 'plan', hint: 'what to plan' }, { name: 'bare' }])).toBe(hint)
})

it.each([
  ['all are shown', 2, 0, 5, 8, 0],
  ['the active one is in view already', 5, 2, 20, 8, 2],
  ['it is above', 1, 4, 20, 8, 1],
  ['it is below', 12, 2, 20, 8, 5],
  ['the last one', 19, 0, 20, 8, 12],
  ['fewer are left', 0, 12, 3, 8, 0],
  ['none', 0, 3, 0, 8, 0],
])('shows a stretch of a long list: %s', (_, active, first, count, most, result) => {
  expect(firstShown(active, first, count, most)).toBe(result)
})
