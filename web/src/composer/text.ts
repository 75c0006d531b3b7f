// The text of a composer, kept by Core (R-CHAT-006): read when the composer opens, written 400 ms after the last
// change and when the composer goes away.

import { ref, type Ref } from 'vue'

/** Where the text is kept; sessionId "" is the draft of the Workspace. */
export interface TextStore {
  load(sessionId: string): Promise<string>
  save(sessionId: string, text: string): Promise<void>
  /**
   * Holds a text that is on its way in this tab, null for none. A page that is left and comes back may read what is kept
   * before its own last words have arrived there.
   */
  hold?(sessionId: string, text: string | null): void
  /** What hold was last told; null for nothing. */
  held?(sessionId: string): string | null
}

/** A text that follows its keeper. */
export interface KeptText {
  readonly text: Ref<string>
  /** False while the last change could not be written; the next change or retry() tries again. */
  readonly saved: Ref<boolean>
  /** load reads the kept text; what the user typed meanwhile wins. */
  load(): Promise<void>
  /** set changes the text and has it written later. */
  set(text: string): void
  /** show puts another text in the field without keeping it: what was set last stays kept. */
  show(value: string): void
  /** flush writes at once what is not yet written. */
  flush(): void
}

const delay = 400

/** keepText makes the text of one Session's composer. */
export function keepText(store: TextStore, sessionId: string): KeptText {
  const text = ref('')
  const saved = ref(true)
  let touched = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let writing: Promise<void> = Promise.resolve()

  /** Writes go one after another, so that an older text never lands on a newer one. */
  function write(): void {
    timer = undefined
    const value = text.value
    store.hold?.(sessionId, value)
    writing = writing.then(async () => {
      try {
        await store.save(sessionId, value)
        saved.value = true
        if (store.held?.(sessionId) === value) store.hold?.(sessionId, null)
      } catch {
        saved.value = false
      }
    })
  }

  function flush(): void {
    if (timer === undefined) return
    clearTimeout(timer)
    write()
  }

  return {
    text,
    saved,
    flush,
    show(value) {
      flush()
      touched = true
      text.value = value
    },
    async load() {
      const held = store.held?.(sessionId) ?? null
      const kept = held ?? (await store.load(sessionId).catch(() => ''))
      if (touched) return
      text.value = kept
      if (held !== null) write()
    },
    set(value) {
      touched = true
      text.value = value
      clearTimeout(timer)
      timer = setTimeout(write, delay)
    },
  }
}

/** isBlank tells a message that must not be sent: nothing but Unicode white space (R-CHAT-041). */
export function isBlank(text: string): boolean {
  return /^[\p{White_Space}\uFEFF]*$/u.test(text)
}

/** withoutSent takes an acknowledged text out of what is in the field now, which may have grown since. */
export function withoutSent(now: string, sent: string): string {
  if (!now.startsWith(sent)) return now
  return now.slice(sent.length).replace(/^\s+/, '')
}
