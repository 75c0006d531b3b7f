import { describe, expect, it } from 'vitest'

import { groupHeights, groupsOf, type GroupShape } from './groups'

it('puts each Session into exactly one group and keeps the order R-CHAT-008', () => {
  const list = [
    { id: 'a', pinned: true },
    { id: 'b', pinned: false },
    { id: 'c', pinned: true },
    { id: 'd', pinned: false },
  ]
  const { pinned, recent } = groupsOf(list)
  expect(pinned.map((s) => s.id)).toEqual(['a', 'c'])
  expect(recent.map((s) => s.id)).toEqual(['b', 'd'])
})

describe('groupHeights R-CHAT-012', () => {
  const open = (content: number): GroupShape => ({ content, open: true })
  const closed = (content: number): GroupShape => ({ content, open: false })
  it.each([
    ['a short pinned group takes what it needs', open(100), open(3000), { pinned: 100, recent: 636 }],
    ['the rest is Recent’s, whatever it needs', open(100), open(50), { pinned: 100, recent: 636 }],
    ['a long pinned group takes half of the list with its header', open(1000), open(3000), { pinned: 368, recent: 368 }],
    ['it takes half exactly', open(368), open(3000), { pinned: 368, recent: 368 }],
    ['only pinned Sessions take everything', open(100), open(0), { pinned: 768, recent: 0 }],
    ['only recent Sessions take everything', open(0), open(100), { pinned: 0, recent: 768 }],
    ['a collapsed Recent leaves its header', open(1000), closed(3000), { pinned: 736, recent: 0 }],
    ['a collapsed pinned group leaves its header', closed(100), open(3000), { pinned: 0, recent: 736 }],
    ['all collapsed take nothing', closed(100), closed(3000), { pinned: 0, recent: 0 }],
    ['a single collapsed group takes nothing', closed(0), closed(3000), { pinned: 0, recent: 0 }],
    ['an empty group is not open', open(0), closed(3000), { pinned: 0, recent: 0 }],
    ['nothing is nothing', open(0), open(0), { pinned: 0, recent: 0 }],
  ])('%s', (_, pinned, recent, want) => {
    expect(groupHeights(800, 32, { pinned, recent })).toEqual(want)
  })

  it('fills an odd height, and survives one that is too small', () => {
    expect(groupHeights(801, 32, { pinned: open(900), recent: open(900) })).toEqual({ pinned: 368, recent: 369 })
    expect(groupHeights(50, 32, { pinned: open(900), recent: open(900) })).toEqual({ pinned: 0, recent: 0 })
    expect(groupHeights(0, 32, { pinned: open(900), recent: open(0) })).toEqual({ pinned: 0, recent: 0 })
  })
})
