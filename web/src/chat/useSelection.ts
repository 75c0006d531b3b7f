// Which Session the Chat page shows: what the route says, and nothing else (R-CHAT-001…006).

import { computed, shallowRef, watch, type ComputedRef, type ShallowRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'

import { t } from '@/i18n'
import { openSession, type OpenSession } from '@/state/open'
import { warn } from '@/state/toasts'
import { shownSession } from '@/state/window'

/** The selection of the Chat page. */
export interface Selection {
  /** The id in the route; null for the draft. */
  readonly id: ComputedRef<string | null>
  /** The Session shown; null for the draft. */
  readonly session: Readonly<ShallowRef<OpenSession | null>>
  /** expectRemoval announces that the user deletes a Session, so that its end is no surprise. */
  expectRemoval(id: string): void
}

/** The form of every Session id (R-WS-003); anything else is not worth a question to Core. */
const wellFormed = /^[a-zA-Z0-9_-]{1,128}$/

/** useSelection follows the route for the life of the calling component. */
export function useSelection(): Selection {
  const route = useRoute()
  const router = useRouter()
  const session = shallowRef<OpenSession | null>(null)
  const expected = new Set<string>()

  const id = computed(() => {
    const param = route.params.id
    return typeof param === 'string' && param !== '' ? param : null
  })

  async function leave(gone: string): Promise<void> {
    if (id.value !== gone) return
    await router.replace('/chat')
    if (!expected.delete(gone)) warn(t('chat.gone'))
  }

  watch(
    id,
    (wanted) => {
      if (route.name !== 'chat') return
      const usable = wanted !== null && wellFormed.test(wanted)
      session.value = usable ? openSession(wanted) : null
      shownSession.value = usable ? wanted : null
      if (wanted !== null && !usable) void leave(wanted)
    },
    { immediate: true },
  )

  watch(
    () => session.value?.state.value,
    (state) => {
      if (state === 'gone' && session.value) void leave(session.value.sessionId)
    },
    { immediate: true },
  )

  return { id, session, expectRemoval: (removed) => expected.add(removed) }
}
