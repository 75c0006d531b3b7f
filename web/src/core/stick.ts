/** Within this many pixels of the end the list follows what arrives (R-CHAT-007). */
export const NEAR = 48

/** Whether a scrolling list follows its end. Fed with what the person and the browser do; asked before each layout. */
export class Stick {
  /** Follows the end. */
  stuck = true
  private top = 0
  private height = 0
  private held = false

  /**
   * The list scrolled, by whatever cause: back down near the end follows again, away from it upwards leaves. When the
   * content has changed its height too, the browser may have moved the view by itself, since rows turned out lower
   * than they were taken for; only what a person holds leaves then.
   */
  scrolled(top: number, distance: number, height: number): void {
    const down = top >= this.top
    const byPerson = this.held || height === this.height
    if (distance <= 1 || (down && distance <= NEAR)) this.stuck = true
    else if (!down && distance > NEAR && byPerson) this.stuck = false
    this.top = top
    this.height = height
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
