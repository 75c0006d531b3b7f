import { expect, it } from 'vitest'

import { Recall } from './recall'

const sent = ['one', 'two', 'three']

/** Plays keys against a field and returns what it shows after each: "<" back, ">" forward, anything else is typed. */
function play(start: string, keys: string[], messages = sent): string[] {
  const recall = new Recall()
  let text = start
  return keys.map((key) => {
    if (key === '<') text = recall.back(text, messages) ?? text
    else if (key === '>') text = recall.forward(text, messages) ?? text
    else text = key
    return text
  })
}

it.each<[string, string, string[], string[]]>([
  ['goes back to the first and stays', '', ['<', '<', '<', '<'], ['three', 'two', 'one', 'one']],
  ['comes back to the empty field', '', ['<', '<', '>', '>', '>'], ['three', 'two', 'three', '', '']],
  ['comes back to what was typed', 'draft', ['<', '<', '>', '>'], ['three', 'two', 'three', 'draft']],
  ['does nothing forward when nothing was called back', 'draft', ['>'], ['draft']],
  ['goes back again from there', 'draft', ['<', '>', '<', '<'], ['three', 'draft', 'three', 'two']],
  ['keeps a changed message and the draft before it', 'draft', ['<', 'three!', '<', '<', '>', '>', '>'], ['three', 'three!', 'draft', 'three', 'draft', 'three!', 'three!']],
  ['leaves a changed message alone going forward', '', ['<', 'three!', '>'], ['three', 'three!', 'three!']],
  ['does not come by an empty field on the way from a later draft', '', ['<', '>', 'draft', '<'], ['three', '', 'draft', 'three']],
  ['tells equal texts apart by their place', 'three', ['<', '<', '>', '>'], ['three', 'two', 'three', 'three']],
])('%s', (_, start, keys, shown) => {
  expect(play(start, keys)).toEqual(shown)
})

it('has nothing to offer in a Session without messages, and takes nothing away', () => {
  expect(play('draft', ['<', '>'], [])).toEqual(['draft', 'draft'])
})

it('gives back what was typed when an earlier message is sent in between', () => {
  const recall = new Recall()
  recall.back('draft', sent)
  expect(recall.sent('three')).toBe('draft')
  expect(recall.back('', [...sent, 'three'])).toBe('three')
  expect(recall.forward('three', [...sent, 'three'])).toBe('')
})

it('gives nothing back when what was typed is what was sent', () => {
  const recall = new Recall()
  recall.back('draft', sent)
  recall.forward('three', sent)
  expect(recall.sent('draft')).toBe('')
  recall.back('  ', sent)
  expect(recall.sent('three')).toBe('')
})

it('follows messages that come meanwhile', () => {
  const recall = new Recall()
  expect(recall.back('draft', sent)).toBe('three')
  // A message was added: the position no longer fits, so the text counts as typed and is kept.
  expect(recall.back('three', [...sent.slice(0, 1), 'x', ...sent.slice(1)])).toBe('draft')
})
