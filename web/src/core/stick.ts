/** Within this many pixels of the end the list follows what arrives (R-CHAT-007). */
export const NEAR = 48

/** Whether a scrolling list follows its end. Fed with what the person and the browser do; asked before each layout. */
export class Stick {
  /** Follows the end. */
  stuck = true
  private top = 0
  private height = 0
  private held = false

  /** The list put its view somewhere, or its content changed. */
  at(top: number, height: number): void {
    this.top = top
    this.height = height
  }

  /**
   * The view was scrolled, not by the list: back down near the end follows again, away from it upwards leaves. When the
   * content has changed its height too, the browser may have moved the view by itself, since rows turned out lower than
   * they were; only reaching the end counts then, and what a person holds.
   */
  scrolled(top: number, distance: number, height: number): void {
    const byPerson = this.held || height === this.height
    if (distance <= 1 || (byPerson && top > this.top && distance <= NEAR)) this.stuck = true
    else if (byPerson && top < this.top && (this.held || distance > NEAR)) this.stuck = false
    this.at(top, height)
  }

  /** The person holds the scroll bar, the text or the list itself, or let go of it. */
  hold(held: boolean): void {
    this.held = held
  }

  /** The person turned away from the end: wheel up, a key, a jump. */
  leave(): void {
    this.stuck = false
  }

  follow(): void {
    this.stuck = true
  }
}

/** A row as far as counting what is new needs it. */
interface Countable {
  readonly key: string
  readonly type: string
}

/** What came below the place up to which a person has read. Rows are compared by identity. */
export class Unseen<T extends Countable> {
  private last: T | null = null

  /** The end was in view. */
  all(rows: readonly T[]): void {
    this.last = rows.at(-1) ?? null
  }

  /** A row was in view, and with it all before it. */
  upTo(rows: readonly T[], index: number): void {
    if (index > this.at(rows)) this.last = rows[index] ?? this.last
  }

  /** How many blocks are new; "grown" when none is, but the last one seen has more now. */
  count(rows: readonly T[]): number | 'grown' {
    if (!this.last) return 0
    const at = this.at(rows)
    if (at < 0) return 'grown'
    let n = 0
    for (let i = at + 1; i < rows.length; i++) if (rows[i]!.type !== 'foot') n++
    return n === 0 && rows[at] !== this.last ? 'grown' : n
  }

  private at(rows: readonly T[]): number {
    return rows.findLastIndex((r) => r.key === this.last?.key)
  }
}
