import type { TextStore } from '@/composer/text'
import { client } from '@/state/client'

/** Core as the keeper of unsent text. */
export const composerStore: TextStore = {
  load: async (sessionId) => (await client.composer(sessionId)).text ?? '',
  save: (sessionId, text) => client.putComposer(sessionId, text),
}
