import { nextTick, type Ref } from 'vue'

import { Recall } from '@/core/recall'

import type { KeptText } from './text'

/** The keys that call the user's earlier messages back. */
export interface RecallKeys {
  /** key takes ArrowUp at the very start of the field, and ArrowDown once a message was called back; true when it did. */
  key(event: KeyboardEvent): boolean
  /** sent is told of a text that became a message, and returns what was typed before it, "" for nothing. */
  sent(text: string): string
}

/** useRecall makes the keys of one composer; earlier gives the messages, oldest first, and is asked when a key needs it. */
export function useRecall(field: Ref<HTMLTextAreaElement | null>, kept: KeptText, earlier: () => readonly string[]): RecallKeys {
  const recall = new Recall()

  return {
    sent: (text) => recall.sent(text),
    key(event) {
      const el = field.value
      const up = event.key === 'ArrowUp'
      if (!el || (!up && event.key !== 'ArrowDown')) return false
      if (event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return false
      const caret = el.selectionStart
      if (caret !== el.selectionEnd || !(caret === 0 || (!up && caret === el.value.length))) return false
      const messages = earlier()
      const shown = up ? recall.back(kept.text.value, messages) : recall.forward(kept.text.value, messages)
      if (shown === null) return false
      event.preventDefault()
      kept.show(shown)
      // At the start the next key goes on; back at what was typed, writing goes on.
      const at = !up && recall.newest(shown, messages) ? shown.length : 0
      void nextTick(() => el.setSelectionRange(at, at))
      return true
    },
  }
}
