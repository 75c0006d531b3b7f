// Which files an Agent can take along with a message (R-CHAT-044, 045). The same rules as Core's; one table of cases,
// internal/attachments/testdata/cases.json, holds both to the same answers.

import type { Capabilities } from '@/api/types'

/** How many bytes one file may have. */
export const MOST_BYTES = 25 * 1024 * 1024
/** How many files one message may have, and how many bytes they may have together. */
const MOST_FILES = 64
const MOST_TOGETHER = 32 * 1024 * 1024

/** One member of a batch. */
export interface Item {
  readonly name: string
  readonly mime?: string
  readonly size: number
  readonly directory?: boolean
}

/** How many were refused, by the first reason that holds. */
export interface Rejected {
  directories: number
  large: number
  images: number
  files: number
  /** Too many for one message with those before. */
  many: number
  names: string[]
}

/** What an Agent takes; what is not known counts as missing. */
export type Takes = Pick<Capabilities, 'image' | 'embeddedContext'>

/** kindOf tells an image from a file by its type or the ending of its name. */
export function kindOf(item: Pick<Item, 'name' | 'mime'>): 'image' | 'file' {
  const byType = item.mime?.toLowerCase().startsWith('image/')
  return byType || /\.(avif|bmp|gif|jpe?g|png|svg|webp)$/i.test(item.name) ? 'image' : 'file'
}

/** judge decides about a batch that joins what a message has already: the places of those taken, and why not the rest. */
export function judge(takes: Takes | undefined, has: readonly Item[], batch: readonly Item[]): { taken: number[]; rejected: Rejected } {
  let count = has.length
  let bytes = has.reduce((sum, i) => sum + i.size, 0)
  const taken: number[] = []
  const rejected: Rejected = { directories: 0, large: 0, images: 0, files: 0, many: 0, names: [] }
  for (const [n, item] of batch.entries()) {
    let why = refusal(takes, item)
    if (!why && (count === MOST_FILES || bytes + item.size > MOST_TOGETHER)) why = 'many'
    if (why) {
      rejected[why]++
      rejected.names.push(item.name)
      continue
    }
    count++
    bytes += item.size
    taken.push(n)
  }
  return { taken, rejected }
}

function refusal(takes: Takes | undefined, item: Item): Exclude<keyof Rejected, 'names'> | null {
  if (item.directory) return 'directories'
  if (item.size > MOST_BYTES) return 'large'
  if (kindOf(item) === 'image') return takes?.image === 'supported' ? null : 'images'
  return takes?.embeddedContext === 'supported' ? null : 'files'
}
