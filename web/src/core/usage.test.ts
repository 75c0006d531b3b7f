import { expect, it } from 'vitest'

import { contextUse } from './usage'

it.each([
  [1, 200_000, 0, 'normal'],
  [58_000, 200_000, 29, 'normal'],
  [74_990, 100_000, 74, 'normal'],
  [7_499_999, 10_000_000, 74, 'normal'],
  [75_000, 100_000, 75, 'yellow'],
  [89_999, 100_000, 89, 'yellow'],
  [90_000, 100_000, 90, 'orange'],
  [94_999, 100_000, 94, 'orange'],
  [95_000, 100_000, 95, 'red'],
  [99_999, 100_000, 99, 'red'],
  [100_000, 100_000, 100, 'red'],
  [250_000, 100_000, 100, 'red'],
] as const)('%d of %d shows %d and is %s R-CHAT-115, 116', (used, size, percent, level) => {
  expect(contextUse({ used, size })).toMatchObject({ percent, level, used, size })
})

it.each([undefined, { used: 0, size: 100 }, { used: 5, size: 0 }, { used: Number.NaN, size: 100 }])('shows nothing for %o R-CHAT-115', (usage) => {
  expect(contextUse(usage)).toBeNull()
})

it('never passes on what it costs R-CHAT-117', () => {
  const use = contextUse({ used: 1, size: 2, cost: { amount: 3, currency: 'USD' } })
  expect(Object.keys(use!)).toEqual(['ratio', 'percent', 'level', 'used', 'size'])
})
