// Changes of the configuration that are on their way. What is shown comes from Core's events alone; that a change is
// pending is all that is known here (R-CHAT-036, 037).

import { shallowRef } from 'vue'

/** Sends one change and resolves when the Agent has answered. */
export type SendChange = (id: string, value: string | boolean) => Promise<unknown>

/**
 * The changes of one Session, or of one draft. They go out one after another in the order in which the user made
 * them, so that the last one decides whatever the answers take; one that fails does not hold up the next.
 */
export class ConfigChanges {
  /** Ids of options whose change is not answered yet. */
  readonly pending = shallowRef<ReadonlySet<string>>(new Set())
  private readonly waiting: string[] = []
  private last: Promise<unknown> = Promise.resolve()

  constructor(private readonly send: SendChange) {}

  /** change queues a change. Rejects when Core or the Agent refused it; nothing is to be undone then. */
  change(id: string, value: string | boolean): Promise<void> {
    this.waiting.push(id)
    this.tell()
    const mine = this.last.then(async () => {
      try {
        await this.send(id, value)
      } finally {
        this.waiting.splice(this.waiting.indexOf(id), 1)
        this.tell()
      }
    })
    this.last = mine.catch(() => {})
    return mine
  }

  /** settled resolves when every change made so far is answered; a message goes out after that. */
  async settled(): Promise<void> {
    await this.last
  }

  private tell(): void {
    this.pending.value = new Set(this.waiting)
  }
}
