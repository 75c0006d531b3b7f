/** What a search shows. */
export type Searched<T> =
  | { readonly state: 'hint' }
  | { readonly state: 'waiting' }
  | { readonly state: 'found'; readonly hits: T }
  | { readonly state: 'failed'; readonly error: unknown }

/** How long a person must rest before Core is asked, in ms (R-CHAT-021). */
export const pause = 300

/**
 * Asks for what a person types: after a pause, one question at a time, always for the newest text. An answer to any
 * other text is dropped; its question is given up, so that Core need not end a scan that nobody waits for.
 */
export class Searching<T> {
  private text = ''
  private timer: ReturnType<typeof setTimeout> | undefined
  private running: AbortController | null = null
  /** The newest text is to be asked for as soon as nothing runs. */
  private due = false

  /**
   * @param ask asks Core; rejects when it failed or the signal is aborted
   * @param show told of every change, until end()
   */
  constructor(
    private readonly ask: (text: string, signal: AbortSignal) => Promise<T>,
    private show: (now: Searched<T>) => void,
  ) {}

  /** type takes what stands in the field. Blanks make no other query. */
  type(value: string): void {
    const text = value.trim().replace(/\s+/g, ' ')
    if (text === this.text) return
    this.text = text
    this.giveUp()
    if (text === '') return this.show({ state: 'hint' })
    this.show({ state: 'waiting' })
    this.timer = setTimeout(() => this.begin(), pause)
  }

  /** retry asks once more for the same text, at once. */
  retry(): void {
    this.giveUp()
    this.show({ state: 'waiting' })
    this.begin()
  }

  /** end gives up for good; nothing is shown any more. */
  end(): void {
    this.show = () => {}
    this.giveUp()
  }

  private giveUp(): void {
    clearTimeout(this.timer)
    this.due = false
    this.running?.abort()
  }

  private begin(): void {
    if (this.running) this.due = true
    else void this.run()
  }

  private async run(): Promise<void> {
    const mine = new AbortController()
    this.running = mine
    let next: Searched<T>
    try {
      next = { state: 'found', hits: await this.ask(this.text, mine.signal) }
    } catch (error) {
      next = { state: 'failed', error }
    }
    this.running = null
    if (this.due) {
      this.due = false
      void this.run()
    } else if (!mine.signal.aborted) this.show(next)
  }
}
