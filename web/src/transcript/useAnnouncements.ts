import { ref, type Ref } from 'vue'
import type { SessionView } from '@/core/types'
import { t } from '@/i18n'

interface Announcements {
  /** What a polite region says. */
  readonly text: Ref<string>
  /** The view is shown; `old` is what was shown of the same Session before, null at first. */
  shown(old: SessionView | null, view: SessionView): void
}

/** Says what a person who does not look must know, also of a Session just opened; everything else stays quiet. */
export function useAnnouncements(): Announcements {
  const text = ref('')
  function shown(old: SessionView | null, view: SessionView): void {
    const asked = view.permissions.find((p) => !old?.permissions.some((o) => o.id === p.id))
    if (asked) text.value = t('permission.announce', { title: asked.title })
    else if (!old) text.value = ''
    else if (old.turn.state !== 'idle' && view.turn.state === 'idle') {
      const error = view.messages.at(-1)?.end?.error
      text.value = error ? t('turn.failed', { message: error.message }) : t('turn.finished')
    } else if (old.turn.state === 'idle' && view.turn.state !== 'idle') text.value = ''
  }
  return { text, shown }
}
