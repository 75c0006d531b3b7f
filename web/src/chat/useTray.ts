import { computed, shallowRef, watchEffect } from 'vue'

import type { Tray } from '@/composer/attach'
import { agents } from '@/state/agents'
import { client } from '@/state/client'
import { insist } from '@/ui/lazy'

const loadParts = insist(() => import('@/composer/attaching'))

/**
 * The files of a composer, "" being the draft's, loaded when the composer is there. agent names whose abilities count
 * (R-CHAT-044).
 */
export function useTray(sessionId: string, agent: () => string | undefined) {
  const tray = shallowRef<Tray | null>(null)
  const parts = shallowRef<typeof import('@/composer/attaching') | null>(null)
  void loadParts().then((loaded) => {
    parts.value = loaded
    tray.value = loaded.trayOf(sessionId, sessionId ? keeperOf(sessionId, loaded.upload) : null)
  })
  watchEffect(() => {
    if (tray.value) tray.value.takes.value = agents.value.find((a) => a.id === agent())?.capabilities
  })
  return { tray, parts, blocked: computed(() => tray.value?.blocked.value) }
}

function keeperOf(sessionId: string, upload: (typeof import('@/composer/attaching'))['upload']) {
  return {
    list: async () => (await client.composer(sessionId)).attachments ?? [],
    upload: (file: File, progress: (part: number) => void) =>
      upload({ sessionId, file, progress, windowId: client.window?.windowId ?? '' }),
    bytes: (handle: string) => client.attachment(sessionId, handle),
    drop: (handle: string) => client.dropAttachment(sessionId, handle),
  }
}
