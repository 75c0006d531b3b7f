/** Within this many pixels of the end the list follows what arrives (R-CHAT-007). */
export const NEAR = 48

/** Whether a scrolling list follows its end. Fed with what the person and the browser do; asked before each layout. */
export class Stick {
  /** Follows the end. */
  stuck = true
  private top = 0

  /** The list scrolled, by whatever cause: back down near the end follows again, away from it upwards leaves. */
  scrolled(top: number, distance: number): void {
    const down = top >= this.top
    if (distance <= 1 || (down && distance <= NEAR)) this.stuck = true
    else if (!down && distance > NEAR) this.stuck = false
    this.top = top
  }

  /** The person turned away from the end: wheel up, a key, a jump. */
  leave(): void {
    this.stuck = false
  }

  follow(): void {
    this.stuck = true
  }
}
