/* Compares texts off the main thread. */
import { buffersOf, compare, type Comparison } from '@/core/diff'

export interface DiffRequest {
  id: number
  segments: readonly Segment[]
}

/** Two texts; an absent one is undefined. */
export interface Segment {
  readonly old?: string
  readonly next?: string
}

export interface DiffAnswer {
  id: number
  /** One for each segment; null when comparing failed. */
  comparisons: Comparison[] | null
}

self.onmessage = ({ data }: MessageEvent<DiffRequest>) => {
  let comparisons: Comparison[] | null = null
  try {
    comparisons = data.segments.map(({ old, next }) => compare(old, next))
  } catch {
    // Too much for the memory, say; the page says that there is no comparison.
  }
  const answer: DiffAnswer = { id: data.id, comparisons }
  self.postMessage(answer, { transfer: comparisons?.flatMap(buffersOf) ?? [] })
}
