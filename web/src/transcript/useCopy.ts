import { onBeforeUnmount, ref, type Ref } from 'vue'
import { t } from '@/i18n'
import { sourceOf } from './copy'

/** How long a word about what was done stays, in ms. */
const FLASH = 2000

interface Copy {
  /** What was done, for a moment. */
  readonly flash: Ref<string>
  /** Links open by themselves; copy buttons and paths of every row end here. */
  onClick(event: MouseEvent): void
}

/**
 * Handles the clicks on `data-copy` and `data-path` of all rows. `textOf` gives the source text of a message;
 * `openPath` gets an absolute local path.
 */
export function useCopy(textOf: (messageId: string) => string, openPath: (path: string, line?: number, column?: number) => void): Copy {
  const flash = ref('')
  let timer: ReturnType<typeof setTimeout> | undefined
  onBeforeUnmount(() => clearTimeout(timer))

  function say(text: string): void {
    flash.value = text
    clearTimeout(timer)
    timer = setTimeout(() => (flash.value = ''), FLASH)
  }

  async function copy(text: string, done: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text)
      say(done)
    } catch {
      say(t('transcript.copyFailed'))
    }
  }

  function onClick(event: MouseEvent): void {
    const target = event.target instanceof Element ? event.target : null
    const button = target?.closest<HTMLElement>('[data-copy]')
    if (button) {
      const { copy: what, message } = button.dataset
      void copy(what === 'message' ? textOf(message ?? '') : sourceOf(button), t('transcript.copied'))
      return
    }
    const path = target?.closest<HTMLElement>('[data-path]')?.dataset
    if (path?.path) {
      void copy(path.path, t('transcript.pathCopied'))
      openPath(path.path, Number(path.line) || undefined, Number(path.column) || undefined)
    }
  }

  return { flash, onClick }
}
