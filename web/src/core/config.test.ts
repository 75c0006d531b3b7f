import { describe, expect, it } from 'vitest'

import type { ConfigOption } from '@/api/types'

import { configLabel, configMenu } from './config'

const none = new Set<string>()

function select(id: string, category: string | undefined, currentValue: string, change: Partial<ConfigOption> = {}): ConfigOption {
  const options = [{ options: [{ value: 'a', name: 'Name A' }, { value: 'b', name: 'Name B' }] }]
  return { id, name: `Option ${id}`, category, type: 'select', currentValue, options, ...change }
}

const flag: ConfigOption = { id: 'fast', name: 'Fast', type: 'boolean', currentValue: true, description: 'Quicker' }

describe('the label of the button R-CHAT-033', () => {
  const table: [string, ConfigOption[], string][] = [
    ['names of model and thought level', [select('m', 'model', 'a'), select('t', 'thought_level', 'b')], 'Name A · Name B'],
    ['model first, whatever the order of the Agent', [select('t', 'thought_level', 'b'), select('m', 'model', 'a')], 'Name A · Name B'],
    ['only a model', [select('m', 'model', 'b')], 'Name B'],
    ['only a thought level', [select('t', 'thought_level', 'a')], 'Name A'],
    ['the first option of a category in Agent order', [select('m1', 'model', 'b'), select('m2', 'model', 'a')], 'Name B'],
    ['an unknown value as it is', [select('m', 'model', 'x-9')], 'x-9'],
    ['a value without a name as it is', [select('m', 'model', 'a', { options: [{ options: [{ value: 'a', name: '' }] }] })], 'a'],
    ['a value inside a named group', [select('m', 'model', 'z', { options: [{ name: 'G', options: [{ value: 'z', name: 'Zed' }] }] })], 'Zed'],
    ['no current value', [select('m', 'model', ''), select('t', 'thought_level', 'a')], 'Name A'],
    ['never a mode (decision 19)', [select('mode', 'mode', 'a')], ''],
    ['neither category', [select('x', 'other', 'a'), flag], ''],
    ['a boolean of the category does not count', [{ ...flag, category: 'model' }, select('m', 'model', 'a')], 'Name A'],
    ['nothing at all', [], ''],
  ]
  it.each(table)('%s', (_, options, label) => expect(configLabel(options)).toBe(label))
})

describe('the menu R-CHAT-034, 035', () => {
  it('keeps the order of the Agent, its groups, and shows modes (decision 19)', () => {
    const grouped = select('m', 'model', 'l1', {
      description: 'Which one',
      options: [
        { options: [{ value: 'a', name: 'Name A' }] },
        { group: 'large', name: 'Large', options: [{ value: 'l1', name: 'L1', description: 'the large one' }] },
        { group: 'odd', options: [{ value: 'o', name: '' }] },
      ],
    })
    expect(configMenu([flag, grouped, select('mode', 'mode', 'b')], none)).toEqual([
      { type: 'check', id: 'fast', label: 'Fast', hint: 'Quicker', checked: true, disabled: false },
      {
        type: 'radio', id: 'm', label: 'Option m', hint: 'L1', about: 'Which one', value: 'l1', disabled: false,
        groups: [
          { label: undefined, choices: [{ value: 'a', label: 'Name A', hint: undefined }] },
          { label: 'Large', choices: [{ value: 'l1', label: 'L1', hint: 'the large one' }] },
          { label: 'odd', choices: [{ value: 'o', label: 'o', hint: undefined }] },
        ],
      },
      expect.objectContaining({ type: 'radio', id: 'mode', hint: 'Name B', value: 'b' }),
    ])
  })

  it('disables the option that is being changed and no other R-CHAT-037', () => {
    const menu = configMenu([select('m', 'model', 'a'), select('t', 'thought_level', 'a'), flag], new Set(['t']))
    expect(menu.map((e) => [e.id, e.disabled])).toEqual([['m', false], ['t', true], ['fast', false]])
  })

  it('offers nothing where there is nothing to choose', () => {
    expect(configMenu([select('m', 'model', 'a', { options: undefined })], none)).toMatchObject([{ disabled: true, hint: 'a' }])
  })

  it.each<[string, ConfigOption]>([
    ['a kind that is not known', { ...flag, type: 'number' }],
    ['a boolean that holds a text', { ...select('x', 'other', 'a'), type: 'boolean' }],
    ['a select that holds a boolean', { ...flag, type: 'select' }],
  ])('leaves out %s', (_, option) => expect(configMenu([option], none)).toEqual([]))

  it('takes names as they are, without reading them', () => {
    const hostile = select('m', 'model', 'a', { name: '<img src=x>', options: [{ options: [{ value: 'a', name: '{n}' }] }] })
    expect(configMenu([hostile], none)).toMatchObject([{ label: '<img src=x>', hint: '{n}' }])
  })
})
