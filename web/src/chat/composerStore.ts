import type { TextStore } from '@/composer/text'
import { client } from '@/state/client'
import { workspace } from '@/state/window'

const place = (sessionId: string): string => `fyllo.composer.${workspace.value?.workspaceId ?? ''}.${sessionId}`

/** Core as the keeper of unsent text. */
export const composerStore: TextStore = {
  load: async (sessionId) => (await client.composer(sessionId)).text ?? '',
  save: (sessionId, text) => client.putComposer(sessionId, text),
  hold: (sessionId, text) => {
    try {
      if (text === null) sessionStorage.removeItem(place(sessionId))
      else sessionStorage.setItem(place(sessionId), text)
    } catch {
      // Full, or not allowed: then Core alone keeps it.
    }
  },
  held: (sessionId) => sessionStorage.getItem(place(sessionId)),
}
