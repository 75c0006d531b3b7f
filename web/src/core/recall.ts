// Going back through the messages that the user wrote in a Session, and forward again to what stood in the field. Nothing
// that was typed is ever lost: it takes its place behind the messages.

/** Where one is among the earlier messages. Belongs to one composer. */
export class Recall {
  /** What was typed and then left by going back, oldest first. */
  private typed: string[] = []
  /** Which entry is shown; null while the field holds something of its own. */
  private at: number | null = null

  /** back returns the message before the text in the field; null when there is none. Messages are oldest first. */
  back(text: string, messages: readonly string[]): string | null {
    const list = this.list(messages)
    let at = this.position(text, list)
    if (at === null) {
      this.at = null
      if (messages.length === 0) return null
      // What is typed is kept as the newest entry; an empty field needs none but the place to come back to.
      this.typed = [...this.typed.filter((t) => t.trim() !== ''), text]
      at = messages.length + this.typed.length - 1
    }
    if (at === 0) return null
    this.at = at - 1
    return this.list(messages)[this.at]!
  }

  /** forward returns what comes after a text that was called back; null when the text in the field is no such one. */
  forward(text: string, messages: readonly string[]): string | null {
    const list = this.list(messages)
    const at = this.position(text, list)
    if (at === null || at + 1 >= list.length) return null
    this.at = at + 1
    return list[this.at]!
  }

  /** newest tells whether the field shows the last entry of all, which is the way out of the earlier messages. */
  newest(text: string, messages: readonly string[]): boolean {
    const list = this.list(messages)
    return this.position(text, list) === list.length - 1
  }

  /** sent is told that a text became a message, and returns what was typed before and is not sent yet, "" for nothing. */
  sent(text: string): string {
    const left = this.typed.findLast((t) => t !== text && t.trim() !== '') ?? ''
    this.typed = []
    this.at = null
    return left
  }

  private list(messages: readonly string[]): string[] {
    return [...messages, ...this.typed]
  }

  /** The entry that the field shows unchanged. */
  private position(text: string, list: readonly string[]): number | null {
    return this.at !== null && list[this.at] === text ? this.at : null
  }
}
