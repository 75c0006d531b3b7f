import type { Row } from './rows'

/**
 * What stands beside a transcript (timeline, find) may ask of it and do with it. Lengths are CSS pixels of the scrolled
 * content; a row that was never shown has an estimated height, which is put right when it comes into view.
 */
export interface Reader {
  /** What scrolls. */
  readonly element: HTMLElement
  /** All rows, in order. */
  rows(): readonly Row[]
  /** The distance of a row's top from the top of the content; the position behind the last gives the rows' end. */
  topOf(index: number): number
  /** The row at a distance from the top of the content. */
  indexAt(top: number): number
  /** The element of a row while it is mounted. */
  elementOf(key: string): HTMLElement | null
  /** Calls back once a frame at most: the view was scrolled, or rows, heights or the view's size changed. */
  watch(told: (what: 'scroll' | 'layout') => void): () => void
  /**
   * Leaves the end and goes to a row, so that its top stands `offset` pixels below the top of the view, as far as the
   * content allows. The offset is asked for again when rows that came into view were measured. Resolves with false when
   * there is no such row, or the person scrolls meanwhile.
   */
  go(key: string, offset: () => number, how: { smooth: boolean }): Promise<boolean>
  /** Opens folds by their keys. */
  reveal(keys: readonly string[]): void
}
