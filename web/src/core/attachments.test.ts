import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

import type { Support } from '@/api/types'

import { judge, type Item, type Rejected } from './attachments'

interface Case {
  name: string
  image: Support
  embedded: Support
  has?: Item[]
  items: Item[]
  taken: number[]
  rejected: Partial<Rejected>
}

const cases = JSON.parse(readFileSync(`${import.meta.dirname}/../../../internal/attachments/testdata/cases.json`, 'utf8')) as Case[]

describe('a batch of files (R-CHAT-044, 045)', () => {
  it.each(cases)('$name', ({ image, embedded, has, items, taken, rejected }) => {
    const none = { directories: 0, large: 0, images: 0, files: 0, many: 0, names: [] }
    expect(judge({ image, embeddedContext: embedded }, has ?? [], items)).toEqual({ taken, rejected: { ...none, ...rejected } })
  })

  it('has no more than 64 members', () => {
    const all = Array.from({ length: 70 }, () => ({ name: 'a.png', size: 1 }))
    const { taken, rejected } = judge({ image: 'supported', embeddedContext: 'supported' }, [], all)
    expect([taken.length, rejected.many]).toEqual([64, 6])
  })

  it('of an Agent that is not there takes nothing', () => {
    expect(judge(undefined, [], [{ name: 'a.png', size: 1 }]).taken).toEqual([])
  })
})
