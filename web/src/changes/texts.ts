import type { FileText } from '@/api/types'
import type { DiffPart } from '@/core/diffrows'
import type { Comparer } from '@/workers/comparer'

/** A file change ready to be shown. */
export interface Compared {
  readonly version: string
  readonly parts: readonly DiffPart[]
  /** The texts are the whole file, so its lines have numbers (R-CHAT-105). */
  readonly whole: boolean
  readonly added: number
  readonly removed: number
  readonly endings: number
  readonly coarse: boolean
}

/** Files fetched at the same time. */
const AT_ONCE = 4

/** Fetches and compares the files of one panel, a few at a time, in the order asked. */
export class Texts {
  private readonly waiting: (() => void)[] = []
  private running = 0

  constructor(
    private readonly fetch: (path: string, signal: AbortSignal) => Promise<FileText>,
    private readonly comparer: Pick<Comparer, 'compare'>,
  ) {}

  /** Rejects with what the fetch said, with an Error when comparing failed, or with an AbortError. */
  async load(path: string, signal: AbortSignal): Promise<Compared> {
    const file = await this.inTurn(async () => {
      signal.throwIfAborted()
      return this.fetch(path, signal)
    })
    const segments = file.texts.map((s) => ({ old: s.old, next: s.new }))
    const comparisons = await this.comparer.compare(`${path} ${file.version}`, segments, signal)
    const sum = (of: 'added' | 'removed' | 'endings'): number => comparisons.reduce((n, c) => n + c[of], 0)
    return {
      version: file.version,
      parts: segments.map((s, i) => ({ ...s, comparison: comparisons[i]! })),
      whole: file.change !== 'modified' && segments.length === 1,
      added: sum('added'),
      removed: sum('removed'),
      endings: sum('endings'),
      coarse: comparisons.some((c) => c.coarse),
    }
  }

  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= AT_ONCE) await new Promise<void>((go) => this.waiting.push(go))
    else this.running++
    try {
      return await work()
    } finally {
      const next = this.waiting.shift()
      if (next) next()
      else this.running--
    }
  }
}
